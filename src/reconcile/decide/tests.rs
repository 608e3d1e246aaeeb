//! The table of decisions.

use std::sync::Arc;

use helm::Chart;
use helm::release::digest::Algorithm;
use serde_json::json;

use super::*;
use crate::reconcile::history::snapshot;

#[allow(clippy::needless_pass_by_value)] // The tables read better so.
fn release(spec: serde_json::Value) -> HelmRelease {
    let mut base = json!({"interval": "1h", "chartRef": {"kind": "OCIRepository", "name": "x"}});
    base.as_object_mut().unwrap().extend(spec.as_object().cloned().unwrap());
    let mut release: HelmRelease = serde_json::from_value(json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": "r", "namespace": "n"}, "spec": base}))
    .unwrap();
    release.metadata.generation = Some(1);
    release
}

fn desired(release: &HelmRelease) -> Desired {
    let mut chart = Chart::default();
    chart.metadata.name = "c".into();
    chart.metadata.version = "1.0.0".into();
    Desired::new(release, Arc::new(chart), None, go_value::Map::new(), Algorithm::Sha256)
}

fn stored(version: i64, status: Status) -> Arc<Release> {
    let mut r = Release { name: "r".into(), namespace: "n".into(), version, ..Release::default() };
    r.info.status = status;
    r.chart.metadata.name = "c".into();
    r.chart.metadata.version = "1.0.0".into();
    Arc::new(r)
}

struct Case {
    spec: serde_json::Value,
    last: Option<Arc<Release>>,
    history: Vec<Arc<Release>>,
    action: Option<&'static str>,
    failures: (i64, i64),
    force: bool,
    ran: Vec<StepKind>,
    drifted: bool,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            spec: json!({}),
            last: None,
            history: Vec::new(),
            action: None,
            failures: (0, 0),
            force: false,
            ran: Vec::new(),
            drifted: false,
        }
    }
}

fn run(case: Case) -> (State, Decision) {
    let release = release(case.spec);
    let desired = desired(&release);
    let status = HelmReleaseStatus {
        observed_generation: Some(1),
        last_attempted_release_action: case.action.map(Into::into),
        install_failures: case.failures.0,
        upgrade_failures: case.failures.1,
        history: case.history.iter().map(|r| snapshot(r, None, None, Algorithm::Sha256).unwrap()).collect(),
        ..HelmReleaseStatus::default()
    };
    let observed = Observed { last: case.last, rollback_intact: true, drifted: case.drifted.then_some(true) };
    let progress = Progress { force: case.force, ran: case.ran, ..Progress::default() };
    let state = state(&release, &status, &desired, &observed);
    let decision = decide(&release, &status, &state, &observed, &progress);
    (state, decision)
}

fn stalled(decision: &Decision) -> Option<&str> {
    match decision {
        Decision::Stop(End::Stalled(reason, _)) => Some(reason),
        _ => None,
    }
}

#[test]
fn nothing_there_is_installed() {
    assert_eq!(run(Case::default()), (State::Absent, Decision::Run(Step::Install)));
    let (_, decision) = run(Case { action: Some("install"), failures: (1, 0), ..Case::default() });
    assert_eq!(stalled(&decision), Some("RetriesExceeded"));
    let (_, decision) = run(Case { action: Some("install"), failures: (1, 0), force: true, ..Case::default() });
    assert_eq!(decision, Decision::Run(Step::Install));
}

#[test]
fn pending_is_unlocked_and_foreign_is_taken_over() {
    let case = Case { last: Some(stored(1, Status::PendingUpgrade)), ..Case::default() };
    assert_eq!(run(case), (State::Locked(Status::PendingUpgrade), Decision::Run(Step::Unlock)));
    let case = Case { last: Some(stored(1, Status::Deployed)), ..Case::default() };
    assert_eq!(run(case), (State::Unmanaged, Decision::Run(Step::Upgrade)));
    let case =
        Case { last: Some(stored(2, Status::Deployed)), history: vec![stored(1, Status::Deployed)], ..Case::default() };
    assert_eq!(run(case).0, State::Unmanaged);
}

#[test]
fn in_sync_and_not() {
    let good = stored(1, Status::Deployed);
    let case = || Case { last: Some(good.clone()), history: vec![good.clone()], ..Case::default() };
    assert_eq!(run(case()), (State::InSync, Decision::Stop(End::Done)));
    assert_eq!(run(Case { force: true, ..case() }).1, Decision::Run(Step::Upgrade));
    let ran = vec![StepKind::Release];
    assert_eq!(run(Case { force: true, ran, ..case() }).1, Decision::Stop(End::Done));
    let mut other = Release::clone(&good);
    other.chart.metadata.version = "0.9.0".into();
    let other = Arc::new(other);
    let (state, decision) = run(Case { last: Some(other.clone()), history: vec![other], ..Case::default() });
    assert_eq!((state, decision), (State::OutOfSync("release chart changed"), Decision::Run(Step::Upgrade)));
    let (state, decision) = run(Case { drifted: true, spec: json!({"driftDetection": {"mode": "enabled"}}), ..case() });
    assert_eq!((state, decision), (State::Drifted, Decision::Run(Step::CorrectDrift)));
    let (_, decision) = run(Case { drifted: true, spec: json!({"driftDetection": {"mode": "warn"}}), ..case() });
    assert_eq!(decision, Decision::Stop(End::Done));
}

#[test]
fn failures_are_remediated_as_asked() {
    let failed = stored(2, Status::Failed);
    let history = vec![failed.clone(), stored(1, Status::Superseded)];
    let case = |spec: serde_json::Value, failures: i64| Case {
        spec,
        last: Some(failed.clone()),
        history: history.clone(),
        action: Some("upgrade"),
        failures: (0, failures),
        ..Case::default()
    };
    // Without remediation the first failure ends it.
    assert_eq!(stalled(&run(case(json!({}), 1)).1), Some("RetriesExceeded"));
    let retries = |n: i64| json!({"upgrade": {"remediation": {"retries": n}}});
    assert_eq!(run(case(retries(2), 1)).1, Decision::Run(Step::Rollback(1)));
    // With retries the last failure is remediated too.
    assert_eq!(run(case(retries(2), 3)).1, Decision::Run(Step::Rollback(1)));
    let uninstall = json!({"upgrade": {"remediation": {"retries": 1, "strategy": "uninstall"}}});
    assert_eq!(run(case(uninstall, 1)).1, Decision::Run(Step::UninstallRemediation));
    let mut only = case(retries(2), 1);
    only.history.truncate(1);
    assert_eq!(stalled(&run(only).1), Some("MissingRollbackTarget"));
    let retry = json!({"upgrade": {"strategy": {"name": "RetryOnFailure", "retryInterval": "7s"}}});
    assert_eq!(run(case(retry.clone(), 1)).1, Decision::Run(Step::Upgrade));
    let again = Case { ran: vec![StepKind::Release], ..case(retry, 1) };
    assert_eq!(run(again).1, Decision::Stop(End::RetryAfter(Duration::from_secs(7))));
}

#[test]
fn a_forced_upgrade_that_failed_is_remediated() {
    let failed = stored(2, Status::Failed);
    let case = |ran: Vec<StepKind>| Case {
        spec: json!({"upgrade": {"remediation": {"retries": 1}}}),
        last: Some(failed.clone()),
        history: vec![failed.clone(), stored(1, Status::Superseded)],
        action: Some("upgrade"),
        failures: (0, 1),
        force: true,
        ran,
        ..Case::default()
    };
    assert_eq!(run(case(Vec::new())).1, Decision::Run(Step::Upgrade));
    assert_eq!(run(case(vec![StepKind::Release])).1, Decision::Run(Step::Rollback(1)));
}

#[test]
fn values_that_are_kept_are_no_change() {
    let mut good = Release::clone(&stored(1, Status::Deployed));
    good.config = [("old", go_value::Value::Bool(true))].into_iter().collect();
    let good = Arc::new(good);
    let case = |spec| Case { spec, last: Some(good.clone()), history: vec![good.clone()], ..Case::default() };
    assert_eq!(run(case(json!({}))).0, State::OutOfSync("release config values changed"));
    assert_eq!(run(case(json!({"upgrade": {"preserveValues": true}}))).0, State::InSync);
}
