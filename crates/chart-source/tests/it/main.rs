//! Charts over real HTTP and from a real registry.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod artifacts;
mod caches;
mod cases;
mod oci;
mod repositories;

use std::time::Duration;

use chart_source::{Http, Settings};
use testkit::{Archive, ChartBuilder};

fn chart(name: &str, version: &str) -> Archive {
    ChartBuilder::new(name, version).values("k: v\n").template("map.yaml", "kind: ConfigMap\n").build().unwrap()
}

fn settings() -> Settings {
    testkit::install_crypto();
    Settings { timeout: Duration::from_secs(20), retry_wait: Duration::from_millis(10), ..Settings::default() }
}

fn http() -> Http {
    Http::new(&settings()).unwrap()
}
