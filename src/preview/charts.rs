//! The chart of a release, fetched here and now.
//!
//! Owns: following `spec.chart` and `spec.chartRef` to a repository or registry without writing anything. The
//! surprising thing: what a source has in its status does not count; a preview shows what a fresh fetch would give.

use std::sync::Arc;

use chart_source::Limits;
use flux_api::meta::reason;
use flux_api::{HelmChart, HelmRelease, HelmRepository, OCIRepository};
use futures::future::BoxFuture;

use super::files::Files;
use crate::controller::charts::wanted_chart;
use crate::reconcile::context::{Charts, Halt, ResolvedChart};
use crate::reconcile::notice::Notice;
use crate::sources::helm_chart::pull_fault;
use crate::sources::helm_repository::{chain, index_fault};
use crate::sources::{Fault, clients, oci_repository};

/// Charts by way of files and the cluster.
pub struct FetchedCharts {
    /// Where sources and their Secrets are found.
    pub files: Arc<Files>,
    /// How much may be read.
    pub limits: Limits,
}

fn halt(message: impl Into<String>) -> Halt {
    Halt { reason: reason::SOURCE_NOT_READY, message: message.into(), event: None, stalled: false, requeue: None }
}

fn faulted(what: &str, fault: &Fault) -> Halt {
    halt(format!("{what}: {}", fault.message))
}

impl FetchedCharts {
    async fn of_helm_chart(&self, chart: &HelmChart) -> Result<ResolvedChart, Halt> {
        let spec = &chart.spec;
        let namespace = chart.metadata.namespace.as_deref().unwrap_or_default();
        let source = &spec.source_ref;
        let what = format!("HelmChart '{namespace}/{}'", chart.metadata.name.as_deref().unwrap_or_default());
        if source.kind != "HelmRepository" {
            return Err(halt(format!("{what}: charts from a {} cannot be previewed", source.kind)));
        }
        if spec.verify.is_some() || !spec.values_files.is_empty() {
            let field = if spec.verify.is_some() { "verify" } else { "valuesFiles" };
            return Err(halt(format!("{what}: spec.{field} cannot be previewed")));
        }
        let repository: HelmRepository = self
            .files
            .source("HelmRepository", "helmrepositories", namespace, &source.name)
            .await
            .map_err(|e| halt(format!("{what}: {e}")))?
            .ok_or_else(|| {
                halt(format!(
                    "{what}: HelmRepository {namespace}/{} is neither in the files nor in the cluster",
                    source.name
                ))
            })?;
        let wanted = spec.version.as_deref().unwrap_or("*");
        let fault = |fault: Fault| faulted(&what, &fault);
        let bytes = if repository.spec.is_oci() {
            let client = clients::oci_chart(&repository.spec, &spec.chart, namespace, &*self.files, self.limits)
                .await
                .map_err(fault)?;
            let version = client.choose_chart(wanted).await.map_err(|e| fault(pull_fault(&e)))?;
            client.fetch_chart(&version).await.map_err(|e| fault(pull_fault(&e)))?.0
        } else {
            let client =
                clients::repository(&repository.spec, namespace, &*self.files, self.limits).await.map_err(fault)?;
            let index = client.fetch_index().await.map_err(|e| fault(index_fault(&e)))?;
            let index = chart_source::Index::parse(&index).map_err(|e| fault(index_fault(&e)))?;
            let entry = index
                .choose(&spec.chart, wanted)
                .map_err(|e| halt(format!("{what}: invalid chart reference: {}", chain(&e))))?;
            client.fetch_chart_checked(&spec.chart, entry).await.map_err(|e| fault(pull_fault(&e)))?
        };
        Ok(ResolvedChart { chart: parse(&what, &bytes)?, oci_revision: None })
    }

    async fn of_oci(&self, namespace: &str, name: &str) -> Result<ResolvedChart, Halt> {
        let what = format!("OCIRepository '{namespace}/{name}'");
        let repository: OCIRepository = self
            .files
            .source("OCIRepository", "ocirepositories", namespace, name)
            .await
            .map_err(|e| halt(format!("{what}: {e}")))?
            .ok_or_else(|| halt(format!("{what} is neither in the files nor in the cluster")))?;
        let fault = |fault: Fault| faulted(&what, &fault);
        let spec = &repository.spec;
        let client = clients::oci_repository(spec, namespace, &*self.files, self.limits).await.map_err(fault)?;
        let (revision, digest) = oci_repository::revision(spec, &client).await.map_err(fault)?;
        let bytes = oci_repository::fetch(spec, &client, &digest).await.map_err(fault)?;
        Ok(ResolvedChart { chart: parse(&what, &bytes)?, oci_revision: Some(revision) })
    }
}

fn parse(what: &str, archive: &[u8]) -> Result<Arc<helm::Chart>, Halt> {
    helm::chart::load_archive(archive)
        .map(Arc::new)
        .map_err(|e| halt(format!("{what}: could not load chart: {}", chain(&e))))
}

impl Charts for FetchedCharts {
    fn prepare<'a>(&'a self, _: &'a HelmRelease) -> BoxFuture<'a, Result<(Option<String>, Vec<Notice>), String>> {
        // A preview makes no objects.
        Box::pin(async { Ok((None, Vec::new())) })
    }

    fn resolve<'a>(&'a self, release: &'a HelmRelease) -> BoxFuture<'a, Result<ResolvedChart, Halt>> {
        Box::pin(async move {
            if let Some(wanted) = wanted_chart(release) {
                let chart: HelmChart = serde_json::from_value(wanted.into_json())
                    .map_err(|e| halt(format!("spec.chart of HelmRelease {}: {e}", release.name())))?;
                return self.of_helm_chart(&chart).await;
            }
            let Some(reference) = &release.spec.chart_ref else {
                return Err(halt("either chart or chartRef must be set"));
            };
            let namespace = reference.namespace.as_deref().unwrap_or_else(|| release.namespace());
            match reference.kind.as_str() {
                "HelmChart" => {
                    let what = format!("HelmChart '{namespace}/{}'", reference.name);
                    let chart: HelmChart = self
                        .files
                        .source("HelmChart", "helmcharts", namespace, &reference.name)
                        .await
                        .map_err(|e| halt(format!("{what}: {e}")))?
                        .ok_or_else(|| halt(format!("{what} is neither in the files nor in the cluster")))?;
                    self.of_helm_chart(&chart).await
                }
                "OCIRepository" => self.of_oci(namespace, &reference.name).await,
                other => Err(halt(format!("charts from a {other} cannot be previewed"))),
            }
        })
    }

    fn remove<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}
