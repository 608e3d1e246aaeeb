//! The kinds that charts come from.

mod artifact;
mod helm_chart;
mod helm_repository;
mod oci_repository;

pub use artifact::{Artifact, SourceStatus};
pub use helm_chart::{HelmChart, HelmChartSpec, HelmChartStatus, LocalSourceReference};
pub use helm_repository::{HelmRepository, HelmRepositorySpec, HelmRepositoryStatus};
pub use oci_repository::{
    OCIRepository, OCIRepositorySpec, OCIRepositoryStatus, OciLayerSelector, OciRepositoryReference, OciVerification,
    OidcIdentityMatch,
};

use crate::meta::Condition;

/// What all sources' statuses have in common.
pub trait Source {
    /// The kind.
    fn kind(&self) -> &'static str;
    /// `metadata`.
    fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    /// The generation that was last worked through.
    fn observed_generation(&self) -> Option<i64>;
    /// The conditions.
    fn conditions(&self) -> &[Condition];
    /// What it holds.
    fn artifact(&self) -> Option<&Artifact>;
}

macro_rules! source {
    ($kind:ident) => {
        impl Source for $kind {
            fn kind(&self) -> &'static str {
                stringify!($kind)
            }
            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
            fn observed_generation(&self) -> Option<i64> {
                self.status.as_ref()?.observed_generation
            }
            fn conditions(&self) -> &[Condition] {
                self.status.as_ref().map_or(&[], |s| &s.conditions)
            }
            fn artifact(&self) -> Option<&Artifact> {
                self.status.as_ref()?.artifact.as_ref()
            }
        }
    };
}

source!(HelmChart);
source!(HelmRepository);
source!(OCIRepository);

/// May a release use what the source holds? Flux asks for the current generation, no Stalled condition and an
/// artifact; Ready is not required.
///
/// # Errors
/// Flux's text: `<Kind> '<ns>/<name>' is not ready: <why>`.
pub fn check_ready(source: &dyn Source) -> Result<&Artifact, String> {
    let meta = source.meta();
    let not_ready = |why: &str| {
        format!(
            "{} '{}/{}' is not ready: {why}",
            source.kind(),
            meta.namespace.as_deref().unwrap_or_default(),
            meta.name.as_deref().unwrap_or_default()
        )
    };
    if meta.generation != source.observed_generation() {
        let ready = crate::meta::condition::get(source.conditions(), crate::meta::condition::READY);
        return Err(match ready.filter(|c| c.is_false()) {
            Some(c) => not_ready(&c.message),
            None => not_ready("latest generation of object has not been reconciled"),
        });
    }
    if let Some(c) = crate::meta::condition::get(source.conditions(), crate::meta::condition::STALLED)
        && c.is_true()
    {
        return Err(not_ready(&c.message));
    }
    source.artifact().ok_or_else(|| not_ready("does not have an artifact"))
}
