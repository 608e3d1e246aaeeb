//! Decoded records, by the resourceVersion of their Secret.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use helm::release::Release;

/// How many records are kept.
const MAX_RECORDS: usize = 4096;

type Key = (Arc<str>, String);
type Records = HashMap<Key, (String, Arc<Release>)>;

/// Decoded records that are shared by all releases of one process. A record is found only while its Secret has the
/// resourceVersion it was decoded from.
#[derive(Clone, Default)]
pub struct RecordCache(Arc<Mutex<Records>>);

impl std::fmt::Debug for RecordCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecordCache")
    }
}

impl RecordCache {
    pub(super) fn get(&self, namespace: &Arc<str>, object: &str, resource_version: &str) -> Option<Arc<Release>> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, release) = map.get(&(Arc::clone(namespace), object.to_string()))?;
        (!version.is_empty() && version == resource_version).then(|| Arc::clone(release))
    }

    pub(super) fn put(&self, namespace: &Arc<str>, object: &str, resource_version: &str, release: &Arc<Release>) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= MAX_RECORDS {
            map.clear();
        }
        map.insert((Arc::clone(namespace), object.to_string()), (resource_version.to_string(), Arc::clone(release)));
    }

    pub(super) fn remove(&self, namespace: &Arc<str>, object: &str) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.remove(&(Arc::clone(namespace), object.to_string()));
    }
}
