//! OCIRepository: an artifact in a registry.

use std::time::Duration;

use chart_source::oci::LayerSelector;
use chart_source::{Error, OciRepository as Client};
use flux_api::OCIRepository;
use flux_api::meta::{REQUESTED_AT, reason};
use flux_api::source::{Artifact, OCIRepositorySpec, OCIRepositoryStatus};
use jiff::Timestamp;
use kube_ops::ApiError;

use super::helm_repository::{chain, storage_fault};
use super::{Fault, Sources, Storage, clients, status};
use crate::slot::away;

/// The file that is always the newest artifact.
const LATEST: &str = "latest.tar.gz";

/// The media type of a Helm chart's layer.
pub const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// The revision an OCIRepository's reference leads to now: `<tag>@<digest>`, or the digest alone; and the digest.
///
/// # Errors
/// No tag, or the registry does not answer.
pub async fn revision(spec: &OCIRepositorySpec, client: &Client) -> Result<(String, String), Fault> {
    let reference = spec.reference.clone().unwrap_or_default();
    if let Some(digest) = reference.digest.filter(|d| !d.is_empty()) {
        return Ok((digest.clone(), digest));
    }
    let tag = match reference.semver.filter(|s| !s.is_empty()) {
        Some(semver) => {
            let fault = |e: Error| {
                let text = format!("failed to determine the artifact tag for '{}': {}", spec.url, chain(&e));
                Fault::fetch(reason::READ_OPERATION_FAILED, text)
            };
            let tags = client.tags().await.map_err(fault)?;
            let is_chart = selector(spec).media_type.as_deref() == Some(CHART_LAYER);
            chart_source::tags::select(&tags, &semver, reference.semver_filter.as_deref(), is_chart)
                .map_err(fault)?
                .to_string()
        }
        None => reference.tag.filter(|t| !t.is_empty()).unwrap_or_else(|| "latest".into()),
    };
    let digest = client.resolve(&tag).await.map_err(|e| {
        Fault::fetch(reason::OCI_PULL_FAILED, format!("failed to determine artifact digest: {}", chain(&e)))
    })?;
    Ok((format!("{tag}@{digest}"), digest))
}

/// Which layer is wanted, and how.
pub fn selector(spec: &OCIRepositorySpec) -> LayerSelector {
    let selector = spec.layer_selector.clone().unwrap_or_default();
    LayerSelector { media_type: selector.media_type, copy: selector.operation.as_deref() == Some("copy") }
}

/// The bytes of the artifact at a digest.
///
/// # Errors
/// The registry does not answer, or the layer is not there.
pub async fn fetch(spec: &OCIRepositorySpec, client: &Client, digest: &str) -> Result<Vec<u8>, Fault> {
    let pull = |e: &Error| {
        let reason = if matches!(e, Error::Layer(_)) { reason::OCI_LAYER_FAILED } else { reason::OCI_PULL_FAILED };
        let text = match e {
            Error::Layer(text) => text.clone(),
            e => format!("failed to pull artifact from '{}': {}", spec.url, chain(e)),
        };
        Fault::fetch(reason, text)
    };
    let manifest = client.manifest(digest).await.map_err(|e| pull(&e))?;
    client.fetch_layer(&manifest, &selector(spec)).await.map_err(|e| pull(&e))
}

impl Sources {
    /// Bring an OCI repository up to date and write its status; gives the status as it is then, and when to look again.
    ///
    /// # Errors
    /// The status cannot be written.
    pub async fn reconcile_oci_repository(
        &self,
        repository: &OCIRepository,
    ) -> Result<(OCIRepositoryStatus, Option<Duration>), ApiError> {
        let meta = &repository.metadata;
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        let _one = self.lock("OCIRepository", namespace, name).await;
        let key = format!("OCIRepository/{namespace}/{name}");
        let mine: Option<OCIRepositoryStatus> = self.last_written(&key, meta);
        let stored = mine.clone().or_else(|| repository.status.clone()).unwrap_or_default();
        let mut status: OCIRepositoryStatus = stored.clone();
        if self.let_go("OCIRepository", "ocirepositories", meta).await? || repository.spec.suspend == Some(true) {
            return Ok((stored, None));
        }
        if mine.is_none() {
            self.hold("ocirepositories", meta).await?;
        }
        let generation = meta.generation.unwrap_or(0);
        if let Some(token) = meta.annotations.as_ref().and_then(|a| a.get(REQUESTED_AT)) {
            status.last_handled_reconcile_at = Some(token.clone());
        }
        let interval = repository.spec.interval.as_std();
        let next = match away(self.pull_oci(repository, namespace, name, &stored)).await {
            Ok(artifact) => {
                let message = format!("stored artifact for digest '{}'", artifact.revision);
                status::stored(&mut status.conditions, generation, reason::SUCCEEDED, &message, Timestamp::now());
                status.observed_generation = Some(generation);
                status.observed_layer_selector.clone_from(&repository.spec.layer_selector);
                status.url = Some(self.storage.url(&Storage::path("OCIRepository", namespace, name, LATEST)));
                status.artifact = Some(artifact);
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
        self.write_status("ocirepositories", namespace, name, &stored, &status).await?;
        self.remember(&key, meta, &status);
        Ok((status, next))
    }

    async fn pull_oci(
        &self,
        repository: &OCIRepository,
        namespace: &str,
        name: &str,
        stored: &OCIRepositoryStatus,
    ) -> Result<Artifact, Fault> {
        let spec = &repository.spec;
        if spec.verify.is_some() {
            return Err(Fault::fetch(
                reason::FAILED,
                "spec.verify is not supported by the built-in sources; run source-controller and --sources=external",
            )
            .stalled());
        }
        let client = clients::oci_repository(spec, namespace, self, self.limits).await?;
        let _leave = self.hosts.admit(&spec.url).await;
        let (revision, digest) = revision(spec, &client).await?;
        let path = Storage::path("OCIRepository", namespace, name, &format!("{digest}.tar.gz"));
        if let Some(artifact) = &stored.artifact
            && artifact.revision == revision
            && artifact.path == path
            && stored.observed_layer_selector == spec.layer_selector
            && self.storage.has(&path).await
        {
            return Ok(artifact.clone());
        }
        let bytes = fetch(spec, &client, &digest).await?;
        self.storage.store(&path, LATEST, &revision, bytes).await.map_err(|e| storage_fault(&e))
    }
}
