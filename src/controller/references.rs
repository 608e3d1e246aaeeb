//! What releases refer to, read from the cluster.

use std::sync::Arc;

use flux_api::HelmRelease;
use futures::future::BoxFuture;
use kube_object::{Gvk, Object};
use kube_ops::{ApiError, Class, Cluster, Resource};
use serde_json::Value as Json;

use super::stores::{Name, Objects};
use crate::reconcile::context::{RefKind, References};

/// HelmReleases from the watch, ConfigMaps and Secrets by request.
pub struct ClusterReferences {
    /// The cluster as the controller sees it.
    pub own: Cluster,
    /// The releases.
    pub releases: Arc<Objects<HelmRelease>>,
}

/// Read a ConfigMap, Secret or HelmRelease from the cluster.
///
/// # Errors
/// The server's own words.
pub async fn read(cluster: &Cluster, kind: RefKind, namespace: &str, name: &str) -> Result<Option<Json>, ApiError> {
    let (api_version, kind, plural) = match kind {
        RefKind::HelmRelease => ("helm.toolkit.fluxcd.io/v2", "HelmRelease", "helmreleases"),
        RefKind::ConfigMap => ("v1", "ConfigMap", "configmaps"),
        RefKind::Secret => ("v1", "Secret", "secrets"),
    };
    let resource = Resource { gvk: Gvk::new(api_version, kind), plural: plural.into(), namespaced: true };
    match cluster.get(&resource, namespace, name).await {
        Ok(found) => Ok(found.map(Object::into_json)),
        Err(kube_ops::Error::Read { source, .. }) => Err(source),
        Err(e) => Err(ApiError { class: Class::Other, code: 0, message: e.to_string() }),
    }
}

impl References for ClusterReferences {
    fn get<'a>(
        &'a self,
        kind: RefKind,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Json>, ApiError>> {
        Box::pin(async move {
            if kind == RefKind::HelmRelease
                && let Some(release) = self.releases.get(&Name::new(namespace, name))
            {
                return Ok(serde_json::to_value(&*release).ok());
            }
            read(&self.own, kind, namespace, name).await
        })
    }
}
