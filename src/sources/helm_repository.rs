//! HelmRepository: the index of an HTTP repository.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chart_source::{Error, Index};
use flux_api::HelmRepository;
use flux_api::meta::{REQUESTED_AT, reason};
use jiff::Timestamp;
use kube_ops::ApiError;

use super::{Fault, Sources, Storage, clients, status};

/// The file that is always the newest artifact.
const LATEST: &str = "index.yaml";
use crate::slot::away;

impl Sources {
    /// Bring a repository up to date; gives when to look again.
    ///
    /// # Errors
    /// The status cannot be written.
    pub async fn reconcile_repository(&self, repository: &HelmRepository) -> Result<Option<Duration>, ApiError> {
        let (namespace, name) = identity(repository);
        // A registry prefix has nothing to fetch and nothing to say.
        if self.let_go("HelmRepository", "helmrepositories", &repository.metadata).await? || repository.spec.is_oci() {
            return Ok(None);
        }
        let _one = self.lock("HelmRepository", namespace, name).await;
        let stored = repository.status.clone().unwrap_or_default();
        let mut status = stored.clone();
        let generation = repository.metadata.generation.unwrap_or(0);
        if let Some(token) = repository.metadata.annotations.as_ref().and_then(|a| a.get(REQUESTED_AT)) {
            status.last_handled_reconcile_at = Some(token.clone());
        }
        let interval =
            repository.spec.interval.as_ref().map_or(Duration::from_mins(1), flux_api::meta::Duration::as_std);
        if repository.spec.suspend == Some(true) {
            return Ok(None);
        }
        self.hold("helmrepositories", &repository.metadata).await?;
        let next = match away(self.fetch_index(repository)).await {
            Ok((digest, bytes)) => {
                let file = format!("index-{}.yaml", digest.trim_start_matches("sha256:"));
                let path = Storage::path("HelmRepository", namespace, name, &file);
                let same = stored.artifact.as_ref().is_some_and(|a| a.revision == digest && a.path == path);
                let kept = if same && self.storage.has(&path).await {
                    Ok(())
                } else {
                    self.storage.store(&path, LATEST, &digest, bytes).await.map(|artifact| {
                        let latest = Storage::path("HelmRepository", namespace, name, LATEST);
                        status.url = Some(self.storage.url(&latest));
                        status.artifact = Some(artifact);
                    })
                };
                match kept {
                    Ok(()) => {
                        let message = format!("stored artifact: revision '{digest}'");
                        status::stored(
                            &mut status.conditions,
                            generation,
                            reason::SUCCEEDED,
                            &message,
                            Timestamp::now(),
                        );
                        status.observed_generation = Some(generation);
                        Some(interval)
                    }
                    Err(e) => {
                        status::failed(&mut status.conditions, generation, &storage_fault(&e), Timestamp::now());
                        Some(Duration::from_secs(15).min(interval))
                    }
                }
            }
            Err(fault) => {
                status::failed(&mut status.conditions, generation, &fault, Timestamp::now());
                if fault.stalled {
                    status.observed_generation = Some(generation);
                }
                (!fault.stalled).then_some(Duration::from_secs(15).min(interval))
            }
        };
        self.write_status("helmrepositories", namespace, name, &stored, &status).await?;
        Ok(next)
    }

    /// Fetch the index and keep it parsed, or why it could not be had. Gives the digest of its bytes, and the bytes.
    async fn fetch_index(&self, repository: &HelmRepository) -> Result<(String, Vec<u8>), Fault> {
        let (namespace, name) = identity(repository);
        let key = format!("{namespace}/{name}");
        let fetched = self.fetch_parsed(repository, namespace, &key).await;
        if let Err(fault) = &fetched {
            self.keep_fault(&key, fault);
        }
        fetched
    }

    async fn fetch_parsed(
        &self,
        repository: &HelmRepository,
        namespace: &str,
        key: &str,
    ) -> Result<(String, Vec<u8>), Fault> {
        let client = clients::repository(&repository.spec, namespace, self, self.limits).await?;
        let _leave = self.hosts.admit(&repository.spec.url).await;
        let bytes = client.fetch_index().await.map_err(|e| index_fault(&e))?;
        let digest = chart_source::digest::sha256(&bytes);
        if self.index(key).is_none_or(|(known, _)| known != digest) {
            let index = parse(bytes.clone()).await.map_err(|e| index_fault(&e))?;
            self.keep_index(key, &digest, &Arc::new(index));
        }
        Ok((digest, bytes))
    }

    /// The parsed index of a repository, fetched if it is not at hand.
    ///
    /// # Errors
    /// It cannot be fetched or read.
    pub async fn repository_index(&self, repository: &HelmRepository) -> Result<(String, Arc<Index>), Fault> {
        let (namespace, name) = identity(repository);
        let key = format!("{namespace}/{name}");
        let revision = repository.status.as_ref().and_then(|s| s.artifact.as_ref()).map(|a| a.revision.clone());
        if let Some((digest, index)) = self.index(&key)
            && revision.is_none_or(|r| r == digest)
        {
            return Ok((digest, index));
        }
        let asked = Instant::now();
        let _one = self.lock("HelmRepository", namespace, name).await;
        if let Some(known) = self.index(&key) {
            return Ok(known);
        }
        // Charts that waited while it could not be had do not each ask again.
        if let Some(fault) = self.fault_since(&key, asked) {
            return Err(fault);
        }
        self.fetch_index(repository).await?;
        self.index(&key).ok_or_else(|| Fault::fetch(reason::FAILED, "the index was not kept"))
    }
}

async fn parse(bytes: Vec<u8>) -> Result<Index, Error> {
    tokio::task::spawn_blocking(move || Index::parse(&bytes))
        .await
        .map_err(|_| Error::IndexLoad("the parser stopped".into()))?
}

/// The words for an index that cannot be had.
pub fn index_fault(e: &Error) -> Fault {
    match e {
        Error::IndexLoad(_) => Fault::fetch(
            reason::INDEXATION_FAILED,
            format!("failed to load Helm repository from index YAML: {}", chain(e)),
        ),
        Error::Auth(_) => Fault::fetch(reason::AUTHENTICATION_FAILED, chain(e)),
        _ => Fault::fetch(
            reason::FAILED,
            format!("failed to fetch Helm repository index: failed to cache index to temporary file: {}", chain(e)),
        ),
    }
}

/// The words for a disk that does not take an artifact.
pub fn storage_fault(e: &std::io::Error) -> Fault {
    Fault {
        condition: "StorageOperationFailed",
        reason: reason::ARCHIVE_OPERATION_FAILED,
        message: format!("unable to save artifact to storage: {e}"),
        stalled: false,
    }
}

/// An error with its causes.
pub fn chain(e: &dyn std::error::Error) -> String {
    let mut text = e.to_string();
    let mut source = e.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

fn identity(repository: &HelmRepository) -> (&str, &str) {
    let meta = &repository.metadata;
    (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
}
