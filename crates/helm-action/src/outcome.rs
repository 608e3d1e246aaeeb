//! What an action leaves behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use helm::release::Release;

use crate::error::Error;

/// How an action went: the states it wrote to storage, in order, and the error it ended in.
#[derive(Debug)]
pub struct Outcome {
    /// Every successful write of a record: a revision may occur several times, in its successive states.
    pub stored: Vec<Arc<Release>>,
    /// Why it failed, if it did.
    pub error: Option<Error>,
    /// What happened on the way, for people; newest last.
    pub log: Vec<String>,
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
    started: Instant,
}

/// How many lines of log are kept.
const MAX_LOG: usize = 200;

impl Run {
    pub(crate) fn new() -> Self {
        Self { stored: Vec::new(), log: Vec::new(), started: Instant::now() }
    }

    pub(crate) fn stored(&mut self, release: Arc<Release>) {
        self.stored.push(release);
    }

    pub(crate) fn log(&mut self, line: impl Into<String>) {
        let line = line.into();
        tracing::debug!(line, "action");
        if self.log.len() < MAX_LOG {
            self.log.push(line);
        }
    }

    pub(crate) fn finish(self, result: Result<(), Error>) -> Outcome {
        Outcome { stored: self.stored, error: result.err(), log: self.log, took: self.started.elapsed() }
    }
}
