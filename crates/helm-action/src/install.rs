//! Install.
//!
//! Clears: nothing, unless it replaces a failed or uninstalled revision. Writes: CRDs, revision 1 as `pending-install`,
//! the objects, the revision as `deployed` or `failed`. Returns an error without a stored revision only when nothing
//! was created. Follows Helm's `action/install.go` as Flux calls it.

use std::sync::Arc;

use helm::release::{ApplyMethod, HookEvent, Info, Release, Status, StoredChart};

use crate::build::build;
use crate::context::{Context, WaitOptions};
use crate::crds::{self, CrdsPolicy};
use crate::error::Error;
use crate::outcome::{Outcome, Run};
use crate::prepare::{Request, prepare};
use crate::update::{self, SendOptions};
use crate::{hooks, storage};

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
    match last.map(|h| h.status) {
        None => {}
        Some(Status::Uninstalled | Status::Failed) if options.replace => {}
        Some(_) => return Err(Error::NameInUse),
    }
    let mut request = options.request.clone();
    request.revision = 1;
    // Definitions come first: the templates may ask for the kinds they bring.
    let mut warnings = helm::values::Warnings::default();
    let processed = helm::chart::process_dependencies(&request.chart, &request.values, context.profile, &mut warnings)?;
    crds::apply(context, run, &processed, options.crds, &request.metadata, options.wait.wait).await?;

    let prepared = prepare(context, &request).await?;
    let now = context.now_text();
    let mut release = Release {
        name: context.release.to_string(),
        namespace: context.namespace.to_string(),
        version: last.map_or(1, |h| h.version + 1),
        info: Info {
            first_deployed: now.clone(),
            last_deployed: now,
            notes: prepared.rendered.notes.clone(),
            ..Info::default()
        },
        chart: StoredChart::from(&prepared.rendered.chart),
        config: request.values.clone(),
        manifest: prepared.manifest.clone(),
        hooks: prepared.rendered.hooks.clone(),
        apply_method: if options.server_side { ApplyMethod::ServerSide } else { ApplyMethod::ClientSide },
        ..Release::default()
    };
    release.set_status(Status::PendingInstall, "Initial install underway");
    let objects =
        build(context, &prepared.manifest).await.map_err(|e| Error::Build { which: "release", source: Box::new(e) })?;
    if !options.take_ownership {
        update::check_ownership(context, &objects, &[], "install").await?;
    }
    if options.create_namespace {
        create_namespace(context).await?;
    }
    if let Some(head) = last {
        supersede(context, head, run).await?;
    }
    store(context, &release, 0, &heads, run).await?;

    let work = perform(context, options, &mut release, &objects, run).await;
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
    let live = update::send(context, objects, objects, send).await?;
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

/// Create the first record of an action. Nothing has happened in the cluster yet, so an error here ends it.
pub(crate) async fn store(
    context: &Context,
    release: &Release,
    max_history: i64,
    heads: &[storage::RecordHead],
    run: &mut Run,
) -> Result<(), Error> {
    let stored = Arc::new(release.clone());
    context.storage.create(&stored, max_history, heads).await?;
    run.stored(stored);
    Ok(())
}

/// Write the last state of an action. A failing write is only logged: the cluster is as it is.
pub(crate) async fn persist(context: &Context, release: &Release, run: &mut Run) {
    let stored = Arc::new(release.clone());
    match context.storage.update(&stored).await {
        Ok(()) => run.stored(stored),
        Err(e) => run.log(format!("failed to record the release: {e}")),
    }
}

async fn supersede(context: &Context, head: &storage::RecordHead, run: &mut Run) -> Result<(), Error> {
    if head.status == Status::Failed {
        return Ok(());
    }
    let mut old = Release::clone(&*context.storage.read(head).await?);
    old.set_status(Status::Superseded, "superseded by new release");
    let old = Arc::new(old);
    context.storage.update(&old).await?;
    run.stored(old);
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
