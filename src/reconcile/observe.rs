//! What is: storage and cluster. Read-only.

use flux_api::HelmRelease;
use flux_api::helmrelease::HelmReleaseStatus;
use flux_api::meta::DRIFT_DETECTION;
use helm::release::Release;
use helm_action::drift::{DriftOptions, Report, detect};
use kube_object::Object;

use super::context::Context;
use super::decide::Observed;
use super::history::{rollback_target, verifies};
use super::ignore::IgnoreRules;
use super::policy;

/// The newest stored revision, and whether the rollback target is what it was.
///
/// # Errors
/// Storage cannot be read.
pub async fn storage(
    release: &HelmRelease,
    status: &HelmReleaseStatus,
    actions: &helm_action::Context,
) -> Result<Observed, String> {
    let heads = actions.storage.observe(&actions.release).await.map_err(|e| e.to_string())?;
    let mut observed = Observed::default();
    let Some(head) = heads.last() else { return Ok(observed) };
    observed.last = Some(actions.storage.read(head).await.map_err(|e| e.to_string())?);
    let ignored = policy::active(release, status).is_some_and(|(_, r)| r.ignore_test_failures);
    let failed = observed.last.as_ref().is_some_and(|l| l.info.status == helm::release::Status::Failed);
    if let Some(target) = rollback_target(&status.history, ignored).filter(|_| failed)
        && let Some(head) = heads.iter().find(|h| h.version == target.version)
        && let Ok(stored) = actions.storage.read(head).await
    {
        observed.rollback_intact = verifies(target, &stored);
    }
    Ok(observed)
}

/// How the cluster compares with the newest revision.
///
/// # Errors
/// The comparison cannot be made.
pub async fn drift(
    release: &HelmRelease,
    context: &Context,
    actions: &helm_action::Context,
    observed: &Observed,
) -> Result<Report, String> {
    let Some(last) = &observed.last else { return Ok(Report::default()) };
    let rules = release.spec.drift_detection.as_ref().map(|d| d.ignore.as_slice()).unwrap_or_default();
    let rules = IgnoreRules::new(rules)?;
    let clean = context.clean(release, last.version);
    let options = DriftOptions {
        ignored: &|object| rules.paths(object),
        exclusion: Some((DRIFT_DETECTION, "disabled")),
        clean: &clean,
    };
    let report =
        detect(actions, last, &options).await.map_err(|e| format!("unable to determine cluster state: {e}"))?;
    if report.drifted.is_empty() && !report.errors.is_empty() {
        let errors: Vec<String> = report.errors.iter().map(ToString::to_string).collect();
        return Err(format!("unable to determine cluster state: {}", errors.join("; ")));
    }
    Ok(report)
}

/// The objects of a revision: those of its manifest with their namespaces, then those of `crds/`.
///
/// # Errors
/// The manifest cannot be built.
pub async fn objects(actions: &helm_action::Context, release: &Release) -> Result<Vec<Object>, helm_action::Error> {
    let built = helm_action::build::build_stored(actions, &release.manifest).await?;
    let mut objects: Vec<Object> = built.into_iter().map(|b| b.object).collect();
    let crds = release.chart.files.iter().filter(|f| f.name.starts_with("crds/"));
    for file in crds {
        let text = String::from_utf8_lossy(&file.data);
        if let Ok(parsed) = helm::manifest::parse_objects(&text, actions.profile) {
            objects.extend(parsed.into_iter().map(|p| p.object).filter(|o| o.kind() == "CustomResourceDefinition"));
        }
    }
    Ok(objects)
}
