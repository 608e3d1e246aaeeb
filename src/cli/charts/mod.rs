//! From what a person types to a chart: folder, archive, address, `oci://`, `repo/chart`, `--repo`.
//!
//! Owns: the order in which a reference is understood, and Helm's words where it is not. Does not own: talking to
//! servers (`chart_source`). Follows `LocateChart` in Helm's `pkg/action/install.go` and `pkg/downloader`.
//! The surprising thing: nothing is written. Helm's caches are read, so that a chart Helm has fetched needs no network;
//! what is fetched here is not kept.

mod dependencies;
mod oci;
mod repositories;
pub(super) mod settings;
pub(super) mod transport;

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use chart_source::http::parse_url;
use chart_source::{BasicAuth, Limits};
use helm::Chart;

use super::Printer;
pub(super) use dependencies::complete;
use settings::Files;
use transport::Certificates;

/// Which chart, from where, and who asks.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Chart")]
pub(super) struct ChartFlags {
    /// The address of the repository that has the chart
    #[arg(long, value_name = "URL")]
    repo: Option<String>,
    /// The chart's version, or a constraint such as ^2.0.0; without it the newest that is no pre-release
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Pre-releases too, as --version '>0.0.0-0' does; --version beats it
    #[arg(long)]
    devel: bool,
    /// The user's name for the repository or registry
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// The password for the repository or registry
    #[arg(long, value_name = "TEXT")]
    password: Option<String>,
    /// Send user and password to other hosts too, where the chart is on one
    #[arg(long)]
    pass_credentials: bool,
    #[command(flatten)]
    certificates: Certificates,
    /// Talk to an OCI registry without TLS
    #[arg(long)]
    plain_http: bool,
    /// Refused: signatures are not checked here
    #[arg(long)]
    verify: bool,
    /// Accepted; without --verify Helm does not look at it either
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,
    #[command(flatten)]
    files: Files,
}

impl ChartFlags {
    fn version(&self) -> &str {
        match self.version.as_deref().unwrap_or_default() {
            "" if self.devel => ">0.0.0-0",
            version => version.trim(),
        }
    }

    fn auth(&self) -> Option<BasicAuth> {
        BasicAuth::new(self.username.clone().unwrap_or_default(), self.password.clone().unwrap_or_default())
    }
}

/// A chart that was found.
pub(super) enum Located {
    /// In the file system, with its absolute path.
    Path(PathBuf),
    /// Fetched.
    Archive(Vec<u8>),
}

impl Located {
    /// Load it.
    ///
    /// # Errors
    /// Helm's text for what is wrong with it.
    pub(super) fn load(&self) -> Result<Chart> {
        Ok(match self {
            Self::Path(path) => helm::chart::load(path)?,
            Self::Archive(bytes) => helm::chart::load_archive(bytes)?,
        })
    }
}

/// Find a chart.
///
/// # Errors
/// Helm's text: no such path, repository, chart or version; a server that does not answer or says no.
pub(super) async fn locate(reference: &str, flags: &ChartFlags, printer: &Printer) -> Result<Located> {
    // Helm makes its registry client first, whatever the reference is.
    flags.certificates.check().map_err(|e| anyhow!("missing registry client: {e}"))?;
    let reference = reference.trim();
    if flags.repo.as_deref().unwrap_or_default().is_empty() {
        let path = Path::new(reference);
        if path.exists() {
            if flags.verify && path.is_dir() {
                bail!("unpacked charts cannot be verified");
            }
            refuse_verify(flags)?;
            return Ok(Located::Path(std::path::absolute(path)?));
        }
        if path.is_absolute() || reference.starts_with('.') {
            bail!("path {reference:?} not found");
        }
    }
    refuse_verify(flags)?;
    fetch(reference, flags, printer).await.map(Located::Archive)
}

fn refuse_verify(flags: &ChartFlags) -> Result<()> {
    if flags.verify {
        bail!("--verify is not supported: signatures are not checked here; run `helm verify` on the archive first");
    }
    Ok(())
}

async fn fetch(reference: &str, flags: &ChartFlags, printer: &Printer) -> Result<Vec<u8>> {
    let limits = Limits::default();
    if let Some(repo) = flags.repo.as_deref().filter(|r| !r.is_empty()) {
        let url = repositories::find_in(repo, reference, flags, printer).await?;
        if url.starts_with("oci://") {
            return oci::fetch(&url, flags, printer).await;
        }
        let (chart, base) = (parse_url(&url)?, parse_url(repo)?);
        let same = chart_source::http::same_origin(&base, &chart);
        let auth = flags.auth().filter(|_| flags.pass_credentials || same);
        let http = transport::http(&flags.certificates)?;
        return transport::get(&http, &chart, auth.as_ref(), "chart", limits.chart).await;
    }
    if reference.starts_with("oci://") {
        return oci::fetch(reference, flags, printer).await;
    }
    if reference.contains("://") {
        return repositories::fetch_address(reference, flags).await;
    }
    repositories::fetch_named(reference, flags, printer).await
}
