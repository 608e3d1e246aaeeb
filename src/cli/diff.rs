//! `helmrel diff`
use anyhow::{Result, bail};
use super::{Exit, Printer};
/// Args.
#[derive(Debug, clap::Args)]
pub struct Args {}
pub(super) fn run(_: &Args, _: &Printer) -> Result<Exit> { bail!("soon") }
