//! `status.history` and `status.inventory`.
//!
//! Owns: snapshots of stored releases, which of them stay, which one a rollback goes to. Pure. The surprising things: a
//! snapshot that another action supersedes loses the name of the action that made it; how many stay does not depend on
//! maxHistory.

use std::collections::BTreeMap;

use flux_api::helmrelease::{Inventory, ResourceRef, Snapshot, TestHookStatus};
use helm::release::digest::{Algorithm, snapshot_digest};
use helm::release::{HookEvent, Release, Status};
use kube_object::Object;

/// How many snapshots stay when none of them is good.
const KEPT: usize = 5;

/// A release as its snapshot. `action` is what made it, where that is to be told.
///
/// # Errors
/// Values that JSON cannot hold.
pub fn snapshot(
    release: &Release,
    action: Option<&str>,
    oci_digest: Option<&str>,
    algorithm: Algorithm,
) -> Result<Snapshot, helm::Error> {
    let metadata = &release.chart.metadata;
    let text = |s: &str| (!s.is_empty()).then(|| s.to_string());
    Ok(Snapshot {
        api_version: Some("v2".into()),
        digest: snapshot_digest(release, oci_digest.unwrap_or_default(), algorithm)?,
        name: release.name.clone(),
        namespace: release.namespace.clone(),
        version: release.version,
        status: release.info.status.as_str().into(),
        action: action.map(Into::into),
        chart_name: metadata.name.clone(),
        chart_version: metadata.version.clone(),
        app_version: text(&metadata.app_version),
        config_digest: helm::values::digest::config_digest(&release.config, algorithm),
        first_deployed: whole_seconds(&release.info.first_deployed),
        last_deployed: whole_seconds(&release.info.last_deployed),
        deleted: text(&whole_seconds(&release.info.deleted)),
        test_hooks: None,
        oci_digest: oci_digest.map(Into::into),
    })
}

/// A time as Kubernetes keeps it: whole seconds, UTC.
fn whole_seconds(text: &str) -> String {
    text.parse::<jiff::Timestamp>().map_or_else(|_| text.into(), flux_api::meta::condition::rfc3339)
}

/// Put the states that an action stored into the history: a revision that is there is replaced, a new one goes first.
///
/// # Errors
/// Values that JSON cannot hold.
pub fn observe(
    history: &mut Vec<Snapshot>,
    stored: &[std::sync::Arc<Release>],
    action: &str,
    stamps_all: bool,
    oci_digest: Option<&str>,
    algorithm: Algorithm,
) -> Result<(), helm::Error> {
    let newest = stored.iter().map(|r| r.version).max();
    for release in stored {
        let own = Some(release.version) == newest;
        let named = (own || stamps_all).then_some(action);
        let known = history
            .iter_mut()
            .find(|s| s.name == release.name && s.version == release.version && s.namespace == release.namespace);
        let digest = match &known {
            Some(known) => known.oci_digest.clone(),
            None => oci_digest.map(Into::into),
        };
        let mut fresh = snapshot(release, named, digest.as_deref(), algorithm)?;
        match known {
            Some(known) => {
                fresh.test_hooks = known.test_hooks.take();
                *known = fresh;
            }
            None => history.insert(0, fresh),
        }
    }
    history.sort_by_key(|s| std::cmp::Reverse(s.version));
    Ok(())
}

/// Does the stored release still have the digest that its snapshot tells? Snapshots of old forms count as equal.
pub fn verifies(snapshot: &Snapshot, release: &Release) -> bool {
    if snapshot.api_version.as_deref() != Some("v2") {
        return true;
    }
    let Some(algorithm) = Algorithm::of(&snapshot.digest) else { return false };
    snapshot_digest(release, snapshot.oci_digest.as_deref().unwrap_or_default(), algorithm)
        .is_ok_and(|digest| digest == snapshot.digest)
}

fn is_good(snapshot: &Snapshot, ignore_test_failures: bool) -> bool {
    (snapshot.status == "deployed" || snapshot.status == "superseded")
        && (ignore_test_failures || !has_failed_test(snapshot))
}

/// Did a test of the snapshot fail?
pub fn has_failed_test(snapshot: &Snapshot) -> bool {
    snapshot.test_hooks.iter().flatten().any(|(_, t)| t.phase.as_deref() == Some("Failed"))
}

/// Was the snapshot tested to an end?
pub fn is_tested(snapshot: &Snapshot) -> bool {
    snapshot.test_hooks.as_ref().is_some_and(|hooks| {
        hooks.is_empty() || has_failed_test(snapshot) || hooks.values().all(|t| t.phase.as_deref() == Some("Succeeded"))
    })
}

/// The newest older snapshot that one may go back to.
pub fn rollback_target(history: &[Snapshot], ignore_test_failures: bool) -> Option<&Snapshot> {
    history.iter().skip(1).find(|s| is_good(s, ignore_test_failures))
}

/// Drop what is older than the rollback target; without one keep the newest five.
pub fn truncate(history: &mut Vec<Snapshot>, ignore_test_failures: bool) {
    let keep =
        history.iter().enumerate().skip(1).find(|(_, s)| is_good(s, ignore_test_failures)).map_or(KEPT, |(i, _)| i + 1);
    history.truncate(keep);
}

/// The runs of a release's tests, by name.
pub fn test_hooks(release: &Release) -> BTreeMap<String, TestHookStatus> {
    let text = |s: &str| (!s.is_empty()).then(|| whole_seconds(s));
    let tests = release.hooks.iter().filter(|h| h.runs_at(HookEvent::Test));
    tests
        .map(|h| {
            let status = TestHookStatus {
                last_started: text(&h.last_run.started_at),
                last_completed: text(&h.last_run.completed_at),
                phase: (!h.last_run.phase.is_empty()).then(|| h.last_run.phase.clone()),
            };
            (h.name.clone(), status)
        })
        .collect()
}

/// The objects of a release: those of its manifest and of `crds/`.
pub fn inventory<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Inventory {
    let entries = objects
        .into_iter()
        .filter(|o| o.annotation("helm.sh/hook").is_none())
        .map(|o| {
            let gvk = o.gvk();
            // Names of RBAC objects may hold colons, which an inventory may not.
            let name = o.name().replace(':', "__");
            ResourceRef { id: format!("{}_{name}_{}_{}", o.namespace(), gvk.group, gvk.kind), v: gvk.version }
        })
        .collect();
    Inventory { entries }
}

/// Is the release of a status that an install may follow?
pub fn is_pending(status: Status) -> bool {
    status.is_pending()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn release(version: i64, status: Status) -> Arc<Release> {
        let mut r = Release { name: "r".into(), namespace: "n".into(), version, ..Release::default() };
        r.info.status = status;
        Arc::new(r)
    }

    #[test]
    fn superseded_snapshots_lose_their_action() {
        let mut history = Vec::new();
        observe(
            &mut history,
            &[release(1, Status::PendingInstall), release(1, Status::Deployed)],
            "install",
            false,
            None,
            Algorithm::Sha256,
        )
        .unwrap();
        assert_eq!((history[0].action.as_deref(), history[0].status.as_str()), (Some("install"), "deployed"));
        let stored = [release(2, Status::PendingUpgrade), release(1, Status::Superseded), release(2, Status::Deployed)];
        observe(&mut history, &stored, "upgrade", false, None, Algorithm::Sha256).unwrap();
        let shown: Vec<(i64, Option<&str>)> = history.iter().map(|s| (s.version, s.action.as_deref())).collect();
        assert_eq!(shown, [(2, Some("upgrade")), (1, None)]);
    }

    #[test]
    fn truncation_keeps_the_rollback_target() {
        let snap = |version: i64, status: &str| Snapshot { version, status: status.into(), ..Snapshot::default() };
        let mut history = vec![snap(4, "failed"), snap(3, "failed"), snap(2, "superseded"), snap(1, "superseded")];
        assert_eq!(rollback_target(&history, false).map(|s| s.version), Some(2));
        truncate(&mut history, false);
        assert_eq!(history.len(), 3);
        let mut failed: Vec<Snapshot> = (0..9).map(|v| snap(v, "failed")).collect();
        truncate(&mut failed, false);
        assert_eq!(failed.len(), 5);
    }

    #[test]
    fn a_changed_record_does_not_verify() {
        let r = release(1, Status::Deployed);
        let s = snapshot(&r, None, None, Algorithm::Sha256).unwrap();
        assert!(verifies(&s, &r));
        assert!(!verifies(&s, &release(1, Status::Failed)));
    }
}
