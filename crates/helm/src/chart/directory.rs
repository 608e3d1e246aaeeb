//! Charts in folders.
//!
//! Owns: the walk over a folder, `.helmignore`, symbolic links, the size budget. Follows Helm's directory loader and
//! `internal/sympath`. The surprising thing: links are followed wherever they lead, as Helm does for a chart the user
//! has at hand; charts that come from elsewhere arrive as archives, where links are empty files.

use std::path::{Path, PathBuf};

use super::archive::{MAX_DECOMPRESSED_SIZE, MAX_ENTRIES, without_bom};
use super::decode::Fields;
use super::files::load_files;
use super::ignore::Rules;
use super::{Chart, File, go_io_error};
use crate::error::Error;

/// How deep folders and links may nest, so that a link to its own parent ends.
const MAX_WALK_DEPTH: usize = 256;

fn load_error(text: impl Into<String>) -> Error {
    Error::Load(text.into())
}

/// Load a chart from a folder.
///
/// # Errors
/// Helm's text: no Chart.yaml, an apiVersion it does not know, a file it cannot read, a broken chart.
pub fn load_directory(dir: &Path) -> Result<Chart, Error> {
    let top = std::path::absolute(dir).map_err(|e| load_error(go_io_error(&e)))?;
    let top: PathBuf = top.components().collect();
    let chart_yaml = top.join("Chart.yaml");
    let text = std::fs::read(&chart_yaml).map_err(|e| {
        load_error(format!(
            "unable to detect chart at {}: open {}: {}",
            chart_yaml.display(),
            chart_yaml.display(),
            go_io_error(&e)
        ))
    })?;
    let decoded = go_yaml::decode_json(&text, go_yaml::Duplicates::LastWins)
        .map_err(|e| load_error(format!("cannot load Chart.yaml: {e}")))?;
    let api_version = Fields::root(&decoded, "chartBase", "loader.chartBase")
        .and_then(|f| f.map_or(Ok(String::new()), |f| f.string("apiVersion")))
        .map_err(|e| load_error(format!("cannot load Chart.yaml: {e}")))?;
    match api_version.as_str() {
        "" | "v1" | "v2" => {}
        // Helm loads these and then refuses them in every action.
        "v3" => return Err(load_error("invalid chart apiVersion")),
        _ => return Err(load_error("unsupported chart version")),
    }

    let ignore_file = top.join(".helmignore");
    let text = if ignore_file.exists() {
        std::fs::read(&ignore_file)
            .map_err(|e| load_error(format!("open {}: {}", ignore_file.display(), go_io_error(&e))))?
    } else {
        Vec::new()
    };
    let rules = Rules::parse(&text).map_err(load_error)?;
    let mut walk = Walk { rules, files: Vec::new(), remaining: MAX_DECOMPRESSED_SIZE };
    walk.folder(&top, "", 0)?;
    load_files(walk.files)
}

struct Walk {
    rules: Rules,
    files: Vec<File>,
    remaining: u64,
}

impl Walk {
    fn folder(&mut self, path: &Path, relative: &str, depth: usize) -> Result<(), Error> {
        if depth > MAX_WALK_DEPTH {
            return Err(load_error(format!(
                "folders or links below {} nest deeper than {MAX_WALK_DEPTH} levels",
                path.display()
            )));
        }
        let entries =
            std::fs::read_dir(path).map_err(|e| load_error(format!("open {}: {}", path.display(), go_io_error(&e))))?;
        let mut names: Vec<_> = entries
            .map(|entry| entry.map(|e| e.file_name()))
            .collect::<Result<_, _>>()
            .map_err(|e| load_error(format!("open {}: {}", path.display(), go_io_error(&e))))?;
        names.sort();
        for name in names {
            let child = path.join(&name);
            let name = name.to_string_lossy();
            let relative = if relative.is_empty() { name.into_owned() } else { format!("{relative}/{name}") };
            self.entry(&child, &relative, depth + 1)?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, relative: &str, depth: usize) -> Result<(), Error> {
        let link = std::fs::symlink_metadata(path)
            .map_err(|e| load_error(format!("lstat {}: {}", path.display(), go_io_error(&e))))?;
        let info = if link.is_symlink() {
            std::fs::metadata(path).map_err(|e| {
                load_error(format!("error evaluating symlink {0}: lstat {0}: {1}", path.display(), go_io_error(&e)))
            })?
        } else {
            link
        };
        if self.rules.ignores(relative, info.is_dir()) {
            return Ok(());
        }
        if info.is_dir() {
            return self.folder(path, relative, depth);
        }
        if !info.is_file() {
            return Err(load_error(format!(
                "cannot load irregular file {} as it has file mode type bits set",
                path.display()
            )));
        }
        let reading = |text: String| load_error(format!("error reading {relative}: {text}"));
        if info.len() > self.remaining || self.files.len() >= MAX_ENTRIES {
            return Err(reading(format!("chart exceeds maximum decompressed size of {MAX_DECOMPRESSED_SIZE} bytes")));
        }
        let data = std::fs::read(path).map_err(|e| reading(format!("open {}: {}", path.display(), go_io_error(&e))))?;
        self.remaining = self.remaining.saturating_sub(data.len() as u64);
        let data = without_bom(data.into());
        let modified = info.modified().ok().and_then(|t| t.try_into().ok());
        self.files.push(File { name: relative.into(), data, modified });
        Ok(())
    }
}
