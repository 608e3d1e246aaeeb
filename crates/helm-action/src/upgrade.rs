//! Upgrade.
//!
//! Writes: CRDs, a new revision as `pending-upgrade`, the objects, deletes what the new manifest dropped, the old revision
//! as `superseded`, the new one as `deployed` or `failed`. Returns an error without a stored revision only when nothing
//! but CRDs was created. Follows Helm's `action/upgrade.go` as Flux calls it. The surprising things: what is replaced is
//! the last *deployed* revision, or the last one if none is; what failed revisions since then left is deleted too.

use std::sync::Arc;

use go_value::Map;
use helm::release::{ApplyMethod, HookEvent, Info, Release, Status};
use kube_object::{Object, ObjectId};

use crate::build::{Built, build};
use crate::context::{Context, WaitOptions};
use crate::crds::CrdsPolicy;
use crate::error::Error;
use crate::hooks;
use crate::install::{persist, store};
use crate::outcome::{Outcome, Run};
use crate::prepare::Request;
use crate::replaced::Replaced;
use crate::revision::{self, Definitions};
use crate::storage::RecordHead;
use crate::update::{self, SendOptions};

/// Whether server-side apply is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerSide {
    /// Yes.
    Enabled,
    /// No.
    Disabled,
    /// As the last revision.
    #[default]
    Auto,
}

/// How to upgrade.
#[derive(Clone, Debug)]
pub struct UpgradeOptions {
    /// What.
    pub request: Request,
    /// The files under crds/.
    pub crds: CrdsPolicy,
    /// Leave hooks out.
    pub disable_hooks: bool,
    /// Waiting.
    pub wait: WaitOptions,
    /// Adopt what exists.
    pub take_ownership: bool,
    /// Server-side apply.
    pub server_side: ServerSide,
    /// How many revisions stay; 0 for all.
    pub max_history: i64,
    /// Keep the last revision's values below the new ones.
    pub reuse_values: bool,
    /// Delete what a failed upgrade created.
    pub cleanup_on_fail: bool,
}

/// Upgrade a release.
pub async fn upgrade(context: &Context, options: &UpgradeOptions) -> Outcome {
    let mut run = Run::new();
    let result = attempt(context, options, &mut run).await;
    run.finish(result)
}

/// The newest revision, and the one an upgrade replaces.
pub struct Baseline {
    /// The newest revision.
    pub last: Arc<Release>,
    /// The deployed one, else the newest.
    pub current: Arc<Release>,
    /// All revisions.
    pub heads: Vec<RecordHead>,
}

/// Find what an upgrade starts from.
///
/// # Errors
/// There is no revision, the newest is pending, or none may be upgraded.
pub async fn baseline(context: &Context) -> Result<Baseline, Error> {
    let heads = context.storage.observed(&context.release).await?;
    let no_deployed = || Error::NoDeployedRelease(context.release.to_string());
    let last_head = heads.last().ok_or_else(no_deployed)?;
    let last = context.storage.read(last_head).await?;
    if last.info.status.is_pending() {
        return Err(Error::Pending);
    }
    let current = current(context, &heads, &last).await?;
    let may = matches!(current.info.status, Status::Deployed | Status::Failed | Status::Superseded);
    if !may {
        return Err(no_deployed());
    }
    Ok(Baseline { last, current, heads })
}

/// The revision that an upgrade replaces: the deployed one, else the newest.
pub(crate) async fn current(
    context: &Context,
    heads: &[RecordHead],
    last: &Arc<Release>,
) -> Result<Arc<Release>, Error> {
    match heads.iter().rev().find(|h| h.status == Status::Deployed) {
        Some(head) if last.info.status != Status::Deployed => context.storage.read(head).await,
        _ => Ok(Arc::clone(last)),
    }
}

async fn attempt(context: &Context, options: &UpgradeOptions, run: &mut Run) -> Result<(), Error> {
    let Baseline { last, current, heads } = baseline(context).await?;
    let mut request = options.request.clone();
    request.revision = last.version + 1;
    if options.reuse_values {
        request.values = merged_values(&request.values, &current.config);
    }
    let server_side = match options.server_side {
        ServerSide::Enabled => true,
        ServerSide::Disabled => false,
        ServerSide::Auto => last.apply_method == ApplyMethod::ServerSide,
    };
    let mut head = Release {
        name: context.release.to_string(),
        namespace: current.namespace.clone(),
        version: request.revision,
        info: Info { first_deployed: current.info.first_deployed.clone(), ..Info::default() },
        apply_method: if server_side { ApplyMethod::ServerSide } else { ApplyMethod::ClientSide },
        labels: last.labels.clone(),
        ..Release::default()
    };
    head.set_status(Status::PendingUpgrade, "Preparing upgrade");
    let definitions = Definitions { policy: options.crds, wait: options.wait.wait };
    let packed = revision::make(context, run, &request, definitions, head).await?;
    let objects = build(context, &packed.release.manifest).await?;
    let replaced = Replaced::load(context, &heads, &current).await?;
    let known: Vec<_> = replaced.original.iter().map(|b| b.object.id()).collect();
    if !options.take_ownership {
        update::check_ownership(context, &objects, &known, "update").await?;
    }
    let new = if options.cleanup_on_fail { absent(context, &objects, &known).await? } else { Vec::new() };
    let mut release = store(context, packed, options.max_history, &heads, run).await?;

    let send = SendOptions {
        server_side,
        take_ownership: options.take_ownership,
        migrate: server_side && current.apply_method == ApplyMethod::ClientSide,
    };
    let work = perform(context, options, &mut release, &objects, replaced, send, run).await;
    match &work {
        Ok(()) => {
            let mut old = Release::clone(&current);
            old.info.status = Status::Superseded;
            persist(context, &old, run).await;
            release.set_status(Status::Deployed, "Upgrade complete");
        }
        Err(e) => {
            // Helm writes the old revision again here, unchanged. The write is spared; what it makes visible stays.
            if !matches!(e, Error::Hooks { .. }) {
                run.stored(Arc::clone(&current));
            }
            release.set_status(Status::Failed, format!("Upgrade {:?} failed: {e}", release.name));
            run.log(e.to_string());
        }
    }
    persist(context, &release, run).await;
    if work.is_err()
        && let Err(e) = update::delete_all(context, &new, kube_ops::delete::Propagation::Background, None).await
    {
        run.log(format!("an error occurred while cleaning up resources: {e}"));
    }
    work
}

/// The objects that no old revision has and that are not there either: what a cleanup may delete. Others may belong to
/// someone else, before they are adopted.
async fn absent(context: &Context, objects: &[Built], known: &[ObjectId]) -> Result<Vec<Object>, Error> {
    let mut absent = Vec::new();
    for built in objects {
        let id = built.object.id();
        if !known.contains(&id) && context.cluster.get(&built.resource, &id.namespace, &id.name).await?.is_none() {
            absent.push(built.object.clone());
        }
    }
    Ok(absent)
}

async fn perform(
    context: &Context,
    options: &UpgradeOptions,
    release: &mut Release,
    objects: &[Built],
    replaced: Replaced,
    send: SendOptions,
    run: &mut Run,
) -> Result<(), Error> {
    let hooked = |event: &str, e: Error| Error::Hooks { prefix: format!("{event} hooks failed"), source: Box::new(e) };
    if !options.disable_hooks {
        hooks::run(context, run, release, HookEvent::PreUpgrade, options.wait.timeout)
            .await
            .map_err(|e| hooked("pre-upgrade", e))?;
    }
    let live = update::send_in(context, run, objects, &replaced.original, send).await?;
    if send.server_side {
        run.applied(&live);
    }
    let target: Vec<_> = objects.iter().map(|b| b.object.id()).collect();
    update::prune(context, run, replaced, &target, Some(&options.request.chart)).await?;
    update::wait(context, live, options.wait).await?;
    if !options.disable_hooks {
        hooks::run(context, run, release, HookEvent::PostUpgrade, options.wait.timeout)
            .await
            .map_err(|e| hooked("post-upgrade", e))?;
    }
    Ok(())
}

/// The new values over those of the last revision; a new null over an old value drops the key.
pub fn merged_values(new: &Map, old: &Map) -> Map {
    let merged = new.deep_copy();
    let mut warnings = helm::values::Warnings::default();
    helm::values::coalesce::coalesce_tables(&merged, &old.deep_copy(), "", false, &mut warnings);
    merged
}
