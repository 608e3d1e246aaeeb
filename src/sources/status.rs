//! The conditions of sources.
//!
//! Owns: how success and failure show in Ready and the conditions beside it. Pure.

use flux_api::Condition;
use flux_api::meta::condition::{self, READY, RECONCILING, STALLED};
use flux_api::meta::reason;
use jiff::Timestamp;

use super::Fault;

const FAILURES: [&str; 3] = ["FetchFailed", "BuildFailed", "StorageOperationFailed"];

/// What was asked for is in storage.
pub fn stored(conditions: &mut Vec<Condition>, generation: i64, reason: &str, message: &str, now: Timestamp) {
    for kind in FAILURES.iter().chain(&[RECONCILING, STALLED, "ArtifactOutdated"]) {
        condition::remove(conditions, kind);
    }
    for kind in [READY, "ArtifactInStorage"] {
        condition::set(conditions, kind, "True", reason, message, Some(generation), now);
    }
}

/// A step failed.
pub fn failed(conditions: &mut Vec<Condition>, generation: i64, fault: &Fault, now: Timestamp) {
    let mut set = |kind: &str, status: &str, reason: &str| {
        condition::set(conditions, kind, status, reason, &fault.message, Some(generation), now);
    };
    set(fault.condition, "True", fault.reason);
    set(READY, "False", fault.reason);
    if fault.stalled {
        set(STALLED, "True", fault.reason);
        condition::remove(conditions, RECONCILING);
    } else {
        condition::remove(conditions, STALLED);
        condition::set(
            conditions,
            RECONCILING,
            "True",
            reason::PROGRESSING_WITH_RETRY,
            "reconciliation in progress",
            Some(generation),
            now,
        );
    }
    for kind in FAILURES.iter().filter(|k| **k != fault.condition) {
        condition::remove(conditions, kind);
    }
}
