//! Rollback.
//!
//! Writes: a new revision with the content of an old one as `pending-rollback`, the objects, the revisions' final
//! states; deletes what the revisions since the last deployed one have and the old one has not. Follows Helm's
//! `action/rollback.go`. The surprising things: nothing is rendered and objects are adopted without a check; a hook that
//! fails leaves the revision pending, which [`unlock`](crate::unlock) ends.

use helm::release::{ApplyMethod, HookEvent, Release, Status};

use crate::build::build;
use crate::context::{Context, WaitOptions};
use crate::error::Error;
use crate::hooks;
use crate::install::{persist, store};
use crate::outcome::{Outcome, Run};
use crate::replaced::Replaced;
use crate::update::{self, SendOptions};
use crate::upgrade::ServerSide;

/// How to roll back.
#[derive(Clone, Debug)]
pub struct RollbackOptions {
    /// To which revision.
    pub version: i64,
    /// Leave hooks out.
    pub disable_hooks: bool,
    /// Waiting.
    pub wait: WaitOptions,
    /// Server-side apply.
    pub server_side: ServerSide,
    /// How many revisions stay; 0 for all.
    pub max_history: i64,
}

/// Roll a release back.
pub async fn rollback(context: &Context, options: &RollbackOptions) -> Outcome {
    let mut run = Run::new();
    let result = attempt(context, options, &mut run).await;
    run.finish(result)
}

async fn attempt(context: &Context, options: &RollbackOptions, run: &mut Run) -> Result<(), Error> {
    let heads = context.storage.observed(&context.release).await?;
    let last_head = heads.last().ok_or(Error::NotFound)?;
    let last = context.storage.read(last_head).await?;
    let target_head = heads.iter().find(|h| h.version == options.version).ok_or(Error::NotFound)?;
    let target = context.storage.read(target_head).await?;
    let server_side = match options.server_side {
        ServerSide::Enabled => true,
        ServerSide::Disabled => false,
        ServerSide::Auto => target.apply_method == ApplyMethod::ServerSide,
    };
    let mut release = Release::clone(&target);
    release.version = last.version + 1;
    release.info.first_deployed.clone_from(&last.info.first_deployed);
    release.info.last_deployed = context.now_text();
    release.info.deleted = String::new();
    release.info.rollback_revision = 0;
    release.apply_method = if server_side { ApplyMethod::ServerSide } else { ApplyMethod::ClientSide };
    release.set_status(Status::PendingRollback, format!("Rollback to {}", target.version));
    let packed = context.storage.pack(release)?;
    if let Some(note) = &packed.note {
        run.note(note.clone());
    }
    let objects = build(context, &packed.release.manifest)
        .await
        .map_err(|e| Error::Build { which: "release", source: Box::new(e) })?;
    let replaced = Replaced::load(context, &heads, &last).await?;
    let mut release = store(context, packed, options.max_history, &heads, run).await?;

    if !options.disable_hooks {
        hooks::run(context, run, &mut release, HookEvent::PreRollback, options.wait.timeout).await?;
    }
    let send = SendOptions {
        server_side,
        take_ownership: true,
        migrate: server_side && last.apply_method == ApplyMethod::ClientSide,
    };
    let sent = async {
        let live = update::send_in(context, run, &objects, &replaced.original, send).await?;
        if send.server_side {
            run.applied(&live);
        }
        let ids: Vec<_> = objects.iter().map(|b| b.object.id()).collect();
        update::prune(context, run, replaced, &ids, None).await?;
        Ok::<_, Error>(live)
    }
    .await;
    let live = match sent {
        Ok(live) => live,
        Err(e) => {
            let mut old = Release::clone(&last);
            old.info.status = Status::Superseded;
            persist(context, &old, run).await;
            release.set_status(Status::Failed, format!("Rollback {:?} failed: {e}", release.name));
            persist(context, &release, run).await;
            return Err(e);
        }
    };
    if let Err(e) = update::wait(context, live, options.wait).await {
        release.set_status(Status::Failed, format!("Release {:?} failed: {e}", release.name));
        persist(context, &release, run).await;
        return Err(e);
    }
    if !options.disable_hooks {
        hooks::run(context, run, &mut release, HookEvent::PostRollback, options.wait.timeout).await?;
    }
    for head in heads.iter().filter(|h| h.status == Status::Deployed) {
        let mut old = Release::clone(&*context.storage.read(head).await?);
        old.info.status = Status::Superseded;
        run.stored(context.storage.update(old).await?);
    }
    let description = release.info.description.clone();
    release.set_status(Status::Deployed, description);
    persist(context, &release, run).await;
    Ok(())
}
