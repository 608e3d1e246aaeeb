//! What an action leaves behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use helm::release::Release;
use kube_object::{Object, ObjectId};

use crate::error::Error;

/// How an action went: the states it wrote to storage, in order, and the error it ended in.
#[derive(Debug)]
pub struct Outcome {
    /// Every successful write of a record: a revision may occur several times, in its successive states.
    pub stored: Vec<Arc<Release>>,
    /// Why it failed, if it did.
    pub error: Option<Error>,
    /// What happened on the way, newest last. It may quote values: whoever shows it masks them.
    pub log: Vec<String>,
    /// What people should know although it went well: objects that stay, with the reason; a record without files.
    pub notes: Vec<String>,
    /// The objects that were applied on the server's side, and their resourceVersion after that: they are as they
    /// should be while they still have it.
    pub applied: Vec<(ObjectId, String)>,
    /// How long it took.
    pub took: Duration,
}

impl Outcome {
    /// The last state of the newest revision that was written.
    pub fn last(&self) -> Option<&Arc<Release>> {
        self.stored
            .iter()
            .max_by_key(|r| r.version)
            .and_then(|newest| self.stored.iter().rev().find(|r| r.version == newest.version))
    }

    /// The notes as one text, if there are any.
    pub fn notes_text(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.join("\n"))
    }

    /// Did it go well?
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }
}

/// An action in progress: collects what an [`Outcome`] tells.
#[derive(Debug)]
pub(crate) struct Run {
    stored: Vec<Arc<Release>>,
    log: Vec<String>,
    applied: Vec<(ObjectId, String)>,
    notes: Vec<String>,
    /// Has anything of the release been sent to the cluster, as far as is known?
    pub(crate) touched: bool,
    started: Instant,
}

/// How many lines of log are kept.
const MAX_LOG: usize = 200;

impl Run {
    pub(crate) fn new() -> Self {
        Self {
            stored: Vec::new(),
            log: Vec::new(),
            applied: Vec::new(),
            notes: Vec::new(),
            touched: false,
            started: Instant::now(),
        }
    }

    pub(crate) fn stored(&mut self, release: Arc<Release>) {
        self.stored.push(release);
    }

    /// The record that was written last is gone again.
    pub(crate) fn withdrawn(&mut self) {
        self.stored.pop();
    }

    pub(crate) fn log(&mut self, line: impl Into<String>) {
        if self.log.len() < MAX_LOG {
            self.log.push(line.into());
        }
    }

    pub(crate) fn note(&mut self, line: String) {
        self.log(line.clone());
        self.notes.push(line);
    }

    pub(crate) fn applied(&mut self, live: &[Object]) {
        self.applied = live.iter().map(|o| (o.id(), o.resource_version().to_owned())).collect();
    }

    pub(crate) fn finish(self, result: Result<(), Error>) -> Outcome {
        let Self { stored, log, applied, notes, started, touched: _ } = self;
        Outcome { stored, error: result.err(), log, applied, notes, took: started.elapsed() }
    }
}
