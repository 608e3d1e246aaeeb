//! Is an object what it should be yet?
//!
//! Owns: the computation of readiness from an object alone. Does not own: waiting, watching, clocks (an object's age is
//! handed in). Follows `cli-utils/pkg/kstatus`, which Flux and Helm 4 wait by. The surprising things: a kind nobody
//! knows is current at once, and a Job is current as soon as it has started; who waits for its end asks
//! [`job_completion`].

mod jobs;
mod kinds;
mod workloads;

pub use jobs::{hook_outcome, job_completion};

use serde_json::Value as Json;

use crate::object::Object;

/// How far an object has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The controller works on it.
    InProgress,
    /// It cannot come further by itself.
    Failed,
    /// It is as it should be.
    Current,
    /// It is being deleted.
    Terminating,
    /// It does not exist.
    NotFound,
    /// It cannot be told.
    Unknown,
}

impl Status {
    /// The word, as in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Current => "Current",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}

/// A status with the reason in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The status.
    pub status: Status,
    /// Why.
    pub message: String,
}

impl Verdict {
    pub(crate) fn current(message: impl Into<String>) -> Self {
        Self { status: Status::Current, message: message.into() }
    }

    pub(crate) fn in_progress(message: impl Into<String>) -> Self {
        Self { status: Status::InProgress, message: message.into() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { status: Status::Failed, message: message.into() }
    }
}

/// The status of an object. `age` is how many seconds ago it was created; it only matters for Pods that cannot be
/// scheduled.
pub fn compute(object: &Object, age: i64) -> Verdict {
    if let Some(verdict) = generic(object) {
        return verdict;
    }
    let gvk = object.gvk();
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Service") => kinds::service(object),
        ("", "Pod") => kinds::pod(object, age),
        ("", "PersistentVolumeClaim") => kinds::claim(object),
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => Verdict::current("Resource is always ready"),
        ("policy", "PodDisruptionBudget") => Verdict::current("AllowedDisruptions has been computed."),
        ("apps" | "extensions", "Deployment") => workloads::deployment(object),
        ("apps" | "extensions", "ReplicaSet") => workloads::replica_set(object),
        ("apps" | "extensions", "DaemonSet") => workloads::daemon_set(object),
        ("apps", "StatefulSet") => workloads::stateful_set(object),
        ("batch", "Job") => jobs::job(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => kinds::crd(object),
        _ => ready_condition(object).unwrap_or_else(|| Verdict::current("Resource is current")),
    }
}

/// What holds for every kind: deletion, generations, and the conditions Reconciling and Stalled.
fn generic(object: &Object) -> Option<Verdict> {
    if object.is_terminating() {
        return Some(Verdict { status: Status::Terminating, message: "Resource scheduled for deletion".into() });
    }
    if let (Some(generation), Some(observed)) = (object.generation(), object.int_at(&["status", "observedGeneration"]))
        && generation != observed
    {
        return Some(Verdict::in_progress(format!(
            "{} generation is {generation}, but latest observed generation is {observed}",
            object.kind()
        )));
    }
    for condition in object.at(&["status", "conditions"]).and_then(Json::as_array).into_iter().flatten() {
        let text = |key: &str| condition.get(key).and_then(Json::as_str).unwrap_or_default();
        if text("status") != "True" {
            continue;
        }
        match text("type") {
            "Reconciling" => return Some(Verdict::in_progress(text("message"))),
            "Stalled" => return Some(Verdict::failed(text("message"))),
            _ => {}
        }
    }
    None
}

/// The condition Ready, for kinds nobody knows.
fn ready_condition(object: &Object) -> Option<Verdict> {
    let ready = object.condition("Ready")?;
    Some(match ready.status {
        "True" => Verdict::current("Resource is Ready"),
        _ => Verdict::in_progress(ready.message),
    })
}

#[cfg(test)]
mod tests;
