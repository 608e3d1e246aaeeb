//! Which subcharts take part, under which name, and what their parents import from them.
//!
//! Owns: aliases, tags, conditions, `import-values`. Follows `ProcessDependencies` of Helm's `pkg/chart/v2/util`.
//! The order: (1) charts in `charts/` that Chart.yaml does not list come first, then the listed ones in its order,
//! matched by name and range, renamed by alias; (2) all are on, tags switch, conditions win over tags; (3) what is off
//! goes, with its subcharts; the rest recurses; (4) imports, children first. The surprising things: a listed chart
//! whose version does not match is silently absent, and a chart that lists nothing keeps all of `charts/` unprocessed.

use go_value::{Map, Value};

use super::{Chart, Dependency, ImportValue};
use crate::error::Error;
use crate::profile::HelmProfile;
use crate::values::coalesce::{Coalesce, coalesce_tables};
use crate::values::{Warnings, path_value, table};

/// How many listed charts there may be in all. Helm has no limit; two names for each of two charts in each other, and so
/// on, are a billion after thirty levels.
const MAX_CHARTS: usize = 2000;

/// A copy of `chart` with its dependencies settled for these user values. Files are shared with the original.
///
/// # Errors
/// A value that must be a table for a subchart and is not.
pub fn process_dependencies(
    chart: &Chart,
    values: &Map,
    profile: HelmProfile,
    warnings: &mut Warnings,
) -> Result<Chart, Error> {
    let mut processed = chart.clone();
    enable(&mut processed, values, "", profile, (warnings, &mut { MAX_CHARTS }))?;
    import_values(&mut processed, profile, warnings)?;
    Ok(processed)
}

/// Does `version` satisfy `range`? What does not parse does not match.
pub fn is_compatible_range(range: &str, version: &str) -> bool {
    let (Ok(version), Ok(range)) = (go_semver::Version::parse(version), go_semver::Constraints::parse(range)) else {
        return false;
    };
    range.check(&version)
}

fn matches(dependency: &Dependency, chart: &Chart) -> bool {
    chart.name() == dependency.name && is_compatible_range(&dependency.version, &chart.metadata.version)
}

fn enable(
    chart: &mut Chart,
    values: &Map,
    path: &str,
    profile: HelmProfile,
    (warnings, left): (&mut Warnings, &mut usize),
) -> Result<(), Error> {
    if !chart.metadata.declares_dependencies {
        return Ok(());
    }
    let listed = &chart.metadata.dependencies;
    let mut charts: Vec<Chart> =
        chart.dependencies.iter().filter(|c| !listed.iter().any(|d| matches(d, c))).cloned().collect();
    for d in &mut chart.metadata.dependencies {
        if let Some(found) = chart.dependencies.iter().find(|c| matches(d, c)) {
            *left = left.checked_sub(1).ok_or_else(|| {
                Error::Load(format!(
                    "exceeded maximum number of dependencies of dependencies ({MAX_CHARTS}) at {path}{}; it is fixed",
                    d.name
                ))
            })?;
            let mut copy = found.clone();
            if !d.alias.is_empty() {
                copy.metadata.name.clone_from(&d.alias);
            }
            charts.push(copy);
        }
        if !d.alias.is_empty() {
            d.name.clone_from(&d.alias);
        }
        d.enabled = true;
    }
    chart.dependencies = charts;

    let coalesced = Coalesce::new(profile, warnings).coalesce_values(chart, values)?;
    apply_tags(&mut chart.metadata.dependencies, &coalesced, warnings);
    apply_conditions(&mut chart.metadata.dependencies, &coalesced, path, warnings);

    let removed: Vec<String> =
        chart.metadata.dependencies.iter().filter(|d| !d.enabled).map(|d| d.name.clone()).collect();
    chart.dependencies.retain(|c| !removed.iter().any(|name| name == c.name()));
    chart.metadata.dependencies.retain(|d| !removed.contains(&d.name));
    chart.metadata.declares_dependencies = !chart.metadata.dependencies.is_empty();
    for sub in &mut chart.dependencies {
        let sub_path = format!("{path}{}.", sub.name());
        enable(sub, &coalesced, &sub_path, profile, (&mut *warnings, &mut *left))?;
    }
    Ok(())
}

fn apply_tags(dependencies: &mut [Dependency], values: &Map, warnings: &mut Warnings) {
    let Ok(tags) = table(values, "tags") else { return };
    for d in dependencies {
        let (mut on, mut off) = (false, false);
        for tag in &d.tags {
            match tags.get(tag) {
                Some(Value::Bool(true)) => on = true,
                Some(Value::Bool(false)) => off = true,
                Some(_) => warnings.add(format!("tag {tag} of chart {} is not a bool", d.name)),
                None => {}
            }
        }
        d.enabled = on || !off;
    }
}

fn apply_conditions(dependencies: &mut [Dependency], values: &Map, path: &str, warnings: &mut Warnings) {
    for d in dependencies {
        for condition in d.condition.trim().split(',').filter(|c| !c.is_empty()) {
            match path_value(values, &format!("{path}{condition}")) {
                Some(Value::Bool(enabled)) => {
                    d.enabled = enabled;
                    break;
                }
                Some(_) => warnings.add(format!("condition {condition} of chart {} is not a bool", d.name)),
                None => {}
            }
        }
    }
}

fn import_values(chart: &mut Chart, profile: HelmProfile, warnings: &mut Warnings) -> Result<(), Error> {
    for sub in &mut chart.dependencies {
        import_values(sub, profile, warnings)?;
    }
    if !chart.metadata.declares_dependencies {
        return Ok(());
    }
    let merged = Coalesce::new(profile, warnings).merge_values(chart, &Map::new())?;
    if chart.metadata.dependencies.iter().all(|d| d.import_values.is_empty()) {
        chart.values = merged;
        return Ok(());
    }
    let imported = Map::new();
    for d in &mut chart.metadata.dependencies {
        let mut settled = Vec::new();
        for import in &d.import_values {
            let (child, parent) = match import {
                ImportValue::Export(name) => (format!("exports.{name}"), ".".to_string()),
                ImportValue::Pair { child, parent } => (child.clone(), parent.clone()),
                ImportValue::Other(_) => continue,
            };
            settled.push(ImportValue::Pair { child: child.clone(), parent: parent.clone() });
            match table(&merged, &format!("{}.{child}", d.name)) {
                Ok(found) => {
                    let nested = nest(&parent, found);
                    coalesce_tables(&imported, &nested, "", true, warnings);
                }
                Err(missing) => warnings
                    .add(format!("import-values of chart {}: {child} is missing: {missing:?} is not a table", d.name)),
            }
        }
        d.import_values = settled;
    }
    // What the parent says itself wins over what it imports.
    let values = merged.deep_copy();
    coalesce_tables(&values, &imported, "", true, warnings);
    chart.values = values;
    Ok(())
}

/// The table under a dotted path of new tables; `.` is the root.
fn nest(path: &str, data: Map) -> Map {
    if path == "." {
        return data;
    }
    path.split('.').rev().fold(data, |inner, key| [(key, Value::Map(inner))].into_iter().collect())
}
