//! From a reference to a chart: HTTP repositories, OCI registries, artifacts.
//!
//! Owns: fetching, version choice, digests, limits, caches. Does not own: Secrets (credentials arrive as data),
//! conditions and events (errors name the failed step), what is in a chart (`helm`).
//! Upstream: Flux source-controller's `internal/{helm,oci}`, Helm's `pkg/{repo,registry,getter}`.
//! The surprising thing: everything read from a network has a limit in bytes, and nothing is unpacked without one.

pub mod artifact;
pub mod cache;
pub mod credentials;
pub mod digest;
mod error;
pub mod http;
pub mod oci;
mod oci_auth;
pub mod repack;
pub mod repo_index;
pub mod repository;
pub mod tags;

pub use artifact::Artifact;
pub use cache::ChartCache;
pub use credentials::{BasicAuth, RegistryAuth, Tls};
pub use error::Error;
pub use http::{Http, Settings};
pub use oci::{Manifest, OciRepository};
pub use repo_index::{Entry, Index};
pub use repository::HelmRepository;
pub use reqwest::Url;

/// How much may be read from a network, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `index.yaml`.
    pub index: u64,
    /// A chart's archive.
    pub chart: u64,
    /// A Flux artifact or an OCI layer that is no chart.
    pub artifact: u64,
    /// What an artifact may unpack to.
    pub unpacked: u64,
}

impl Default for Limits {
    /// Flux's: 50 MiB for an index, 10 MiB for a chart; 100 MiB for the rest.
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self { index: 50 * MIB, chart: 10 * MIB, artifact: 100 * MIB, unpacked: 200 * MIB }
    }
}

/// Parse an archive on a thread that may block.
///
/// # Errors
/// [`Error::Chart`] with Helm's text.
pub async fn parse_chart(archive: Vec<u8>) -> Result<helm::chart::Chart, Error> {
    let parsed = tokio::task::spawn_blocking(move || helm::chart::load_archive(&archive)).await;
    match parsed {
        Ok(chart) => Ok(chart?),
        Err(_) => Err(Error::Chart(helm::error::Error::Load("the archive cannot be parsed".to_owned()))),
    }
}
