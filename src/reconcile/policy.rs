//! Remediation and retry arithmetic.
//!
//! Owns: which strategy is active, how many attempts are left, what counts as a failure. Pure. The surprising thing:
//! what is active follows the last attempted *action*, so the retry of a failed install, which is an upgrade, is
//! governed by the options of upgrades.

use std::time::Duration;

use flux_api::HelmRelease;
use flux_api::helmrelease::{HelmReleaseStatus, RemediationStrategy};

/// The last attempted release action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempted {
    /// An install.
    Install,
    /// An upgrade.
    Upgrade,
}

impl Attempted {
    /// From `status.lastAttemptedReleaseAction`.
    pub fn of(status: &HelmReleaseStatus) -> Option<Self> {
        match status.last_attempted_release_action.as_deref() {
            Some("install") => Some(Self::Install),
            Some("upgrade") => Some(Self::Upgrade),
            _ => None,
        }
    }

    /// The word in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Upgrade => "upgrade",
        }
    }
}

/// The remediation that an action's options ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remediation {
    /// Retries; negative is for ever.
    pub retries: i64,
    /// Failed tests are no failure.
    pub ignore_test_failures: bool,
    /// Remediate the last failure too.
    pub remediate_last: bool,
    /// How.
    pub strategy: RemediationStrategy,
    /// Failures so far.
    pub failures: i64,
}

impl Remediation {
    /// Are all attempts used up?
    pub const fn exhausted(self) -> bool {
        self.retries >= 0 && self.failures > self.retries
    }
}

/// The remediation of one action.
pub fn of_action(release: &HelmRelease, status: &HelmReleaseStatus, attempted: Attempted) -> Remediation {
    let ignore_tests = release.test().ignore_failures.unwrap_or(false);
    match attempted {
        Attempted::Install => {
            let r = release.install().remediation.unwrap_or_default();
            Remediation {
                retries: r.retries.unwrap_or(0),
                ignore_test_failures: r.ignore_test_failures.unwrap_or(ignore_tests),
                remediate_last: r.remediate_last_failure.unwrap_or(false),
                strategy: RemediationStrategy::Uninstall,
                failures: status.install_failures,
            }
        }
        Attempted::Upgrade => {
            let r = release.upgrade().remediation.unwrap_or_default();
            let retries = r.retries.unwrap_or(0);
            Remediation {
                retries,
                ignore_test_failures: r.ignore_test_failures.unwrap_or(ignore_tests),
                remediate_last: r.remediate_last_failure.unwrap_or(retries > 0),
                strategy: r.strategy.unwrap_or_default(),
                failures: status.upgrade_failures,
            }
        }
    }
}

/// The remediation of the last attempted action.
pub fn active(release: &HelmRelease, status: &HelmReleaseStatus) -> Option<(Attempted, Remediation)> {
    let attempted = Attempted::of(status)?;
    Some((attempted, of_action(release, status, attempted)))
}

/// The pause between retries if the last attempted action retries instead of remediating.
pub fn retry_on_failure(release: &HelmRelease, status: &HelmReleaseStatus) -> Option<Duration> {
    const DEFAULT: Duration = Duration::from_mins(5);
    let strategy = match Attempted::of(status)? {
        Attempted::Install => release.install().strategy,
        Attempted::Upgrade => release.upgrade().strategy,
    }?;
    (strategy.name == "RetryOnFailure").then(|| strategy.retry_interval.map_or(DEFAULT, |d| d.as_std()))
}
