//! A chart's files as they are written.
//!
//! Owns: which of them are values or metadata, in folders, archives and subcharts of either kind, and how a path is shown
//! so that a person finds it. Does not own: loading a chart (`helm::chart`), which keeps values without their text.
//! The surprising thing: what cannot be read is left out; loading the chart says so better.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use helm::chart::archive::read_archive;

use super::super::charts::Located;

/// How deep charts are looked for in charts.
const MAX_DEPTH: usize = 16;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// values.yaml, or a file of `-f`.
    Values,
    /// Chart.yaml.
    Metadata,
}

/// A file that is looked at as it is written.
pub(super) struct Written {
    pub(super) shown: String,
    pub(super) purpose: Purpose,
    pub(super) text: Vec<u8>,
}

impl Written {
    pub(super) fn values(shown: &str, text: Vec<u8>) -> Self {
        Self { shown: shown.into(), purpose: Purpose::Values, text }
    }
}

/// The files of a chart by their paths below it, those of packed subcharts below the archive's path.
pub(super) struct Sources {
    base: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// Read a chart's YAML files and templates.
///
/// # Errors
/// An archive that is none.
pub(super) fn read(reference: &str, located: &Located) -> Result<Sources> {
    let base = reference.trim_end_matches('/').to_owned();
    let mut sources = Sources { base, files: BTreeMap::new() };
    match located {
        Located::Path(path) if path.is_dir() => sources.folder(path, "", 0),
        Located::Path(path) => sources.archive(&std::fs::read(path)?, "", 0)?,
        Located::Archive(bytes) => sources.archive(bytes, "", 0)?,
    }
    Ok(sources)
}

fn below(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

impl Sources {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) {
        for name in ["Chart.yaml", "values.yaml"] {
            if let Ok(text) = std::fs::read(folder.join(name)) {
                self.files.insert(below(prefix, name), text);
            }
        }
        self.templates(&folder.join("templates"), &below(prefix, "templates"), depth);
        let entries = std::fs::read_dir(folder.join("charts"));
        for entry in entries.into_iter().flatten().flatten().filter(|_| depth < MAX_DEPTH) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let shown = below(prefix, &format!("charts/{name}"));
            if path.is_dir() {
                self.folder(&path, &shown, depth + 1);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let _ = self.archive(&bytes, &shown, depth + 1);
            }
        }
    }

    fn templates(&mut self, folder: &Path, prefix: &str, depth: usize) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|_| depth < MAX_DEPTH) {
            let path = entry.path();
            let shown = below(prefix, &entry.file_name().to_string_lossy());
            if path.is_dir() {
                self.templates(&path, &shown, depth + 1);
            } else if let Ok(text) = std::fs::read(&path) {
                self.files.insert(shown, text);
            }
        }
    }

    fn archive(&mut self, bytes: &[u8], prefix: &str, depth: usize) -> Result<()> {
        for file in read_archive(bytes)? {
            let shown = below(prefix, &file.name);
            let packed = file.name.ends_with(".tgz") && file.name.starts_with("charts/");
            if packed && depth < MAX_DEPTH {
                let _ = self.archive(&file.data, &shown, depth + 1);
            } else {
                self.files.insert(shown, file.data.to_vec());
            }
        }
        Ok(())
    }

    /// How a path below the chart is shown.
    pub(super) fn shown(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    /// A template's text by its path below the chart.
    pub(super) fn text(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Values and metadata of the chart and its subcharts.
    pub(super) fn files(&self) -> impl Iterator<Item = Written> {
        self.files.iter().filter_map(|(path, text)| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let purpose = match name {
                "values.yaml" => Purpose::Values,
                "Chart.yaml" => Purpose::Metadata,
                _ => return None,
            };
            let parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
            let of_chart = parts.chunks(2).all(|pair| pair.len() == 2 && pair[0] == "charts");
            of_chart.then(|| Written { shown: self.shown(path), purpose, text: text.clone() })
        })
    }
}
