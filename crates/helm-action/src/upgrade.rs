//! Upgrade.
//!
//! Writes: CRDs, a new revision as `pending-upgrade`, the objects, deletes what the new manifest dropped, the old revision as `superseded`, the
//! new one as `deployed` or `failed`. Returns an error without a stored revision only when nothing was created. Follows
//! Helm's `action/upgrade.go` as Flux calls it. The surprising thing: what is replaced is the last *deployed* revision,
//! or the last one if none is.

use std::sync::Arc;

use go_value::Map;
use helm::release::{ApplyMethod, HookEvent, Info, Release, Status, StoredChart};

use crate::build::{build, build_stored};
use crate::context::{Context, WaitOptions};
use crate::crds::{self, CrdsPolicy};
use crate::error::Error;
use crate::hooks;
use crate::install::{persist, store};
use crate::outcome::{Outcome, Run};
use crate::prepare::{Request, prepare};
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
    let current = if last.info.status == Status::Deployed {
        Arc::clone(&last)
    } else if let Some(head) = heads.iter().rev().find(|h| h.status == Status::Deployed) {
        context.storage.read(head).await?
    } else if matches!(last.info.status, Status::Failed | Status::Superseded) {
        Arc::clone(&last)
    } else {
        return Err(no_deployed());
    };
    Ok(Baseline { last, current, heads })
}

async fn attempt(context: &Context, options: &UpgradeOptions, run: &mut Run) -> Result<(), Error> {
    let Baseline { last, current, heads } = baseline(context).await?;
    let mut request = options.request.clone();
    request.revision = last.version + 1;
    if options.reuse_values {
        request.values = merged_values(&request.values, &current.config);
    }
    let mut warnings = helm::values::Warnings::default();
    let processed = helm::chart::process_dependencies(&request.chart, &request.values, context.profile, &mut warnings)?;
    crds::apply(context, run, &processed, options.crds, &request.metadata, options.wait.wait).await?;

    let prepared = prepare(context, &request).await?;
    let server_side = match options.server_side {
        ServerSide::Enabled => true,
        ServerSide::Disabled => false,
        ServerSide::Auto => last.apply_method == ApplyMethod::ServerSide,
    };
    let mut release = Release {
        name: context.release.to_string(),
        namespace: current.namespace.clone(),
        version: request.revision,
        info: Info {
            first_deployed: current.info.first_deployed.clone(),
            last_deployed: context.now_text(),
            notes: prepared.rendered.notes.clone(),
            ..Info::default()
        },
        chart: StoredChart::from(&prepared.rendered.chart),
        config: request.values.clone(),
        manifest: prepared.manifest.clone(),
        hooks: prepared.rendered.hooks.clone(),
        apply_method: if server_side { ApplyMethod::ServerSide } else { ApplyMethod::ClientSide },
        labels: last.labels.clone(),
    };
    release.set_status(Status::PendingUpgrade, "Preparing upgrade");
    let objects = build(context, &prepared.manifest).await?;
    let original = build_stored(context, &current.manifest)
        .await
        .map_err(|e| Error::Build { which: "current release", source: Box::new(e) })?;
    if !options.take_ownership {
        let known: Vec<_> = original.iter().map(|b| b.object.id()).collect();
        update::check_ownership(context, &objects, &known, "update").await?;
    }
    store(context, &release, options.max_history, &heads, run).await?;

    let send = SendOptions {
        server_side,
        take_ownership: options.take_ownership,
        migrate: server_side && current.apply_method == ApplyMethod::ClientSide,
    };
    let work = perform(context, options, &mut release, &objects, &original, send, run).await;
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
    if work.is_err() && options.cleanup_on_fail {
        let known: Vec<_> = original.iter().map(|b| b.object.id()).collect();
        let created: Vec<_> =
            objects.iter().filter(|b| !known.contains(&b.object.id())).map(|b| b.object.clone()).collect();
        if let Err(e) = update::delete_all(context, &created, kube_ops::delete::Propagation::Background, None).await {
            run.log(format!("an error occurred while cleaning up resources: {e}"));
        }
    }
    work
}

async fn perform(
    context: &Context,
    options: &UpgradeOptions,
    release: &mut Release,
    objects: &[crate::build::Built],
    original: &[crate::build::Built],
    send: SendOptions,
    run: &mut Run,
) -> Result<(), Error> {
    let hooked = |event: &str, e: Error| Error::Hooks { prefix: format!("{event} hooks failed"), source: Box::new(e) };
    if !options.disable_hooks {
        hooks::run(context, run, release, HookEvent::PreUpgrade, options.wait.timeout)
            .await
            .map_err(|e| hooked("pre-upgrade", e))?;
    }
    let live = update::send(context, objects, original, send).await?;
    if send.server_side {
        run.applied(&live);
    }
    let target: Vec<_> = objects.iter().map(|b| b.object.id()).collect();
    update::prune(context, run, original, &target, Some(&options.request.chart)).await?;
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
