use serde_json::{Value as Json, json};

use super::*;

#[allow(clippy::needless_pass_by_value)] // Callers build the values in place.
fn status(api_version: &str, kind: &str, spec: Json, status: Json) -> (Status, String) {
    let object = Object::from_json(json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": "x", "generation": 1}, "spec": spec, "status": status}))
    .unwrap();
    let verdict = compute(&object, 0);
    (verdict.status, verdict.message)
}

#[test]
fn deployments() {
    let of = |spec: Json, s: Json| status("apps/v1", "Deployment", spec, s);
    let done = json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [{"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]});
    assert_eq!(of(json!({"progressDeadlineSeconds": 600}), done.clone()).0, Status::Current);
    assert_eq!(of(json!({"replicas": 2}), done.clone()), (Status::InProgress, "Replicas: 1/2".into()));
    assert_eq!(of(json!({"replicas": 0}), done), (Status::InProgress, "Pending termination: 1".into()));
    assert_eq!(
        of(json!({}), json!({"observedGeneration": 0})),
        (Status::InProgress, "Deployment generation is 1, but latest observed generation is 0".into())
    );
    let stuck =
        json!({"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]});
    assert_eq!(of(json!({}), stuck), (Status::Failed, "Progress deadline exceeded".into()));
}

#[test]
fn others() {
    let job = |s: Json| status("batch/v1", "Job", json!({}), s).0;
    assert_eq!(job(json!({})), Status::InProgress);
    assert_eq!(job(json!({"startTime": "2026-01-01T00:00:00Z"})), Status::Current);
    assert_eq!(job(json!({"conditions": [{"type": "Failed", "status": "True"}]})), Status::Failed);
    assert_eq!(status("v1", "Service", json!({"type": "LoadBalancer"}), json!({})).0, Status::InProgress);
    assert_eq!(status("v1", "ConfigMap", json!({}), json!({})).0, Status::Current);
    assert_eq!(status("v1", "PersistentVolumeClaim", json!({}), json!({"phase": "Pending"})).0, Status::InProgress);
    assert_eq!(status("x.io/v1", "Custom", json!({}), json!({})).0, Status::Current);
    let ready = |s: &str| json!({"conditions": [{"type": "Ready", "status": s, "message": "m"}]});
    assert_eq!(status("x.io/v1", "Custom", json!({}), ready("False")), (Status::InProgress, "m".into()));
    assert_eq!(status("x.io/v1", "Custom", json!({}), ready("True")).0, Status::Current);
    let crd = |conditions: Json| {
        status("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({}), json!({"conditions": conditions})).0
    };
    assert_eq!(crd(json!([])), Status::InProgress);
    assert_eq!(crd(json!([{"type": "Established", "status": "True"}])), Status::Current);
    assert_eq!(crd(json!([{"type": "NamesAccepted", "status": "False"}])), Status::Failed);
}

#[test]
fn stateful_and_daemon_sets() {
    let s = json!({"replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "updatedReplicas": 3,
        "currentRevision": "a", "updateRevision": "a"});
    assert_eq!(status("apps/v1", "StatefulSet", json!({"replicas": 3}), s.clone()).0, Status::Current);
    let mut other = s;
    other["updateRevision"] = json!("b");
    assert_eq!(
        status("apps/v1", "StatefulSet", json!({"replicas": 3}), other),
        (Status::InProgress, "Waiting for updated revision to match current".into())
    );
    assert_eq!(status("apps/v1", "DaemonSet", json!({}), json!({})).0, Status::InProgress);
    assert_eq!(status("apps/v1", "DaemonSet", json!({}), json!({"desiredNumberScheduled": 0})).0, Status::Current);
}
