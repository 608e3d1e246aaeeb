//! `helmrel controller`
use anyhow::{Result, bail};
use super::Exit;
/// Args.
#[derive(Debug, clap::Args)]
pub struct Args {}
pub(super) fn run(_: Args) -> Result<Exit> { bail!("soon") }
