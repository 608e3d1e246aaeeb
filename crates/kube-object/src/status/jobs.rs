//! Jobs, and hooks that run to an end.

use super::{Status, Verdict, compute};
use crate::object::Object;

fn is_true(object: &Object, kind: &str) -> Option<String> {
    object.condition(kind).filter(|c| c.status == "True").map(|c| c.message.to_string())
}

/// kstatus' view of a Job: current once it has started.
pub(super) fn job(object: &Object) -> Verdict {
    let count = |field: &str| object.int_at(&["status", field]).unwrap_or(0);
    let parallelism = object.int_at(&["spec", "parallelism"]).unwrap_or(1);
    let completions = object.int_at(&["spec", "completions"]).unwrap_or(parallelism);
    if is_true(object, "Complete").is_some() {
        return Verdict::current(format!("Job Completed. succeeded: {}/{completions}", count("succeeded")));
    }
    if is_true(object, "Failed").is_some() {
        return Verdict::failed(format!("Job Failed. failed: {}/{completions}", count("failed")));
    }
    if is_true(object, "Suspended").is_some() {
        return Verdict::current("Job is suspended");
    }
    if object.text_at(&["status", "startTime"]).is_empty() {
        return Verdict::in_progress("Job not started");
    }
    Verdict::current(format!(
        "Job in progress. success:{}, active: {}, failed: {}",
        count("succeeded"),
        count("active"),
        count("failed")
    ))
}

/// The status of a Job for someone who waits for its end: current when it is complete or suspended.
pub fn job_completion(object: &Object) -> Verdict {
    if object.is_terminating() {
        return Verdict { status: Status::Terminating, message: "Resource scheduled for deletion".into() };
    }
    if let Some(message) = is_true(object, "Failed") {
        let message = if message.is_empty() { "Job Failed".into() } else { format!("Job Failed. {message}") };
        return Verdict::failed(message);
    }
    if is_true(object, "Complete").is_some() {
        return Verdict::current("Job Completed");
    }
    if is_true(object, "Suspended").is_some() {
        return Verdict::current("Job is suspended");
    }
    Verdict::in_progress("Job in progress")
}

/// The status of a hook's object: Jobs and Pods run to their end, other kinds are done once they are seen.
pub fn hook_outcome(object: &Object) -> Verdict {
    match (object.gvk().group.as_str(), object.kind()) {
        ("batch", "Job") => job_completion(object),
        ("", "Pod") => match object.text_at(&["status", "phase"]) {
            "Succeeded" => Verdict::current("Pod has completed successfully"),
            "Failed" => Verdict::failed("Pod has completed, but not successfully"),
            _ if object.is_terminating() => compute(object, 0),
            _ => Verdict::in_progress("Pod has not completed"),
        },
        _ => Verdict::current("Resource exists"),
    }
}
