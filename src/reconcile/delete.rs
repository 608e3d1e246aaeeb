//! The end of a release: its object is deleted, or what it is called has changed.
//!
//! Owns: the uninstall that either asks for, and the finalizer. The surprising thing: what is uninstalled is what the
//! status says was installed, with the options that the spec has now.

use flux_api::HelmRelease;
use flux_api::helmrelease::{HelmReleaseStatus, Snapshot};
use flux_api::meta::condition::{RECONCILING, RELEASED};
use flux_api::meta::reason;
use helm_action::Error as ActionError;
use helm_action::uninstall::uninstall;
use kube_ops::{ApiError, Class};

use super::desired::Desired;
use super::notice::{Notice, Severity};
use super::{Next, Pass, gather, publish, remedy, step, unsupported};

/// Work towards the object being gone.
pub(super) async fn run(pass: &mut Pass<'_>) -> Result<Next, ApiError> {
    let release = pass.record.release;
    let finalizers = release.metadata.finalizers.as_deref().unwrap_or_default();
    if !finalizers.iter().any(|f| f == flux_api::meta::FINALIZER) {
        return Ok(Next::AwaitChange);
    }
    // A suspended release is let go without touching what it installed.
    if release.spec.suspend != Some(true) {
        if release.spec.kube_config.is_some()
            && !pass.record.status.history.is_empty()
            && let Some(message) = unsupported::field(release)
        {
            // What was installed is on another cluster. To suspend the release lets its object go.
            return pass.halt(super::stalled(reason::UNSUPPORTED_FIELD, message)).await;
        }
        let gone = match pass.record.status.history.first().cloned() {
            Some(newest) if pass.record.status.storage_namespace.is_some() => remove(pass, &newest).await?,
            _ => true,
        };
        if !gone {
            return pass.finish(Next::Backoff).await;
        }
        if let Some(chart) = pass.record.status.helm_chart.clone()
            && let Err(e) = pass.context.charts.remove(&chart).await
        {
            pass.record.warn("failed to delete the HelmChart", &e);
            return Ok(Next::Backoff);
        }
    }
    for notice in pass.record.take_notices() {
        pass.recorder.send(&pass.context.own, release, &notice).await;
    }
    pass.context.forget(release);
    let current = pass.latest.as_ref().unwrap_or(release);
    match publish::finalizer(&pass.context.own, current, false).await {
        Ok(_) => Ok(Next::AwaitChange),
        Err(e) if e.class == Class::NotFound => Ok(Next::AwaitChange),
        Err(e) if e.class == Class::Conflict => Ok(Next::Backoff),
        Err(e) => Err(e),
    }
}

/// Uninstall a revision's release. True when nothing of it is left to do.
async fn remove(pass: &mut Pass<'_>, newest: &Snapshot) -> Result<bool, ApiError> {
    let release = pass.record.release;
    let storage = pass.record.status.storage_namespace.clone().unwrap_or_default();
    let actions = match pass.context.actions(release, &newest.name, &newest.namespace, &storage) {
        Ok(actions) => actions,
        Err(why) => {
            let text = format!("failed to build REST client getter to uninstall release: {why}");
            pass.record.not_ready(reason::UNINSTALL_FAILED, &text);
            return Ok(false);
        }
    };
    if account_is_gone(pass).await {
        tracing::warn!("the ServiceAccount is gone: the release's objects are left as they are");
        return Ok(true);
    }
    let options = step::uninstall_options(release);
    let text = format!(
        "Running 'uninstall' action with timeout of {}",
        flux_api::meta::duration::go_text(options.wait.timeout)
    );
    pass.record.progressing(&text);
    let outcome = uninstall(&actions, &options).await;
    let (name, chart) = (newest.full_name(), newest.chart());
    match &outcome.error {
        None => {
            let text = format!("Helm uninstall succeeded for release {name} with chart {chart}");
            pass.record.set(RELEASED, "False", reason::UNINSTALL_SUCCEEDED, &text);
            let text = remedy::with(text, outcome.notes_text().as_deref());
            pass.record.notice(Notice::new(Severity::Info, reason::UNINSTALL_SUCCEEDED, text));
        }
        Some(ActionError::NotFound) => {
            let text = format!("Release {name} was not found, assuming it is uninstalled");
            pass.record.set(RELEASED, "False", reason::UNINSTALL_SUCCEEDED, &text);
        }
        Some(ActionError::AlreadyDeleted(_)) => {
            let text = format!("Release {name} was already uninstalled");
            pass.record.set(RELEASED, "False", reason::UNINSTALL_SUCCEEDED, &text);
        }
        Some(error) => {
            // The one thing of a deletion that may quote values: what the API server says about its hooks.
            pass.record.hide(gather::secrets(release, pass.context).await);
            pass.record.learn(outcome.stored.iter().map(AsRef::as_ref));
            pass.record.status.failures += 1;
            let text = format!("Helm uninstall failed for release {name} with chart {chart}: {error}");
            pass.record.set(RELEASED, "False", reason::UNINSTALL_FAILED, &text);
            pass.record.notice(Notice::new(Severity::Error, reason::UNINSTALL_FAILED, text));
            pass.record.summarize();
            return Ok(false);
        }
    }
    pass.record.status.history.clear();
    pass.record.status.inventory = None;
    pass.record.status.storage_namespace = None;
    pass.record.summarize();
    Ok(true)
}

/// Is the account that the release acts as gone, so that nothing could be done in its name?
async fn account_is_gone(pass: &Pass<'_>) -> bool {
    let kube_ops::Identity::ServiceAccount { namespace, name } = pass.context.identity(pass.record.release) else {
        return false;
    };
    let resource = kube_ops::Resource {
        gvk: kube_object::Gvk::new("v1", "ServiceAccount"),
        plural: "serviceaccounts".into(),
        namespaced: true,
    };
    matches!(pass.context.own.get(&resource, &namespace, &name).await, Ok(None))
}

/// What about a release changed so that the old one has to go, if anything did.
pub fn moved_what(release: &HelmRelease, status: &HelmReleaseStatus, desired: &Desired) -> Option<&'static str> {
    let (newest, storage) = (status.history.first()?, status.storage_namespace.as_deref()?);
    let in_place = release.upgrade().chart_name_change_strategy.as_deref() == Some("InPlaceUpdate");
    if storage != desired.storage_namespace {
        Some("storage namespace")
    } else if newest.namespace != desired.release_namespace {
        Some("release namespace")
    } else if newest.name != desired.release_name {
        Some("release name")
    } else if newest.chart_name != desired.chart_name && !in_place {
        Some("chart name")
    } else {
        None
    }
}

/// If the release is called otherwise now, uninstall the old one first. Gives when to go on, or nothing if nothing moved.
pub(super) async fn moved(pass: &mut Pass<'_>, desired: &Desired) -> Result<Option<Next>, ApiError> {
    let release = pass.record.release;
    let Some(newest) = pass.record.status.history.first().cloned() else { return Ok(None) };
    let Some(what) = moved_what(release, &pass.record.status, desired) else { return Ok(None) };
    tracing::info!(what, "the release moved: uninstalling the old one");
    if !remove(pass, &newest).await? {
        return pass.finish(Next::Backoff).await.map(Some);
    }
    pass.record.reset_counters();
    pass.record.remove(RECONCILING);
    pass.publish().await?;
    Ok(None)
}
