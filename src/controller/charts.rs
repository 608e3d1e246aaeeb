//! Where a release's chart comes from, in a running controller.
//!
//! Owns: the HelmChart object for `spec.chart`, looking up what `spec.chartRef` names, loading the chart of an
//! artifact. The surprising thing: with built-in sources a release brings its own chart up to date and waits for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chart_source::{ChartCache, Http, Limits};
use flux_api::helmrelease::FIELD_MANAGER;
use flux_api::meta::reason;
use flux_api::source::{Artifact, check_ready};
use flux_api::{HelmChart, HelmRelease, HelmRepository, OCIRepository};
use futures::future::BoxFuture;
use kube_object::{Gvk, Object};
use kube_ops::apply::ApplyOptions;
use kube_ops::delete::Propagation;
use kube_ops::{Cluster, Resource};
use serde_json::{Value as Json, json};

use super::stores::{Name, Objects};
use crate::reconcile::context::{Charts, Halt, ResolvedChart};
use crate::reconcile::notice::{Notice, Severity};
use crate::slot::away;
use crate::sources::Sources;
use crate::sources::helm_repository::chain;

/// The charts of all releases.
pub struct ClusterCharts {
    /// The cluster as the controller sees it, with helm-controller's field manager.
    pub own: Cluster,
    /// The HelmCharts.
    pub charts: Arc<Objects<HelmChart>>,
    /// The repositories.
    pub repositories: Arc<Objects<HelmRepository>>,
    /// The OCI repositories.
    pub oci: Arc<Objects<OCIRepository>>,
    /// Our own sources; nothing when a source-controller has them.
    pub sources: Option<Arc<Sources>>,
    /// Fetches artifacts of a source-controller.
    pub http: Http,
    /// Replaces the host of artifacts' addresses.
    pub artifact_host: Option<String>,
    /// How much may be read.
    pub limits: Limits,
    /// Parsed charts.
    pub cache: Arc<ChartCache>,
    /// May references go to other namespaces?
    pub no_cross_namespace_refs: bool,
    /// The pause before a source that is not ready is asked again.
    pub requeue: Duration,
    /// The artifact that each release was last given: a change it knows of need not wake it.
    pub resolved: Mutex<HashMap<Name, String>>,
}

fn chart_resource() -> Resource {
    Resource {
        gvk: Gvk::new("source.toolkit.fluxcd.io/v1", "HelmChart"),
        plural: "helmcharts".into(),
        namespaced: true,
    }
}

fn halt(reason: &'static str, message: impl Into<String>) -> Halt {
    Halt { reason, message: message.into(), event: None, stalled: false, requeue: None }
}

/// The HelmChart that a release with `spec.chart` wants, as it is applied.
pub fn wanted_chart(release: &HelmRelease) -> Option<Object> {
    let template = release.spec.chart.as_ref()?;
    let spec = &template.spec;
    let namespace = spec.source_ref.namespace.as_deref().unwrap_or_else(|| release.namespace());
    let interval = spec.interval.as_ref().unwrap_or(&release.spec.interval);
    let mut chart = json!({
        "chart": spec.chart,
        "version": spec.version.as_deref().unwrap_or("*"),
        "sourceRef": {"kind": spec.source_ref.kind, "name": spec.source_ref.name},
        "interval": flux_api::meta::duration::go_text(interval.as_std()),
        "reconcileStrategy": spec.reconcile_strategy.as_deref().unwrap_or("ChartVersion"),
    });
    if !spec.values_files.is_empty() {
        chart["valuesFiles"] = json!(spec.values_files);
    }
    if let Some(ignore) = spec.ignore_missing_values_files {
        chart["ignoreMissingValuesFiles"] = json!(ignore);
    }
    if let Some(verify) = &spec.verify {
        chart["verify"] = serde_json::to_value(verify).unwrap_or(Json::Null);
    }
    let common = template.metadata.clone().unwrap_or_default();
    let mut labels = common.labels;
    labels.insert(flux_api::meta::ORIGIN_NAME.into(), release.name().into());
    labels.insert(flux_api::meta::ORIGIN_NAMESPACE.into(), release.namespace().into());
    let mut metadata = json!({"name": release.helm_chart_name(), "namespace": namespace, "labels": labels});
    if !common.annotations.is_empty() {
        metadata["annotations"] = json!(common.annotations);
    }
    Object::from_json(json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmChart",
        "metadata": metadata,
        "spec": chart,
    }))
}

/// Does the live object hold all that is wanted, and no other spec?
fn is_current(live: &HelmChart, wanted: &Object) -> bool {
    let Ok(live) = serde_json::to_value(live) else { return false };
    let contains = |path: &[&str]| {
        let have = path.iter().try_fold(&live, |v, k| v.get(*k));
        wanted
            .at(path)
            .and_then(Json::as_object)
            .is_none_or(|want| want.iter().all(|(k, v)| have.and_then(|h| h.get(k)) == Some(v)))
    };
    let wanted_spec = wanted.at(&["spec"]).and_then(Json::as_object);
    let live_spec = live.get("spec").and_then(Json::as_object);
    contains(&["spec"])
        && contains(&["metadata", "labels"])
        && contains(&["metadata", "annotations"])
        && live_spec.map(serde_json::Map::len) == wanted_spec.map(serde_json::Map::len)
}

impl ClusterCharts {
    fn denied(&self, release: &HelmRelease, kind: &str, namespace: &str, name: &str) -> Option<String> {
        (self.no_cross_namespace_refs && namespace != release.namespace())
            .then(|| format!("cross-namespace references are not allowed: cannot access {kind} {namespace}/{name}"))
    }

    async fn helm_chart(&self, name: &Name) -> Result<HelmChart, Halt> {
        if let Some(found) = self.charts.get(name) {
            return Ok(HelmChart::clone(&found));
        }
        let fault = |why: String| {
            let mut halt = halt(reason::SOURCE_NOT_READY, format!("could not get Source object: {why}"));
            halt.requeue = Some(self.requeue);
            halt
        };
        match self.own.get(&chart_resource(), &name.namespace, &name.name).await {
            Ok(Some(object)) => serde_json::from_value(object.into_json()).map_err(|e| fault(e.to_string())),
            Ok(None) => Err(fault(format!("helmcharts.source.toolkit.fluxcd.io {:?} not found", name.name))),
            Err(e) => Err(fault(e.to_string())),
        }
    }

    async fn repository(&self, name: &Name) -> Option<Arc<HelmRepository>> {
        if let Some(found) = self.repositories.get(name) {
            return Some(found);
        }
        let resource = Resource {
            gvk: Gvk::new("source.toolkit.fluxcd.io/v1", "HelmRepository"),
            plural: "helmrepositories".into(),
            namespaced: true,
        };
        let object = self.own.get(&resource, &name.namespace, &name.name).await.ok()??;
        serde_json::from_value(object.into_json()).ok().map(Arc::new)
    }

    async fn of_helm_chart(&self, release: &HelmRelease, name: &Name) -> Result<ResolvedChart, Halt> {
        let mut chart = self.helm_chart(name).await?;
        if let Some(sources) = &self.sources {
            let current = chart
                .status
                .as_ref()
                .is_some_and(|s| s.observed_generation == chart.metadata.generation && s.artifact.is_some());
            let known =
                current && self.is_stored(sources, chart.status.as_ref().and_then(|s| s.artifact.as_ref())).await;
            if !known {
                let repository = self.repository(&Name::new(&name.namespace, &chart.spec.source_ref.name)).await;
                let resolving = self.resolving(release);
                let (status, _) = sources
                    .reconcile_chart(&chart, repository.as_deref())
                    .await
                    .map_err(|e| halt(reason::SOURCE_NOT_READY, format!("could not get Source object: {e}")))?;
                if let Some(artifact) = &status.artifact {
                    resolving.end(artifact);
                }
                chart.status = Some(status);
            }
        }
        let artifact = check_ready(&chart).map_err(|why| self.not_ready(why))?.clone();
        self.note(release, &artifact);
        Ok(ResolvedChart { chart: self.load(&artifact).await?, oci_revision: None })
    }

    async fn of_oci(&self, release: &HelmRelease, name: &Name) -> Result<ResolvedChart, Halt> {
        let Some(found) = self.oci.get(name) else {
            let mut halt = halt(
                reason::SOURCE_NOT_READY,
                format!(
                    "could not get Source object: ocirepositories.source.toolkit.fluxcd.io {:?} not found",
                    name.name
                ),
            );
            halt.requeue = Some(self.requeue);
            return Err(halt);
        };
        let mut repository = OCIRepository::clone(&found);
        if let Some(sources) = &self.sources {
            let artifact = repository.status.as_ref().and_then(|s| s.artifact.as_ref());
            let current =
                repository.status.as_ref().is_some_and(|s| s.observed_generation == repository.metadata.generation);
            if !current || !self.is_stored(sources, artifact).await {
                let resolving = self.resolving(release);
                let (status, _) = sources
                    .reconcile_oci_repository(&repository)
                    .await
                    .map_err(|e| halt(reason::SOURCE_NOT_READY, format!("could not get Source object: {e}")))?;
                if let Some(artifact) = &status.artifact {
                    resolving.end(artifact);
                }
                repository.status = Some(status);
            }
        }
        let artifact = check_ready(&repository).map_err(|why| self.not_ready(why))?.clone();
        self.note(release, &artifact);
        let revision = artifact.revision.clone();
        Ok(ResolvedChart { chart: self.load(&artifact).await?, oci_revision: Some(revision) })
    }

    /// Is the artifact at hand, in memory or on disk?
    async fn is_stored(&self, sources: &Sources, artifact: Option<&Artifact>) -> bool {
        let Some(artifact) = artifact else { return false };
        let digest = artifact.digest.as_deref().unwrap_or_default();
        self.cache.get(digest).is_some() || sources.storage.has(&artifact.path).await
    }

    fn not_ready(&self, why: String) -> Halt {
        let mut halt = halt(reason::SOURCE_NOT_READY, why);
        halt.requeue = Some(self.requeue);
        halt
    }

    fn resolving(&self, release: &HelmRelease) -> Resolving<'_> {
        let name = Name::of(&release.metadata);
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        let before = resolved.insert(name.clone(), RESOLVING.into());
        Resolving { charts: self, name, before }
    }

    fn note(&self, release: &HelmRelease, artifact: &Artifact) {
        let name = Name::of(&release.metadata);
        self.resolved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, artifact.digest.clone().unwrap_or_default());
    }

    async fn load(&self, artifact: &Artifact) -> Result<Arc<helm::Chart>, Halt> {
        let loaded = if let Some(sources) = &self.sources {
            sources.chart(artifact).await
        } else {
            let digest = artifact.digest.clone().unwrap_or_default();
            let wanted = chart_source::Artifact { url: artifact.url.clone(), digest: digest.clone() };
            let fetch =
                || chart_source::artifact::fetch(&self.http, &wanted, self.artifact_host.as_deref(), &self.limits);
            away(self.cache.get_or_fetch(&digest, fetch)).await
        };
        loaded.map_err(|e| match e {
            chart_source::Error::ArtifactNotFound => {
                let mut halt = halt(reason::ARTIFACT_FAILED, "Source not ready: artifact not found. Retrying in 30s");
                halt.requeue = Some(self.requeue);
                halt
            }
            e => {
                let mut halt = halt(reason::ARTIFACT_FAILED, format!("Could not load chart: {}", chain(&e)));
                halt.event = Some(Severity::Error);
                halt
            }
        })
    }
}

/// Stands for the digest of an artifact that a release is just fetching.
pub const RESOLVING: &str = "resolving";

/// While it lives, changes of its chart do not wake a release: they are its own.
struct Resolving<'a> {
    charts: &'a ClusterCharts,
    name: Name,
    before: Option<String>,
}

impl Resolving<'_> {
    fn end(mut self, artifact: &Artifact) {
        self.before = Some(artifact.digest.clone().unwrap_or_default());
    }
}

impl Drop for Resolving<'_> {
    fn drop(&mut self) {
        let mut resolved = self.charts.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        match self.before.take() {
            Some(digest) => resolved.insert(self.name.clone(), digest),
            None => resolved.remove(&self.name),
        };
    }
}

impl Charts for ClusterCharts {
    fn prepare<'a>(&'a self, release: &'a HelmRelease) -> BoxFuture<'a, Result<(Option<String>, Vec<Notice>), String>> {
        Box::pin(async move {
            let Some(wanted) = wanted_chart(release) else { return Ok((None, Vec::new())) };
            let name = Name::new(wanted.namespace(), wanted.name());
            let source = release.spec.chart.as_ref().map(|c| &c.spec.source_ref);
            let (kind, source) = source.map(|s| (s.kind.as_str(), s.name.as_str())).unwrap_or_default();
            if let Some(why) = self.denied(release, kind, &name.namespace, source) {
                return Err(why);
            }
            let live = self.charts.get(&name);
            let text = name.to_string();
            if live.as_ref().is_some_and(|live| is_current(live, &wanted)) {
                return Ok((Some(text), Vec::new()));
            }
            let options = ApplyOptions { force: true, ..ApplyOptions::default() };
            let applied = self
                .own
                .apply_to(&chart_resource(), &wanted, options)
                .await
                .map_err(|e| format!("failed to run server-side apply: {e}"))?;
            let changed = live.as_ref().and_then(|l| l.metadata.resource_version.clone()).as_deref()
                != Some(applied.resource_version());
            let mut notices = Vec::new();
            if changed {
                let (reason, verb) = if live.is_none() {
                    (reason::HELM_CHART_CREATED, "Created")
                } else {
                    (reason::HELM_CHART_CONFIGURED, "Configured")
                };
                let message = format!("{verb} HelmChart/{name} with SourceRef '{kind}/{}/{source}'", name.namespace);
                notices.push(Notice::new(Severity::Trace, reason, message));
            }
            if let Ok(applied) = serde_json::from_value(applied.into_json()) {
                self.charts.wrote(applied);
            }
            Ok((Some(text), notices))
        })
    }

    fn resolve<'a>(&'a self, release: &'a HelmRelease) -> BoxFuture<'a, Result<ResolvedChart, Halt>> {
        Box::pin(async move {
            if let Some(wanted) = wanted_chart(release) {
                return self.of_helm_chart(release, &Name::new(wanted.namespace(), wanted.name())).await;
            }
            let Some(reference) = &release.spec.chart_ref else {
                return Err(halt(reason::SOURCE_NOT_READY, "either chart or chartRef must be set"));
            };
            let namespace = reference.namespace.as_deref().unwrap_or_else(|| release.namespace());
            let name = Name::new(namespace, &reference.name);
            if let Some(why) = self.denied(release, &reference.kind, namespace, &reference.name) {
                return Err(Halt {
                    reason: reason::ACCESS_DENIED,
                    message: why,
                    event: Some(Severity::Error),
                    stalled: true,
                    requeue: None,
                });
            }
            match reference.kind.as_str() {
                "HelmChart" => self.of_helm_chart(release, &name).await,
                "OCIRepository" => self.of_oci(release, &name).await,
                other => Err(Halt {
                    reason: reason::ACCESS_DENIED,
                    message: format!("can't access '{other}/{name}', {other} feature gate is disabled"),
                    event: Some(Severity::Error),
                    stalled: true,
                    requeue: None,
                }),
            }
        })
    }

    fn remove<'a>(&'a self, helm_chart: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let (namespace, name) = helm_chart.split_once('/').unwrap_or(("", helm_chart));
            let json = json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
                "metadata": {"name": name, "namespace": namespace}});
            let Some(object) = Object::from_json(json) else { return Ok(()) };
            self.own
                .delete_from(&chart_resource(), &object, Propagation::Background)
                .await
                .map_err(|e| e.to_string())?;
            self.charts.gone(&Name::new(namespace, name));
            Ok(())
        })
    }
}

/// The name under which fields of HelmCharts are managed.
pub const MANAGER: &str = FIELD_MANAGER;
