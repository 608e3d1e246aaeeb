//! From a list of files to a chart.
//!
//! Owns: which file is what (Chart.yaml, values, templates, subcharts, the rest). Follows `LoadFiles` of Helm's v2
//! loader. The surprising thing: a stray file directly in `charts/`, a README say, is taken for a broken subchart.

use std::collections::BTreeMap;

use super::archive::{MAX_NESTED_SIZE, load_archive_nested};
use super::metadata::{Lock, Metadata};
use super::{Chart, File};
use crate::error::Error;
use crate::values::load_values;

/// How deep charts may hold charts. Helm has no limit but its stack.
pub const MAX_DEPTH: usize = 64;

fn load_error(text: impl Into<String>) -> Error {
    Error::Load(text.into())
}

/// What is wrong with Chart.yaml. What its text cannot hold is told at once, what the chart cannot be only of it.
fn chart_yaml_error(what: &str) -> String {
    if what.starts_with("validation: ") { what.to_owned() } else { format!("cannot load Chart.yaml: {what}") }
}

/// Make a chart of its files.
///
/// # Errors
/// Helm's text: Chart.yaml missing or invalid, values that are not YAML, a broken subchart.
pub fn load_files(files: Vec<File>) -> Result<Chart, Error> {
    load_files_at(files, 0, &mut { MAX_NESTED_SIZE })
}

pub(super) fn load_files_at(files: Vec<File>, depth: usize, left: &mut u64) -> Result<Chart, Error> {
    if depth > MAX_DEPTH {
        return Err(load_error(format!("charts are nested deeper than {MAX_DEPTH} levels")));
    }
    let mut chart = Chart::default();
    let mut metadata: Option<Metadata> = None;
    let mut subcharts: BTreeMap<String, Vec<File>> = BTreeMap::new();

    for f in files.iter().filter(|f| &*f.name == "Chart.yaml") {
        chart.modified = f.modified;
        let m = metadata.get_or_insert_default();
        m.decode_over(&f.data).map_err(|e| load_error(chart_yaml_error(&e)))?;
        // A chart without apiVersion is from the days of Helm 2.
        if m.api_version.is_empty() {
            m.api_version = "v1".into();
        }
    }
    for f in files {
        match &*f.name {
            "Chart.yaml" => {}
            "Chart.lock" => {
                chart.lock = Lock::decode(&f.data).map_err(|e| load_error(format!("cannot load Chart.lock: {e}")))?;
            }
            "values.yaml" => {
                chart.values = load_values(&f.data).map_err(|e| load_error(format!("cannot load values.yaml: {e}")))?;
            }
            "values.schema.json" => {
                chart.schema = Some(f.data);
                chart.schema_modified = f.modified;
            }
            "requirements.yaml" => {
                let m = metadata.get_or_insert_default();
                m.decode_over(&f.data).map_err(|e| load_error(format!("cannot load requirements.yaml: {e}")))?;
                if m.api_version == "v1" {
                    chart.files.push(f);
                }
            }
            "requirements.lock" => {
                chart.lock =
                    Lock::decode(&f.data).map_err(|e| load_error(format!("cannot load requirements.lock: {e}")))?;
                if metadata.as_ref().is_some_and(|m| m.api_version == "v1") {
                    chart.files.push(f);
                }
            }
            name if name.starts_with("templates/") => chart.templates.push(f),
            name if name.starts_with("charts/") => {
                if name.ends_with(".prov") {
                    chart.files.push(f);
                    continue;
                }
                let inner = &name["charts/".len()..];
                let first = inner.split('/').next().unwrap_or_default().to_string();
                let nested = File { name: inner.into(), ..f };
                subcharts.entry(first).or_default().push(nested);
            }
            _ => chart.files.push(f),
        }
    }

    let mut metadata = metadata.ok_or_else(|| load_error("Chart.yaml file is missing"))?;
    metadata.validate().map_err(load_error)?;
    chart.metadata = metadata;

    for (name, files) in subcharts {
        if name.starts_with(['_', '.']) {
            continue;
        }
        let sub = if name.ends_with(".tgz") {
            let file = &files[0];
            if *file.name != *name {
                return Err(load_error(format!(
                    "error unpacking subchart tar in {}: expected {name}, got {}",
                    chart.name(),
                    file.name
                )));
            }
            load_archive_nested(&file.data, depth + 1, left)
        } else {
            let inner = files
                .iter()
                .filter_map(|f| {
                    let (_, rest) = f.name.split_once('/')?;
                    Some(File { name: rest.into(), ..f.clone() })
                })
                .collect();
            load_files_at(inner, depth + 1, left)
        };
        let sub = sub.map_err(|e| load_error(format!("error unpacking subchart {name} in {}: {e}", chart.name())))?;
        chart.dependencies.push(sub);
    }
    Ok(chart)
}
