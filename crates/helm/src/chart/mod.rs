//! A chart as data.
//!
//! Owns: the parsed chart and where its parts come from. Does not own: where archives are fetched, what values mean.
//! Follows Helm's `pkg/chart/v2` and its loader. The surprising thing: files are shared by reference, so cloning a
//! chart (for an alias, or to process its dependencies for one release) copies no file.

pub mod archive;
pub mod crds;
pub(crate) mod decode;
pub mod dependencies;
pub mod directory;
pub mod files;
pub mod ignore;
pub mod metadata;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use go_value::Map;

use jiff::Timestamp;

pub use archive::load_archive;
pub use dependencies::process_dependencies;
pub use directory::load_directory;
pub use metadata::{Dependency, ImportValue, Lock, Maintainer, Metadata};

use crate::error::Error;

/// A file of a chart: its path below the chart's root, with slashes, and its bytes without a byte order mark.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Path, e.g. `templates/service.yaml`.
    pub name: Arc<str>,
    /// Content.
    pub data: Bytes,
    /// When it was last changed, by the archive or the file system. Helm 4 keeps it in release records.
    pub modified: Option<Timestamp>,
}

/// Only name and size: a file may hold secrets.
impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.data.len())
    }
}

/// A parsed chart with its subcharts.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Chart.yaml.
    pub metadata: Metadata,
    /// Chart.lock, if there is one.
    pub lock: Option<Lock>,
    /// Files under `templates/`.
    pub templates: Vec<File>,
    /// values.yaml. Never changed in place: whoever merges makes a copy.
    pub values: Map,
    /// values.schema.json, if there is one.
    pub schema: Option<Bytes>,
    /// All other files, `crds/` among them.
    pub files: Vec<File>,
    /// Subcharts.
    pub dependencies: Vec<Chart>,
    /// When Chart.yaml was last changed.
    pub modified: Option<Timestamp>,
    /// When values.schema.json was last changed.
    pub schema_modified: Option<Timestamp>,
}

impl Chart {
    /// The chart's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Does Helm install this chart by itself?
    ///
    /// # Errors
    /// `library charts are not installable`.
    pub fn check_installable(&self) -> Result<(), Error> {
        match self.metadata.chart_type.as_str() {
            "" | "application" => Ok(()),
            other => Err(Error::Load(format!("{other} charts are not installable"))),
        }
    }

    /// Are all charts that Chart.yaml lists in `charts/`? Names alone count, as in Helm.
    ///
    /// # Errors
    /// Helm's text with the names of the missing ones.
    pub fn check_dependencies(&self) -> Result<(), Error> {
        let missing: Vec<&str> = self
            .metadata
            .dependencies
            .iter()
            .filter(|d| !self.dependencies.iter().any(|c| c.name() == d.name))
            .map(|d| d.name.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::Dependencies(format!(
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
            missing.join(", ")
        )))
    }
}

/// Load a chart from a folder or an archive.
///
/// # Errors
/// Helm's text for what is wrong with the chart.
pub fn load(path: &Path) -> Result<Chart, Error> {
    let info =
        std::fs::metadata(path).map_err(|e| Error::Load(format!("stat {}: {}", path.display(), go_io_error(&e))))?;
    if info.is_dir() { load_directory(path) } else { archive::load_file(path) }
}

/// An I/O error in Go's words, without Rust's `(os error 2)`.
pub(crate) fn go_io_error(e: &std::io::Error) -> String {
    match e.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        std::io::ErrorKind::IsADirectory => "is a directory".into(),
        std::io::ErrorKind::NotADirectory => "not a directory".into(),
        _ => {
            let text = e.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            text.to_lowercase()
        }
    }
}
