//! What comes next. The heart: pure, a table in its tests.
//!
//! Owns: the state of a release and the step it calls for. Does not own: finding the state out, or doing anything about
//! it. The order of the checks is Flux's (`internal/reconcile/state.go`); the first that fits decides.

use std::sync::Arc;
use std::time::Duration;

use flux_api::HelmRelease;
use flux_api::helmrelease::{DriftMode, HelmReleaseStatus, RemediationStrategy};
use helm::release::{Release, Status};

use super::desired::Desired;
use super::history::{has_failed_test, is_tested, rollback_target, verifies};
use super::policy::{self, Attempted};

/// What is known about storage and cluster.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The newest stored revision.
    pub last: Option<Arc<Release>>,
    /// The stored revision that a rollback would go to, if it is still as its snapshot tells.
    pub rollback_intact: bool,
    /// Objects that differ, if that was looked into.
    pub drifted: Option<bool>,
}

/// The state of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none.
    Absent,
    /// A process died in the middle of an action.
    Locked(Status),
    /// There is one that someone else made or changed.
    Unmanaged,
    /// The last action failed, or its tests did.
    Failed,
    /// It is not what is wanted; why.
    OutOfSync(&'static str),
    /// Its tests have not run.
    Untested,
    /// The cluster differs from it.
    Drifted,
    /// All is as it should be.
    InSync,
    /// It cannot be told; why.
    Unknown(String),
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Install.
    Install,
    /// Upgrade.
    Upgrade,
    /// Run the tests.
    Test,
    /// Go back to this revision.
    Rollback(i64),
    /// Uninstall after a failure.
    UninstallRemediation,
    /// End a pending revision.
    Unlock,
    /// Repair the drifted objects.
    CorrectDrift,
}

/// Steps of one kind run at most once a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Install or upgrade.
    Release,
    /// Rollback or uninstall.
    Remediate,
    /// Tests.
    Test,
    /// Unlock.
    Unlock,
    /// Repair.
    Drift,
}

impl Step {
    /// Its kind.
    pub const fn kind(&self) -> StepKind {
        match self {
            Self::Install | Self::Upgrade => StepKind::Release,
            Self::Rollback(_) | Self::UninstallRemediation => StepKind::Remediate,
            Self::Test => StepKind::Test,
            Self::Unlock => StepKind::Unlock,
            Self::CorrectDrift => StepKind::Drift,
        }
    }

    /// The word in `Running '<word>' action`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Upgrade => "upgrade",
            Self::Test => "test",
            Self::Rollback(_) => "rollback",
            Self::UninstallRemediation => "uninstall",
            Self::Unlock => "unlock",
            Self::CorrectDrift => "correct cluster drift",
        }
    }
}

/// How a pass ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is left to do until the interval is over.
    Done,
    /// The attempts are used up and nothing more will be tried; the interval still holds.
    Exhausted,
    /// Try again soon, with growing pauses.
    Retry,
    /// Try again after this pause.
    RetryAfter(Duration),
    /// Nothing will happen until someone changes something: reason and message.
    Stalled(&'static str, String),
    /// The state cannot be told.
    Fault(String),
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Do this.
    Run(Step),
    /// End the pass.
    Stop(End),
}

/// What a pass has done so far, as far as it decides.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Kinds of steps that ran.
    pub ran: Vec<StepKind>,
    /// Was the last step a remediation?
    pub remediated: bool,
    /// Did the last step end in an error that nothing was stored about?
    pub failed_unstored: bool,
    /// Does the token of the annotation forceAt apply?
    pub force: bool,
}

/// The state of a release.
pub fn state(release: &HelmRelease, status: &HelmReleaseStatus, desired: &Desired, observed: &Observed) -> State {
    let Some(last) = &observed.last else { return State::Absent };
    let newest = status.history.first();
    let stored = last.info.status;
    if stored.is_pending() || stored == Status::Uninstalling {
        // A release that a killed process was uninstalling is taken up like a pending one.
        return State::Locked(stored);
    }
    let ours = newest.is_some_and(|s| verifies(s, last));
    if stored == Status::Uninstalled && (newest.is_none() || ours) {
        return State::Absent;
    }
    if !ours {
        return State::Unmanaged;
    }
    match stored {
        Status::Failed => return State::Failed,
        Status::Deployed => {}
        other => return State::Unknown(format!("unable to determine state for release with status '{other}'")),
    }
    let metadata = &last.chart.metadata;
    if metadata.name != desired.chart_name || metadata.version != desired.chart_version {
        return State::OutOfSync("release chart changed");
    }
    if newest.is_none_or(|s| !desired.same_config(&s.config_digest)) && !is_preserved(release, desired, last) {
        return State::OutOfSync("release config values changed");
    }
    if status.observed_generation != Some(release.generation()) {
        if status.observed_post_renderers_digest != desired.post_renderers_digest {
            return State::OutOfSync("postrenderers digest has changed");
        }
        if status.observed_common_metadata_digest != desired.common_metadata_digest {
            return State::OutOfSync("common metadata digest has changed");
        }
    }
    if let Some(snapshot) = newest {
        if release.test().enable == Some(true) && !is_tested(snapshot) {
            return State::Untested;
        }
        let ignored = policy::active(release, status).is_some_and(|(_, r)| r.ignore_test_failures);
        if has_failed_test(snapshot) && release.test().enable == Some(true) && !ignored {
            return State::Failed;
        }
    }
    if observed.drifted == Some(true) { State::Drifted } else { State::InSync }
}

/// Do upgrades keep the values of the last revision below the new ones, and are the new ones in it already? What was asked
/// for counts then, not what came of it: an upgrade would change nothing, and the next one again nothing.
fn is_preserved(release: &HelmRelease, desired: &Desired, last: &Release) -> bool {
    if release.upgrade().preserve_values != Some(true) {
        return false;
    }
    let merged = helm_action::upgrade::merged_values(&desired.values, &last.config);
    let digest = |values| helm::values::digest::config_digest(values, desired.algorithm);
    digest(&merged) == digest(&last.config)
}

/// Would this state still change by looking at drift?
pub fn wants_drift(release: &HelmRelease, state: &State) -> bool {
    *state == State::InSync && release.drift_mode() != DriftMode::Disabled
}

/// What comes next in a state.
pub fn decide(
    release: &HelmRelease,
    status: &HelmReleaseStatus,
    state: &State,
    observed: &Observed,
    progress: &Progress,
) -> Decision {
    match next_step(release, status, state, observed, progress) {
        Err(end) => Decision::Stop(end),
        Ok(step) if progress.ran.contains(&step.kind()) || progress.remediated || progress.failed_unstored => {
            Decision::Stop(ended(release, status))
        }
        Ok(step) => Decision::Run(step),
    }
}

/// The step a state calls for, or the end of the pass.
fn next_step(
    release: &HelmRelease,
    status: &HelmReleaseStatus,
    state: &State,
    observed: &Observed,
    progress: &Progress,
) -> Result<Step, End> {
    match state {
        State::Absent => {
            let install = policy::of_action(release, status, Attempted::Install);
            let attempted = Attempted::of(status) == Some(Attempted::Install);
            if attempted
                && install.failures > 0
                && install.exhausted()
                && !progress.force
                && policy::retry_on_failure(release, status).is_none()
            {
                return Err(exceeded(Attempted::Install, install.failures));
            }
            Ok(Step::Install)
        }
        State::Locked(_) => Ok(Step::Unlock),
        State::Unmanaged => Ok(Step::Upgrade),
        State::OutOfSync(_) => {
            let upgrade = policy::of_action(release, status, Attempted::Upgrade);
            let attempted = Attempted::of(status) == Some(Attempted::Upgrade);
            if attempted
                && upgrade.failures > 0
                && upgrade.exhausted()
                && !progress.force
                && policy::retry_on_failure(release, status).is_none()
            {
                return Err(exceeded(Attempted::Upgrade, upgrade.failures));
            }
            Ok(Step::Upgrade)
        }
        State::Untested => Ok(Step::Test),
        State::Failed => failed(release, status, observed, progress),
        State::Drifted => match release.drift_mode() {
            DriftMode::Enabled => Ok(Step::CorrectDrift),
            _ if progress.force => Ok(Step::Upgrade),
            _ => Err(End::Done),
        },
        State::InSync if progress.force && !progress.ran.contains(&StepKind::Release) => Ok(Step::Upgrade),
        State::InSync => Err(End::Done),
        State::Unknown(why) => Err(End::Fault(why.clone())),
    }
}

fn failed(
    release: &HelmRelease,
    status: &HelmReleaseStatus,
    observed: &Observed,
    progress: &Progress,
) -> Result<Step, End> {
    if policy::retry_on_failure(release, status).is_some() {
        return Ok(Step::Upgrade);
    }
    let Some((attempted, remediation)) = policy::active(release, status) else { return Ok(Step::Upgrade) };
    // A forced upgrade that failed is remediated like any other.
    if remediation.failures == 0 || progress.force && !progress.ran.contains(&StepKind::Release) {
        return Ok(Step::Upgrade);
    }
    if remediation.exhausted() && !remediation.remediate_last {
        return Err(exceeded(attempted, remediation.failures));
    }
    match remediation.strategy {
        RemediationStrategy::Uninstall => Ok(Step::UninstallRemediation),
        RemediationStrategy::Rollback => match rollback_target(&status.history, remediation.ignore_test_failures) {
            None => Err(End::Stalled(
                flux_api::meta::reason::MISSING_ROLLBACK_TARGET,
                "Failed to perform remediation: missing target release for rollback: cannot remediate failed release"
                    .into(),
            )),
            Some(_) if !observed.rollback_intact => Ok(Step::Upgrade),
            Some(target) => Ok(Step::Rollback(target.version)),
        },
    }
}

fn exceeded(attempted: Attempted, failures: i64) -> End {
    End::Stalled(
        flux_api::meta::reason::RETRIES_EXCEEDED,
        format!("Failed to {} after {failures} attempt(s)", attempted.word()),
    )
}

/// How a pass ends whose next step has run already, or which has remediated.
fn ended(release: &HelmRelease, status: &HelmReleaseStatus) -> End {
    if let Some(pause) = policy::retry_on_failure(release, status) {
        return End::RetryAfter(pause);
    }
    match policy::active(release, status) {
        Some((attempted, r)) if r.failures > 0 && r.exhausted() => {
            let uninstalled_upgrade = attempted == Attempted::Upgrade && r.strategy == RemediationStrategy::Uninstall;
            // After an uninstall there is something to install.
            if uninstalled_upgrade { End::Retry } else { exceeded(attempted, r.failures) }
        }
        _ => End::Retry,
    }
}

#[cfg(test)]
mod tests;
