//! Uninstall.
//!
//! Writes: the newest revision as `uninstalling`, deletes its objects, then the records or, when the history is kept,
//! the revision as `uninstalled`. Follows Helm 4.3's `action/uninstall.go`. The surprising things: an object without
//! the release's ownership metadata is left alone; any resource policy but an empty one keeps an object; hooks and
//! `crds/` are never deleted.

use std::sync::Arc;

use helm::release::{HookEvent, Release, Status};
use kube_object::order::KindOrder;
use kube_object::{Object, ownership};
use kube_ops::delete::Propagation;

use crate::build::build_stored;
use crate::context::{Context, WaitOptions};
use crate::error::Error;
use crate::hooks;
use crate::outcome::{Outcome, Run};
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
    let stored = Arc::new(release.clone());
    match context.storage.update(&stored).await {
        Ok(()) => run.stored(stored),
        Err(e) => run.log(format!("failed to record the release: {e}")),
    }
    let fault = |source: Error| Error::DeleteRelease { release: context.release.to_string(), source: Box::new(source) };
    let objects = deletable(context, &release.manifest, run).await.map_err(fault)?;
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
        let kept = Arc::new(release);
        context.storage.update(&kept).await?;
        run.stored(kept);
    } else {
        purge(context, &heads).await?;
    }
    if errors.is_empty() { Ok(()) } else { Err(Error::Uninstalled(errors)) }
}

/// Delete all records. Their last stored state remains what it was.
async fn purge(context: &Context, heads: &[crate::storage::RecordHead]) -> Result<(), Error> {
    for head in heads {
        context.storage.delete(&head.object).await?;
    }
    Ok(())
}

/// The live objects of a manifest that may go, in Helm's order.
async fn deletable(context: &Context, manifest: &str, run: &mut Run) -> Result<Vec<Object>, Error> {
    let mut built = build_stored(context, manifest).await?;
    KindOrder::Uninstall.sort_by_kind(&mut built, |b| b.object.kind());
    let mut objects = Vec::new();
    for b in built {
        let id = b.object.id();
        if b.object.annotation(POLICY).is_some_and(|p| !p.trim().is_empty()) {
            run.log(format!("{id} is kept: its resource policy says so"));
            continue;
        }
        let Some(live) = context.cluster.get(&b.resource, &id.namespace, &id.name).await? else { continue };
        match ownership::check(&live, &context.release, &context.namespace) {
            Ok(()) => objects.push(live),
            Err(why) => run.log(format!("{id} is not deleted because it is not owned by this release: {why}")),
        }
    }
    Ok(objects)
}
