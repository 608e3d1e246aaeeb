//! Install.
//!
//! Clears: nothing, unless it replaces a failed or uninstalled revision. Writes: CRDs, revision 1 as `pending-install`,
//! the objects, the revision as `deployed` or `failed`. Returns an error without a stored revision only when nothing
//! was created. Follows Helm's `action/install.go` as Flux calls it.

use helm::release::{ApplyMethod, HookEvent, Info, Release, Status, codec};

use crate::build::build;
use crate::context::{Context, WaitOptions};
use crate::crds::CrdsPolicy;
use crate::error::Error;
use crate::hooks;
use crate::outcome::{Outcome, Run};
use crate::prepare::Request;
use crate::revision::{self, Definitions};
use crate::storage::{Packed, RecordHead};
use crate::update::{self, SendOptions};

/// How to install.
#[derive(Clone, Debug)]
pub struct InstallOptions {
    /// What.
    pub request: Request,
    /// The files under crds/.
    pub crds: CrdsPolicy,
    /// Make the namespace.
    pub create_namespace: bool,
    /// Leave hooks out.
    pub disable_hooks: bool,
    /// Waiting.
    pub wait: WaitOptions,
    /// Adopt what exists.
    pub take_ownership: bool,
    /// By server-side apply.
    pub server_side: bool,
    /// Reuse the name of an uninstalled or failed release.
    pub replace: bool,
}

/// Install a release.
pub async fn install(context: &Context, options: &InstallOptions) -> Outcome {
    let mut run = Run::new();
    let result = attempt(context, options, &mut run).await;
    run.finish(result)
}

async fn attempt(context: &Context, options: &InstallOptions, run: &mut Run) -> Result<(), Error> {
    helm::release::name::validate(&context.release).map_err(|e| {
        helm::Error::ReleaseName(format!("release name check failed: release name {:?}: {e}", &*context.release))
    })?;
    let heads = context.storage.observed(&context.release).await?;
    let last = heads.last();
    check_name(last, options)?;
    let mut request = options.request.clone();
    request.revision = 1;
    let mut head = Release {
        name: context.release.to_string(),
        namespace: context.namespace.to_string(),
        version: last.map_or(1, |h| h.version + 1),
        info: Info { first_deployed: context.now_text(), ..Info::default() },
        apply_method: if options.server_side { ApplyMethod::ServerSide } else { ApplyMethod::ClientSide },
        ..Release::default()
    };
    head.set_status(Status::PendingInstall, "Initial install underway");
    let definitions = Definitions { policy: options.crds, wait: options.wait.wait };
    let packed = revision::make(context, run, &request, definitions, head).await?;
    let manifest = &packed.release.manifest;
    let objects = build(context, manifest).await.map_err(|e| Error::Build { which: "release", source: Box::new(e) })?;
    if !options.take_ownership {
        update::check_ownership(context, &objects, &[], "install").await?;
    }
    if options.create_namespace {
        create_namespace(context).await?;
    }
    if let Some(head) = last {
        supersede(context, head, run).await?;
    }
    let mut release = store(context, packed, 0, &heads, run).await?;

    let work = perform(context, options, &mut release, &objects, run).await;
    if let Err(e) = &work
        && e.is_forbidden()
        && !run.touched
        && context.storage.delete(&codec::object_name(&release.name, release.version)).await.is_ok()
    {
        // Nothing has begun, and nothing counts: once the rights are there, the next attempt is the first. Helm finds
        // out before it stores anything, by a request for every object.
        run.withdrawn();
        return work;
    }
    match &work {
        Ok(()) => release.set_status(Status::Deployed, "Install complete"),
        Err(e) => {
            release.set_status(Status::Failed, format!("Release {:?} failed: {e}", release.name));
            run.log(e.to_string());
        }
    }
    persist(context, &release, run).await;
    work
}

/// May a release be installed where this is the newest revision of its name?
pub(crate) fn check_name(last: Option<&RecordHead>, options: &InstallOptions) -> Result<(), Error> {
    match last.map(|h| h.status) {
        None => Ok(()),
        Some(Status::Uninstalled | Status::Failed) if options.replace => Ok(()),
        Some(_) => Err(Error::NameInUse),
    }
}

async fn perform(
    context: &Context,
    options: &InstallOptions,
    release: &mut Release,
    objects: &[crate::build::Built],
    run: &mut Run,
) -> Result<(), Error> {
    let hooked = |event: &str, e: Error| Error::Hooks { prefix: format!("failed {event}"), source: Box::new(e) };
    if !options.disable_hooks {
        hooks::run(context, run, release, HookEvent::PreInstall, options.wait.timeout)
            .await
            .map_err(|e| hooked("pre-install", e))?;
    }
    let send = SendOptions { server_side: options.server_side, take_ownership: options.take_ownership, migrate: false };
    let live = update::send_in(context, run, objects, objects, send).await?;
    if send.server_side {
        run.applied(&live);
    }
    update::wait(context, live, options.wait).await?;
    if !options.disable_hooks {
        hooks::run(context, run, release, HookEvent::PostInstall, options.wait.timeout)
            .await
            .map_err(|e| hooked("post-install", e))?;
    }
    Ok(())
}

/// Create the first record of an action. Nothing has happened to the release's objects yet, so an error here ends it.
pub(crate) async fn store(
    context: &Context,
    packed: Packed,
    max_history: i64,
    heads: &[RecordHead],
    run: &mut Run,
) -> Result<Release, Error> {
    context.storage.create(&packed, max_history, heads).await?;
    let release = Release::clone(&packed.release);
    run.stored(packed.release);
    Ok(release)
}

/// Write the last state of an action. A failing write is only logged: the cluster is as it is.
pub(crate) async fn persist(context: &Context, release: &Release, run: &mut Run) {
    match context.storage.update(release.clone()).await {
        Ok(stored) => run.stored(stored),
        Err(e) => run.log(format!("failed to record the release: {e}")),
    }
}

async fn supersede(context: &Context, head: &RecordHead, run: &mut Run) -> Result<(), Error> {
    if head.status == Status::Failed {
        return Ok(());
    }
    let mut old = Release::clone(&*context.storage.read(head).await?);
    old.set_status(Status::Superseded, "superseded by new release");
    run.stored(context.storage.update(old).await?);
    Ok(())
}

async fn create_namespace(context: &Context) -> Result<(), Error> {
    let json = serde_json::json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": &*context.namespace, "labels": {"name": &*context.namespace}}});
    let Some(namespace) = kube_object::Object::from_json(json) else { return Ok(()) };
    let resource = context.cluster.resource_of(&namespace).await?;
    // An existing namespace stays as it is, whoever labelled it.
    if context.cluster.get(&resource, "", &context.namespace).await?.is_none() {
        context.cluster.apply_to(&resource, &namespace, kube_ops::apply::ApplyOptions::default()).await?;
    }
    Ok(())
}
