//! `helmrel crds`: the definitions of the kinds, made from the types.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Exit, Printer};

/// Print or write the CustomResourceDefinitions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write one file per definition into this folder instead of printing them
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

/// The text of a definition's file.
///
/// # Errors
/// A definition that YAML cannot hold.
pub fn text(crd: &flux_api::crd::CrdFile) -> Result<String> {
    let yaml = go_yaml::encode_json(&crd.json).map_err(|e| anyhow::anyhow!("{}: {e}", crd.name))?;
    Ok(format!("---\n{yaml}"))
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit> {
    for crd in flux_api::crd::all() {
        let text = text(&crd)?;
        match &args.write {
            Some(folder) => {
                let path = folder.join(&crd.name);
                std::fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
                std::fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
            }
            None => printer.out(text)?,
        }
    }
    Ok(Exit::Ok)
}
