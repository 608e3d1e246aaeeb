//! kube-controller-manager: its command line.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::binaries::tool;

/// The command that starts the controller manager over the files in `dir`.
pub(super) fn command(dir: &Path) -> Result<Command> {
    let at = |name: &str| dir.join(name).display().to_string();
    let mut command = Command::new(tool("kube-controller-manager")?);
    command.args([
        format!("--kubeconfig={}", at("kubeconfig")),
        format!("--service-account-private-key-file={}", at("sa.key")),
        format!("--root-ca-file={}", at("ca.crt")),
        "--use-service-account-credentials=true".to_owned(),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        "--profiling=false".to_owned(),
    ]);
    Ok(command)
}
