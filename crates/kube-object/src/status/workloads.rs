//! Deployments, StatefulSets, DaemonSets, ReplicaSets.

use super::Verdict;
use crate::object::Object;

fn replicas(object: &Object) -> i64 {
    object.int_at(&["spec", "replicas"]).unwrap_or(1)
}

fn count(object: &Object, field: &str) -> i64 {
    object.int_at(&["status", field]).unwrap_or(0)
}

/// The first pair whose left side is still below its right side, as a progress message.
fn behind(steps: &[(&str, i64, i64)]) -> Option<Verdict> {
    steps
        .iter()
        .find(|(_, have, want)| have < want)
        .map(|(label, have, want)| Verdict::in_progress(format!("{label}: {have}/{want}")))
}

pub(super) fn deployment(object: &Object) -> Verdict {
    // Go's default where the API server has not filled the field in: no deadline.
    let deadline = object.int_at(&["spec", "progressDeadlineSeconds"]).unwrap_or(i64::from(i32::MAX));
    let mut progressing = deadline == i64::from(i32::MAX);
    if let Some(condition) = object.condition("Progressing") {
        if condition.reason == "ProgressDeadlineExceeded" {
            return Verdict::failed("Progress deadline exceeded");
        }
        progressing |= condition.status == "True" && condition.reason == "NewReplicaSetAvailable";
    }
    let available = object.condition("Available").is_some_and(|c| c.status == "True");
    let want = replicas(object);
    let (all, updated) = (count(object, "replicas"), count(object, "updatedReplicas"));
    if let Some(v) = behind(&[("Replicas", all, want), ("Updated", updated, want)]) {
        return v;
    }
    if all > want {
        return Verdict::in_progress(format!("Pending termination: {}", all - want));
    }
    let steps =
        [("Available", count(object, "availableReplicas"), updated), ("Ready", count(object, "readyReplicas"), want)];
    if let Some(v) = behind(&steps) {
        return v;
    }
    if !progressing {
        return Verdict::in_progress("ReplicaSet not Available");
    }
    if !available {
        return Verdict::in_progress("Deployment not Available");
    }
    Verdict::current(format!("Deployment is available. Replicas: {all}"))
}

pub(super) fn replica_set(object: &Object) -> Verdict {
    if object.condition("ReplicaFailure").is_some_and(|c| c.status == "True") {
        return Verdict::in_progress("Replica Failure condition. Check Pods");
    }
    let want = replicas(object);
    let steps = [
        ("Labelled", count(object, "fullyLabeledReplicas"), want),
        ("Available", count(object, "availableReplicas"), want),
        ("Ready", count(object, "readyReplicas"), want),
    ];
    if let Some(v) = behind(&steps) {
        return v;
    }
    let all = count(object, "replicas");
    if all > want {
        return Verdict::in_progress(format!("Pending termination: {}", all - want));
    }
    Verdict::current(format!("ReplicaSet is available. Replicas: {all}"))
}

pub(super) fn daemon_set(object: &Object) -> Verdict {
    let Some(want) = object.int_at(&["status", "desiredNumberScheduled"]) else {
        return Verdict::in_progress("Missing .status.desiredNumberScheduled");
    };
    let steps = [
        ("Current", count(object, "currentNumberScheduled"), want),
        ("Updated", count(object, "updatedNumberScheduled"), want),
        ("Available", count(object, "numberAvailable"), want),
        ("Ready", count(object, "numberReady"), want),
    ];
    behind(&steps).unwrap_or_else(|| Verdict::current(format!("All replicas scheduled as expected. Replicas: {want}")))
}

pub(super) fn stateful_set(object: &Object) -> Verdict {
    if object.text_at(&["spec", "updateStrategy", "type"]) == "OnDelete" {
        return Verdict::current("StatefulSet is using the ondelete update strategy");
    }
    let want = replicas(object);
    let (all, updated) = (count(object, "replicas"), count(object, "updatedReplicas"));
    if let Some(v) = behind(&[("Replicas", all, want), ("Ready", count(object, "readyReplicas"), want)]) {
        return v;
    }
    if all > want {
        return Verdict::in_progress(format!("Pending termination: {}", all - want));
    }
    if let Some(partition) = object.int_at(&["spec", "updateStrategy", "rollingUpdate", "partition"])
        && partition > 0
    {
        return behind(&[("updated", updated, want - partition)])
            .unwrap_or_else(|| Verdict::current(format!("Partition rollout complete. updated: {updated}")));
    }
    if let Some(v) = behind(&[("current", count(object, "currentReplicas"), want)]) {
        return v;
    }
    if object.text_at(&["status", "currentRevision"]) != object.text_at(&["status", "updateRevision"]) {
        return Verdict::in_progress("Waiting for updated revision to match current");
    }
    Verdict::current(format!("All replicas scheduled as expected. Replicas: {all}"))
}
