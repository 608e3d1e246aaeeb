//! Renders of one chart in one process, each with other values, as the controller makes them:
//! `cargo run --release -p helm --example again -- CHART [COUNT] [VALUES]`.
//!
//! Prints CPU microseconds of the first render and of one of the rest, and the memory after a tenth of them and at the
//! end, in KiB: `first again memory-early memory-late`.

#![expect(clippy::print_stdout, reason = "a tool for developers")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use go_value::{Map, Value};
use helm::engine::{Capabilities, Environment, KubeVersion, ReleaseOptions};
use helm::render::{RenderOptions, render};
use helm::{HelmProfile, chart, values};

type Failure = Box<dyn std::error::Error>;

/// Resident memory of this process in KiB.
fn memory() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which chart?")?;
    let count: u32 = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    let file = arguments.next();
    let chart = chart::load(Path::new(&path))?;
    let profile = HelmProfile::default();
    let host = Arc::new(sprig::FixedHost::new(jiff::Timestamp::now(), 1));
    let options = RenderOptions {
        release: ReleaseOptions { name: "myrel".into(), namespace: "myns".into(), revision: 1, is_upgrade: true },
        capabilities: Arc::new(Capabilities::offline(profile, Some(KubeVersion::parse("1.35.0")?), &[])),
        profile,
        environment: Environment { templates: Some(Arc::default()), ..Environment::offline(host) },
        skip_schema_validation: false,
        remote_schemas: None,
        sub_notes: false,
    };
    let own = file.map(std::fs::read).transpose()?;
    let render_with = |turn: u32| -> Result<usize, Failure> {
        let user = own.as_deref().map_or(Ok(Map::new()), values::load_values)?;
        // A key that no chart reads, so that a schema may still refuse it: globals are free.
        let global: Map = [("helmrelTurn", Value::int(i64::from(turn)))].into_iter().collect();
        user.insert("global", global);
        let rendered = render(&chart, &user, &options)?;
        Ok(rendered.manifests.iter().map(|m| m.content.len()).sum())
    };
    let start = Instant::now();
    let bytes = render_with(0)?;
    let first = start.elapsed();
    let (mut early, mut late) = (0, 0);
    let start = Instant::now();
    for turn in 1..=count {
        if render_with(turn)? < bytes / 2 {
            return Err("a later render made less than the first".into());
        }
        if turn == count.div_ceil(10) {
            early = memory()?;
        }
        late = memory()?.max(late);
    }
    let again = start.elapsed() / count.max(1);
    println!("{} {} {early} {late}", first.as_micros(), again.as_micros());
    Ok(())
}
