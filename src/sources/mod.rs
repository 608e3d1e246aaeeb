//! The kinds charts come from, reconciled by ourselves.
//!
//! Owns: HelmRepository, HelmChart and OCIRepository: fetching what they name, keeping it as artifacts, their statuses.
//! Does not own: HelmReleases; how to talk to repositories and registries (`chart-source`). The surprising things: a
//! repository of type `oci` is only a prefix: it has no status and no finalizer.

pub mod clients;
mod finalizer;
pub mod helm_chart;
pub mod helm_repository;
mod hosts;
pub mod oci_repository;
pub mod status;
pub mod storage;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use chart_source::{ChartCache, Index, Limits};
use flux_api::source::Artifact;
use kube_object::patch::merge_patch;
use kube_ops::{ApiError, Cluster, Resource};
use serde_json::Value as Json;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use hosts::Hosts;
pub use storage::Storage;

use crate::slot::away;

/// How many bytes of parsed charts are kept.
const CHART_CACHE: u64 = 64 << 20;

/// Everything that reconciling sources needs.
pub struct Sources {
    /// The cluster as the controller sees it, with source-controller's field manager.
    pub own: Cluster,
    /// Where artifacts are kept.
    pub storage: Storage,
    /// How much may be read.
    pub limits: Limits,
    /// Parsed charts by the digest of their archive.
    pub charts: Arc<ChartCache>,
    /// Parsed indexes by repository: the digest of their bytes, and the index.
    indexes: Mutex<HashMap<String, (String, Arc<Index>)>>,
    /// Statuses of charts and OCI repositories as this process wrote them last: watches lag behind.
    written: Mutex<HashMap<String, Written>>,
    /// Indexes that could not be had: when, and why.
    faults: Mutex<HashMap<String, (Instant, Fault)>>,
    /// Fetches that run.
    hosts: Hosts,
    /// One at a time per object.
    locks: Mutex<HashMap<String, Arc<AsyncMutex<()>>>>,
}

/// A status that was written: of which object, of which generation.
#[derive(Clone, Debug)]
struct Written {
    uid: String,
    generation: i64,
    status: Json,
}

/// A failed step in the words of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The type of the condition: `FetchFailed`, `BuildFailed`, `StorageOperationFailed`.
    pub condition: &'static str,
    /// Its reason.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
    /// Will it take a change by someone to go on?
    pub stalled: bool,
}

impl Fault {
    /// A fetch that failed and will be tried again.
    pub fn fetch(reason: &'static str, message: impl Into<String>) -> Self {
        Self { condition: "FetchFailed", reason, message: message.into(), stalled: false }
    }

    /// The same, which only a change can heal.
    pub fn stalled(self) -> Self {
        Self { stalled: true, ..self }
    }
}

impl Sources {
    /// With artifacts in `storage`.
    pub fn new(own: Cluster, storage: Storage, limits: Limits) -> Self {
        Self {
            own,
            storage,
            limits,
            charts: Arc::new(ChartCache::new(CHART_CACHE)),
            indexes: Mutex::default(),
            written: Mutex::default(),
            faults: Mutex::default(),
            hosts: Hosts::default(),
            locks: Mutex::default(),
        }
    }

    /// The lock of one object. Who holds it may be fetching, so that a pass waits for it outside of its slot.
    pub(crate) async fn lock(&self, kind: &str, namespace: &str, name: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(format!("{kind}/{namespace}/{name}")).or_default())
        };
        match Arc::clone(&lock).try_lock_owned() {
            Ok(guard) => guard,
            Err(_) => away(lock.lock_owned()).await,
        }
    }

    /// The status this process wrote last for an object, if it is still of that generation.
    pub(crate) fn last_written<T: serde::de::DeserializeOwned>(
        &self,
        key: &str,
        meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    ) -> Option<T> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()?;
        let same = meta.uid.as_deref() == Some(&written.uid) && meta.generation == Some(written.generation);
        if same { serde_json::from_value(written.status).ok() } else { None }
    }

    pub(crate) fn remember<T: serde::Serialize>(
        &self,
        key: &str,
        meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
        status: &T,
    ) {
        let written = Written {
            uid: meta.uid.clone().unwrap_or_default(),
            generation: meta.generation.unwrap_or(0),
            status: serde_json::to_value(status).unwrap_or_default(),
        };
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into(), written);
    }

    fn index(&self, key: &str) -> Option<(String, Arc<Index>)> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn keep_index(&self, key: &str, digest: &str, index: &Arc<Index>) {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.insert(key.into(), (digest.into(), Arc::clone(index)));
    }

    /// Why an index could not be had, if that turned out after a moment.
    fn fault_since(&self, key: &str, moment: Instant) -> Option<Fault> {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.get(key).filter(|(at, _)| *at >= moment).map(|(_, fault)| fault.clone())
    }

    fn keep_fault(&self, key: &str, fault: &Fault) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.insert(key.into(), (Instant::now(), fault.clone()));
    }

    /// An object is gone: nothing of it is kept in memory. `kind` is that of its path in storage.
    pub fn forget(&self, kind: &str, namespace: &str, name: &str) {
        let index = format!("{namespace}/{name}");
        if kind == "HelmRepository" {
            self.indexes.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
            self.faults.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
        }
        let key = format!("{kind}/{namespace}/{name}");
        self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        // A lock that someone holds or waits for stays: there must not be two.
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.get(&key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&key);
        }
    }

    /// A Secret's data, decoded.
    ///
    /// # Errors
    /// The server's words, such as `secrets "x" not found`.
    pub(crate) async fn secret(&self, namespace: &str, name: &str) -> Result<clients::SecretData, String> {
        let resource =
            Resource { gvk: kube_object::Gvk::new("v1", "Secret"), plural: "secrets".into(), namespaced: true };
        match self.own.get(&resource, namespace, name).await {
            Ok(Some(secret)) => Ok(clients::SecretData::new(namespace, name, &secret)),
            Ok(None) => Err(format!("secrets {name:?} not found")),
            Err(e) => Err(e.to_string()),
        }
    }

    /// The chart of an artifact that this process stored.
    ///
    /// # Errors
    /// The file is gone or is no chart.
    pub async fn chart(&self, artifact: &Artifact) -> Result<Arc<helm::Chart>, chart_source::Error> {
        let digest = artifact.digest.clone().unwrap_or_default();
        let path = artifact.path.clone();
        self.charts
            .get_or_fetch(&digest, || async {
                let bytes = self.storage.read(&path).await.map_err(|_| chart_source::Error::ArtifactNotFound)?;
                chart_source::digest::verify(&bytes, &digest)?;
                Ok(bytes)
            })
            .await
    }

    /// Write what of a status changed, by a merge patch; nothing is sent where nothing did.
    pub(crate) async fn write_status<T: serde::Serialize>(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
        stored: &T,
        status: &T,
    ) -> Result<(), ApiError> {
        let json = |s: &T| serde_json::to_value(s).unwrap_or_default();
        let Some(change) = merge_patch(&json(stored), &json(status)) else { return Ok(()) };
        let patch = serde_json::json!({"status": change});
        self.own.patch_status::<serde::de::IgnoredAny>(&resource(plural), namespace, name, &patch).await.map(drop)
    }
}

/// A kind of ours, as far as writing to its objects needs it.
fn resource(plural: &str) -> Resource {
    Resource { gvk: kube_object::Gvk::new("source.toolkit.fluxcd.io/v1", ""), plural: plural.into(), namespaced: true }
}
