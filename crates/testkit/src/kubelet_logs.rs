//! The logs endpoint of the simulated kubelet.
//!
//! Owns: `/containerLogs/NAMESPACE/POD/CONTAINER` over TLS, as the API server asks for it. Does not own: what pods do.
//! The surprising thing: the text is the pod's annotation [`LOGS`], or `LOGS.CONTAINER` for one container only.

use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;

use crate::control_plane::pki::Identity;
use crate::serve::{Cut, Response, Server, plain};

/// The annotation that holds what a pod's containers have logged.
pub const LOGS: &str = "testkit.helmrel.dev/logs";

pub(crate) fn start(client: kube::Client, identity: &Identity) -> anyhow::Result<Server> {
    Server::start(Some(identity), move |request| {
        let client = client.clone();
        async move { Ok::<Response, Cut>(answer(&client, request.uri()).await) }
    })
}

async fn answer(client: &kube::Client, uri: &http::Uri) -> Response {
    let parts: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    let ["containerLogs", namespace, pod, container] = parts[..] else {
        return plain(404, "only containerLogs is served");
    };
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = match pods.get(pod).await {
        Ok(pod) => pod,
        Err(error) => return plain(404, error.to_string()),
    };
    let annotations = pod.metadata.annotations.unwrap_or_default();
    let text = annotations.get(&format!("{LOGS}.{container}")).or_else(|| annotations.get(LOGS));
    let mut text = text.cloned().unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let number = |name: &str| -> Option<usize> {
        uri.query()?.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    };
    if let Some(lines) = number("tailLines") {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        text = all[all.len().saturating_sub(lines)..].concat();
    }
    let mut bytes = text.into_bytes();
    if let Some(limit) = number("limitBytes") {
        bytes.truncate(limit);
    }
    plain(200, bytes)
}
