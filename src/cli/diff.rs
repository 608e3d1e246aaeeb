//! `helmrel diff`
use super::{Exit, Printer};
use anyhow::{Result, bail};
/// Args.
#[derive(Debug, clap::Args)]
pub struct Args {}
pub(super) fn run(_: &Args, _: &Printer) -> Result<Exit> {
    bail!("soon")
}
