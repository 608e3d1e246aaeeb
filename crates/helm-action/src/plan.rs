//! What an action would change, as data.
//!
//! Owns: the comparison of a new manifest with the live objects, without changing any. Used by previews; the rendering
//! and building are those of the actions themselves.

use futures::stream::{StreamExt, iter};
use helm::Chart;
use kube_object::{Object, ObjectId};
use kube_ops::apply::ApplyOptions;

use crate::build::{Built, build_stored};
use crate::context::Context;
use crate::error::Error;
use crate::keep;

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
}

const AT_ONCE: usize = 4;

/// What sending `objects` in place of the stored `original` manifest would change, in the order of the manifest and
/// with deletions last. `chart` is that of the new revision, if there is one.
///
/// # Errors
/// Something may not be read. A dry run that the server refuses falls back to the object as it would be sent.
pub async fn plan(
    context: &Context,
    objects: &[Built],
    original: Option<&str>,
    chart: Option<&Chart>,
) -> Result<Vec<ObjectChange>, Error> {
    let asked: Vec<_> = objects.iter().map(|built| change(context, built)).collect();
    let answers: Vec<Result<ObjectChange, Error>> = iter(asked).buffered(AT_ONCE).collect().await;
    let mut changes = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
    if let Some(original) = original {
        let target: Vec<ObjectId> = objects.iter().map(|b| b.object.id()).collect();
        for built in build_stored(context, original).await? {
            let id = built.object.id();
            if target.contains(&id) {
                continue;
            }
            let Some(live) = context.cluster.get(&built.resource, &id.namespace, &id.name).await? else { continue };
            changes.push(match keep::reason(context, &live, chart).await {
                Some(why) => ObjectChange::Kept(id, why),
                None => ObjectChange::Delete(live),
            });
        }
    }
    Ok(changes)
}

async fn change(context: &Context, built: &Built) -> Result<ObjectChange, Error> {
    let (object, resource) = (&built.object, &built.resource);
    let live = context.cluster.get(resource, object.namespace(), object.name()).await?;
    let Some(live) = live else { return Ok(ObjectChange::Create(object.clone())) };
    let options = ApplyOptions { force: true, dry_run: true, ..ApplyOptions::default() };
    let after = match context.cluster.apply_to(resource, object, options).await {
        Ok(after) => after,
        Err(e) if e.class() == kube_ops::Class::Invalid => object.clone(),
        Err(e) => return Err(e.into()),
    };
    if same(&live, &after) {
        return Ok(ObjectChange::Keep(live.id()));
    }
    Ok(ObjectChange::Update { before: live, after })
}

/// Equal but for what the server keeps for itself.
fn same(a: &Object, b: &Object) -> bool {
    comparable(a) == comparable(b)
}

/// The object without what the server keeps for itself: what a reader of a preview wants to see.
pub fn comparable(object: &Object) -> Object {
    let mut object = object.clone();
    if let Some(metadata) = object.0.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
        for key in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"] {
            metadata.remove(key);
        }
    }
    object.0.remove("status");
    object
}
