//! Which change wakes which object.
//!
//! Owns: the watches, and the comparison of what they show with what was seen before, so that a status that we wrote
//! ourselves wakes nobody. The surprising thing: what wakes a release is its generation and its annotations, a new
//! artifact of its source, a labelled ConfigMap or Secret, or a dependency that became ready.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, PoisonError};

use flux_api::meta::condition::{self, READY, RECONCILING};
use flux_api::meta::{FORCE_AT, ORIGIN_NAME, ORIGIN_NAMESPACE, REQUESTED_AT, RESET_AT};
use flux_api::source::Source;
use flux_api::{HelmChart, HelmRelease, HelmRepository, OCIRepository};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, reflector, watcher as watch};
use kube::{Api, Client};
use serde::de::DeserializeOwned;

use super::metrics::Metrics;
use super::queue::{Key, Queue};
use super::stores::{Name, Objects};

/// The label that makes changes of a ConfigMap or Secret count.
const WATCH_LABEL: &str = "reconcile.fluxcd.io/watch=Enabled";

/// A source to look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKey {
    /// HelmRepository
    Repository(Name),
    /// HelmChart
    Chart(Name),
    /// OCIRepository
    Oci(Name),
}

impl SourceKey {
    /// The kind and the name.
    pub const fn parts(&self) -> (&'static str, &Name) {
        match self {
            Self::Repository(name) => ("HelmRepository", name),
            Self::Chart(name) => ("HelmChart", name),
            Self::Oci(name) => ("OCIRepository", name),
        }
    }
}

impl Key for SourceKey {
    fn namespace(&self) -> &str {
        &self.parts().1.namespace
    }
}

impl std::fmt::Display for SourceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, name) = self.parts();
        write!(f, "{kind}/{name}")
    }
}

/// The caches and queues that watches feed.
#[derive(Clone)]
pub struct Watched {
    /// HelmReleases.
    pub releases: Arc<Objects<HelmRelease>>,
    /// HelmCharts.
    pub charts: Arc<Objects<HelmChart>>,
    /// HelmRepositories.
    pub repositories: Arc<Objects<HelmRepository>>,
    /// OCIRepositories.
    pub oci: Arc<Objects<OCIRepository>>,
    /// Releases to look at.
    pub queue: Arc<Queue<Name>>,
    /// Sources to look at; nothing when a source-controller has them.
    pub sources: Option<Arc<Queue<SourceKey>>>,
    /// The artifact that each release was last given.
    pub charts_of: Arc<super::charts::ClusterCharts>,
    /// Metrics, which name only objects that exist.
    pub metrics: Arc<Metrics>,
}

/// The writers of the caches.
pub struct Writers {
    /// HelmReleases.
    pub releases: Writer<HelmRelease>,
    /// HelmCharts.
    pub charts: Writer<HelmChart>,
    /// HelmRepositories.
    pub repositories: Writer<HelmRepository>,
    /// OCIRepositories.
    pub oci: Writer<OCIRepository>,
}

/// What of an object's metadata wakes it.
fn mark(meta: &ObjectMeta) -> (Option<String>, Option<i64>, bool, Vec<Option<String>>) {
    let annotations = meta.annotations.as_ref();
    let values = [REQUESTED_AT, FORCE_AT, RESET_AT, flux_api::meta::HELM_PROFILE];
    (
        meta.uid.clone(),
        meta.generation,
        meta.deletion_timestamp.is_some(),
        values.iter().map(|k| annotations.and_then(|a| a.get(*k)).cloned()).collect(),
    )
}

/// An object that a watch showed.
enum Seen<K> {
    Changed(K),
    Gone(K),
}

/// Follow all objects of a kind, keep the cache, and tell of each.
async fn follow<K>(api: Api<K>, writer: Writer<K>, mut tell: impl FnMut(Seen<K>))
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Hash + Eq + Clone + Default,
{
    let stream = watch(api, watcher::Config::default()).default_backoff();
    let mut stream = std::pin::pin!(reflector(writer, stream));
    while let Some(event) = stream.next().await {
        match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => tell(Seen::Changed(object)),
            Ok(Event::Delete(object)) => tell(Seen::Gone(object)),
            Ok(Event::Init | Event::InitDone) => {}
            Err(e) => tracing::warn!(error = %e, kind = %K::kind(&()), "a watch broke and is begun again"),
        }
    }
}

impl Watched {
    /// Watch everything until the process ends.
    pub fn spawn(&self, client: &Client, namespace: Option<&str>, writers: Writers) {
        let this = self.clone();
        let api = api(client, namespace);
        tokio::spawn(async move {
            let mut seen = HashMap::new();
            let mut ready = HashMap::new();
            follow(api, writers.releases, |event| this.release(event, &mut seen, &mut ready)).await;
        });
        let this = self.clone();
        let api_charts = self::api(client, namespace);
        tokio::spawn(async move {
            let (mut seen, mut artifacts) = (HashMap::new(), HashMap::new());
            follow(api_charts, writers.charts, |event| this.chart(event, &mut seen, &mut artifacts)).await;
        });
        let this = self.clone();
        let api_repositories = self::api(client, namespace);
        tokio::spawn(async move {
            let (mut seen, mut artifacts) = (HashMap::new(), HashMap::new());
            follow(api_repositories, writers.repositories, |event| this.repository(event, &mut seen, &mut artifacts))
                .await;
        });
        let this = self.clone();
        let api_oci = self::api(client, namespace);
        tokio::spawn(async move {
            let (mut seen, mut artifacts) = (HashMap::new(), HashMap::new());
            follow(api_oci, writers.oci, |event| this.oci(event, &mut seen, &mut artifacts)).await;
        });
        self.spawn_configs::<ConfigMap>(client, namespace, "ConfigMap");
        self.spawn_configs::<Secret>(client, namespace, "Secret");
    }

    /// Labelled ConfigMaps or Secrets wake the releases that take values from them. Only metadata is watched.
    fn spawn_configs<K>(&self, client: &Client, namespace: Option<&str>, kind: &'static str)
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned
            + Send
            + Sync
            + 'static,
    {
        let this = self.clone();
        let api: Api<PartialObjectMeta<K>> = api(client, namespace);
        let config = watcher::Config::default().labels(WATCH_LABEL);
        tokio::spawn(async move {
            let mut seen: HashMap<Name, Option<String>> = HashMap::new();
            let mut settled = false;
            let mut stream = std::pin::pin!(watch(api, config).default_backoff());
            while let Some(event) = stream.next().await {
                let (meta, gone) = match event {
                    Ok(Event::InitDone) => {
                        settled = true;
                        continue;
                    }
                    Ok(Event::Apply(o) | Event::InitApply(o)) => (o.metadata, false),
                    Ok(Event::Delete(o)) => (o.metadata, true),
                    Ok(Event::Init) | Err(_) => continue,
                };
                let name = Name::of(&meta);
                let before =
                    if gone { seen.remove(&name) } else { seen.insert(name.clone(), meta.resource_version.clone()) };
                let changed = gone || before.is_none_or(|v| v != meta.resource_version);
                if !(changed && settled) {
                    continue;
                }
                for release in this.releases.all() {
                    let refers = release.namespace() == name.namespace
                        && release.spec.values_from.iter().any(|r| r.kind == kind && r.name == name.name);
                    if refers {
                        this.queue.add(Name::of(&release.metadata));
                    }
                }
            }
        });
    }

    fn release(&self, event: Seen<HelmRelease>, seen: &mut HashMap<Name, Marked>, ready: &mut HashMap<Name, bool>) {
        match event {
            Seen::Gone(release) => {
                let name = Name::of(&release.metadata);
                seen.remove(&name);
                ready.remove(&name);
                self.releases.gone(&name);
                self.queue.forget(&name);
                self.metrics.forget("HelmRelease", &name.namespace, &name.name);
                self.charts_of.resolved.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            }
            Seen::Changed(release) => {
                let name = Name::of(&release.metadata);
                let mark = Marked(mark(&release.metadata));
                let woken = seen.get(&name) != Some(&mark);
                seen.insert(name.clone(), mark);
                let is_ready = release.status.as_ref().is_some_and(|s| {
                    s.observed_generation == release.metadata.generation
                        && condition::get(&s.conditions, READY).is_some_and(flux_api::Condition::is_true)
                });
                let was_ready = ready.insert(name.clone(), is_ready).unwrap_or(false);
                if woken {
                    self.queue.add(name.clone());
                }
                if is_ready && !was_ready {
                    self.wake_dependents(&name);
                }
            }
        }
    }

    fn wake_dependents(&self, name: &Name) {
        for other in self.releases.all() {
            let depends = other.spec.depends_on.iter().any(|d| {
                d.name == name.name && d.namespace.as_deref().unwrap_or_else(|| other.namespace()) == name.namespace
            });
            let settled = other
                .status
                .as_ref()
                .is_some_and(|s| condition::get(&s.conditions, READY).is_some_and(flux_api::Condition::is_true));
            if depends && !settled {
                self.queue.add(Name::of(&other.metadata));
            }
        }
    }

    fn chart(
        &self,
        event: Seen<HelmChart>,
        seen: &mut HashMap<Name, Marked>,
        artifacts: &mut HashMap<Name, Option<String>>,
    ) {
        let Some((name, chart, new_artifact)) = self.source(event, seen, artifacts, &self.charts, SourceKey::Chart)
        else {
            return;
        };
        if !new_artifact {
            return;
        }
        let label = |key: &str| chart.metadata.labels.as_ref().and_then(|l| l.get(key)).cloned();
        if let (Some(release), Some(namespace)) = (label(ORIGIN_NAME), label(ORIGIN_NAMESPACE)) {
            self.wake_for_artifact(&Name { namespace, name: release }, &chart);
        }
        self.wake_references("HelmChart", &name, &chart);
    }

    fn repository(
        &self,
        event: Seen<HelmRepository>,
        seen: &mut HashMap<Name, Marked>,
        artifacts: &mut HashMap<Name, Option<String>>,
    ) {
        let found = self.source(event, seen, artifacts, &self.repositories, SourceKey::Repository);
        let (Some((name, _, true)), Some(queue)) = (found, &self.sources) else { return };
        for chart in self.charts.all() {
            let from_here = chart.spec.source_ref.kind == "HelmRepository"
                && chart.spec.source_ref.name == name.name
                && chart.metadata.namespace.as_deref() == Some(&name.namespace);
            if from_here {
                queue.add(SourceKey::Chart(Name::of(&chart.metadata)));
            }
        }
    }

    fn oci(
        &self,
        event: Seen<OCIRepository>,
        seen: &mut HashMap<Name, Marked>,
        artifacts: &mut HashMap<Name, Option<String>>,
    ) {
        let found = self.source(event, seen, artifacts, &self.oci, SourceKey::Oci);
        if let Some((name, repository, true)) = found {
            self.wake_references("OCIRepository", &name, &repository);
        }
    }

    /// Common to all sources: wake the source itself where it changed, and tell whether its artifact is a new one.
    fn source<K>(
        &self,
        event: Seen<K>,
        seen: &mut HashMap<Name, Marked>,
        artifacts: &mut HashMap<Name, Option<String>>,
        objects: &Objects<K>,
        key: fn(Name) -> SourceKey,
    ) -> Option<(Name, K, bool)>
    where
        K: kube::Resource<DynamicType = ()> + Source + Clone + 'static,
    {
        match event {
            Seen::Gone(object) => {
                let name = Name::of(Source::meta(&object));
                seen.remove(&name);
                artifacts.remove(&name);
                objects.gone(&name);
                let key = key(name);
                let (kind, name) = key.parts();
                self.metrics.forget(kind, &name.namespace, &name.name);
                if let Some(sources) = &self.charts_of.sources {
                    sources.forget(kind, &name.namespace, &name.name);
                }
                if let Some(queue) = &self.sources {
                    queue.forget(&key);
                }
                None
            }
            Seen::Changed(object) => {
                let name = Name::of(Source::meta(&object));
                let mark = Marked(mark(Source::meta(&object)));
                if seen.get(&name) != Some(&mark)
                    && let Some(queue) = &self.sources
                {
                    queue.add(key(name.clone()));
                }
                seen.insert(name.clone(), mark);
                let digest = object.artifact().and_then(|a| a.digest.clone());
                let before = artifacts.insert(name.clone(), digest.clone()).flatten();
                let new = digest.is_some() && before != digest;
                Some((name, object, new))
            }
        }
    }

    fn wake_references(&self, kind: &str, name: &Name, source: &dyn Source) {
        for release in self.releases.all() {
            let refers = release.spec.chart_ref.as_ref().is_some_and(|r| {
                r.kind == kind
                    && r.name == name.name
                    && r.namespace.as_deref().unwrap_or_else(|| release.namespace()) == name.namespace
            });
            if refers {
                self.wake_for_artifact(&Name::of(&release.metadata), source);
            }
        }
    }

    /// Wake a release for an artifact it does not know of yet.
    fn wake_for_artifact(&self, name: &Name, source: &dyn Source) {
        let digest = source.artifact().and_then(|a| a.digest.clone()).unwrap_or_default();
        let resolved = self.charts_of.resolved.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        // A release that is bringing its chart up to date right now is where the news comes from.
        if resolved.is_some_and(|r| r == digest || r == super::charts::RESOLVING) {
            return;
        }
        let has_it = self.releases.get(name).is_some_and(|release| {
            let Some(status) = &release.status else { return false };
            let revision = source.artifact().map(|a| a.revision.as_str());
            let busy_or_ready = [READY, RECONCILING]
                .iter()
                .any(|k| condition::get(&status.conditions, k).is_some_and(flux_api::Condition::is_true));
            busy_or_ready && status.last_attempted_revision.as_deref() == revision
        });
        if !has_it {
            self.queue.add(name.clone());
        }
    }
}

/// What of an object was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked((Option<String>, Option<i64>, bool, Vec<Option<String>>));

fn api<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}
