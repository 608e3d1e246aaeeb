//! Uninstall.
//!
//! Writes: the newest revision as `uninstalling`, deletes its objects, then the records or, when the history is kept,
//! the revision as `uninstalled`. Follows Helm 4.3's `action/uninstall.go`, and deletes what failed revisions left too.
//! The surprising things: an object without the release's ownership metadata is left alone; any resource policy but an
//! empty one keeps an object; hooks and `crds/` are never deleted.

use helm::release::{HookEvent, Release, Status};
use kube_object::order::KindOrder;
use kube_object::ownership;
use kube_ops::Class;
use kube_ops::delete::Propagation;

use crate::build::Built;
use crate::context::{Context, WaitOptions};
use crate::error::Error;
use crate::hooks;
use crate::install::persist;
use crate::outcome::{Outcome, Run};
use crate::replaced::{Fate, Replaced};
use crate::storage::RecordHead;
use crate::update;

const POLICY: &str = "helm.sh/resource-policy";

/// How to uninstall.
#[derive(Clone, Debug)]
pub struct UninstallOptions {
    /// Leave hooks out.
    pub disable_hooks: bool,
    /// Keep the records.
    pub keep_history: bool,
    /// Waiting until the objects are gone.
    pub wait: WaitOptions,
    /// What happens to objects that the deleted ones own.
    pub propagation: Propagation,
}

/// Uninstall a release.
pub async fn uninstall(context: &Context, options: &UninstallOptions) -> Outcome {
    let mut run = Run::new();
    let result = attempt(context, options, &mut run).await;
    run.finish(result)
}

async fn attempt(context: &Context, options: &UninstallOptions, run: &mut Run) -> Result<(), Error> {
    let heads = context.storage.observed(&context.release).await?;
    let last_head = heads.last().ok_or(Error::NotFound)?;
    let last = context.storage.read(last_head).await?;
    let mut release = Release::clone(&last);
    if release.info.status == Status::Uninstalled {
        if options.keep_history {
            return Err(Error::AlreadyDeleted(release.name));
        }
        return purge(context, &heads).await;
    }
    release.info.deleted = context.now_text();
    release.set_status(Status::Uninstalling, "Deletion in progress (or silently failed)");
    if !options.disable_hooks {
        hooks::run(context, run, &mut release, HookEvent::PreDelete, options.wait.timeout).await?;
    }
    persist(context, &release, run).await;
    let fault = |source: Error| Error::DeleteRelease { release: context.release.to_string(), source: Box::new(source) };
    let mut objects = Vec::new();
    for fate in fates(context, &heads, &release).await.map_err(fault)? {
        match fate {
            Fate::Deleted(_, live) => objects.push(live),
            Fate::Kept(id, why) => run.note(format!("{id} is kept: {why}")),
        }
    }
    let limit = options.wait.wait.then_some(options.wait.timeout);
    update::delete_all(context, &objects, options.propagation, None).await.map_err(fault)?;
    let mut errors = Vec::new();
    if let Some(limit) = limit
        && let Err(e) = context.cluster.wait_gone(&objects, limit).await
    {
        errors.push(e.into());
    }
    if !options.disable_hooks
        && let Err(e) = hooks::run(context, run, &mut release, HookEvent::PostDelete, options.wait.timeout).await
    {
        errors.push(e);
    }
    if options.keep_history {
        release.set_status(Status::Uninstalled, "Uninstallation complete");
        run.stored(context.storage.update(release).await?);
        for head in heads.iter().filter(|h| h.status == Status::Deployed && h.version != last.version) {
            let mut old = Release::clone(&*context.storage.read(head).await?);
            old.info.status = Status::Superseded;
            persist(context, &old, run).await;
        }
    } else {
        purge(context, &heads).await?;
    }
    if errors.is_empty() { Ok(()) } else { Err(Error::Uninstalled(errors)) }
}

/// Delete all records. Their last stored state remains what it was.
async fn purge(context: &Context, heads: &[RecordHead]) -> Result<(), Error> {
    for head in heads {
        context.storage.delete(&head.object).await?;
    }
    Ok(())
}

/// What becomes of the live objects of the newest revision, and of those that earlier ones left, in Helm's order.
pub(crate) async fn fates(context: &Context, heads: &[RecordHead], last: &Release) -> Result<Vec<Fate>, Error> {
    let Replaced { original, leftovers } = Replaced::load(context, heads, last).await?;
    let newest = original.len();
    let mut all: Vec<(usize, Built)> = original.into_iter().chain(leftovers).enumerate().collect();
    KindOrder::Uninstall.sort_by_kind(&mut all, |(_, b)| b.object.kind());
    let mut fates = Vec::new();
    for (index, built) in all {
        let id = built.object.id();
        if built.object.annotation(POLICY).is_some_and(|p| !p.trim().is_empty()) {
            fates.push(Fate::Kept(id, "its resource policy says so".into()));
            continue;
        }
        let live = match context.cluster.get(&built.resource, &id.namespace, &id.name).await {
            Ok(Some(live)) => live,
            Ok(None) => continue,
            // It may be answered the next time. What is refused will stay so, and Helm leaves it.
            Err(e) if e.class() == Class::Transient => return Err(e.into()),
            Err(e) => {
                fates.push(Fate::Kept(id, format!("whether it belongs to this release cannot be told: {e}")));
                continue;
            }
        };
        match ownership::check(&live, &context.release, &context.namespace) {
            Ok(()) => fates.push(Fate::Deleted(built, live)),
            Err(why) => match ownership::other(&live, &context.release, &context.namespace) {
                Some(owner) => fates.push(Fate::Kept(id, format!("it belongs to the release {owner}"))),
                None if index < newest => {
                    fates.push(Fate::Kept(id, format!("it is not owned by this release: {why}")));
                }
                // Long gone, and someone made another of that name.
                None => {}
            },
        }
    }
    Ok(fates)
}
