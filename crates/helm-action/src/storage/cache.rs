//! Decoded records, by the resourceVersion of their Secret.
//!
//! Owns: how much of them is kept. The surprising thing: what falls out costs one read when it is needed again, nothing
//! else, so the oldest go first, whoever uses them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use helm::release::Release;

/// How much is kept, in bytes of manifests and chart files. Files that records share are counted for each.
const MAX_BYTES: usize = 128 << 20;

type Key = (Arc<str>, String);

/// Decoded records that are shared by all releases of one process. A record is found only while its Secret has the
/// resourceVersion it was decoded from.
#[derive(Clone, Default)]
pub struct RecordCache(Arc<Mutex<Records>>);

#[derive(Default)]
struct Records {
    entries: HashMap<Key, Entry>,
    /// Keys in the order of their entries' numbers; numbers of entries that were replaced are stale.
    order: VecDeque<(u64, Key)>,
    next: u64,
    bytes: usize,
}

struct Entry {
    number: u64,
    resource_version: String,
    release: Arc<Release>,
    bytes: usize,
}

impl std::fmt::Debug for RecordCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecordCache")
    }
}

impl RecordCache {
    pub(super) fn get(&self, namespace: &Arc<str>, object: &str, resource_version: &str) -> Option<Arc<Release>> {
        let records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = records.entries.get(&(Arc::clone(namespace), object.to_string()))?;
        let same = !entry.resource_version.is_empty() && entry.resource_version == resource_version;
        same.then(|| Arc::clone(&entry.release))
    }

    pub(super) fn put(&self, namespace: &Arc<str>, object: &str, resource_version: &str, release: &Arc<Release>) {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.put((Arc::clone(namespace), object.to_string()), resource_version, release, MAX_BYTES);
    }

    pub(super) fn remove(&self, namespace: &Arc<str>, object: &str) {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.remove(&(Arc::clone(namespace), object.to_string()));
    }
}

impl Records {
    fn put(&mut self, key: Key, resource_version: &str, release: &Arc<Release>, limit: usize) {
        self.remove(&key);
        let (number, bytes) = (self.next, size(release));
        self.next += 1;
        self.bytes += bytes;
        self.order.push_back((number, key.clone()));
        let entry =
            Entry { number, resource_version: resource_version.to_string(), release: Arc::clone(release), bytes };
        self.entries.insert(key, entry);
        // Stale numbers go when they come to the front; there are never many more of them than entries.
        while self.bytes > limit || self.order.len() > 2 * self.entries.len() + 16 {
            let Some((number, key)) = self.order.pop_front() else { break };
            if self.entries.get(&key).is_some_and(|e| e.number == number) {
                if self.bytes > limit {
                    self.remove(&key);
                } else {
                    self.order.push_back((number, key));
                }
            }
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
        }
    }
}

/// About how much memory a record takes, in bytes.
fn size(release: &Release) -> usize {
    let files = release.chart.templates.iter().chain(&release.chart.files).map(|f| f.name.len() + f.data.len());
    let hooks = release.hooks.iter().map(|h| h.manifest.len());
    4096 + release.manifest.len() + hooks.sum::<usize>() + files.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let mut records = Records::default();
        let release = Arc::new(Release { manifest: "x".repeat(10_000), ..Release::default() });
        let key = |n: usize| -> Key { ("ns".into(), format!("r{n}")) };
        for n in 0..50 {
            records.put(key(n), "1", &release, 100_000);
        }
        assert!(records.bytes <= 100_000 && records.entries.len() == 7, "{}", records.entries.len());
        assert!(records.entries.contains_key(&key(49)) && !records.entries.contains_key(&key(0)));
        // What is written again and again neither grows nor drives others out.
        for n in 0..1000 {
            records.put(key(49), &n.to_string(), &release, 100_000);
        }
        assert!(records.entries.len() == 7 && records.order.len() < 40, "{}", records.order.len());
        for n in 0..50 {
            records.remove(&key(n));
        }
        assert!(records.bytes == 0 && records.entries.is_empty());
    }
}
