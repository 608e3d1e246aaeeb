//! Carrying a step out.
//!
//! Owns: the translation of a HelmRelease's options into those of Helm's verbs. Writes the cluster through helm-action,
//! never a status.

use std::time::Duration;

use flux_api::HelmRelease;
use flux_api::helmrelease::{CrdsPolicy as Crds, ServerSideApply};
use helm_action::context::WaitOptions;
use helm_action::crds::CrdsPolicy;
use helm_action::install::{InstallOptions, install};
use helm_action::prepare::Request;
use helm_action::rollback::{RollbackOptions, rollback};
use helm_action::uninstall::{UninstallOptions, uninstall};
use helm_action::upgrade::{ServerSide, UpgradeOptions, upgrade};
use helm_action::{Context as Actions, Outcome};
use kube_ops::delete::Propagation;

use super::decide::Step;
use super::desired::Desired;

/// How long a step's waits may take.
pub fn timeout(release: &HelmRelease, step: &Step) -> Duration {
    match step {
        Step::Install => release.timeout(release.install().timeout.as_ref()),
        Step::Upgrade => release.timeout(release.upgrade().timeout.as_ref()),
        Step::Test => release.timeout(release.test().timeout.as_ref()),
        Step::Rollback(_) => release.timeout(release.rollback().timeout.as_ref()),
        Step::UninstallRemediation => release.timeout(release.uninstall().timeout.as_ref()),
        Step::Unlock | Step::CorrectDrift => release.timeout(None),
    }
}

fn crds(policy: Option<Crds>) -> CrdsPolicy {
    match policy.unwrap_or_default() {
        Crds::Skip => CrdsPolicy::Skip,
        Crds::Create => CrdsPolicy::Create,
        Crds::CreateReplace => CrdsPolicy::CreateReplace,
    }
}

fn server_side(choice: Option<ServerSideApply>) -> ServerSide {
    match choice.unwrap_or_default() {
        ServerSideApply::Enabled => ServerSide::Enabled,
        ServerSideApply::Disabled => ServerSide::Disabled,
        ServerSideApply::Auto => ServerSide::Auto,
    }
}

/// What is rendered for an install or upgrade.
pub fn request(release: &HelmRelease, desired: &Desired, is_upgrade: bool) -> Request {
    use flux_api::helmrelease::PostRenderStrategy;
    let skip_schema = if is_upgrade {
        release.upgrade().disable_schema_validation
    } else {
        release.install().disable_schema_validation
    };
    Request {
        chart: desired.chart.clone(),
        values: desired.values.clone(),
        revision: 1,
        is_upgrade,
        skip_schema_validation: skip_schema.unwrap_or(false),
        metadata: desired.metadata.clone(),
        hooks_too: release.spec.post_render_strategy.unwrap_or_default() != PostRenderStrategy::NoHooks,
    }
}

/// The options of an install.
pub fn install_options(release: &HelmRelease, desired: &Desired) -> InstallOptions {
    let o = release.install();
    InstallOptions {
        request: request(release, desired, false),
        crds: crds(o.crds),
        create_namespace: o.create_namespace.unwrap_or(false) && release.spec.target_namespace.is_some(),
        disable_hooks: o.disable_hooks.unwrap_or(false),
        wait: WaitOptions {
            wait: !o.disable_wait.unwrap_or(false),
            jobs: !o.disable_wait_for_jobs.unwrap_or(false),
            timeout: timeout(release, &Step::Install),
        },
        take_ownership: !o.disable_take_ownership.unwrap_or(false),
        server_side: o.server_side_apply.unwrap_or(true),
        replace: o.replace.unwrap_or(false),
    }
}

/// The options of an upgrade.
pub fn upgrade_options(release: &HelmRelease, desired: &Desired) -> UpgradeOptions {
    let o = release.upgrade();
    UpgradeOptions {
        request: request(release, desired, true),
        crds: crds(o.crds),
        disable_hooks: o.disable_hooks.unwrap_or(false),
        wait: WaitOptions {
            wait: !o.disable_wait.unwrap_or(false),
            jobs: !o.disable_wait_for_jobs.unwrap_or(false),
            timeout: timeout(release, &Step::Upgrade),
        },
        take_ownership: !o.disable_take_ownership.unwrap_or(false),
        server_side: server_side(o.server_side_apply),
        max_history: release.max_history(),
        reuse_values: o.preserve_values.unwrap_or(false),
        cleanup_on_fail: o.cleanup_on_fail.unwrap_or(false),
    }
}

/// The options of an uninstall.
pub fn uninstall_options(release: &HelmRelease) -> UninstallOptions {
    let o = release.uninstall();
    UninstallOptions {
        disable_hooks: o.disable_hooks.unwrap_or(false),
        keep_history: o.keep_history.unwrap_or(false),
        wait: WaitOptions {
            wait: !o.disable_wait.unwrap_or(false),
            jobs: true,
            timeout: timeout(release, &Step::UninstallRemediation),
        },
        propagation: match o.deletion_propagation.as_deref() {
            Some("foreground") => Propagation::Foreground,
            Some("orphan") => Propagation::Orphan,
            _ => Propagation::Background,
        },
    }
}

/// Carry a step out. Tests and repairs have their own ways.
pub async fn run(step: &Step, release: &HelmRelease, desired: &Desired, actions: &Actions) -> Outcome {
    match step {
        Step::Install => install(actions, &install_options(release, desired)).await,
        Step::Upgrade => upgrade(actions, &upgrade_options(release, desired)).await,
        Step::Rollback(version) => {
            let o = release.rollback();
            let options = RollbackOptions {
                version: *version,
                disable_hooks: o.disable_hooks.unwrap_or(false),
                wait: WaitOptions {
                    wait: !o.disable_wait.unwrap_or(false),
                    jobs: !o.disable_wait_for_jobs.unwrap_or(false),
                    timeout: timeout(release, step),
                },
                server_side: server_side(o.server_side_apply),
                max_history: release.max_history(),
            };
            rollback(actions, &options).await
        }
        Step::UninstallRemediation => uninstall(actions, &uninstall_options(release)).await,
        Step::Test => {
            let filters = release.test().filters;
            helm_action::test::test(actions, timeout(release, step), &move |name| chosen(&filters, name)).await
        }
        Step::Unlock | Step::CorrectDrift => helm_action::unlock::unlock(actions).await,
    }
}

/// Does a test run? What is excluded does not; where something is included, only that does.
pub fn chosen(filters: &[flux_api::helmrelease::TestFilter], name: &str) -> bool {
    let excluded = |f: &&flux_api::helmrelease::TestFilter| f.exclude == Some(true);
    if filters.iter().filter(excluded).any(|f| f.name == name) {
        return false;
    }
    let mut included = filters.iter().filter(|f| !excluded(f)).peekable();
    included.peek().is_none() || included.any(|f| f.name == name)
}
