//! HelmChart: one chart of a repository.
//!
//! Owns: choosing the version, fetching the archive, keeping it as an artifact. The surprising thing: a HelmRelease that
//! needs its chart drives this directly and waits, so that a fresh release does not first report that its source is not
//! ready.

use std::time::Duration;

use chart_source::Error;
use flux_api::meta::{REQUESTED_AT, reason};
use flux_api::source::{Artifact, HelmChartStatus};
use flux_api::{HelmChart, HelmRepository};
use jiff::Timestamp;
use kube_ops::ApiError;

use super::helm_repository::{chain, storage_fault};
use super::{Fault, Sources, Storage, clients, status};
use crate::slot::away;

/// The file that is always the newest artifact.
const LATEST: &str = "latest.tar.gz";

/// What a chart was resolved to.
struct Pulled {
    artifact: Artifact,
    chart: String,
}

impl Sources {
    /// Bring a chart up to date and write its status; gives the status as it is then, and when to look again.
    /// `repository` is its source, if there is one.
    ///
    /// # Errors
    /// The status cannot be written.
    pub async fn reconcile_chart(
        &self,
        chart: &HelmChart,
        repository: Option<&HelmRepository>,
    ) -> Result<(HelmChartStatus, Option<Duration>), ApiError> {
        let (namespace, name) = identity(chart);
        let _one = self.lock("HelmChart", namespace, name).await;
        let key = format!("HelmChart/{namespace}/{name}");
        let mine: Option<HelmChartStatus> = self.last_written(&key, &chart.metadata);
        let stored = mine.clone().or_else(|| chart.status.clone()).unwrap_or_default();
        let mut status: HelmChartStatus = stored.clone();
        if self.let_go("HelmChart", "helmcharts", &chart.metadata).await? || chart.spec.suspend == Some(true) {
            return Ok((stored, None));
        }
        if mine.is_none() {
            self.hold("helmcharts", &chart.metadata).await?;
        }
        let generation = chart.metadata.generation.unwrap_or(0);
        if let Some(token) = chart.metadata.annotations.as_ref().and_then(|a| a.get(REQUESTED_AT)) {
            status.last_handled_reconcile_at = Some(token.clone());
        }
        let interval = chart.spec.interval.as_std();
        let pull = self.pull(chart, repository, &stored, &mut status.observed_source_artifact_revision);
        let next = match away(pull).await {
            Ok(pulled) => {
                let version = &pulled.artifact.revision;
                let message = format!("pulled '{}' chart with version '{version}'", pulled.chart);
                status::stored(
                    &mut status.conditions,
                    generation,
                    reason::CHART_PULL_SUCCEEDED,
                    &message,
                    Timestamp::now(),
                );
                status.observed_generation = Some(generation);
                status.observed_chart_name = Some(pulled.chart);
                status.url = Some(self.storage.url(&Storage::path("HelmChart", namespace, name, LATEST)));
                status.artifact = Some(pulled.artifact);
                Some(interval)
            }
            Err(fault) => {
                status::failed(&mut status.conditions, generation, &fault, Timestamp::now());
                if fault.stalled {
                    status.observed_generation = Some(generation);
                }
                Some(if fault.stalled { interval } else { Duration::from_secs(15).min(interval) })
            }
        };
        self.write_status("helmcharts", namespace, name, &stored, &status).await?;
        self.remember(&key, &chart.metadata, &status);
        Ok((status, next))
    }

    async fn pull(
        &self,
        chart: &HelmChart,
        repository: Option<&HelmRepository>,
        stored: &HelmChartStatus,
        source_revision: &mut Option<String>,
    ) -> Result<Pulled, Fault> {
        let (namespace, _) = identity(chart);
        let source = &chart.spec.source_ref;
        if source.kind != "HelmRepository" {
            return Err(Fault::fetch(
                reason::UNSUPPORTED_SOURCE_KIND,
                format!(
                    "charts from a {} are not supported by the built-in sources; run source-controller and --sources=external",
                    source.kind
                ),
            )
            .stalled());
        }
        if chart.spec.verify.is_some() || !chart.spec.values_files.is_empty() {
            let what = if chart.spec.verify.is_some() { "verify" } else { "valuesFiles" };
            return Err(Fault::fetch(
                reason::CHART_PULL_ERROR,
                format!(
                    "spec.{what} is not supported by the built-in sources; run source-controller and --sources=external"
                ),
            )
            .stalled());
        }
        let repository = repository.ok_or_else(|| {
            Fault::fetch(
                reason::SOURCE_UNAVAILABLE,
                format!("failed to get source: helmrepositories.source.toolkit.fluxcd.io {:?} not found", source.name),
            )
        })?;
        let wanted = chart.spec.version.as_deref().unwrap_or("*");
        if repository.spec.is_oci() {
            let client = clients::oci_chart(&repository.spec, &chart.spec.chart, namespace, self, self.limits).await?;
            let _leave = self.hosts.admit(&repository.spec.url).await;
            let version = client.choose_chart(wanted).await.map_err(|e| pull_fault(&e))?;
            if let Some(same) = self.same(chart, stored, &version).await {
                return Ok(Pulled { artifact: same, chart: chart.spec.chart.clone() });
            }
            let (bytes, _) = client.fetch_chart(&version).await.map_err(|e| pull_fault(&e))?;
            let artifact = self.keep(chart, &version, bytes).await?;
            return Ok(Pulled { artifact, chart: chart.spec.chart.clone() });
        }
        let (revision, index) = self.repository_index(repository).await?;
        *source_revision = Some(revision);
        let entry = index.choose(&chart.spec.chart, wanted).map_err(|e| {
            Fault::fetch(
                reason::INVALID_CHART_REFERENCE,
                format!("invalid chart reference: failed to get chart version for remote reference: {}", chain(&e)),
            )
            .stalled()
        })?;
        let done = |artifact| Pulled { artifact, chart: chart.spec.chart.clone() };
        if let Some(same) = self.same(chart, stored, &entry.version).await {
            return Ok(done(same));
        }
        let client = clients::repository(&repository.spec, namespace, self, self.limits).await?;
        let address = client.chart_url(&chart.spec.chart, entry).map_err(|e| pull_fault(&e))?;
        let _leave = self.hosts.admit(address.as_str()).await;
        let bytes = client.fetch_chart_checked(&chart.spec.chart, entry).await.map_err(|e| pull_fault(&e))?;
        Ok(done(self.keep(chart, &entry.version, bytes).await?))
    }

    /// The artifact in storage, if it is that of this version and of the current spec.
    async fn same(&self, chart: &HelmChart, stored: &HelmChartStatus, version: &str) -> Option<Artifact> {
        let artifact = stored.artifact.as_ref()?;
        let (namespace, name) = identity(chart);
        let path = Storage::path("HelmChart", namespace, name, &file_name(chart, version));
        let current = stored.observed_generation == chart.metadata.generation
            && artifact.revision == version
            && artifact.path == path
            && self.storage.has(&path).await;
        current.then(|| artifact.clone())
    }

    async fn keep(&self, chart: &HelmChart, version: &str, bytes: Vec<u8>) -> Result<Artifact, Fault> {
        let digest = chart_source::digest::sha256(&bytes);
        let archive = bytes.clone();
        // What does not parse is refused here, and what does is at hand for the release that asked for it.
        self.charts.get_or_fetch(&digest, || async { Ok(archive) }).await.map_err(|e| Fault {
            condition: "BuildFailed",
            reason: reason::CHART_PULL_ERROR,
            message: format!("chart pull error: {}", chain(&e)),
            stalled: false,
        })?;
        let (namespace, name) = identity(chart);
        let path = Storage::path("HelmChart", namespace, name, &file_name(chart, version));
        self.storage.store(&path, LATEST, version, bytes).await.map_err(|e| storage_fault(&e))
    }
}

fn file_name(chart: &HelmChart, version: &str) -> String {
    let base = chart.spec.chart.rsplit('/').next().unwrap_or(&chart.spec.chart);
    format!("{base}-{}.tgz", version.replace('/', "_"))
}

/// The words for a chart that cannot be pulled.
pub fn pull_fault(e: &Error) -> Fault {
    let status = e.status().map(|s| s.as_u16());
    match (e, status) {
        (Error::Auth(_), _) | (_, Some(401 | 403)) => Fault::fetch(
            reason::AUTHENTICATION_FAILED,
            format!("failed to authenticate with the Helm repository: {}", chain(e)),
        ),
        _ => Fault::fetch(reason::CHART_PULL_ERROR, format!("chart pull error: {}", chain(e))),
    }
}

fn identity(chart: &HelmChart) -> (&str, &str) {
    let meta = &chart.metadata;
    (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
}
