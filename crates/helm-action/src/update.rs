//! Making the cluster match a manifest.
//!
//! Owns: sending the objects of a new revision, kind by kind, deleting those that only the old one had, and waiting.
//! Follows `Update` of Helm's `pkg/kube/client.go`. The surprising things: an error stops before anything is deleted;
//! an object is the same one whatever the version of its API group.

use std::time::Duration;

use futures::stream::{StreamExt, TryStreamExt, iter};
use helm::Chart;
use kube_object::status::{Status, Verdict, compute, job_completion};
use kube_object::{Object, ObjectId, ownership, patch};
use kube_ops::apply::ApplyOptions;
use kube_ops::delete::Propagation;
use serde_json::Value as Json;

use crate::build::Built;
use crate::context::{Context, WaitOptions};
use crate::error::Error;
use crate::outcome::Run;
use crate::replaced::{Fate, Replaced};

/// How many objects of one kind are sent at once.
const AT_ONCE: usize = 8;

/// How objects are sent.
#[derive(Clone, Copy, Debug)]
pub struct SendOptions {
    /// By server-side apply, else by patches.
    pub server_side: bool,
    /// Adopt objects that do not belong to the release.
    pub take_ownership: bool,
    /// Objects may have been applied client-side before: hand their fields over first.
    pub migrate: bool,
}

/// Refuse objects that exist and belong to someone else. Nothing is asked when ownership is taken anyway.
///
/// # Errors
/// The first such object.
pub(crate) async fn check_ownership(
    context: &Context,
    objects: &[Built],
    known: &[ObjectId],
    verb: &'static str,
) -> Result<(), Error> {
    for built in objects {
        let id = built.object.id();
        if known.contains(&id) {
            continue;
        }
        let live = context.cluster.get(&built.resource, &id.namespace, &id.name).await?;
        if let Some(live) = live {
            ownership::check(&live, &context.release, &context.namespace).map_err(|why| Error::Ownership {
                verb,
                id,
                why,
            })?;
        }
    }
    Ok(())
}

/// Send all objects, kinds in order, objects of one kind side by side. The answers come back in order.
///
/// # Errors
/// All objects that could not be sent; with the first kind that has such, sending ends.
pub(crate) async fn send(
    context: &Context,
    objects: &[Built],
    original: &[Built],
    options: SendOptions,
) -> Result<Vec<Object>, Error> {
    send_in(context, &mut Run::new(), objects, original, options).await
}

/// As [`send`], within an action, which learns whether anything was sent.
///
/// # Errors
/// As there.
pub(crate) async fn send_in(
    context: &Context,
    run: &mut Run,
    objects: &[Built],
    original: &[Built],
    options: SendOptions,
) -> Result<Vec<Object>, Error> {
    let mut live = Vec::new();
    for group in objects.chunk_by(|a, b| a.object.kind() == b.object.kind()) {
        let sends: Vec<_> = group.iter().map(|built| send_one(context, built, original, options)).collect();
        let answers: Vec<_> = iter(sends).buffered(AT_ONCE).collect().await;
        let mut errors = Vec::new();
        for answer in answers {
            match answer {
                Ok(object) => {
                    run.touched = true;
                    live.push(object);
                }
                Err(e) => errors.push(e),
            }
        }
        match errors.len() {
            0 => {}
            1 => return Err(errors.remove(0)),
            _ => return Err(Error::Several(errors)),
        }
    }
    Ok(live)
}

async fn send_one(context: &Context, built: &Built, original: &[Built], options: SendOptions) -> Result<Object, Error> {
    let (object, resource) = (&built.object, &built.resource);
    if options.server_side {
        if options.migrate
            && let Some(live) = context.cluster.get(resource, object.namespace(), object.name()).await?
        {
            context.cluster.migrate_managed_fields(resource, &live).await?;
        }
        let apply = ApplyOptions { force: true, ..ApplyOptions::default() };
        return Ok(context.cluster.apply_to(resource, object, apply).await?);
    }
    let Some(live) = context.cluster.get(resource, object.namespace(), object.name()).await? else {
        return Ok(context.cluster.create(object).await?);
    };
    match client_side(object, original, &live) {
        Some(change) => Ok(context.cluster.merge_patch(resource, object, &change).await?),
        None => Ok(live),
    }
}

/// The patch by which an object is sent where it is not applied on the server's side; nothing where nothing differs.
pub(crate) fn client_side(object: &Object, original: &[Built], live: &Object) -> Option<Json> {
    let id = object.id();
    let before = original.iter().find(|b| b.object.id() == id).map_or(object, |b| &b.object);
    let json = |o: &Object| Json::Object(o.0.clone());
    patch::three_way_merge_patch(&json(before), &json(object), &json(live))
}

/// Delete the objects of old revisions that the new one has no more, in the old order. Those whose live state asks to be
/// kept stay.
///
/// # Errors
/// The first object that could not be read or deleted.
pub(crate) async fn prune(
    context: &Context,
    run: &mut Run,
    replaced: Replaced,
    target: &[ObjectId],
    chart: Option<&Chart>,
) -> Result<(), Error> {
    for fate in replaced.fates(context, target, chart).await? {
        match fate {
            Fate::Kept(id, why) => run.note(format!("{id} is kept: {why}")),
            Fate::Deleted(built, live) => {
                if context.cluster.delete_from(&built.resource, &live, Propagation::Background).await? {
                    run.log(format!("{} deleted", built.object.id()));
                }
            }
        }
    }
    Ok(())
}

/// Wait until the objects that were sent are ready.
///
/// # Errors
/// Not in time, or some cannot become ready.
pub(crate) async fn wait(context: &Context, live: Vec<Object>, options: WaitOptions) -> Result<(), Error> {
    if !options.wait {
        return Ok(());
    }
    let judge = move |object: Option<&Object>| readiness(object, options.jobs);
    context.cluster.wait_ready(live, &judge, options.timeout).await?;
    Ok(())
}

/// When an object of a release counts as ready.
pub fn readiness(object: Option<&Object>, jobs: bool) -> Verdict {
    let Some(object) = object else {
        return Verdict { status: Status::NotFound, message: "Resource not found".into() };
    };
    let group = object.gvk().group;
    match (group.as_str(), object.kind()) {
        ("batch", "Job") if jobs => job_completion(object),
        // Nobody rolls a paused Deployment out.
        ("apps", "Deployment") if object.at(&["spec", "paused"]) == Some(&Json::Bool(true)) => {
            Verdict { status: Status::Current, message: "Deployment is paused".into() }
        }
        _ => compute(object, age(object)),
    }
}

/// Seconds since the object was created.
fn age(object: &Object) -> i64 {
    let created = object.text_at(&["metadata", "creationTimestamp"]);
    created.parse::<jiff::Timestamp>().map_or(0, |t| jiff::Timestamp::now().as_second() - t.as_second())
}

/// Delete objects and wait until they are gone.
///
/// # Errors
/// The first object that could not be deleted, or that stays.
pub(crate) async fn delete_all(
    context: &Context,
    objects: &[Object],
    propagation: Propagation,
    wait: Option<Duration>,
) -> Result<(), Error> {
    for group in objects.chunk_by(|a, b| a.kind() == b.kind()) {
        let deletes: Vec<_> = group.iter().map(|object| context.cluster.delete(object, propagation)).collect();
        iter(deletes).buffered(AT_ONCE).try_collect::<Vec<bool>>().await?;
    }
    if let Some(limit) = wait {
        context.cluster.wait_gone(objects, limit).await?;
    }
    Ok(())
}
