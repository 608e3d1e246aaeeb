//! What the controller would do, told and not done.
//!
//! Owns: one pass over a HelmRelease from a file with everything that writes left out. Does not own: gathering,
//! deciding, rendering and planning, which are the controller's own; how it is printed. The surprising thing: where the
//! controller would take several steps in a pass (unlock, then upgrade), the plan is that of the last.

pub mod charts;
pub mod files;
pub mod show;

use anyhow::{Result, anyhow, bail};
use flux_api::HelmRelease;
use helm_action::crds::CrdsPolicy;
use helm_action::drift::DriftKind;
use helm_action::plan::{ObjectChange, plan};
use kube_object::Object;
use serde_json::Value as Json;

use crate::reconcile::context::{Context, Halt, RefKind};
use crate::reconcile::decide::{self, Decision, End, Observed, Progress, State, Step, StepKind};
use crate::reconcile::desired::Desired;
use crate::reconcile::record::Record;
use crate::reconcile::{delete, gather, observe, step, unsupported};

/// What would happen to one release.
#[derive(Debug)]
pub struct Preview {
    /// `namespace/name` of the HelmRelease.
    pub name: String,
    /// The step, in words.
    pub action: String,
    /// Why, if there is anything to say.
    pub why: Option<String>,
    /// Other things to know, one line each.
    pub notes: Vec<String>,
    /// What becomes of each object; those that stay as they are too.
    pub changes: Vec<ObjectChange>,
    /// Would the controller do anything?
    pub acts: bool,
}

impl Preview {
    fn nothing(release: &HelmRelease, why: impl Into<String>) -> Self {
        Self {
            name: format!("{}/{}", release.namespace(), release.name()),
            action: "nothing".into(),
            why: Some(why.into()),
            notes: Vec::new(),
            changes: Vec::new(),
            acts: false,
        }
    }
}

fn failed(halt: Halt) -> anyhow::Error {
    anyhow!(halt.message)
}

/// The release of a file as it would be after being applied: its status, and its generation if its spec is another one.
///
/// # Errors
/// The cluster cannot be asked.
pub async fn as_applied(mut release: HelmRelease, context: &Context) -> Result<HelmRelease> {
    let found = context.references.get(RefKind::HelmRelease, release.namespace(), release.name()).await?;
    let Some(live) = found.and_then(|json| serde_json::from_value::<HelmRelease>(json).ok()) else {
        release.metadata.generation = Some(1);
        return Ok(release);
    };
    let json = |r: &HelmRelease| serde_json::to_value(&r.spec).unwrap_or(Json::Null);
    let generation = live.metadata.generation.unwrap_or(1);
    let same = json(&release) == json(&live);
    release.metadata.generation = Some(if same { generation } else { generation + 1 });
    release.metadata.uid = live.metadata.uid;
    release.status = live.status;
    Ok(release)
}

/// Go through a pass without acting.
///
/// # Errors
/// What the release refers to is missing, the chart does not render, or the cluster cannot be asked.
pub async fn preview(release: &HelmRelease, context: &Context) -> Result<Preview> {
    if release.spec.suspend == Some(true) {
        return Ok(Preview::nothing(release, "it is suspended"));
    }
    if let Some(message) = unsupported::field(release) {
        bail!("{message}");
    }
    let mut notes = Vec::new();
    if let Err(halt) = gather::dependencies(release, context).await {
        notes.push(format!("the controller would wait first: {}", halt.message));
    }
    let desired = gather::desired(release, context).await.map_err(failed)?;
    let stored = release.status.clone().unwrap_or_default();
    let mut record = Record::new(release, stored, jiff::Timestamp::now());
    let moved_what = delete::moved_what(release, &record.status, &desired);
    record.attempt(&desired, false);
    let actions = context
        .actions(release, &desired.release_name, &desired.release_namespace, &desired.storage_namespace)
        .map_err(|why| anyhow!(why))?;
    let moved = match moved_what {
        Some(what) => Some(old_objects(release, context, &record, what, &mut notes).await?),
        None => None,
    };
    if moved.is_some() {
        record.status.history.clear();
    }
    let mut observed = if moved.is_some() {
        Observed::default()
    } else {
        observe::storage(release, &record.status, &actions).await.map_err(|why| anyhow!(why))?
    };
    let mut state = decide::state(release, &record.status, &desired, &observed);
    let mut drifted = Vec::new();
    if decide::wants_drift(release, &state) {
        let report = observe::drift(release, context, &actions, &observed).await.map_err(|why| anyhow!(why))?;
        observed.drifted = Some(!report.drifted.is_empty());
        drifted = report.drifted;
        state = decide::state(release, &record.status, &desired, &observed);
    }
    let mut progress = Progress::default();
    let mut unlocked = false;
    let mut decision = decide::decide(release, &record.status, &state, &observed, &progress);
    if decision == Decision::Run(Step::Unlock) {
        // What comes after it in the same pass: the revision counts as failed then.
        unlocked = true;
        progress.ran.push(StepKind::Unlock);
        state = State::Failed;
        decision = decide::decide(release, &record.status, &state, &observed, &progress);
    }
    let step = match decision {
        Decision::Run(step) => step,
        Decision::Stop(end) => {
            let mut preview = Preview::nothing(release, ending(&end, &state));
            notes.extend(drifted.iter().map(helm_action::drift::Drifted::line));
            preview.notes = notes;
            return Ok(preview);
        }
    };
    let plan = Planner { release, desired: &desired, observed: &observed, actions: &actions };
    let mut changes = match &step {
        Step::Install | Step::Upgrade => {
            let planned = plan.release(&step, &mut notes).await;
            planned.map_err(|e| anyhow!(desired.secrets.redact(&format!("{e:#}"))))?
        }
        Step::Rollback(version) => plan.rollback(*version).await?,
        Step::UninstallRemediation => plan.uninstall().await?,
        Step::CorrectDrift => plan.repair(drifted).await?,
        Step::Test | Step::Unlock => Vec::new(),
    };
    changes.extend(moved.into_iter().flatten());
    let verb = if unlocked { format!("unlock, then {}", step.word()) } else { step.word().to_owned() };
    let action = match &step {
        Step::Install | Step::Upgrade => format!("{verb} to {}", desired.chart_text()),
        Step::Rollback(version) => format!("{verb} to revision {version}"),
        _ => verb,
    };
    Ok(Preview {
        name: format!("{}/{}", release.namespace(), release.name()),
        action,
        why: reason(&state),
        notes,
        changes,
        acts: true,
    })
}

/// What goes with the old release, which is uninstalled before the new one is installed.
async fn old_objects(
    release: &HelmRelease,
    context: &Context,
    record: &Record<'_>,
    what: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<ObjectChange>> {
    let (Some(old), Some(storage)) = (record.status.history.first(), record.status.storage_namespace.as_deref()) else {
        return Ok(Vec::new());
    };
    notes.push(format!("the {what} changed: release {} is uninstalled first, with all its objects", old.full_name()));
    let status = release.status.clone().unwrap_or_default();
    let storage = status.storage_namespace.as_deref().unwrap_or(storage);
    let actions = context.actions(release, &old.name, &old.namespace, storage).map_err(|why| anyhow!(why))?;
    match actions.storage.last(&old.name).await? {
        Some(last) => Ok(plan(&actions, &[], Some(&last.manifest), None).await?),
        None => Ok(Vec::new()),
    }
}

fn reason(state: &State) -> Option<String> {
    Some(match state {
        State::Absent => "there is no release in storage".into(),
        State::Unmanaged => "the release in storage was not made by this HelmRelease".into(),
        State::Failed => "the last action failed".into(),
        State::OutOfSync(why) => (*why).into(),
        State::Untested => "the tests of this revision have not run".into(),
        State::Drifted => "the cluster differs from the release in storage".into(),
        State::Locked(_) => "a process was ended in the middle of an action".into(),
        State::InSync | State::Unknown(_) => return None,
    })
}

fn ending(end: &End, state: &State) -> String {
    match end {
        End::Done if *state == State::Drifted => "drift is only reported".into(),
        End::Done => "the release is in sync".into(),
        End::Exhausted => "its attempts are used up".into(),
        End::Retry => "it would try again soon".into(),
        End::RetryAfter(pause) => format!("it would try again in {}", flux_api::meta::duration::go_text(*pause)),
        End::Stalled(_, message) => format!("it is stalled: {message}; change its spec, or ask for a reset"),
        End::Fault(why) => why.clone(),
    }
}

struct Planner<'a> {
    release: &'a HelmRelease,
    desired: &'a Desired,
    observed: &'a Observed,
    actions: &'a helm_action::Context,
}

impl Planner<'_> {
    async fn release(&self, step: &Step, notes: &mut Vec<String>) -> Result<Vec<ObjectChange>> {
        let upgrade = *step == Step::Upgrade;
        let mut request = step::request(self.release, self.desired, upgrade);
        let last = self.observed.last.as_deref().filter(|_| upgrade);
        request.revision = last.map_or(1, |l| l.version + 1);
        if upgrade
            && self.release.upgrade().preserve_values == Some(true)
            && let Some(last) = last
        {
            request.values = helm_action::upgrade::merged_values(&request.values, &last.config);
        }
        let prepared = helm_action::prepare::prepare(self.actions, &request).await?;
        let mut changes = self.definitions(&prepared.rendered.chart, upgrade, notes).await?;
        let (built, unknown) = helm_action::build::build_known(self.actions, &prepared.manifest).await?;
        let original = last.map(|l| l.manifest.as_str());
        changes.extend(plan(self.actions, &built, original, Some(&self.desired.chart)).await?);
        changes.extend(unknown.into_iter().map(ObjectChange::Create));
        Ok(changes)
    }

    /// The files under `crds/`, by the policy of the action.
    async fn definitions(
        &self,
        chart: &helm::Chart,
        upgrade: bool,
        notes: &mut Vec<String>,
    ) -> Result<Vec<ObjectChange>> {
        let policy = if upgrade {
            step::upgrade_options(self.release, self.desired).crds
        } else {
            step::install_options(self.release, self.desired).crds
        };
        if policy == CrdsPolicy::Skip {
            return Ok(Vec::new());
        }
        let (definitions, skipped) = helm_action::crds::definitions(chart, self.actions)?;
        notes.extend(skipped);
        let mut built = Vec::new();
        for mut object in definitions {
            self.desired.metadata.apply(&mut object);
            let resource = self.actions.cluster.resource_of(&object).await?;
            built.push(helm_action::build::Built { object, resource, source: String::new() });
        }
        let mut changes = plan(self.actions, &built, None, None).await?;
        if policy == CrdsPolicy::Create {
            changes.retain(|c| matches!(c, ObjectChange::Create(_)));
        }
        Ok(changes)
    }

    async fn rollback(&self, version: i64) -> Result<Vec<ObjectChange>> {
        let target = self
            .actions
            .storage
            .get(&self.actions.release, version)
            .await?
            .ok_or_else(|| anyhow!("revision {version} is no longer in storage"))?;
        let built = helm_action::build::build_stored(self.actions, &target.manifest).await?;
        Ok(plan(self.actions, &built, self.observed.last.as_ref().map(|l| l.manifest.as_str()), None).await?)
    }

    async fn uninstall(&self) -> Result<Vec<ObjectChange>> {
        let Some(last) = &self.observed.last else { return Ok(Vec::new()) };
        Ok(plan(self.actions, &[], Some(&last.manifest), None).await?)
    }

    async fn repair(&self, drifted: Vec<helm_action::drift::Drifted>) -> Result<Vec<ObjectChange>> {
        let mut changes = Vec::new();
        for one in drifted {
            match one.kind {
                DriftKind::Missing => changes.push(ObjectChange::Create(one.built.object)),
                DriftKind::Changed { .. } => changes.extend(plan(self.actions, &[one.built], None, None).await?),
            }
        }
        Ok(changes)
    }
}

/// The HelmReleases among some objects.
///
/// # Errors
/// One that does not parse.
pub fn releases(objects: &[Object]) -> Result<Vec<HelmRelease>> {
    objects
        .iter()
        .filter(|o| o.kind() == "HelmRelease" && o.api_version().starts_with("helm.toolkit.fluxcd.io/"))
        .map(|o| {
            serde_json::from_value(o.clone().into_json())
                .map_err(|e| anyhow!("HelmRelease {}/{}: {e}", o.namespace(), o.name()))
        })
        .collect()
}
