//! Many HelmReleases, one process.
//!
//! Owns: putting everything together, a clean stop. Does not own: what a pass does (`reconcile`), what a source is
//! (`sources`). On SIGTERM no new pass starts; those that run go on until they end or the time for that is
//! over, and what they began is in storage either way, so that the next start goes on.

pub mod charts;
pub mod config;
pub mod metrics;
pub mod queue;
pub mod references;
pub mod server;
pub mod stores;
pub mod watch;
pub mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chart_source::{ChartCache, Http, Limits, Settings as HttpSettings};
use flux_api::helmrelease::FIELD_MANAGER;
use helm_action::context::HostRef;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::reflector;
use kube_ops::{Cluster, Identity};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use charts::ClusterCharts;
use config::{ControllerArgs, SourcesMode};
use queue::{Backoff, Queue};
use references::ClusterReferences;
use server::{Site, serve};
use stores::Objects;
use watch::{Watched, Writers};
use workers::{Releases, SourceKinds};

use crate::host::SystemHost;
use crate::reconcile::context::{Context, Settings};
use crate::reconcile::publish::Recorder;
use crate::slot::Slots;
use crate::sources::{Sources, Storage};

/// How long a lease of a source-controller counts without being renewed.
const LEASE: Duration = Duration::from_mins(1);
/// How many sources are worked on at once; those that wait for a server do not count.
const SOURCES_AT_ONCE: usize = 4;

/// The way to the cluster.
///
/// # Errors
/// No kubeconfig and not in a cluster, or a kubeconfig that cannot be read.
pub async fn connect(kubeconfig: Option<&std::path::Path>, context: Option<&str>) -> Result<Config> {
    let options = KubeConfigOptions { context: context.map(Into::into), ..KubeConfigOptions::default() };
    let mut config = match kubeconfig {
        Some(path) => {
            let kubeconfig =
                Kubeconfig::read_from(path).with_context(|| format!("failed to read {}", path.display()))?;
            Config::from_custom_kubeconfig(kubeconfig, &options)
                .await
                .with_context(|| format!("failed to use {}", path.display()))?
        }
        None if context.is_some() => {
            Config::from_kubeconfig(&options).await.context("failed to use the kubeconfig of this user")?
        }
        None => Config::infer().await.context("no cluster: give --kubeconfig, or run in a Pod")?,
    };
    // Watches are quiet for long; waits have time limits of their own.
    config.read_timeout = None;
    Ok(config)
}

/// Run until a signal says stop.
///
/// # Errors
/// The cluster cannot be reached, an address is taken, or another source-controller is at work.
pub async fn run(args: ControllerArgs) -> Result<()> {
    let config = connect(args.kubeconfig.as_deref(), None).await?;
    let own = Cluster::connect(config.clone(), &Identity::Own, FIELD_MANAGER)?;
    let version = own.discovery().server_version().await?;
    let builtin = builtin_sources(&own, args.sources).await?;
    tracing::info!(kubernetes = version.git_version, builtin_sources = builtin, "starting");

    let ready = Arc::new(AtomicBool::new(false));
    let address = |e: std::io::Error, what: &str, addr: std::net::SocketAddr| {
        anyhow::anyhow!("failed to serve {what} at {addr}: {e}")
    };
    serve(args.health_addr, Site::Health(Arc::clone(&ready)))
        .await
        .map_err(|e| address(e, "health", args.health_addr))?;

    let limits = Limits::default();
    let sources = if builtin { Some(Arc::new(start_sources(&args, &config, limits).await?)) } else { None };
    let backoff = Backoff { min: args.min_retry_delay, max: args.max_retry_delay };
    let (watched, writers) = caches(&args, &own, sources.as_ref(), limits, backoff)?;
    serve(args.metrics_addr, Site::Metrics(Arc::clone(&watched.metrics)))
        .await
        .map_err(|e| address(e, "metrics", args.metrics_addr))?;
    let settings = Settings {
        requeue_dependency: args.requeue_dependency,
        default_service_account: args.default_service_account.clone(),
        no_cross_namespace_refs: args.no_cross_namespace_refs,
        profile: args.helm_profile,
        allow_dns_lookups: args.allow_dns_lookups,
        render_limits: args.limits.limits(),
        ..Settings::default()
    };
    let references = ClusterReferences { own: own.clone(), releases: Arc::clone(&watched.releases) };
    let host = HostRef(Arc::new(SystemHost::default()));
    let charts = Arc::clone(&watched.charts_of);
    let context = Arc::new(Context::new(own.clone(), config, Arc::new(references), charts, host, settings));
    watched.spawn(own.client(), args.namespace.as_deref(), writers);
    watched.releases.ready().await;
    watched.charts.ready().await;
    watched.repositories.ready().await;
    watched.oci.ready().await;
    ready.store(true, Ordering::Release);
    tracing::info!("ready");

    let mut work = JoinSet::new();
    let releases = Releases { watched: watched.clone(), context, recorder: Arc::new(Recorder::default()) };
    let slots = Slots::new(args.concurrent);
    let metrics = Arc::clone(&watched.metrics);
    work.spawn(workers::run(Arc::new(releases), Arc::clone(&watched.queue), slots, Arc::clone(&metrics)));
    if let (Some(sources), Some(queue)) = (sources, &watched.sources) {
        let kinds = SourceKinds { watched: watched.clone(), sources };
        work.spawn(workers::run(Arc::new(kinds), Arc::clone(queue), Slots::new(SOURCES_AT_ONCE), metrics));
    }
    stopped().await?;
    tracing::info!("stopping: running actions end, new ones do not start");
    watched.queue.close();
    if let Some(queue) = &watched.sources {
        queue.close();
    }
    let all = async { while work.join_next().await.is_some() {} };
    if tokio::time::timeout(args.graceful_shutdown_timeout, all).await.is_err() {
        tracing::warn!("some actions did not end in time; the next start takes them up");
    }
    Ok(())
}

/// SIGTERM or SIGINT.
async fn stopped() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Are sources ours? A source-controller that renews its lease has them.
async fn builtin_sources(own: &Cluster, mode: SourcesMode) -> Result<bool> {
    if mode == SourcesMode::External {
        return Ok(false);
    }
    let leases = kube_ops::Resource {
        gvk: kube_object::Gvk::new("coordination.k8s.io/v1", "Lease"),
        plural: "leases".into(),
        namespaced: true,
    };
    let now = jiff::Timestamp::now();
    let held = own.list(&leases, None, None).await?.into_iter().find(|lease| {
        let renewed = lease.text_at(&["spec", "renewTime"]).parse::<jiff::Timestamp>();
        let fresh = renewed.is_ok_and(|t| now.as_second() - t.as_second() < LEASE.as_secs() as i64);
        lease.name().starts_with("source-controller-leader-election") && fresh
    });
    match (held, mode) {
        (None, _) => Ok(true),
        (Some(lease), SourcesMode::Builtin) => bail!(
            "a source-controller is at work: it renews the Lease {}/{}; stop it, or use --sources=external",
            lease.namespace(),
            lease.name()
        ),
        (Some(_), _) => Ok(false),
    }
}

async fn start_sources(args: &ControllerArgs, config: &Config, limits: Limits) -> Result<Sources> {
    let cluster = Cluster::connect(config.clone(), &Identity::Own, "source-controller")?;
    let advertised = args.storage_adv_addr.clone().unwrap_or_else(|| args.storage_addr.to_string());
    let storage = Storage::new(&args.storage_path, &advertised)
        .with_context(|| format!("failed to use the folder {} for artifacts", args.storage_path.display()))?;
    serve(args.storage_addr, Site::Artifacts(storage.clone()))
        .await
        .map_err(|e| anyhow::anyhow!("failed to serve artifacts at {}: {e}", args.storage_addr))?;
    Ok(Sources::new(cluster, storage, limits))
}

fn caches(
    args: &ControllerArgs,
    own: &Cluster,
    sources: Option<&Arc<Sources>>,
    limits: Limits,
    backoff: Backoff,
) -> Result<(Watched, Writers)> {
    let (releases, releases_writer) = reflector::store();
    let (charts, charts_writer) = reflector::store();
    let (repositories, repositories_writer) = reflector::store();
    let (oci, oci_writer) = reflector::store();
    let charts = Arc::new(Objects::new(charts));
    let repositories = Arc::new(Objects::new(repositories));
    let oci = Arc::new(Objects::new(oci));
    let charts_of = Arc::new(ClusterCharts {
        own: own.clone(),
        charts: Arc::clone(&charts),
        repositories: Arc::clone(&repositories),
        oci: Arc::clone(&oci),
        sources: sources.cloned(),
        http: Http::new(&HttpSettings { attempts: 9, ..HttpSettings::default() })?,
        artifact_host: args.source_controller_localhost.clone(),
        limits,
        cache: sources.map_or_else(|| Arc::new(ChartCache::new(64 << 20)), |s| Arc::clone(&s.charts)),
        no_cross_namespace_refs: args.no_cross_namespace_refs,
        requeue: args.requeue_dependency,
        resolved: std::sync::Mutex::default(),
    });
    let watched = Watched {
        releases: Arc::new(Objects::new(releases)),
        charts,
        repositories,
        oci,
        queue: Arc::new(Queue::new(backoff)),
        sources: sources.map(|_| Arc::new(Queue::new(backoff))),
        charts_of,
        metrics: Arc::default(),
    };
    let writers = Writers {
        releases: releases_writer,
        charts: charts_writer,
        repositories: repositories_writer,
        oci: oci_writer,
    };
    Ok((watched, writers))
}
