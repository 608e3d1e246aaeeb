//! Charts that were fetched before.
//!
//! Owns: parsed charts in memory by digest, shared and bounded; archives on disk, bounded. Does not own: fetching.
//! The surprising thing: of many that ask for one digest at once, one fetches and the others wait for it; if it fails,
//! the next of them tries.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use helm::chart::Chart;
use tokio::sync::OnceCell;

use crate::{Error, digest, parse_chart};

type Cell = Arc<OnceCell<(Arc<Chart>, u64)>>;

/// Parsed charts by the digest of their archive.
#[derive(Debug)]
pub struct ChartCache {
    state: Mutex<State>,
    max_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    slots: HashMap<String, Slot>,
    clock: u64,
}

#[derive(Debug)]
struct Slot {
    cell: Cell,
    used: u64,
}

impl Slot {
    fn size(&self) -> u64 {
        self.cell.get().map_or(0, |(_, size)| *size)
    }
}

impl ChartCache {
    /// A cache for charts of so many bytes together. A chart counts as the files it holds and its archive once more,
    /// for what was parsed.
    pub fn new(max_bytes: u64) -> Self {
        Self { state: Mutex::default(), max_bytes }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chart with this digest; if it is not there, `fetch` gives the archive. That the bytes are those of the
    /// digest is for `fetch` to check, because a digest may be that of an OCI manifest.
    ///
    /// # Errors
    /// What `fetch` says, or [`Error::Chart`]. Errors are not remembered.
    pub async fn get_or_fetch<F, T>(&self, digest: &str, fetch: F) -> Result<Arc<Chart>, Error>
    where
        F: FnOnce() -> T,
        T: Future<Output = Result<Vec<u8>, Error>>,
    {
        let cell = self.cell(digest);
        let loaded = cell
            .get_or_try_init(|| async {
                let archive = fetch().await?;
                let size = archive.len() as u64;
                let chart = parse_chart(archive).await?;
                let size = size + weight(&chart);
                Ok((Arc::new(chart), size))
            })
            .await
            .map(|(chart, _)| chart.clone());
        self.settle(digest, &cell);
        loaded
    }

    /// The chart, if it is there.
    pub fn get(&self, digest: &str) -> Option<Arc<Chart>> {
        let cell = self.state().slots.get(digest)?.cell.clone();
        let chart = cell.get()?.0.clone();
        self.cell(digest);
        Some(chart)
    }

    /// How many bytes are held now, as [`ChartCache::new`] counts them.
    pub fn bytes(&self) -> u64 {
        self.state().slots.values().map(Slot::size).sum()
    }

    fn cell(&self, digest: &str) -> Cell {
        let mut state = self.state();
        state.clock += 1;
        let used = state.clock;
        let slot = state.slots.entry(digest.to_owned()).or_insert_with(|| Slot { cell: Cell::default(), used });
        slot.used = used;
        slot.cell.clone()
    }

    /// Drop an empty slot that nobody waits for, and the oldest charts while there are too many.
    fn settle(&self, digest: &str, cell: &Cell) {
        let mut state = self.state();
        if cell.get().is_none() {
            // The map and the caller hold it; a third would be waiting.
            if Arc::strong_count(cell) <= 2 && state.slots.get(digest).is_some_and(|s| Arc::ptr_eq(&s.cell, cell)) {
                state.slots.remove(digest);
            }
            return;
        }
        let mut total: u64 = state.slots.values().map(Slot::size).sum();
        while total > self.max_bytes {
            let full = state.slots.iter().filter(|(_, slot)| slot.cell.get().is_some());
            let Some(oldest) = full.min_by_key(|(_, slot)| slot.used).map(|(digest, _)| digest.clone()) else { return };
            total -= state.slots.remove(&oldest).map_or(0, |slot| slot.size());
        }
    }
}

fn weight(chart: &Chart) -> u64 {
    let files = chart.templates.iter().chain(&chart.files).map(|f| f.data.len() as u64).sum::<u64>();
    files + chart.schema.as_ref().map_or(0, |s| s.len() as u64) + chart.dependencies.iter().map(weight).sum::<u64>()
}

/// Archives on disk by digest.
#[derive(Debug)]
pub struct ArchiveStore {
    dir: PathBuf,
    max_bytes: u64,
    writing: Mutex<()>,
}

impl ArchiveStore {
    /// A store of so many bytes in a directory, which is made if need be.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn open(dir: &Path, max_bytes: u64) -> Result<Self, Error> {
        std::fs::create_dir_all(dir).map_err(Error::Store)?;
        Ok(Self { dir: dir.to_owned(), max_bytes, writing: Mutex::new(()) })
    }

    /// The archive with this digest, if it is there and whole; a damaged one is removed.
    pub fn get(&self, digest: &str) -> Option<Vec<u8>> {
        let path = self.path(digest)?;
        let bytes = std::fs::read(&path).ok()?;
        if digest::verify(&bytes, digest).is_err() {
            let _ = std::fs::remove_file(&path);
            return None;
        }
        // Read means used: the oldest go first.
        let now = std::fs::FileTimes::new().set_modified(SystemTime::now());
        let _ = std::fs::File::options().write(true).open(&path).and_then(|f| f.set_times(now));
        Some(bytes)
    }

    /// Keep an archive under its digest, and remove the longest unused ones while there are too many.
    ///
    /// # Errors
    /// [`Error::Integrity`] if the bytes are others; [`Error::Store`].
    pub fn put(&self, digest: &str, bytes: &[u8]) -> Result<(), Error> {
        digest::verify(bytes, digest)?;
        let path = self.path(digest).ok_or_else(|| Error::Integrity(digest.to_owned()))?;
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = tempfile::NamedTempFile::new_in(&self.dir).map_err(Error::Store)?;
        std::io::Write::write_all(&mut file, bytes).map_err(Error::Store)?;
        file.persist(&path).map_err(|e| Error::Store(e.error))?;
        self.evict().map_err(Error::Store)
    }

    /// A file name for a digest; `None` for what could be a path.
    fn path(&self, digest: &str) -> Option<PathBuf> {
        let (algorithm, hex) = digest.split_once(':')?;
        let safe = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
        (safe(algorithm) && safe(hex)).then(|| self.dir.join(format!("{algorithm}-{hex}")))
    }

    fn evict(&self) -> std::io::Result<()> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.dir)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file() {
                files.push((metadata.modified()?, metadata.len(), entry.path()));
            }
        }
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        files.sort();
        for (_, size, path) in files {
            if total <= self.max_bytes {
                break;
            }
            std::fs::remove_file(path)?;
            total -= size;
        }
        Ok(())
    }
}
