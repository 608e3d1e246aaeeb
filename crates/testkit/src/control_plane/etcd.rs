//! etcd: its command line.
//!
//! The surprising thing: it never syncs to disk, because nothing here is meant to survive.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::binaries::tool;

/// The command that starts etcd in `dir` with these two ports.
pub(super) fn command(dir: &Path, client: u16, peer: u16) -> Result<Command> {
    let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    let mut command = Command::new(tool("etcd")?);
    command.arg("--data-dir").arg(dir.join("etcd")).args([
        "--listen-client-urls",
        &client,
        "--advertise-client-urls",
        &client,
        "--listen-peer-urls",
        &peer,
        "--initial-advertise-peer-urls",
        &peer,
        "--initial-cluster",
        &format!("default={peer}"),
        "--unsafe-no-fsync",
        "--log-level",
        "error",
    ]);
    Ok(command)
}
