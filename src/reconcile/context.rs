//! What a pass is given.
//!
//! Owns: the seams to the world: where objects are read, where charts come from, which identity acts. The controller
//! and the preview hand in different ones; the pass is the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flux_api::HelmRelease;
use futures::future::BoxFuture;
use helm::engine::Limits;
use helm::release::digest::Algorithm;
use helm::{Chart, HelmProfile};
use helm_action::context::HostRef;
use helm_action::drift::CleanCache;
use helm_action::storage::{RecordCache, Storage};
use kube_ops::{ApiError, Cluster, Identity};
use serde_json::Value as Json;

/// Kinds that a release refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefKind {
    /// HelmRelease
    HelmRelease,
    /// ConfigMap
    ConfigMap,
    /// Secret
    Secret,
}

/// Reads the objects that a release refers to.
pub trait References: Send + Sync {
    /// The object, or nothing. An error carries the API server's own words.
    fn get<'a>(
        &'a self,
        kind: RefKind,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Json>, ApiError>>;
}

/// A chart that a release's spec led to.
#[derive(Clone, Debug)]
pub struct ResolvedChart {
    /// The chart as it was packaged.
    pub chart: Arc<Chart>,
    /// The revision of the OCI artifact it came in, if it came in one.
    pub oci_revision: Option<String>,
}

/// Why there is no chart, or no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    /// The reason of the condition Ready.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
    /// Is there an event with the same text, and how serious is it?
    pub event: Option<super::notice::Severity>,
    /// Will it take a change by someone to go on?
    pub stalled: bool,
    /// When to try again; with growing pauses when not given.
    pub requeue: Option<Duration>,
}

/// The name of the HelmChart that was made for a release, and what to tell about it.
pub type Prepared = (Option<String>, Vec<super::notice::Notice>);

/// Finds the chart of a release.
pub trait Charts: Send + Sync {
    /// Make sure that the objects for `spec.chart` exist. Gives the name of the HelmChart, and what to tell about it.
    fn prepare<'a>(&'a self, release: &'a HelmRelease) -> BoxFuture<'a, Result<Prepared, String>>;

    /// The chart.
    fn resolve<'a>(&'a self, release: &'a HelmRelease) -> BoxFuture<'a, Result<ResolvedChart, Halt>>;

    /// Delete the HelmChart that was made for a release, `<namespace>/<name>`.
    fn remove<'a>(&'a self, helm_chart: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

/// The settings of all passes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long to wait for dependencies and sources.
    pub requeue_dependency: Duration,
    /// The ServiceAccount of releases that name none.
    pub default_service_account: Option<String>,
    /// Forbid references to other namespaces.
    pub no_cross_namespace_refs: bool,
    /// Whose Helm's rules hold where a release says nothing.
    pub profile: HelmProfile,
    /// May templates ask DNS?
    pub allow_dns_lookups: bool,
    /// How far templates may go.
    pub render_limits: Limits,
    /// The algorithm of digests in status.
    pub digest: Algorithm,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            requeue_dependency: Duration::from_secs(30),
            default_service_account: None,
            no_cross_namespace_refs: false,
            profile: HelmProfile::default(),
            allow_dns_lookups: false,
            render_limits: Limits::default(),
            digest: Algorithm::default(),
        }
    }
}

/// Everything a pass is given.
pub struct Context {
    /// The cluster as the controller sees it.
    pub own: Cluster,
    /// The way to the cluster, to act as someone else.
    pub config: kube::Config,
    /// Reads what releases refer to.
    pub references: Arc<dyn References>,
    /// Finds their charts.
    pub charts: Arc<dyn Charts>,
    /// Clock, randomness, DNS.
    pub host: HostRef,
    /// Decoded records.
    pub records: RecordCache,
    /// Settings.
    pub settings: Settings,
    identities: Mutex<HashMap<Identity, Cluster>>,
    clean: Mutex<HashMap<String, (i64, Arc<CleanCache>)>>,
}

impl Context {
    /// Put it together.
    pub fn new(
        own: Cluster,
        config: kube::Config,
        references: Arc<dyn References>,
        charts: Arc<dyn Charts>,
        host: HostRef,
        settings: Settings,
    ) -> Self {
        Self {
            own,
            config,
            references,
            charts,
            host,
            records: RecordCache::default(),
            settings,
            identities: Mutex::default(),
            clean: Mutex::default(),
        }
    }

    /// Who a release acts as.
    pub fn identity(&self, release: &HelmRelease) -> Identity {
        let account = release.spec.service_account_name.as_ref().or(self.settings.default_service_account.as_ref());
        match account {
            Some(name) => Identity::ServiceAccount { namespace: release.namespace().into(), name: name.clone() },
            None => Identity::Own,
        }
    }

    /// The cluster as a release's identity sees it. One client per identity, kept.
    ///
    /// # Errors
    /// Credentials that cannot be used.
    pub fn cluster(&self, release: &HelmRelease) -> Result<Cluster, kube_ops::Error> {
        let identity = self.identity(release);
        if identity == Identity::Own {
            return Ok(self.own.clone());
        }
        let mut known = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = known.get(&identity) {
            return Ok(cluster.clone());
        }
        let cluster = Cluster::connect(self.config.clone(), &identity, flux_api::helmrelease::FIELD_MANAGER)?;
        known.insert(identity, cluster.clone());
        Ok(cluster)
    }

    /// Whose Helm's rules hold for a release.
    ///
    /// # Errors
    /// An annotation with a profile nobody knows.
    pub fn profile(&self, release: &HelmRelease) -> Result<HelmProfile, String> {
        release.annotation(flux_api::meta::HELM_PROFILE).map_or(Ok(self.settings.profile), str::parse)
    }

    /// The surroundings of a release's actions.
    ///
    /// # Errors
    /// No client, or no such profile.
    pub fn actions(
        &self,
        release: &HelmRelease,
        name: &str,
        namespace: &str,
        storage_namespace: &str,
    ) -> Result<helm_action::Context, String> {
        let cluster = self.cluster(release).map_err(|e| e.to_string())?;
        Ok(helm_action::Context {
            storage: Storage::new(cluster.clone(), storage_namespace, self.records.clone()),
            cluster,
            release: name.into(),
            namespace: namespace.into(),
            profile: self.profile(release)?,
            enable_dns: self.settings.allow_dns_lookups,
            limits: self.settings.render_limits,
            host: self.host.clone(),
        })
    }

    /// What was found clean of a revision before.
    pub fn clean(&self, release: &HelmRelease, revision: i64) -> Arc<CleanCache> {
        let key = format!("{}/{}", release.namespace(), release.name());
        let mut known = self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&key) {
            Some((known, cache)) if *known == revision => Arc::clone(cache),
            _ => {
                let cache = Arc::new(CleanCache::default());
                known.insert(key, (revision, Arc::clone(&cache)));
                cache
            }
        }
    }

    /// Forget a release that is gone.
    pub fn forget(&self, release: &HelmRelease) {
        let key = format!("{}/{}", release.namespace(), release.name());
        self.clean.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}
