//! What the controller would do, told and not done.
//!
//! Owns: one pass over a HelmRelease from a file with everything that writes left out. Does not own: gathering,
//! deciding, rendering and planning, which are the controller's own; how it is printed. The surprising thing: where the
//! controller would take several steps in a pass (unlock, then upgrade), the plan is that of the last.

pub mod charts;
pub mod files;
pub mod hooks;
pub mod planner;
pub mod schema;
pub mod scope;
pub mod show;
pub mod veil;

use anyhow::{Result, anyhow, bail};
use flux_api::HelmRelease;
use helm::release::{Hook, HookEvent};
use helm_action::plan::{ObjectChange, Plan, dropped_by_uninstall};
use kube_object::{Object, patch};
use serde_json::{Value as Json, json};

use self::hooks::Hooks;
use self::planner::Planner;
use crate::reconcile::context::{Context, Halt, RefKind};
use crate::reconcile::decide::{self, Decision, End, Observed, Progress, State, Step, StepKind};
use crate::reconcile::record::Record;
use crate::reconcile::redact::Secrets;
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
    /// What becomes of each object, those that stay as they are too, and what the server says to it.
    pub plan: Plan,
    /// The hooks.
    pub hooks: Hooks,
    /// Would the controller do anything?
    pub acts: bool,
    /// What of all this must not be shown.
    pub secrets: Secrets,
}

impl Preview {
    fn nothing(release: &HelmRelease, why: impl Into<String>) -> Self {
        Self {
            name: format!("{}/{}", release.namespace(), release.name()),
            action: "nothing".into(),
            why: Some(why.into()),
            notes: Vec::new(),
            plan: Plan::default(),
            hooks: Hooks::default(),
            acts: false,
            secrets: Secrets::default(),
        }
    }

    /// What the server refuses: the objects, and its words.
    pub fn refusals(&self) -> impl Iterator<Item = String> {
        self.plan.refused.iter().map(|(id, words)| self.secrets.redact(&format!("{id} would be refused: {words}")))
    }
}

fn failed(Halt { message, stalled, .. }: Halt) -> anyhow::Error {
    let terminal = if stalled { "the release would be stalled until someone changes something: " } else { "" };
    anyhow!("{terminal}{message}")
}

/// A release of a file as it would be after being applied.
pub struct Candidate {
    /// It, with its status, and its generation if its spec is another one.
    pub release: HelmRelease,
    /// As it is in the cluster.
    live: Option<HelmRelease>,
}

/// The release of a file as it would be after being applied.
///
/// # Errors
/// The cluster cannot be asked.
pub async fn as_applied(mut release: HelmRelease, context: &Context) -> Result<Candidate> {
    let found = context.references.get(RefKind::HelmRelease, release.namespace(), release.name()).await?;
    let parsed = found.and_then(|json| Some((serde_json::from_value::<HelmRelease>(json.clone()).ok()?, json)));
    let Some((live, found)) = parsed else {
        release.metadata.generation = Some(1);
        return Ok(Candidate { release, live: None });
    };
    let generation = live.metadata.generation.unwrap_or(1);
    let spec = applied_spec(&serde_json::to_value(&release.spec)?, &found);
    // Both through the same types, so that forms of the same do not count.
    release.spec = serde_json::from_value(spec)?;
    let same = serde_json::to_value(&release.spec)? == serde_json::to_value(&live.spec)?;
    release.metadata.generation = Some(if same { generation } else { generation + 1 });
    release.metadata.uid.clone_from(&live.metadata.uid);
    release.status.clone_from(&live.status);
    Ok(Candidate { release, live: Some(live) })
}

/// What becomes of the spec of a live HelmRelease when `kubectl apply` is given this one: what it had by the last apply
/// and has no more goes, nulls go, the server fills in defaults. Where nothing tells of the last apply, all of the spec
/// was in it.
fn applied_spec(file: &Json, live: &Json) -> Json {
    let current = &live["spec"];
    let annotation = &live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    let last = annotation.as_str().and_then(|text| serde_json::from_str::<Json>(text).ok());
    let last = last.map_or_else(|| current.clone(), |last| last["spec"].clone());
    let change = patch::three_way_merge_patch(&last, file, current);
    let spec = change.map_or_else(|| current.clone(), |change| patch::merged(current, &change));
    let mut whole = json!({ "spec": spec });
    schema::default_release(&mut whole);
    whole["spec"].take()
}

/// Go through a pass without acting.
///
/// # Errors
/// What the release refers to is missing, the chart does not render, or the cluster cannot be asked.
pub async fn preview(candidate: &Candidate, context: &Context) -> Result<Preview> {
    let mut secrets = Secrets::default();
    match pass(candidate, context, &mut secrets).await {
        Ok(preview) => Ok(Preview { secrets, ..preview }),
        // Whatever went wrong, nothing that quotes a value leaves here.
        Err(e) => Err(anyhow!(secrets.redact(&format!("{e:#}")))),
    }
}

async fn pass(candidate: &Candidate, context: &Context, secrets: &mut Secrets) -> Result<Preview> {
    let release = &candidate.release;
    if release.spec.suspend == Some(true) {
        return Ok(Preview::nothing(release, "it is suspended"));
    }
    if let Some(message) = unsupported::field(release) {
        bail!("{message}");
    }
    let mut notes = Vec::new();
    if let Err(halt) = gather::dependencies(release, context).await {
        if halt.stalled {
            return Err(failed(halt));
        }
        notes.push(format!("the controller would wait first: {}", halt.message));
    }
    if let Some(live) = &candidate.live {
        // What it was made of may be in the cluster yet.
        secrets.join(gather::secrets(live, context).await);
    }
    let desired = gather::desired(release, context).await.map_err(failed)?;
    secrets.join(desired.secrets.clone());
    let stored = release.status.clone().unwrap_or_default();
    let mut record = Record::new(release, stored, jiff::Timestamp::now());
    let moved_what = delete::moved_what(release, &record.status, &desired);
    record.attempt(&desired, false);
    let actions = context
        .actions(release, &desired.release_name, &desired.release_namespace, &desired.storage_namespace)
        .map_err(|why| anyhow!(why))?;
    let moved = match moved_what {
        Some(what) => Some(old_objects(release, context, &record, what, &mut notes, secrets).await?),
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
    observed.last.iter().for_each(|last| secrets.learn(&last.config));
    let mut state = decide::state(release, &record.status, &desired, &observed);
    let mut drifted = Vec::new();
    if decide::wants_drift(release, &state) {
        let report = observe::drift(release, context, &actions, &observed).await.map_err(|why| anyhow!(why))?;
        notes.extend(report.errors.iter().map(|e| format!("an object could not be compared: {e}")));
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
    let planner =
        Planner { release, desired: &desired, observed: &observed, actions: &actions, moved: moved.as_deref() };
    let last = observed.last.as_deref();
    let stored_hooks = || last.map(|l| l.hooks.clone()).unwrap_or_default();
    let (mut found, hooks) = match &step {
        Step::Install | Step::Upgrade => planner.release(&step, &mut notes).await?,
        Step::Rollback(version) => planner.rollback(*version, secrets).await?,
        Step::UninstallRemediation => (planner.uninstall().await?, stored_hooks()),
        Step::CorrectDrift => (planner.repair(drifted).await?, Vec::new()),
        Step::Test => (Plan::default(), stored_hooks()),
        Step::Unlock => (Plan::default(), Vec::new()),
    };
    let chosen = |hook: &Hook| step::chosen(&release.test().filters, &hook.name);
    let events = events(release, &step, &hooks, &mut notes);
    let mut hooks = Hooks {
        runs: hooks::runs(&actions, &hooks, &events, &chosen, &mut found).await?,
        changes: match &step {
            Step::Install => hooks::changes(&actions, &hooks, None).await?,
            Step::Upgrade => hooks::changes(&actions, &hooks, last).await?,
            _ => Vec::new(),
        },
    };
    found.settle();
    if step == Step::CorrectDrift {
        // A repair that changes nothing leaves the cluster as different as it is.
        notes.extend(found.changes.iter().filter_map(|change| match change {
            ObjectChange::Keep(id) => Some(format!("{id} differs, but the repair would not change it")),
            _ => None,
        }));
    }
    // What is there again afterwards was told already.
    let again: Vec<_> = found.changes.iter().map(ObjectChange::id).collect();
    found.changes.extend(moved.into_iter().flatten().filter(|change| !again.contains(&change.id())));
    hooks.changes.retain(|c| !matches!(c, ObjectChange::Keep(_)));
    let verb = if unlocked { format!("unlock, then {}", step.word()) } else { step.word().to_owned() };
    let action = match &step {
        Step::Install | Step::Upgrade => format!("{verb} to {}", desired.chart_text()),
        Step::Rollback(version) => format!("{verb} to revision {version}"),
        _ => verb,
    };
    Ok(Preview { action, why: reason(&state), notes, plan: found, hooks, acts: true, ..Preview::nothing(release, "") })
}

/// When hooks run, in the order of the action, the tests that follow it included.
fn events(release: &HelmRelease, step: &Step, hooks: &[Hook], notes: &mut Vec<String>) -> Vec<HookEvent> {
    use HookEvent::{
        PostDelete, PostInstall, PostRollback, PostUpgrade, PreDelete, PreInstall, PreRollback, PreUpgrade,
    };
    let (mut events, disabled) = match step {
        Step::Install => (vec![PreInstall, PostInstall], release.install().disable_hooks),
        Step::Upgrade => (vec![PreUpgrade, PostUpgrade], release.upgrade().disable_hooks),
        Step::Rollback(_) => (vec![PreRollback, PostRollback], release.rollback().disable_hooks),
        Step::UninstallRemediation => (vec![PreDelete, PostDelete], release.uninstall().disable_hooks),
        Step::Test => return vec![HookEvent::Test],
        Step::CorrectDrift | Step::Unlock => return Vec::new(),
    };
    if disabled == Some(true) && hooks.iter().any(|h| events.iter().any(|&e| h.runs_at(e))) {
        notes.push(format!("hooks are not run: spec.{}.disableHooks is set", step.word()));
    }
    if disabled == Some(true) {
        events.clear();
    }
    if matches!(step, Step::Install | Step::Upgrade) {
        if release.test().enable == Some(true) {
            events.push(HookEvent::Test);
        } else if hooks.iter().any(|h| h.runs_at(HookEvent::Test)) {
            notes.push("tests are not run: spec.test.enable is not set".into());
        }
    }
    events
}

/// What goes with the old release, which is uninstalled before the new one is installed.
async fn old_objects(
    release: &HelmRelease,
    context: &Context,
    record: &Record<'_>,
    what: &str,
    notes: &mut Vec<String>,
    secrets: &mut Secrets,
) -> Result<Vec<ObjectChange>> {
    let (Some(old), Some(storage)) = (record.status.history.first(), record.status.storage_namespace.as_deref()) else {
        return Ok(Vec::new());
    };
    notes.push(format!("the {what} changed: release {} is uninstalled first, with all its objects", old.full_name()));
    let status = release.status.clone().unwrap_or_default();
    let storage = status.storage_namespace.as_deref().unwrap_or(storage);
    let actions = context.actions(release, &old.name, &old.namespace, storage).map_err(|why| anyhow!(why))?;
    let Some(last) = actions.storage.last(&old.name).await? else { return Ok(Vec::new()) };
    secrets.learn(&last.config);
    Ok(dropped_by_uninstall(&actions).await?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_applied_as_kubectl_does() {
        let chart = json!({"spec": {"chart": "a", "sourceRef": {"kind": "HelmRepository", "name": "r"}}});
        let mut defaulted = chart.clone();
        defaulted["spec"]["reconcileStrategy"] = "ChartVersion".into();
        defaulted["spec"]["version"] = "*".into();
        let live = json!({"interval": "1m", "chart": defaulted, "values": {"a": 1, "none": null}});
        let with = |values: Json| json!({"interval": "1m", "chart": defaulted, "values": values});
        let file = |values: Json| json!({"interval": "1m", "chart": chart, "values": values});
        let cases = [
            (file(json!({"a": 1, "none": null})), None, live.clone()),
            (file(json!({"a": 1, "none": null, "other": null})), None, live.clone()),
            (file(json!({"a": null, "b": {"c": null, "d": 2}})), None, with(json!({"b": {"d": 2}}))),
            // Set by someone else since: stays.
            (file(json!({"b": 2})), Some(json!({"values": {}})), with(json!({"a": 1, "b": 2, "none": null}))),
            (file(json!({"b": 2})), Some(json!({"values": {"a": 1}})), with(json!({"b": 2, "none": null}))),
        ];
        for (file, last, wanted) in cases {
            let mut object = json!({"metadata": {"name": "a"}, "spec": live});
            if let Some(spec) = last {
                let text = json!({ "spec": spec }).to_string();
                object["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": text});
            }
            assert_eq!(applied_spec(&file, &object), wanted, "{file}");
        }
    }
}
