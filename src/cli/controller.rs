//! `helmrel controller`.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use super::Exit;
use crate::controller::config::{ControllerArgs, LogEncoding};

/// The controller's flags.
pub type Args = ControllerArgs;

pub(super) fn run(args: Args) -> Result<Exit> {
    // The client's own warnings quote whole answers, Secrets among them; its errors reach us without that.
    let filter = format!("warn,kube_client::client=off,helmrel={0},helm_action={0},kube_ops={0}", args.log_level);
    let filter = EnvFilter::try_new(filter).with_context(|| format!("unknown --log-level {:?}", args.log_level))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match args.log_encoding {
        LogEncoding::Json => log.json().init(),
        LogEncoding::Console => log.init(),
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(crate::controller::run(args))?;
    Ok(Exit::Ok)
}
