//! Pods, Services, claims, CustomResourceDefinitions.

use serde_json::Value as Json;

use super::Verdict;
use crate::object::Object;

/// For how long a Pod may wait for a node before it counts as failed, in seconds.
const SCHEDULE_WINDOW: i64 = 15;

pub(super) fn service(object: &Object) -> Verdict {
    if object.text_at(&["spec", "type"]) == "LoadBalancer" && object.text_at(&["spec", "clusterIP"]).is_empty() {
        return Verdict::in_progress("ClusterIP not set. Service type: LoadBalancer");
    }
    Verdict::current("Service is ready")
}

pub(super) fn claim(object: &Object) -> Verdict {
    match object.text_at(&["status", "phase"]) {
        "Bound" => Verdict::current("PVC is Bound"),
        phase => Verdict::in_progress(format!("PVC is not Bound. phase: {phase}")),
    }
}

pub(super) fn pod(object: &Object, age: i64) -> Verdict {
    match object.text_at(&["status", "phase"]) {
        "Succeeded" => Verdict::current("Pod has completed successfully"),
        "Failed" => Verdict::failed("Pod has completed, but not successfully"),
        "Running" if object.condition("Ready").is_some_and(|c| c.status == "True") => Verdict::current("Pod is Ready"),
        "Running" => {
            let looping = crash_looping(object);
            if looping.is_empty() {
                Verdict::in_progress("Pod is running but is not Ready")
            } else {
                Verdict::failed(format!("Containers in CrashLoop state: {}", looping.join(",")))
            }
        }
        _ => {
            let unschedulable =
                object.condition("PodScheduled").is_some_and(|c| c.status == "False" && c.reason == "Unschedulable");
            match (unschedulable, age > SCHEDULE_WINDOW) {
                (true, true) => Verdict::failed("Pod could not be scheduled"),
                (true, false) => Verdict::in_progress("Pod has not been scheduled"),
                (false, _) => Verdict::in_progress("Pod is in the Pending phase"),
            }
        }
    }
}

fn crash_looping(object: &Object) -> Vec<&str> {
    let statuses = object.at(&["status", "containerStatuses"]).and_then(Json::as_array).into_iter().flatten();
    statuses
        .filter(|c| c.pointer("/state/waiting/reason").and_then(Json::as_str) == Some("CrashLoopBackOff"))
        .filter_map(|c| c.get("name")?.as_str())
        .collect()
}

pub(super) fn crd(object: &Object) -> Verdict {
    if let Some(c) = object.condition("NamesAccepted").filter(|c| c.status == "False") {
        return Verdict::failed(c.message);
    }
    match object.condition("Established") {
        Some(c) if c.status == "True" => Verdict::current("CRD is established"),
        Some(c) if c.status == "False" && c.reason != "Installing" => Verdict::failed(c.message),
        _ => Verdict::in_progress("Install in progress"),
    }
}
