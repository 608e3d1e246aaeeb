//! The cluster behind `--dry-run=server`, and what a kubeconfig says without one.
//!
//! Owns: which cluster and as whom, what is asked of it besides rendering. Follows Helm's `RunWithContext` in its
//! install action. The surprising thing: Helm's server dry run sends no object; it looks whether kinds are known and
//! objects are free to be taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use helm::HelmProfile;
use helm::engine::Capabilities;
use helm::manifest::parse_objects;
use helm_action::build::place;
use helm_action::capabilities;
use kube::config::{AuthInfo, Kubeconfig};
use kube_object::ownership;
use kube_ops::{Cluster, Identity};

use super::super::flags::env_bool;
use crate::controller::connect;

/// Which cluster, and as whom.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cluster (with --dry-run=server)")]
pub(super) struct ClusterFlags {
    /// A kubeconfig file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// A context of the kubeconfig
    #[arg(long, value_name = "NAME", env = "HELM_KUBECONTEXT", hide_env_values = true)]
    kube_context: Option<String>,
    /// The API server's address
    #[arg(long, value_name = "URL", env = "HELM_KUBEAPISERVER", hide_env_values = true)]
    kube_apiserver: Option<String>,
    /// A bearer token
    #[arg(long, value_name = "TEXT", env = "HELM_KUBETOKEN", hide_env_values = true)]
    kube_token: Option<String>,
    /// A user to impersonate
    #[arg(long, value_name = "NAME", env = "HELM_KUBEASUSER", hide_env_values = true)]
    kube_as_user: Option<String>,
    /// A group to impersonate (may be repeated)
    #[arg(long, value_name = "NAME", env = "HELM_KUBEASGROUPS", value_delimiter = ',', hide_env_values = true)]
    kube_as_group: Vec<String>,
    /// Certificates (PEM) of authorities to trust
    #[arg(long, value_name = "FILE", env = "HELM_KUBECAFILE", hide_env_values = true)]
    kube_ca_file: Option<PathBuf>,
    /// Do not check the API server's certificate [env: HELM_KUBEINSECURE_SKIP_TLS_VERIFY]
    #[arg(long)]
    kube_insecure_skip_tls_verify: bool,
    /// The name the API server's certificate must have
    #[arg(long, value_name = "NAME", env = "HELM_KUBETLS_SERVER_NAME", hide_env_values = true)]
    kube_tls_server_name: Option<String>,
    /// Accepted and without effect
    #[arg(long, value_name = "NUMBER", hide = true)]
    burst_limit: Option<String>,
    /// Accepted and without effect
    #[arg(long, value_name = "NUMBER", hide = true)]
    qps: Option<String>,
    /// Do not refuse objects that belong to someone else
    #[arg(long)]
    take_ownership: bool,
}

/// A value that is there and not empty.
fn set(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|t| !t.is_empty())
}

/// A path that is there and not empty.
fn given(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path).filter(|p| !p.as_os_str().is_empty())
}

impl ClusterFlags {
    /// The namespace of the kubeconfig's context.
    pub(super) fn namespace(&self) -> Option<String> {
        let config = match given(self.kubeconfig.as_ref()) {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let config = config.ok()?;
        let wanted = set(self.kube_context.as_ref()).or(config.current_context.as_deref())?;
        let context = config.contexts.iter().find(|c| c.name == wanted)?.context.as_ref()?;
        context.namespace.clone().filter(|n| !n.is_empty())
    }

    /// Connect, and see whether someone answers.
    ///
    /// # Errors
    /// No cluster is named, or it does not answer.
    pub(super) async fn connect(&self) -> Result<Cluster> {
        let address = set(self.kube_apiserver.as_ref());
        let found = connect(given(self.kubeconfig.as_ref()), set(self.kube_context.as_ref())).await;
        let mut config = match (found, address) {
            (Err(_), Some(address)) => kube::Config::new(address.parse()?),
            (found, _) => found.map_err(|e| unreachable(&format!("{e:#}")))?,
        };
        if let Some(address) = address {
            config.cluster_url = address.parse()?;
        }
        if let Some(path) = given(self.kube_ca_file.as_ref()) {
            config.root_cert = Some(certificates(path)?);
        }
        config.accept_invalid_certs |=
            self.kube_insecure_skip_tls_verify || env_bool("HELM_KUBEINSECURE_SKIP_TLS_VERIFY");
        if let Some(name) = set(self.kube_tls_server_name.as_ref()) {
            config.tls_server_name = Some(name.into());
        }
        if let Some(token) = set(self.kube_token.as_ref()) {
            config.auth_info = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
        }
        if let Some(user) = set(self.kube_as_user.as_ref()) {
            config.auth_info.impersonate = Some(user.into());
        }
        if self.kube_as_group.iter().any(|g| !g.is_empty()) {
            config.auth_info.impersonate_groups = Some(self.kube_as_group.clone());
        }
        let cluster = Cluster::connect(config, &Identity::Own, "helm").map_err(|e| unreachable(&e.to_string()))?;
        cluster.discovery().server_version().await.map_err(|e| unreachable(&e.to_string()))?;
        Ok(cluster)
    }

    /// Are all objects of kinds that the cluster knows, and, for an install, not someone else's?
    ///
    /// # Errors
    /// Helm's text for the first one that is not.
    pub(super) async fn check(&self, cluster: &Cluster, manifest: &str, release: &Release<'_>) -> Result<()> {
        let unbuilt = |e: String| anyhow!("unable to build kubernetes objects from release manifest: {e}");
        let mut objects = Vec::new();
        let mut failures = Vec::new();
        for parsed in parse_objects(manifest, release.profile).map_err(|e| unbuilt(e.to_string()))? {
            let mut object = parsed.object;
            match cluster.resource_of(&object).await {
                Ok(resource) => {
                    place(&mut object, &resource, release.namespace);
                    objects.push((object, resource));
                }
                Err(e) => failures.push(e.to_string()),
            }
        }
        match failures.as_slice() {
            [] => {}
            [one] => return Err(unbuilt(one.clone())),
            more => return Err(unbuilt(format!("[{}]", more.join(", ")))),
        }
        if release.is_upgrade || self.take_ownership {
            return Ok(());
        }
        for (object, resource) in objects {
            let Some(live) = cluster.get(&resource, object.namespace(), object.name()).await? else { continue };
            if let Err(why) = ownership::check(&live, release.name, release.namespace) {
                bail!(
                    "unable to continue with install: {} {:?} in namespace {:?} exists and cannot be imported into the \
                     current release: {why}",
                    object.kind(),
                    object.name(),
                    object.namespace()
                );
            }
        }
        Ok(())
    }
}

/// What is checked for whom.
pub(super) struct Release<'a> {
    /// The release's name.
    pub(super) name: &'a str,
    /// Its namespace.
    pub(super) namespace: &'a str,
    /// Is it there already?
    pub(super) is_upgrade: bool,
    /// Whose rules hold.
    pub(super) profile: HelmProfile,
}

/// What the cluster offers.
///
/// # Errors
/// It cannot be asked.
pub(super) async fn capabilities(cluster: &Cluster, profile: HelmProfile) -> Result<Arc<Capabilities>> {
    capabilities::of_cluster(cluster, profile)
        .await
        .map_err(|e| anyhow!("could not get server version from Kubernetes: {e}"))
}

fn unreachable(why: &str) -> anyhow::Error {
    anyhow!("cluster reachability check failed: kubernetes cluster unreachable: {why}")
}

/// The certificates of a PEM file as the client wants them.
fn certificates(path: &Path) -> Result<Vec<Vec<u8>>> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.map_err(|e| unreachable(&format!("unable to read {}: {e}", path.display())))?;
    Ok(all.into_iter().map(|c| c.as_ref().to_vec()).collect())
}
