//! What an action would change, as data.
//!
//! Owns: the comparison of a new manifest with the live objects, without changing any, and what the server says to each
//! object in a dry run. Used by previews; the rendering and building are those of the actions themselves. The surprising
//! thing: a dry run knows nothing of what the same action sends before, so a refusal for want of that is none.

use futures::stream::{StreamExt, iter};
use helm::Chart;
use helm::release::Status;
use kube_object::{Object, ObjectId};
use kube_ops::apply::ApplyOptions;
use serde_json::{Map, Value as Json};

use crate::build::Built;
use crate::context::Context;
use crate::error::Error;
use crate::install::{self, InstallOptions};
use crate::replaced::{Fate, Replaced};
use crate::upgrade::{self, UpgradeOptions};
use crate::{uninstall, update};

/// What would become of one object.
#[derive(Clone, Debug)]
pub enum ObjectChange {
    /// It would be created.
    Create(Object),
    /// It would change: from the live state to what the server would make of the new one.
    Update {
        /// The live object.
        before: Object,
        /// What it would be.
        after: Object,
    },
    /// It would stay as it is.
    Keep(ObjectId),
    /// It is not part of the new revision and would stay; why.
    Kept(ObjectId, String),
    /// It would be deleted.
    Delete(Object),
    /// It would be deleted with another release and then created again.
    Recreate {
        /// The live object.
        before: Object,
        /// What it would be.
        after: Object,
    },
}

impl ObjectChange {
    /// The object.
    pub fn id(&self) -> ObjectId {
        match self {
            Self::Create(object) | Self::Delete(object) => object.id(),
            Self::Update { after, .. } | Self::Recreate { after, .. } => after.id(),
            Self::Keep(id) | Self::Kept(id, _) => id.clone(),
        }
    }
}

/// What sending objects would come to.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What becomes of each object.
    pub changes: Vec<ObjectChange>,
    /// Objects that the server refuses, and its words.
    pub refused: Vec<(ObjectId, String)>,
    /// Objects that could not be tried, and why.
    pub untried: Vec<(ObjectId, String)>,
}

/// How a refusal begins that comes before anything is sent, and that nothing the action sends can change.
pub const UNKNOWN_KIND: &str = "no matches for kind ";

const AT_ONCE: usize = 4;

/// What the server says to an object in a dry run.
enum Answer {
    Accepted,
    Refused(String),
    Untried(String),
}

impl Plan {
    fn note(&mut self, id: ObjectId, answer: Answer) {
        match answer {
            Answer::Accepted => {}
            Answer::Refused(words) => self.refused.push((id, words)),
            Answer::Untried(why) => self.untried.push((id, why)),
        }
    }

    /// Take over what another plan says.
    pub fn append(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.refused.extend(other.refused);
        self.untried.extend(other.untried);
    }

    /// The objects that the action sends and that are not there yet, or are something else.
    fn sent(&self) -> impl Iterator<Item = &Object> {
        self.changes.iter().filter_map(|c| match c {
            ObjectChange::Create(object)
            | ObjectChange::Update { after: object, .. }
            | ObjectChange::Recreate { after: object, .. } => Some(object),
            _ => None,
        })
    }

    /// Refusals for want of something that the action itself sends become objects that could not be tried. To be called
    /// when the plan has everything.
    pub fn settle(&mut self) {
        let refused = std::mem::take(&mut self.refused);
        for (id, words) in refused {
            match self.wanted(&id, &words) {
                Some(why) => self.untried.push((id, why)),
                None => self.refused.push((id, words)),
            }
        }
    }

    /// What of the action's own objects a refusal is for want of.
    fn wanted(&self, id: &ObjectId, words: &str) -> Option<String> {
        if words.starts_with(UNKNOWN_KIND) {
            return None;
        }
        if let Some(definition) = self.sent().find(|o| defines(o, &id.group, &id.kind)) {
            return Some(format!("{} is changed by the same action", definition.id()));
        }
        let missing = words.contains("not found") || words.contains("was found") || words.contains("looking up");
        let names = |o: &&Object| {
            let name = o.name();
            // As messages name what they miss: `serviceaccount "web"`, `PriorityClass with name web`.
            words.contains(&format!("\"{name}\"")) || words.contains(&format!("with name {name} "))
        };
        let created = self.changes.iter().filter_map(|c| match c {
            ObjectChange::Create(object) | ObjectChange::Recreate { after: object, .. } => Some(object),
            _ => None,
        });
        let kind_named = |o: &&Object| words.to_lowercase().contains(&o.kind().to_lowercase());
        let found = created.filter(|o| missing && o.id() != *id).find(|o| names(o) && kind_named(o))?;
        Some(format!("it needs {}, which the same action creates", found.id()))
    }
}

/// Is this the definition of a kind?
pub fn defines(object: &Object, group: &str, kind: &str) -> bool {
    object.kind() == "CustomResourceDefinition"
        && object.text_at(&["spec", "group"]) == group
        && object.text_at(&["spec", "names", "kind"]) == kind
}

/// What an upgrade to the `target` deletes or keeps of what earlier revisions have. `chart` is the new one.
///
/// # Errors
/// Something may not be read.
pub async fn dropped_by_upgrade(
    context: &Context,
    target: &[Built],
    chart: &Chart,
) -> Result<Vec<ObjectChange>, Error> {
    let heads = context.storage.observed(&context.release).await?;
    let Some(head) = heads.last() else { return Ok(Vec::new()) };
    let last = context.storage.read(head).await?;
    let current = upgrade::current(context, &heads, &last).await?;
    let replaced = Replaced::load(context, &heads, &current).await?;
    Ok(changes(replaced.fates(context, &ids(target), Some(chart)).await?))
}

/// What a rollback to the `target` deletes or keeps of what later revisions have.
///
/// # Errors
/// Something may not be read.
pub async fn dropped_by_rollback(context: &Context, target: &[Built]) -> Result<Vec<ObjectChange>, Error> {
    let heads = context.storage.observed(&context.release).await?;
    let Some(head) = heads.last() else { return Ok(Vec::new()) };
    let last = context.storage.read(head).await?;
    let replaced = Replaced::load(context, &heads, &last).await?;
    Ok(changes(replaced.fates(context, &ids(target), None).await?))
}

/// What an uninstall deletes or keeps.
///
/// # Errors
/// Something may not be read.
pub async fn dropped_by_uninstall(context: &Context) -> Result<Vec<ObjectChange>, Error> {
    let heads = context.storage.observed(&context.release).await?;
    let Some(head) = heads.last().filter(|h| h.status != Status::Uninstalled) else { return Ok(Vec::new()) };
    let last = context.storage.read(head).await?;
    Ok(changes(uninstall::fates(context, &heads, &last).await?))
}

fn ids(objects: &[Built]) -> Vec<ObjectId> {
    objects.iter().map(|b| b.object.id()).collect()
}

fn changes(fates: Vec<Fate>) -> Vec<ObjectChange> {
    let change = |fate| match fate {
        Fate::Deleted(_, live) => ObjectChange::Delete(live),
        Fate::Kept(id, why) => ObjectChange::Kept(id, why),
    };
    fates.into_iter().map(change).collect()
}

/// What applying `objects` would change; each is tried in a dry run.
///
/// # Errors
/// Something may not be read, or the server does not answer.
pub async fn applied(context: &Context, objects: &[Built], options: ApplyOptions) -> Result<Plan, Error> {
    let asked: Vec<_> = objects.iter().map(|built| change(context, built, options)).collect();
    collected(objects, iter(asked).buffered(AT_ONCE).collect().await)
}

/// As [`applied`], where objects are sent by patches: what the `original` objects had and the new ones have not goes.
///
/// # Errors
/// As there.
pub async fn patched(context: &Context, objects: &[Built], original: &[Built]) -> Result<Plan, Error> {
    let asked: Vec<_> = objects.iter().map(|built| change_by_patch(context, built, original)).collect();
    collected(objects, iter(asked).buffered(AT_ONCE).collect().await)
}

fn collected(objects: &[Built], answers: Vec<Result<(ObjectChange, Answer), Error>>) -> Result<Plan, Error> {
    let mut plan = Plan::default();
    for (built, answer) in objects.iter().zip(answers) {
        let (change, answer) = answer?;
        plan.changes.push(change);
        plan.note(built.object.id(), answer);
    }
    Ok(plan)
}

async fn change_by_patch(
    context: &Context,
    built: &Built,
    original: &[Built],
) -> Result<(ObjectChange, Answer), Error> {
    let (object, resource) = (&built.object, &built.resource);
    let Some(live) = context.cluster.get(resource, object.namespace(), object.name()).await? else {
        return change(context, built, ApplyOptions { ignore_unknown_fields: true, ..ApplyOptions::default() }).await;
    };
    let Some(patch) = update::client_side(object, original, &live) else {
        return Ok((ObjectChange::Keep(live.id()), Answer::Accepted));
    };
    match context.cluster.try_merge_patch(resource, object, &patch).await {
        Ok(after) => Ok((compared(live, after), Answer::Accepted)),
        Err(e) => {
            let after = Object(overlaid(&live.0, &object.0));
            Ok((compared(live, after), answer(e)?))
        }
    }
}

async fn change(context: &Context, built: &Built, options: ApplyOptions) -> Result<(ObjectChange, Answer), Error> {
    let (object, resource) = (&built.object, &built.resource);
    let live = context.cluster.get(resource, object.namespace(), object.name()).await?;
    let options = ApplyOptions { force: true, dry_run: true, ..options };
    let (after, answer) = match context.cluster.apply_to(resource, object, options).await {
        Ok(after) => (Some(after), Answer::Accepted),
        Err(e) => (None, answer(e)?),
    };
    let Some(live) = live else { return Ok((ObjectChange::Create(object.clone()), answer)) };
    let after = after.unwrap_or_else(|| Object(overlaid(&live.0, &object.0)));
    Ok((compared(live, after), answer))
}

fn compared(live: Object, after: Object) -> ObjectChange {
    if comparable(&live) == comparable(&after) {
        return ObjectChange::Keep(live.id());
    }
    ObjectChange::Update { before: live, after }
}

/// What becomes of objects that another release has, which is uninstalled first: each is deleted and created again.
/// `deleted` are the live ones.
///
/// # Errors
/// Something may not be read, or the server does not answer.
pub async fn moved(
    context: &Context,
    objects: &[Built],
    deleted: &[ObjectChange],
    options: ApplyOptions,
) -> Result<Plan, Error> {
    // What is shown is what differs in the end. Whether the server takes the object is asked as for a new one.
    let mut plan = Plan { changes: applied(context, objects, options).await?.changes, ..Plan::default() };
    for change in &mut plan.changes {
        let live = deleted.iter().find_map(|d| match d {
            ObjectChange::Delete(live) if live.id() == change.id() => Some(live),
            _ => None,
        });
        if let Some(before) = live.cloned() {
            let after = match change {
                ObjectChange::Create(after) | ObjectChange::Update { after, .. } => after.clone(),
                _ => before.clone(),
            };
            *change = ObjectChange::Recreate { before, after };
        }
    }
    for built in objects {
        plan.append(recreated(context, built).await?);
    }
    Ok(plan)
}

/// Would an install end before anything is sent, because the name is taken?
///
/// # Errors
/// It would.
pub async fn check_name(context: &Context, options: &InstallOptions) -> Result<(), Error> {
    let heads = context.storage.observed(&context.release).await?;
    install::check_name(heads.last(), options)
}

/// Would an install end before anything is sent, because objects belong to others?
///
/// # Errors
/// It would: the first such object.
pub async fn check_install(context: &Context, objects: &[Built], options: &InstallOptions) -> Result<(), Error> {
    if options.take_ownership {
        return Ok(());
    }
    update::check_ownership(context, objects, &[], "install").await
}

/// Would an upgrade end before anything is sent, because objects belong to others?
///
/// # Errors
/// It would: the first such object.
pub async fn check_upgrade(context: &Context, objects: &[Built], options: &UpgradeOptions) -> Result<(), Error> {
    if options.take_ownership {
        return Ok(());
    }
    update::check_ownership(context, objects, &ids(&original(context).await?), "update").await
}

/// The objects of the revision that an upgrade replaces.
///
/// # Errors
/// Something may not be read.
pub async fn original(context: &Context) -> Result<Vec<Built>, Error> {
    let heads = context.storage.observed(&context.release).await?;
    let Some(head) = heads.last() else { return Ok(Vec::new()) };
    let last = context.storage.read(head).await?;
    let current = upgrade::current(context, &heads, &last).await?;
    Ok(Replaced::load(context, &heads, &current).await?.original)
}

/// What the server says to an object that is created anew, be there one of its name or not.
///
/// # Errors
/// The server does not answer.
pub async fn recreated(context: &Context, built: &Built) -> Result<Plan, Error> {
    let mut plan = Plan::default();
    if let Err(e) = context.cluster.try_create_at(&built.resource, &built.object).await {
        plan.note(built.object.id(), answer(e)?);
    }
    Ok(plan)
}

/// A refusal by the server; any other failure stays one, as an overloaded server or a proxy refuses nothing. A server's
/// own error (500) counts: it is what a webhook that does not answer comes to.
fn answer(error: kube_ops::Error) -> Result<Answer, Error> {
    let answered = |a: &&kube_ops::ApiError| !matches!(a.code, 0 | 401 | 408 | 429 | 502..=504);
    let Some(refusal) = error.answer().filter(answered) else { return Err(error.into()) };
    let words = &refusal.message;
    let no_namespace = words.strip_prefix("namespaces \"").and_then(|rest| rest.strip_suffix("\" not found"));
    Ok(if let (404, Some(namespace)) = (refusal.code, no_namespace) {
        Answer::Untried(format!("the namespace {namespace} is not there"))
    } else if words.contains("does not support dry run") {
        Answer::Untried(format!("no dry run: {words}"))
    } else {
        Answer::Refused(words.clone())
    })
}

/// A live object with the fields of one that was refused: about what it would be.
fn overlaid(live: &Map<String, Json>, wanted: &Map<String, Json>) -> Map<String, Json> {
    let mut merged = live.clone();
    for (key, value) in wanted {
        let value = match (live.get(key), value) {
            (Some(Json::Object(below)), Json::Object(over)) => Json::Object(overlaid(below, over)),
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

/// The object without what the server keeps for itself: what a reader of a preview wants to see.
pub fn comparable(object: &Object) -> Object {
    let mut object = object.clone();
    if let Some(metadata) = object.0.get_mut("metadata").and_then(Json::as_object_mut) {
        for key in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"] {
            metadata.remove(key);
        }
    }
    object.0.remove("status");
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(json: Json) -> Object {
        Object::from_json(json).unwrap()
    }

    #[test]
    fn refusals_for_want_of_the_actions_own_objects_are_none() {
        let account = object(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web"}}));
        let definition = object(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "gadgets.example.com"},
            "spec": {"group": "example.com", "names": {"kind": "Gadget"}}}));
        let id = |api_version: &str, kind: &str| {
            object(json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}})).id()
        };
        let mut plan = Plan {
            changes: vec![
                ObjectChange::Create(account),
                ObjectChange::Update { before: definition.clone(), after: definition },
            ],
            refused: vec![
                (id("v1", "Pod"), "error looking up service account n/web: serviceaccount \"web\" not found".into()),
                (id("v1", "Service"), "spec.ports: Required value".into()),
                (id("example.com/v1", "Gadget"), "field not declared in schema".into()),
                (id("v1", "Secret"), "secrets \"web\" not found".into()),
            ],
            untried: Vec::new(),
        };
        plan.settle();
        let refused: Vec<&str> = plan.refused.iter().map(|(id, _)| id.kind.as_str()).collect();
        assert_eq!(refused, ["Service", "Secret"]);
        assert_eq!(plan.untried[0].1, "it needs ServiceAccount/web, which the same action creates");
        assert_eq!(plan.untried[1].1, "CustomResourceDefinition/gadgets.example.com is changed by the same action");
    }

    #[test]
    fn what_was_refused_is_shown_over_what_is_there() {
        let live = object(json!({"spec": {"a": 1, "defaulted": true, "list": [1]}}));
        let wanted = object(json!({"spec": {"a": 2, "list": [2]}}));
        let merged = overlaid(&live.0, &wanted.0);
        assert_eq!(Json::Object(merged), json!({"spec": {"a": 2, "defaulted": true, "list": [2]}}));
    }
}
