//! What an action's outcome means for status and notices.
//!
//! Owns: history, failure counts, the conditions and events of installs, upgrades, rollbacks, uninstalls, tests, unlocks
//! and repairs. Pure. The surprising things: a failed install or upgrade names the release without its revision; a
//! remediation that went well leaves Ready false.

use flux_api::helmrelease::Snapshot;
use flux_api::meta::condition::{DRIFTED, RELEASED, REMEDIATED, TEST_SUCCESS};
use flux_api::meta::reason;
use helm_action::Outcome;
use helm_action::drift::{Drifted, Repair};

use super::decide::Step;
use super::desired::Desired;
use super::history;
use super::notice::{Notice, Severity};
use super::policy;
use super::record::Record;
use super::remedy;

impl Record<'_> {
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
        if !outcome.stored.is_empty() {
            self.status.observed_post_renderers_digest.clone_from(&desired.post_renderers_digest);
            self.status.observed_common_metadata_digest.clone_from(&desired.common_metadata_digest);
        }
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
                self.tell(Severity::Info, good, remedy::with(message, outcome.notes_text().as_deref()), desired);
            }
            Some(error) => {
                self.status.failures += 1;
                match step {
                    // Nothing was stored: there is nothing that an uninstall could remediate.
                    Step::Install if outcome.stored.is_empty() => {}
                    // The API server could not answer before anything began: that was no attempt.
                    _ if outcome.stored.is_empty() && error.is_transient() => {}
                    Step::Install => self.status.install_failures += 1,
                    _ => self.status.upgrade_failures += 1,
                }
                let name = format!("{}/{}", desired.release_namespace, self.release.full_release_name());
                let message =
                    format!("Helm {word} failed for release {name} with chart {}: {error}", desired.chart_text());
                let message = remedy::with(message, remedy::of_error(error));
                self.set(RELEASED, "False", bad, &message);
                let logs = if outcome.log.is_empty() {
                    String::new()
                } else {
                    let tail = &outcome.log[outcome.log.len().saturating_sub(10)..];
                    format!("\n\nLast Helm logs:\n\n{}", tail.join("\n"))
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
                self.tell(Severity::Info, good, remedy::with(message, outcome.notes_text().as_deref()), desired);
            }
            Some(error) => {
                self.status.failures += 1;
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

    /// Drift was looked for.
    pub fn drift(&mut self, drifted: &[Drifted]) {
        if drifted.is_empty() {
            self.set(DRIFTED, "False", reason::NO_DRIFT_DETECTED, "No drift detected against the cluster state");
            return;
        }
        let name = self.status.history.first().map(Snapshot::full_name).unwrap_or_default();
        let lines: Vec<String> = drifted.iter().map(Drifted::line).collect();
        let mut message =
            format!("Cluster state of release {name} has drifted from the desired state:\n{}", lines.join("\n"));
        let details: Vec<String> = drifted
            .iter()
            .filter_map(|d| {
                let details = d.details(&|text| self.told(&text));
                (!details.is_empty()).then(|| format!("{}:\n{}", d.built.object.id(), details.join("\n")))
            })
            .collect();
        if !details.is_empty() {
            message.push_str("\n\n");
            message.push_str(&details.join("\n"));
        }
        self.set(DRIFTED, "True", reason::DRIFT_DETECTED, &message);
        self.notice(Notice::new(Severity::Error, reason::DRIFT_DETECTED, message));
    }

    /// Drift was repaired, or not: what another comparison still found counts as not.
    pub fn corrected(&mut self, repairs: &[Repair], still: &[Drifted], desired: &Desired) {
        let name = self.status.history.first().map(Snapshot::full_name).unwrap_or_default();
        let differs = |line: &&str| still.iter().any(|d| line.starts_with(&format!("{} ", d.built.object.id())));
        let good: Vec<&str> = repairs.iter().filter_map(|r| r.as_deref().ok()).filter(|line| !differs(line)).collect();
        let mut bad: Vec<String> =
            repairs.iter().filter_map(|r| r.as_ref().err().map(|(id, e)| format!("{id} patch failure: {e}"))).collect();
        let failed = |d: &&Drifted| repairs.iter().any(|r| r.as_ref().is_err_and(|(id, _)| *id == d.built.object.id()));
        bad.extend(still.iter().filter(|d| !failed(d)).map(|d| format!("{} still differs", d.built.object.id())));
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
        self.notice(notice);
    }
}
