//! kube-apiserver: its command line.
//!
//! The surprising things: it speaks to the simulated kubelet with the admin's certificate; what it would ask of a
//! Service (webhooks) fails at once, because nothing listens there.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::binaries::tool;

/// The command that starts the API server over the files in `dir`.
pub(super) fn command(dir: &Path, etcd: u16, port: u16) -> Result<Command> {
    let at = |name: &str| dir.join(name).display().to_string();
    let mut command = Command::new(tool("kube-apiserver")?);
    command.args([
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", at("apiserver-certs")),
        format!("--tls-cert-file={}", at("server.crt")),
        format!("--tls-private-key-file={}", at("server.key")),
        format!("--client-ca-file={}", at("ca.crt")),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", at("sa.pub")),
        format!("--service-account-signing-key-file={}", at("sa.key")),
        "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--allow-privileged=true".to_owned(),
        format!("--kubelet-client-certificate={}", at("admin.crt")),
        format!("--kubelet-client-key={}", at("admin.key")),
        format!("--kubelet-certificate-authority={}", at("ca.crt")),
        "--kubelet-preferred-address-types=InternalIP".to_owned(),
        "--profiling=false".to_owned(),
    ]);
    // Addresses of Services lead nowhere, on some machines into a time-out of ten seconds per call, on others to a
    // proxy. A proxy that is not there refuses at once, everywhere; loopback addresses never go through it.
    for name in ["NO_PROXY", "no_proxy", "https_proxy"] {
        command.env_remove(name);
    }
    command.env("HTTPS_PROXY", "http://127.0.0.1:9");
    Ok(command)
}
