//! One HelmRelease, one pass.
//!
//! Owns: the flow from an object to its next state: gather what it refers to, work out what it should be, then observe,
//! decide, act and record until nothing is left to do, and publish. Does not own: when passes happen, or many releases.
//!
//! Each status field has one writer (`record.rs`); each kind of step runs at most once a pass; rendering happens only
//! when a step needs it. A status is written when an action starts and when a pass ends, if it changed.

pub mod context;
pub mod decide;
pub mod delete;
pub mod desired;
pub mod expression;
pub mod gather;
pub mod history;
pub mod ignore;
pub mod notice;
pub mod observe;
pub mod outcome;
pub mod policy;
pub mod publish;
pub mod record;
pub mod redact;
pub mod remedy;
pub mod step;
pub mod unsupported;
pub mod values;

use std::time::Duration;

use flux_api::HelmRelease;
use flux_api::helmrelease::HelmReleaseStatus;
use flux_api::meta::condition::{self, READY, RECONCILING, STALLED};
use flux_api::meta::{FORCE_AT, REQUESTED_AT, RESET_AT, reason};
use jiff::Timestamp;
use kube_ops::ApiError;

use context::{Context, Halt};
use decide::{Decision, End, Progress, Step, StepKind, decide};
use desired::Desired;
use notice::{Notice, Severity};
use publish::Recorder;
use record::Record;

/// When the next pass is due without a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// After this time.
    After(Duration),
    /// Soon, with growing pauses.
    Backoff,
    /// Only when something changes.
    AwaitChange,
}

/// A pass in progress.
pub struct Pass<'a> {
    context: &'a Context,
    recorder: &'a Recorder,
    /// The status as it is stored.
    stored: HelmReleaseStatus,
    /// The status as it will be.
    record: Record<'a>,
    /// The object after the last write.
    latest: Option<HelmRelease>,
    /// The annotations this pass acts on. They are handled when it has come to an end, not when it began.
    used: Tokens,
}

/// Values of annotations that ask for something once.
#[derive(Default)]
struct Tokens {
    force: Option<String>,
    reset: Option<String>,
}

/// How long a chart may be in coming before the status tells that it is being waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// The shortest time between two looks at a release by its interval.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

fn stalled(reason: &'static str, message: String) -> Halt {
    Halt { reason, message, event: Some(Severity::Error), stalled: true, requeue: None }
}

/// Bring one release a step closer to its spec. Gives when to look again, and the object as last written.
pub async fn reconcile(release: &HelmRelease, context: &Context, recorder: &Recorder) -> (Next, Option<HelmRelease>) {
    let mut pass = Pass::new(release, context, recorder);
    let next = match pass.run().await {
        Ok(next) => next,
        Err(e) => {
            tracing::warn!(error = %e, "the status could not be written");
            Next::Backoff
        }
    };
    (next, pass.latest)
}

impl<'a> Pass<'a> {
    fn new(release: &'a HelmRelease, context: &'a Context, recorder: &'a Recorder) -> Self {
        let stored = release.status.clone().unwrap_or_default();
        let record = Record::new(release, stored.clone(), Timestamp::now());
        Self { context, recorder, stored, record, latest: None, used: Tokens::default() }
    }

    async fn run(&mut self) -> Result<Next, ApiError> {
        let release = self.record.release;
        if release.metadata.deletion_timestamp.is_some() {
            return delete::run(self).await;
        }
        let finalizers = release.metadata.finalizers.as_deref().unwrap_or_default();
        if !finalizers.iter().any(|f| f == flux_api::meta::FINALIZER) {
            self.latest = Some(publish::finalizer(&self.context.own, release, true).await?);
        }
        if release.spec.suspend == Some(true) {
            return self.finish_observed(Next::AwaitChange).await;
        }
        if let Some(message) = unsupported::field(release) {
            return self.halt(stalled(reason::UNSUPPORTED_FIELD, message)).await;
        }
        match self.context.charts.prepare(release).await {
            Ok((helm_chart, notices)) => {
                for notice in notices {
                    self.record.notice(notice);
                }
                self.drop_old_chart(helm_chart.as_deref()).await;
                self.record.status.helm_chart = helm_chart;
            }
            Err(why) if why.contains("cross-namespace references are not allowed") => {
                return self.halt(stalled(reason::ACCESS_DENIED, why)).await;
            }
            Err(why) => {
                self.record.warn("failed to prepare the chart", &why);
                let remedy = remedy::of_halt(reason::SOURCE_NOT_READY, &why);
                self.record.not_ready(reason::SOURCE_NOT_READY, &remedy::with(why, remedy));
                return self.finish(Next::Backoff).await;
            }
        }
        if let Err(halt) = gather::dependencies(release, self.context).await {
            return self.halt(halt).await;
        }
        let desired = match self.gathered().await? {
            Ok(desired) => desired,
            Err(halt) => return self.halt(halt).await,
        };
        self.record.hide(desired.secrets.clone());
        if let Some(next) = delete::moved(self, &desired).await? {
            return Ok(next);
        }
        self.attempt(&desired).await
    }

    /// What the release should be. Where its chart is long in coming, the status says so meanwhile.
    async fn gathered(&mut self) -> Result<Result<Desired, Halt>, ApiError> {
        let mut gathering = std::pin::pin!(gather::desired(self.record.release, self.context));
        tokio::select! {
            desired = &mut gathering => return Ok(desired),
            () = tokio::time::sleep(PATIENCE) => {}
        }
        let message = remedy::with("Fulfilling prerequisites".into(), Some("The chart is still being fetched."));
        self.record.progressing(&message);
        if condition::get(&self.record.status.conditions, READY).is_none() {
            self.record.set(READY, "Unknown", reason::PROGRESSING, &message);
        }
        self.publish().await?;
        Ok(gathering.await)
    }

    async fn attempt(&mut self, desired: &Desired) -> Result<Next, ApiError> {
        self.used.reset = self.token(RESET_AT, |s| s.last_handled_reset_at.as_deref());
        self.record.attempt(desired, self.used.reset.is_some());
        self.work(desired).await
    }

    /// Observe, decide, act and record until nothing is left to do.
    async fn work(&mut self, desired: &Desired) -> Result<Next, ApiError> {
        let release = self.record.release;
        let actions = match self.context.actions(
            release,
            &desired.release_name,
            &desired.release_namespace,
            &desired.storage_namespace,
        ) {
            Ok(actions) => actions,
            Err(why) => return self.fail(reason::REST_CLIENT_ERROR, &why).await,
        };
        let mut progress = Progress::default();
        self.used.force = self.token(FORCE_AT, |s| s.last_handled_force_at.as_deref());
        progress.force = self.used.force.is_some();
        let mut still_drifted = None;
        loop {
            let mut observed = match observe::storage(release, &self.record.status, &actions).await {
                Ok(observed) => observed,
                Err(e) => return self.fault(&e).await,
            };
            self.record.learn(observed.last.as_deref());
            let mut state = decide::state(release, &self.record.status, desired, &observed);
            let mut report = None;
            if decide::wants_drift(release, &state) && progress.ran.contains(&StepKind::Drift) {
                // Compared once more by the repair itself.
                observed.drifted = still_drifted;
                state = decide::state(release, &self.record.status, desired, &observed);
            } else if decide::wants_drift(release, &state) {
                match observe::drift(release, self.context, &actions, &observed).await {
                    Ok(found) => {
                        observed.drifted = Some(!found.drifted.is_empty());
                        self.record.drift(&found.drifted);
                        for error in &found.errors {
                            self.record.warn("an object could not be compared", error);
                        }
                        report = Some(found);
                        state = decide::state(release, &self.record.status, desired, &observed);
                    }
                    Err(e) => return self.fault(&e).await,
                }
            }
            if let decide::State::InSync | decide::State::Failed | decide::State::Untested = state {
                let ignored = policy::active(release, &self.record.status).is_some_and(|(_, r)| r.ignore_test_failures);
                history::truncate(&mut self.record.status.history, ignored);
            }
            tracing::debug!(state = self.record.told(&format_args!("{state:?}")), "observed");
            let step = match decide(release, &self.record.status, &state, &observed, &progress) {
                Decision::Stop(end) => return self.end(&end).await,
                Decision::Run(step) => step,
            };
            progress.ran.push(step.kind());
            if step == Step::CorrectDrift {
                still_drifted = self.correct(desired, &actions, &observed, &report.unwrap_or_default()).await;
                continue;
            }
            if state == decide::State::Unmanaged {
                // Someone else's release: what the history says is not about it.
                self.record.status.history.clear();
            }
            if let Some(next) = self.act(&step, desired, &actions, &mut progress).await? {
                return Ok(next);
            }
        }
    }

    /// Carry out a step that runs one of Helm's verbs. Gives when to look again where the pass ends with it.
    async fn act(
        &mut self,
        step: &Step,
        desired: &Desired,
        actions: &helm_action::Context,
        progress: &mut Progress,
    ) -> Result<Option<Next>, ApiError> {
        let release = self.record.release;
        self.record.begin(step, step::timeout(release, step));
        self.publish().await?;
        let mut outcome = step::run(step, release, desired, actions).await;
        self.record.learn(outcome.stored.iter().map(AsRef::as_ref));
        for line in &outcome.log {
            tracing::debug!(line = self.record.told(line), "action");
        }
        let (action, took) = (step.word(), outcome.took.as_millis());
        match &outcome.error {
            None => tracing::info!(action, took_ms = took, chart = desired.chart_text(), "done"),
            Some(error) => {
                let error = self.record.told(error);
                tracing::warn!(action, took_ms = took, chart = desired.chart_text(), error, "failed");
            }
        }
        if let Some(version) = outcome.last().map(|r| r.version) {
            self.context.clean(release, version).seed(std::mem::take(&mut outcome.applied));
        }
        let unstored = outcome.error.is_some() && outcome.stored.is_empty();
        let transient = outcome.error.as_ref().is_some_and(helm_action::Error::is_transient);
        progress.failed_unstored |= unstored;
        progress.remediated |= step.kind() == StepKind::Remediate;
        if let Err(e) = self.record.action(step, desired, &outcome) {
            return self.fault(&e.to_string()).await.map(Some);
        }
        self.take_inventory(step, actions, &outcome).await;
        if unstored && transient {
            // Nothing has begun: what was asked for by annotations is still to be done.
            self.publish().await?;
            return Ok(Some(Next::Backoff));
        }
        if unstored && *step == Step::Install {
            // Nothing is stored that could tell the next pass about it: try again from the start.
            return self.finish(Next::Backoff).await.map(Some);
        }
        Ok(None)
    }

    /// Repair what drifted and compare again. Gives whether something still differs, if that can be told.
    async fn correct(
        &mut self,
        desired: &Desired,
        actions: &helm_action::Context,
        observed: &decide::Observed,
        report: &helm_action::drift::Report,
    ) -> Option<bool> {
        let last = observed.last.as_ref()?;
        let repairs = helm_action::drift::correct(actions, last, &report.drifted).await;
        match observe::drift(self.record.release, self.context, actions, observed).await {
            Ok(found) => {
                self.record.corrected(&repairs, &found.drifted, desired);
                for error in &found.errors {
                    self.record.warn("an object could not be compared", error);
                }
                if !found.drifted.is_empty() || found.errors.is_empty() {
                    self.record.drift(&found.drifted);
                }
                Some(!found.drifted.is_empty())
            }
            Err(e) => {
                self.record.corrected(&repairs, &[], desired);
                self.record.warn("the repaired objects could not be compared", &e);
                None
            }
        }
    }

    /// The objects of the release, after an action that stored something.
    async fn take_inventory(&mut self, step: &Step, actions: &helm_action::Context, outcome: &helm_action::Outcome) {
        if !matches!(step, Step::Install | Step::Upgrade | Step::Rollback(_)) {
            return;
        }
        let Some(last) = outcome.last() else { return };
        match observe::objects(actions, last).await {
            Ok(objects) => self.record.status.inventory = Some(history::inventory(&objects)),
            Err(e) => {
                let text = format!(
                    "failed to build inventory for {}/{}: {e}",
                    self.record.release.namespace(),
                    self.record.release.name()
                );
                self.record.notice(Notice::new(Severity::Error, "InventoryBuildFailed", text));
            }
        }
    }

    /// The value of an annotation that asks for something once, if it was not handled yet.
    fn token(&self, key: &str, handled: impl Fn(&HelmReleaseStatus) -> Option<&str>) -> Option<String> {
        let release = self.record.release;
        let token = release.annotation(key)?;
        let requested = release.annotation(REQUESTED_AT)?;
        let status = &self.record.status;
        let fresh = token == requested
            && status.last_handled_reconcile_at.as_deref() != Some(requested)
            && handled(status) != Some(token);
        fresh.then(|| token.to_string())
    }

    async fn drop_old_chart(&mut self, new: Option<&str>) {
        let old = self.record.status.helm_chart.clone();
        if let Some(old) = old.filter(|old| Some(old.as_str()) != new) {
            match self.context.charts.remove(&old).await {
                Ok(()) => self.record.notice(Notice::new(
                    Severity::Trace,
                    reason::HELM_CHART_DELETED,
                    format!("deleted HelmChart '{old}'"),
                )),
                Err(e) => self.record.warn("failed to delete the HelmChart", &e),
            }
        }
    }

    /// A prerequisite is missing.
    async fn halt(&mut self, mut halt: Halt) -> Result<Next, ApiError> {
        let remedy = remedy::of_halt(halt.reason, &halt.message);
        halt.message = remedy::with(halt.message, remedy);
        if let Some(severity) = halt.event {
            self.record.notice(Notice::new(severity, halt.reason, halt.message.clone()));
        }
        if halt.stalled {
            self.record.remove(RECONCILING);
            self.record.set(STALLED, "True", halt.reason, &halt.message);
            self.record.set(READY, "False", halt.reason, &halt.message);
            return self.finish_observed(self.at_interval()).await;
        }
        self.record.progressing("Fulfilling prerequisites");
        self.record.not_ready(halt.reason, &halt.message);
        self.finish(halt.requeue.map_or(Next::Backoff, Next::After)).await
    }

    async fn fail(&mut self, reason: &str, why: &str) -> Result<Next, ApiError> {
        self.record.progressing("Fulfilling prerequisites");
        self.record.not_ready(reason, why);
        self.finish(Next::Backoff).await
    }

    async fn fault(&mut self, why: &str) -> Result<Next, ApiError> {
        self.record.progressing("Fulfilling prerequisites");
        self.end(&End::Fault(why.into())).await
    }

    async fn end(&mut self, end: &End) -> Result<Next, ApiError> {
        self.record.end(end);
        match end {
            End::Done | End::Exhausted | End::Stalled(..) => self.finish_observed(self.at_interval()).await,
            End::RetryAfter(pause) => self.finish_observed(Next::After(*pause)).await,
            End::Fault(_) if self.used.force.is_some() || self.used.reset.is_some() => {
                self.publish().await?;
                Ok(Next::Backoff)
            }
            End::Retry | End::Fault(_) => self.finish(Next::Backoff).await,
        }
    }

    /// The pass has seen the current generation through.
    async fn finish_observed(&mut self, next: Next) -> Result<Next, ApiError> {
        self.record.status.observed_generation = Some(self.record.release.generation());
        self.finish(next).await
    }

    async fn finish(&mut self, next: Next) -> Result<Next, ApiError> {
        if let Some(token) = self.record.release.annotation(REQUESTED_AT) {
            self.record.status.last_handled_reconcile_at = Some(token.into());
        }
        if let Some(token) = self.used.force.take() {
            self.record.status.last_handled_force_at = Some(token);
        }
        if let Some(token) = self.used.reset.take() {
            self.record.status.last_handled_reset_at = Some(token);
        }
        self.publish().await?;
        Ok(next)
    }

    /// Write what changed, and tell what is to be told.
    async fn publish(&mut self) -> Result<(), ApiError> {
        let release = self.record.release;
        let written = publish::status(&self.context.own, release, &self.stored, &self.record.status).await?;
        if let Some(written) = written {
            self.stored.clone_from(&self.record.status);
            self.latest = Some(written);
        }
        for notice in self.record.take_notices() {
            self.recorder.send(&self.context.own, release, &notice).await;
        }
        Ok(())
    }

    /// The interval, give or take five percent, so that releases made together do not stay together.
    /// Without an interval only a change wakes the release.
    fn at_interval(&self) -> Next {
        let interval = self.record.release.spec.interval.as_std();
        if interval.is_zero() {
            return Next::AwaitChange;
        }
        let spread = f64::from(Timestamp::now().subsec_nanosecond().rem_euclid(1000)) / 1000.0;
        Next::After(interval.mul_f64(0.95 + spread / 10.0).max(MIN_INTERVAL))
    }
}
