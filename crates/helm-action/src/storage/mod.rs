//! Releases in storage.
//!
//! Owns: creating, updating, listing and pruning the Secrets that hold releases, and a cache of decoded records by
//! resourceVersion. Follows Helm's `pkg/storage`. The surprising things: the newest revision is the one with the highest
//! number, not the last of the list, whose order is alphabetical; a record's Secret is listed by its metadata alone,
//! because each holds the whole chart.

mod cache;
mod fit;
mod secrets;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use helm::release::{Release, Status, codec};
use kube_ops::{Class, Cluster};

use crate::error::Error;
pub use cache::RecordCache;
pub use fit::{MAX_SECRET, Packed};

/// The records of one namespace, as one identity sees them.
#[derive(Clone, Debug)]
pub struct Storage {
    cluster: Cluster,
    namespace: Arc<str>,
    cache: RecordCache,
    listed: Arc<Mutex<Option<Listed>>>,
}

/// A release's name and its records, as last listed.
type Listed = (String, Vec<RecordHead>);

/// What is known of a record without decoding it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// The revision.
    pub version: i64,
    /// Its status by label.
    pub status: Status,
    /// The Secret's name.
    pub object: String,
    /// The Secret's resourceVersion.
    pub resource_version: String,
    /// The Secret's labels.
    pub labels: BTreeMap<String, String>,
}

impl Storage {
    /// The storage in `namespace`. Records that were read once are not read again while their resourceVersion stays.
    pub fn new(cluster: Cluster, namespace: &str, cache: RecordCache) -> Self {
        Self { cluster, namespace: namespace.into(), cache, listed: Arc::default() }
    }

    /// Where the records are.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    fn fault(step: &'static str) -> impl Fn(kube_ops::Error) -> Error {
        move |source| Error::Storage { step, source: Box::new(source) }
    }

    /// All revisions of a release, oldest first, without their content: one request.
    ///
    /// # Errors
    /// The records may not be listed.
    pub async fn heads(&self, name: &str) -> Result<Vec<RecordHead>, Error> {
        let mut heads = secrets::heads(&self.cluster, &self.namespace, name)
            .await
            .map_err(Self::fault("query: failed to query"))?;
        heads.sort_by_key(|h| h.version);
        Ok(heads)
    }

    /// As [`Storage::heads`], and the action that follows builds on this answer instead of asking again.
    ///
    /// # Errors
    /// As there.
    pub async fn observe(&self, name: &str) -> Result<Vec<RecordHead>, Error> {
        let heads = self.readable(name).await?;
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some((name.to_owned(), heads.clone()));
        Ok(heads)
    }

    /// What was observed just now, once; else the answer of a new request. That someone else wrote in between shows
    /// when the next revision is created: two cannot have the same number.
    ///
    /// # Errors
    /// As [`Storage::heads`].
    pub async fn observed(&self, name: &str) -> Result<Vec<RecordHead>, Error> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner).take();
        match listed {
            Some((of, heads)) if of == name => Ok(heads),
            _ => self.readable(name).await,
        }
    }

    /// As [`Storage::heads`], but the newest one can be read: what someone damaged behind it does not count, as in Helm.
    async fn readable(&self, name: &str) -> Result<Vec<RecordHead>, Error> {
        let mut heads = self.heads(name).await?;
        let any = !heads.is_empty();
        while let Some(head) = heads.last() {
            match self.read(head).await {
                Err(Error::Chart(helm::Error::Record(why))) => {
                    tracing::warn!(record = head.object, why, "a damaged record does not count");
                    heads.pop();
                }
                Err(e) => return Err(e),
                Ok(_) => return Ok(heads),
            }
        }
        if any { Err(Error::NoRevision(name.into())) } else { Ok(heads) }
    }

    /// The release of a head, from the cache or by one request.
    ///
    /// # Errors
    /// The record may not be read, is gone, or cannot be decoded.
    pub async fn read(&self, head: &RecordHead) -> Result<Arc<Release>, Error> {
        if let Some(known) = self.cache.get(&self.namespace, &head.object, &head.resource_version) {
            return Ok(known);
        }
        let (release, version) = secrets::read(&self.cluster, &self.namespace, &head.object)
            .await
            .map_err(Self::fault("get: failed to get"))?
            .ok_or(Error::NotFound)?;
        let mut release = release?;
        release.labels = codec::user_labels(&head.labels);
        let release = Arc::new(release);
        self.cache.put(&self.namespace, &head.object, &version, &release);
        Ok(release)
    }

    /// The newest revision, or nothing.
    ///
    /// # Errors
    /// As [`Storage::heads`] and [`Storage::read`].
    pub async fn last(&self, name: &str) -> Result<Option<Arc<Release>>, Error> {
        match self.heads(name).await?.last() {
            Some(head) => Ok(Some(self.read(head).await?)),
            None => Ok(None),
        }
    }

    /// One revision, or nothing.
    ///
    /// # Errors
    /// As [`Storage::read`].
    pub async fn get(&self, name: &str, version: i64) -> Result<Option<Arc<Release>>, Error> {
        match self.heads(name).await?.iter().find(|h| h.version == version) {
            Some(head) => Ok(Some(self.read(head).await?)),
            None => Ok(None),
        }
    }

    /// Pack a new revision: whole where it fits, else without templates and files. Nothing is asked or written.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn pack(&self, release: Release) -> Result<Packed, Error> {
        fit::pack(release, &self.namespace)
    }

    /// As [`Storage::pack`] for a revision whose manifest is not known yet: could it fit at all?
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn check_unrendered(&self, release: Release) -> Result<(), Error> {
        fit::check_unrendered(release, &self.namespace)
    }

    /// Write a new revision. With `max_history` above 0 the oldest ones go first, never the newest deployed one.
    ///
    /// # Errors
    /// Someone else wrote the revision, or the server's answer.
    pub async fn create(&self, packed: &Packed, max_history: i64, heads: &[RecordHead]) -> Result<(), Error> {
        let Packed { release, data, .. } = packed;
        if max_history > 0 {
            self.prune(release, max_history, heads).await?;
        }
        let written = secrets::create(&self.cluster, &self.namespace, release, data).await;
        let object = written.map_err(|e| match e.class() {
            Class::AlreadyExists => {
                Error::Storage { step: "create: failed to create: release: already exists", source: Box::new(e) }
            }
            _ => Self::fault("create: failed to create")(e),
        })?;
        self.cache.put(&self.namespace, &object.name, &object.resource_version, release);
        Ok(())
    }

    /// Write a revision's new state. Gives what was written: all of it, but for what would not fit.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn update(&self, release: Release) -> Result<Arc<Release>, Error> {
        let (release, data) = fit::repack(release)?;
        let object = secrets::update(&self.cluster, &self.namespace, &release, &data)
            .await
            .map_err(Self::fault("update: failed to update"))?;
        self.cache.put(&self.namespace, &object.name, &object.resource_version, &release);
        Ok(release)
    }

    /// Delete a revision's record; nothing happens if there is none.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn delete(&self, object: &str) -> Result<(), Error> {
        secrets::delete(&self.cluster, &self.namespace, object)
            .await
            .map_err(Self::fault("delete: failed to delete"))?;
        self.cache.remove(&self.namespace, object);
        Ok(())
    }

    async fn prune(&self, release: &Release, max_history: i64, heads: &[RecordHead]) -> Result<(), Error> {
        let keep = usize::try_from(max_history - 1).unwrap_or(0);
        let older: Vec<&RecordHead> = heads.iter().filter(|h| h.version < release.version).collect();
        let mut excess = older.len().saturating_sub(keep);
        let deployed = older.iter().rev().find(|h| h.status == Status::Deployed).map(|h| h.version);
        for head in older {
            if excess == 0 {
                break;
            }
            if Some(head.version) == deployed {
                continue;
            }
            self.delete(&head.object).await?;
            excess -= 1;
        }
        Ok(())
    }
}
