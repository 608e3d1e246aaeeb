//! `.Capabilities` of a live cluster.

use std::sync::Arc;

use helm::HelmProfile;
use helm::engine::{Capabilities, KubeVersion};
use kube_ops::Cluster;

use crate::error::Error;

/// What the cluster offers, from the cached discovery.
///
/// # Errors
/// The cluster cannot be asked.
pub async fn of_cluster(cluster: &Cluster, profile: HelmProfile) -> Result<Arc<Capabilities>, Error> {
    let version = cluster.discovery().server_version().await?;
    let kinds = cluster.discovery().kinds().await?;
    Ok(Arc::new(Capabilities {
        kube_version: KubeVersion::of_server(&version.git_version, &version.major, &version.minor),
        api_versions: Arc::clone(&kinds.api_versions),
        profile,
    }))
}
