//! The status of a release while a pass works on it.
//!
//! Owns: the conditions, what is attempted, counters, how a pass ends, and the one place where values of Secrets are
//! masked: no condition, event or log line leaves a pass without it. What an action's outcome means is in `outcome.rs`.
//! Pure: the clock is handed in. Does not own: prerequisites, which are recorded where they fail (`mod.rs`).

use std::fmt::Display;
use std::time::Duration;

use flux_api::HelmRelease;
use flux_api::helmrelease::HelmReleaseStatus;
use flux_api::meta::condition::{self, READY, RECONCILING, RELEASED, REMEDIATED, STALLED, TEST_SUCCESS};
use flux_api::meta::reason;
use helm::release::Release;
use jiff::Timestamp;

use super::decide::{End, Step};
use super::desired::Desired;
use super::notice::Notice;
use super::redact::Secrets;
use super::remedy;

/// The status of a release while a pass works on it.
pub struct Record<'a> {
    /// The object.
    pub release: &'a HelmRelease,
    /// Its status, as it will be written. Its messages are set through [`Record::set`] only.
    pub status: HelmReleaseStatus,
    /// The time of the pass.
    pub now: Timestamp,
    /// What people may not see.
    secrets: Secrets,
    /// What there is to tell.
    notices: Vec<Notice>,
}

impl<'a> Record<'a> {
    /// The status at the beginning of a pass.
    pub fn new(release: &'a HelmRelease, status: HelmReleaseStatus, now: Timestamp) -> Self {
        Self { release, status, now, secrets: Secrets::default(), notices: Vec::new() }
    }
}

impl Record<'_> {
    /// From here on, mask what these Secrets hold.
    pub fn hide(&mut self, secrets: Secrets) {
        self.secrets.join(secrets);
    }

    /// Mask what the Secrets held when these revisions were made, too.
    pub fn learn<'r>(&mut self, revisions: impl IntoIterator<Item = &'r Release>) {
        revisions.into_iter().for_each(|revision| self.secrets.learn(&revision.config));
    }

    /// A text as people may see it. Whatever is logged about a release comes from here.
    pub fn told(&self, text: &dyn Display) -> String {
        self.secrets.redact(&text.to_string())
    }

    /// Log that something did not work.
    pub fn warn(&self, what: &str, error: &dyn Display) {
        tracing::warn!(error = self.told(error), "{what}");
    }

    /// Tell people something.
    pub fn notice(&mut self, mut notice: Notice) {
        notice.message = self.secrets.redact(&notice.message);
        self.notices.push(notice);
    }

    /// What there is to tell, once.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Set a condition for the current generation.
    pub fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let (generation, message) = (Some(self.release.generation()), self.secrets.redact(message));
        condition::set(&mut self.status.conditions, kind, status, reason, &message, generation, self.now);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconcile::notice::Severity;
    use crate::reconcile::values::Document;
    use serde_json::json;

    #[test]
    fn no_condition_event_or_log_line_has_a_value_of_a_secret() {
        let release: HelmRelease =
            serde_json::from_value(json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"interval": "1m", "valuesFrom": [{"kind": "Secret", "name": "s"}]}}))
            .unwrap();
        let document = Document {
            reference: release.spec.values_from[0].clone(),
            data: Some(b"password: hunter22\nnamespace: default".to_vec()),
        };
        let mut record = Record::new(&release, HelmReleaseStatus::default(), Timestamp::UNIX_EPOCH);
        record.hide(Secrets::of(&release, &[document]));
        let text = "Helm install failed for release default/web: Invalid value: \"hunter22\"";
        let masked = "Helm install failed for release default/web: Invalid value: \"***\"";
        record.set(READY, "False", reason::INSTALL_FAILED, text);
        record.end(&End::Stalled(reason::INSTALL_FAILED, text.into()));
        record.notice(Notice::new(Severity::Error, reason::INSTALL_FAILED, text));
        for kind in [READY, STALLED] {
            assert_eq!(condition::get(&record.status.conditions, kind).unwrap().message, masked);
        }
        assert_eq!(record.take_notices()[0].message, masked);
        assert_eq!(record.told(&text), masked);
    }
}
