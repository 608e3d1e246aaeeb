//! From what a step did to status and notices.
//!
//! Owns: history, counters, the conditions of actions. Pure: the clock is handed in. Does not own: prerequisites, which
//! are recorded where they fail (`mod.rs`). The surprising things: a failed install or upgrade names the release without
//! its revision; a remediation that went well leaves Ready false.

use std::time::Duration;

use flux_api::HelmRelease;
use flux_api::helmrelease::{HelmReleaseStatus, Snapshot};
use flux_api::meta::condition::{self, DRIFTED, READY, RECONCILING, RELEASED, REMEDIATED, STALLED, TEST_SUCCESS};
use flux_api::meta::reason;
use helm_action::Outcome;
use helm_action::drift::{Drifted, Repair};
use jiff::Timestamp;

use super::decide::{End, Step};
use super::desired::Desired;
use super::history;
use super::notice::{Notice, Severity};
use super::policy;
use super::remedy;

/// The status of a release while a pass works on it.
pub struct Record<'a> {
    /// The object.
    pub release: &'a HelmRelease,
    /// Its status, as it will be written.
    pub status: HelmReleaseStatus,
    /// What there is to tell.
    pub notices: Vec<Notice>,
    /// The time of the pass.
    pub now: Timestamp,
}

impl Record<'_> {
    /// Set a condition for the current generation.
    pub fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let generation = Some(self.release.generation());
        condition::set(&mut self.status.conditions, kind, status, reason, message, generation, self.now);
    }

    /// Remove a condition.
    pub fn remove(&mut self, kind: &str) {
        condition::remove(&mut self.status.conditions, kind);
    }

    /// A pass is under way.
    pub fn progressing(&mut self, message: &str) {
        self.remove(STALLED);
        self.set(RECONCILING, "True", reason::PROGRESSING, message);
    }

    /// A prerequisite is missing.
    pub fn not_ready(&mut self, reason: &str, message: &str) {
        self.set(READY, "False", reason, message);
    }

    /// A step begins.
    pub fn begin(&mut self, step: &Step, timeout: Duration) {
        let text =
            format!("Running '{}' action with timeout of {}", step.word(), flux_api::meta::duration::go_text(timeout));
        self.progressing(&text);
        if matches!(step, Step::Install | Step::Upgrade) {
            self.set(READY, "Unknown", reason::PROGRESSING, &text);
            self.remove(TEST_SUCCESS);
            self.remove(REMEDIATED);
        }
        if *step == Step::Install {
            self.status.history.clear();
        }
        if let Step::Install | Step::Upgrade = step {
            self.status.last_attempted_release_action = Some(step.word().into());
        }
    }

    /// What is attempted now; failures so far only count against the same attempt.
    pub fn attempt(&mut self, desired: &Desired, reset: bool) {
        let generation = self.release.generation();
        let status = &mut self.status;
        let changed = status.last_attempted_generation != Some(generation)
            || status.last_attempted_revision.as_deref() != Some(&desired.chart_version)
            || !status.last_attempted_config_digest.as_deref().is_some_and(|d| desired.same_config(d));
        status.storage_namespace = Some(desired.storage_namespace.clone());
        status.last_attempted_generation = Some(generation);
        status.last_attempted_revision = Some(desired.chart_version.clone());
        status.last_attempted_revision_digest.clone_from(&desired.oci_digest);
        status.last_attempted_config_digest = Some(desired.config_digest.clone());
        status.last_attempted_values_checksum = None;
        status.last_release_revision = None;
        if changed || reset {
            self.reset_counters();
        }
    }

    /// An install, upgrade, rollback, uninstall or unlock has ended.
    ///
    /// # Errors
    /// A stored release whose values JSON cannot hold.
    pub fn action(&mut self, step: &Step, desired: &Desired, outcome: &Outcome) -> Result<(), helm::Error> {
        let (action, stamps_all) = match step {
            Step::Install => ("install", false),
            Step::Upgrade => ("upgrade", false),
            Step::Rollback(_) => ("rollback", true),
            Step::UninstallRemediation => ("uninstall-remediation", true),
            _ => ("", false),
        };
        let oci = desired.oci_digest.as_deref().filter(|_| matches!(step, Step::Install | Step::Upgrade));
        if matches!(step, Step::Unlock | Step::Test) {
            self.refresh(outcome, desired)?;
        } else {
            history::observe(&mut self.status.history, &outcome.stored, action, stamps_all, oci, desired.algorithm)?;
        }
        match step {
            Step::Install | Step::Upgrade => self.release_action(step, desired, outcome),
            Step::Rollback(version) => self.rolled_back(*version, desired, outcome),
            Step::UninstallRemediation => self.uninstalled(desired, outcome),
            Step::Unlock => self.unlocked(desired, outcome),
            Step::Test => self.tested(desired, outcome),
            Step::CorrectDrift => {}
        }
        Ok(())
    }

    /// The snapshot of an unlocked revision, if there is one.
    fn refresh(&mut self, outcome: &Outcome, desired: &Desired) -> Result<(), helm::Error> {
        for release in &outcome.stored {
            let known = self.status.history.iter_mut().find(|s| s.version == release.version && s.name == release.name);
            if let Some(known) = known {
                let action = known.action.clone();
                *known = history::snapshot(release, action.as_deref(), known.oci_digest.as_deref(), desired.algorithm)?;
            }
        }
        Ok(())
    }

    fn release_action(&mut self, step: &Step, desired: &Desired, outcome: &Outcome) {
        let word = step.word();
        self.status.last_attempted_release_action_duration = Some(flux_api::meta::duration::go_text(outcome.took));
        self.status.observed_post_renderers_digest.clone_from(&desired.post_renderers_digest);
        self.status.observed_common_metadata_digest.clone_from(&desired.common_metadata_digest);
        let (good, bad) = if *step == Step::Install {
            (reason::INSTALL_SUCCEEDED, reason::INSTALL_FAILED)
        } else {
            (reason::UPGRADE_SUCCEEDED, reason::UPGRADE_FAILED)
        };
        match &outcome.error {
            None => {
                if policy::retry_on_failure(self.release, &self.status).is_some() {
                    self.reset_counters();
                }
                let (name, chart) = self.newest(desired);
                let message = format!("Helm {word} succeeded for release {name} with chart {chart}");
                self.set(RELEASED, "True", good, &message);
                let kept = (!outcome.kept.is_empty()).then(|| outcome.kept.join("\n"));
                self.tell(Severity::Info, good, remedy::with(message, kept.as_deref()), desired);
            }
            Some(error) => {
                self.status.failures += 1;
                match step {
                    // Nothing was stored: there is nothing that an uninstall could remediate.
                    Step::Install if outcome.stored.is_empty() => {}
                    Step::Install => self.status.install_failures += 1,
                    _ => self.status.upgrade_failures += 1,
                }
                let name = format!("{}/{}", desired.release_namespace, self.release.full_release_name());
                let error_text = desired.told(error);
                let message =
                    format!("Helm {word} failed for release {name} with chart {}: {error_text}", desired.chart_text());
                let message = remedy::with(message, remedy::of_error(error));
                self.set(RELEASED, "False", bad, &message);
                let logs = if outcome.log.is_empty() {
                    String::new()
                } else {
                    let tail = &outcome.log[outcome.log.len().saturating_sub(10)..];
                    format!("\n\nLast Helm logs:\n\n{}", desired.secrets.redact(&tail.join("\n")))
                };
                self.tell(Severity::Error, bad, format!("{message}{logs}"), desired);
            }
        }
        self.summarize();
    }

    fn rolled_back(&mut self, version: i64, desired: &Desired, outcome: &Outcome) {
        let target = self.status.history.iter().find(|s| s.version == version);
        let name = target.map_or_else(|| desired.full_name(), Snapshot::full_name);
        let chart = target.map_or_else(|| desired.chart_text(), Snapshot::chart);
        let head = format!("Helm rollback to previous release {name} with chart {chart}");
        self.remediated(&head, outcome, desired, reason::ROLLBACK_SUCCEEDED, reason::ROLLBACK_FAILED);
        self.summarize();
    }

    fn uninstalled(&mut self, desired: &Desired, outcome: &Outcome) {
        let (name, chart) = self.newest(desired);
        let head = format!("Helm uninstall remediation for release {name} with chart {chart}");
        self.remediated(&head, outcome, desired, reason::UNINSTALL_SUCCEEDED, reason::UNINSTALL_FAILED);
    }

    fn remediated(&mut self, head: &str, outcome: &Outcome, desired: &Desired, good: &'static str, bad: &'static str) {
        match &outcome.error {
            None => {
                let message = format!("{head} succeeded");
                self.set(REMEDIATED, "True", good, &message);
                self.tell(Severity::Info, good, message, desired);
            }
            Some(error) => {
                self.status.failures += 1;
                let error = desired.told(error);
                let message = format!("{head} failed: {error}");
                self.set(REMEDIATED, "False", bad, &message);
                self.tell(Severity::Error, bad, message, desired);
            }
        }
    }

    fn tested(&mut self, desired: &Desired, outcome: &Outcome) {
        let filters = self.release.test().filters;
        if let (Some(stored), Some(snapshot)) = (outcome.last(), self.status.history.first_mut()) {
            let mut hooks = history::test_hooks(stored);
            hooks.retain(|name, _| super::step::chosen(&filters, name));
            snapshot.test_hooks = Some(hooks);
        }
        let (name, chart) = self.newest(desired);
        let count = self
            .status
            .history
            .first()
            .and_then(|s| s.test_hooks.as_ref())
            .map_or(0, |h| h.values().filter(|t| t.phase.as_deref() == Some("Succeeded")).count());
        match &outcome.error {
            None => {
                let hooks = match count {
                    0 => "no test hooks".to_string(),
                    1 => "1 test hook completed successfully".into(),
                    n => format!("{n} test hooks completed successfully"),
                };
                let message = format!("Helm test succeeded for release {name} with chart {chart}: {hooks}");
                self.set(TEST_SUCCESS, "True", reason::TEST_SUCCEEDED, &message);
                self.tell(Severity::Info, reason::TEST_SUCCEEDED, message, desired);
            }
            Some(error) => {
                self.status.failures += 1;
                let error = desired.told(error);
                let message = format!("Helm test failed for release {name} with chart {chart}: {error}");
                self.set(TEST_SUCCESS, "False", reason::TEST_FAILED, &message);
                self.tell(Severity::Error, reason::TEST_FAILED, message, desired);
                if let Some((attempted, remediation)) = policy::active(self.release, &self.status)
                    && !remediation.ignore_test_failures
                {
                    match attempted {
                        policy::Attempted::Install => self.status.install_failures += 1,
                        policy::Attempted::Upgrade => self.status.upgrade_failures += 1,
                    }
                }
            }
        }
        self.summarize();
    }

    fn unlocked(&mut self, desired: &Desired, outcome: &Outcome) {
        let stored = outcome.last();
        let status =
            stored.and_then(|r| r.info.description.split('\'').nth(1).map(ToString::to_string)).unwrap_or_default();
        let (name, chart) = match stored {
            Some(r) => (
                format!("{}/{}.v{}", r.namespace, r.name, r.version),
                format!("{}@{}", r.chart.metadata.name, r.chart.metadata.version),
            ),
            None => (desired.full_name(), desired.chart_text()),
        };
        let (severity, message) = match &outcome.error {
            None => (Severity::Info, format!("Unlocked Helm release {name} with chart {chart} in {status} state")),
            Some(error) => {
                self.status.failures += 1;
                (
                    Severity::Error,
                    format!("Unlock of Helm release {name} with chart {chart} in {status} state failed: {error}"),
                )
            }
        };
        self.set(RELEASED, "False", reason::PENDING_RELEASE, &message);
        self.tell(severity, reason::PENDING_RELEASE, message, desired);
        self.summarize();
    }

    /// Drift was looked for. Gives the message when there is some.
    pub fn drift(&mut self, drifted: &[Drifted]) -> Option<String> {
        if drifted.is_empty() {
            self.set(DRIFTED, "False", reason::NO_DRIFT_DETECTED, "No drift detected against the cluster state");
            return None;
        }
        let name = self.status.history.first().map(Snapshot::full_name).unwrap_or_default();
        let lines: Vec<String> = drifted.iter().map(Drifted::line).collect();
        let mut message =
            format!("Cluster state of release {name} has drifted from the desired state:\n{}", lines.join("\n"));
        let details: Vec<String> = drifted
            .iter()
            .filter_map(|d| {
                let details = d.details();
                (!details.is_empty()).then(|| format!("{}:\n{}", d.built.object.id(), details.join("\n")))
            })
            .collect();
        if !details.is_empty() {
            message.push_str("\n\n");
            message.push_str(&details.join("\n"));
        }
        self.set(DRIFTED, "True", reason::DRIFT_DETECTED, &message);
        self.notices.push(Notice::new(Severity::Error, reason::DRIFT_DETECTED, message.clone()));
        Some(message)
    }

    /// Drift was repaired, or not.
    pub fn corrected(&mut self, repairs: &[Repair], desired: &Desired) {
        let name = self.status.history.first().map(Snapshot::full_name).unwrap_or_default();
        let good: Vec<&str> = repairs.iter().filter_map(|r| r.as_deref().ok()).collect();
        let bad: Vec<String> = repairs
            .iter()
            .filter_map(|r| r.as_ref().err().map(|(id, e)| format!("{id} patch failure: {}", desired.told(e))))
            .collect();
        if bad.is_empty() {
            let message = format!("Cluster state of release {name} has been corrected:\n{}", good.join("\n"));
            self.tell(Severity::Info, reason::DRIFT_CORRECTED, message, desired);
            return;
        }
        let partially = if good.is_empty() { "" } else { "partially " };
        let mut message = format!("Failed to {partially}correct cluster state of release {name}:\n{}", bad.join("\n"));
        if !good.is_empty() {
            message.push_str("\n\nSuccessful corrections:\n");
            message.push_str(&good.join("\n"));
        }
        self.tell(Severity::Error, reason::DRIFT_CORRECTION_FAILED, message, desired);
    }

    /// The pass ends.
    pub fn end(&mut self, end: &End) {
        match end {
            End::Done | End::Exhausted => {
                if *end == End::Done {
                    self.settle();
                    self.summarize();
                }
                self.remove(RECONCILING);
                self.remove(STALLED);
            }
            End::Retry => {
                let ready = condition::get(&self.status.conditions, READY);
                let why = ready.and_then(|c| c.message.split("\n\n").next()).unwrap_or_default().to_owned();
                self.set(RECONCILING, "True", reason::PROGRESSING_WITH_RETRY, &why);
            }
            End::RetryAfter(pause) => {
                let text = format!("retrying after {}", flux_api::meta::duration::go_text(*pause));
                self.set(RECONCILING, "True", reason::PROGRESSING_WITH_RETRY, &text);
            }
            End::Stalled(reason, message) => {
                self.remove(RECONCILING);
                self.set(STALLED, "True", reason, message);
            }
            End::Fault(why) => {
                let message = format!("Could not determine release state: {why}");
                let remedy = remedy::of_halt(reason::STATE_ERROR, &message);
                self.not_ready(reason::STATE_ERROR, &remedy::with(message, remedy));
            }
        }
    }

    /// In sync again without an action: what the last failure said no longer holds.
    fn settle(&mut self) {
        let Some(newest) = self.status.history.first() else { return };
        let (name, chart) = (newest.full_name(), newest.chart());
        let released = condition::get(&self.status.conditions, RELEASED);
        let remediated = condition::get(&self.status.conditions, REMEDIATED).is_some_and(flux_api::Condition::is_true);
        let stale = released.is_none_or(flux_api::Condition::is_false);
        if remediated {
            self.remove(REMEDIATED);
            let message = format!("Helm upgrade succeeded for release {name} with chart {chart}");
            self.set(RELEASED, "True", reason::UPGRADE_SUCCEEDED, &message);
        } else if stale {
            let upgrade = newest.version > 1 || newest.action.as_deref() == Some("upgrade");
            let (word, reason) =
                if upgrade { ("upgrade", reason::UPGRADE_SUCCEEDED) } else { ("install", reason::INSTALL_SUCCEEDED) };
            let message = format!("Helm {word} succeeded for release {name} with chart {chart}");
            self.set(RELEASED, "True", reason, &message);
        }
    }

    /// Ready is the first of Remediated, TestSuccess and Released that counts.
    pub fn summarize(&mut self) {
        let test = self.release.test();
        let counts_tests = test.enable == Some(true) && test.ignore_failures != Some(true);
        if test.enable != Some(true) {
            self.remove(TEST_SUCCESS);
        }
        let mut chosen: Option<flux_api::Condition> = None;
        for kind in [REMEDIATED, TEST_SUCCESS, RELEASED] {
            if kind == TEST_SUCCESS && !counts_tests {
                continue;
            }
            let Some(c) = condition::get(&self.status.conditions, kind) else { continue };
            if chosen.as_ref().is_none_or(|best| c.observed_generation > best.observed_generation) {
                chosen = Some(c.clone());
            }
        }
        let Some(c) = chosen else { return };
        let status = if c.kind == REMEDIATED { "False" } else { c.status.as_str() };
        self.set(READY, status, &c.reason, &c.message);
        if status == "True" {
            self.remove(STALLED);
        }
    }

    /// All failure counters to zero.
    pub fn reset_counters(&mut self) {
        self.status.failures = 0;
        self.status.install_failures = 0;
        self.status.upgrade_failures = 0;
    }

    /// The newest revision's name with its number, and its chart.
    fn newest(&self, desired: &Desired) -> (String, String) {
        match self.status.history.first() {
            Some(s) => (s.full_name(), s.chart()),
            None => (desired.full_name(), desired.chart_text()),
        }
    }

    fn tell(&mut self, severity: Severity, reason: &'static str, message: String, desired: &Desired) {
        let mut notice = Notice::new(severity, reason, message);
        let key = |name: &str| format!("helm.toolkit.fluxcd.io/{name}");
        notice.annotations.insert(key("revision"), desired.chart_version.clone());
        notice.annotations.insert(key("token"), desired.config_digest.clone());
        let app = &desired.chart.metadata.app_version;
        if !app.is_empty() {
            notice.annotations.insert(key("app-version"), app.clone());
        }
        if let Some(digest) = &desired.oci_digest {
            notice.annotations.insert(key("oci-digest"), digest.clone());
        }
        self.notices.push(notice);
    }
}
