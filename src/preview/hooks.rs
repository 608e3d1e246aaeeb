//! The hooks that an action would run, and how they differ from those of the stored revision.
//!
//! Owns: their order, their differences, what the server says to them. Does not own: running them. The surprising
//! thing: a hook that is there from an earlier run is deleted before it is created again, so it is tried as a new object
//! and its live state is of no interest; what it is compared with is the stored revision.

use std::collections::BTreeSet;

use anyhow::Result;
use helm::manifest::parse_objects;
use helm::release::{Hook, HookEvent, Release};
use helm_action::build::named;
use helm_action::build::{Built, place};
use helm_action::hooks::order;
use helm_action::plan::{ObjectChange, Plan, applied, recreated};
use kube_object::{Object, ObjectId};
use kube_ops::apply::ApplyOptions;

const BEFORE_CREATION: &str = "before-hook-creation";

/// A hook that would run.
#[derive(Clone, Debug)]
pub struct HookRun {
    /// When.
    pub event: HookEvent,
    /// Its objects.
    pub objects: Vec<ObjectId>,
    /// Its place among the hooks of the event.
    pub weight: i64,
    /// When its objects are deleted.
    pub delete_policies: Vec<String>,
}

/// The hooks of an action.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Those that would run, in order.
    pub runs: Vec<HookRun>,
    /// How the hooks of the new revision differ from those of the stored one, whether they run now or not.
    pub changes: Vec<ObjectChange>,
}

/// A hook with its objects as they would be sent; without a resource where the cluster has no such kind.
struct Parsed<'a> {
    hook: &'a Hook,
    built: Vec<Built>,
    unknown: Vec<Object>,
}

impl Parsed<'_> {
    fn objects(&self) -> impl Iterator<Item = &Object> {
        self.built.iter().map(|b| &b.object).chain(&self.unknown)
    }
}

async fn parse<'a>(actions: &helm_action::Context, hook: &'a Hook) -> Result<Parsed<'a>> {
    let mut parsed = Parsed { hook, built: Vec::new(), unknown: Vec::new() };
    for found in parse_objects(&hook.manifest, actions.profile).map_err(helm_action::Error::from)? {
        let mut object = found.object;
        match actions.cluster.resource_of(&object).await {
            Ok(resource) => {
                place(&mut object, &resource, &actions.namespace);
                parsed.built.push(Built { object, resource, source: found.source });
            }
            Err(kube_ops::Error::UnknownKind { .. }) => parsed.unknown.push(object),
            Err(e) => return Err(e.into()),
        }
    }
    Ok(parsed)
}

async fn parse_all<'a>(
    actions: &helm_action::Context,
    hooks: impl IntoIterator<Item = &'a Hook>,
) -> Result<Vec<Parsed<'a>>> {
    let mut all = Vec::new();
    for hook in hooks {
        all.push(parse(actions, hook).await?);
    }
    Ok(all)
}

/// The hooks that run at these events, in order, and what the server says to them.
///
/// # Errors
/// A hook that is no object, or a cluster that cannot be asked.
pub async fn runs(
    actions: &helm_action::Context,
    hooks: &[Hook],
    events: &[HookEvent],
    chosen: &(dyn Fn(&Hook) -> bool + Sync),
    plan: &mut Plan,
) -> Result<Vec<HookRun>> {
    let mut runs = Vec::new();
    let mut tried = BTreeSet::new();
    for &event in events {
        for index in order(hooks, event) {
            let hook = &hooks[index];
            if event == HookEvent::Test && !chosen(hook) {
                continue;
            }
            let parsed = parse(actions, hook).await?;
            for built in &parsed.built {
                named(&built.object, &hook.path)?;
            }
            if tried.insert(index) {
                attempt(actions, &parsed, plan).await?;
            }
            let delete_policies = match hook.delete_policies.as_slice() {
                [] => vec![BEFORE_CREATION.into()],
                policies => policies.to_vec(),
            };
            let objects = parsed.objects().map(Object::id).collect();
            runs.push(HookRun { event, objects, weight: hook.weight, delete_policies });
        }
    }
    Ok(runs)
}

/// Ask the server about a hook's objects as the action would send them.
async fn attempt(actions: &helm_action::Context, parsed: &Parsed<'_>, plan: &mut Plan) -> Result<()> {
    let policies = &parsed.hook.delete_policies;
    let replaced = policies.is_empty() || policies.iter().any(|p| p == BEFORE_CREATION);
    for built in &parsed.built {
        let answer = if replaced && built.object.kind() != "CustomResourceDefinition" {
            recreated(actions, built).await?
        } else {
            applied(actions, std::slice::from_ref(built), ApplyOptions::default()).await?
        };
        plan.append(Plan { changes: Vec::new(), ..answer });
    }
    let untried = |object: &Object| (object.id(), "the cluster does not have the kind yet".to_owned());
    plan.untried.extend(parsed.unknown.iter().map(untried));
    Ok(())
}

/// How the hooks of a new revision differ from those of the stored one.
///
/// # Errors
/// A hook that is no object, or a cluster that cannot be asked.
pub async fn changes(
    actions: &helm_action::Context,
    new: &[Hook],
    stored: Option<&Release>,
) -> Result<Vec<ObjectChange>> {
    let old = parse_all(actions, stored.iter().flat_map(|r| &r.hooks)).await?;
    let new = parse_all(actions, new).await?;
    let mut old: Vec<&Object> = old.iter().flat_map(Parsed::objects).collect();
    let mut changes = Vec::new();
    for object in new.iter().flat_map(Parsed::objects) {
        let id = object.id();
        changes.push(match old.iter().position(|o| o.id() == id).map(|i| old.remove(i)) {
            None => ObjectChange::Create(object.clone()),
            Some(before) if before == object => ObjectChange::Keep(id),
            Some(before) => ObjectChange::Update { before: before.clone(), after: object.clone() },
        });
    }
    changes.extend(old.into_iter().cloned().map(ObjectChange::Delete));
    Ok(changes)
}
