//! User values over a chart's defaults, through all its subcharts.
//!
//! Owns: coalescing (nulls remove keys) and merging (nulls stay), globals. Follows `pkg/chart/common/util/coalesce.go`
//! of Helm 4.3 and, by profile, of 4.1. The surprising things: a null that a chart's own `values.yaml` declares
//! disappears in 4.3 and stays in 4.1; a parent's table for a subchart is merged with nulls kept, so that they reach
//! the subchart's own turn.

use go_value::{Map, Value};

use super::Warnings;
use crate::chart::Chart;
use crate::error::Error;
use crate::profile::HelmProfile;

const GLOBAL: &str = "global";

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.into() } else { format!("{prefix}.{key}") }
}

/// One run of coalescing: whose rules, and where remarks go.
pub struct Coalesce<'w> {
    profile: HelmProfile,
    warnings: &'w mut Warnings,
}

impl<'w> Coalesce<'w> {
    /// By the rules of `profile`.
    pub fn new(profile: HelmProfile, warnings: &'w mut Warnings) -> Self {
        Self { profile, warnings }
    }

    /// The values a chart renders with: the user's over the chart's over its subcharts', nulls removing keys. The
    /// result shares nothing with the inputs.
    ///
    /// # Errors
    /// `type mismatch on <subchart>: …` where the value for a subchart is not a table.
    pub fn coalesce_values(&mut self, chart: &Chart, values: &Map) -> Result<Map, Error> {
        self.run(chart, values.deep_copy(), "", false)
    }

    /// As [`coalesce_values`](Self::coalesce_values), but nulls stay for a later coalescing.
    ///
    /// # Errors
    /// As there.
    pub fn merge_values(&mut self, chart: &Chart, values: &Map) -> Result<Map, Error> {
        self.run(chart, values.deep_copy(), "", true)
    }

    fn run(&mut self, chart: &Chart, dest: Map, prefix: &str, merge: bool) -> Result<Map, Error> {
        self.chart_defaults(chart, &dest, prefix, merge);
        self.subcharts(chart, &dest, prefix, merge)?;
        Ok(dest)
    }

    fn subcharts(&mut self, chart: &Chart, dest: &Map, prefix: &str, merge: bool) -> Result<(), Error> {
        for sub in &chart.dependencies {
            let name = sub.name();
            let values = match dest.get(name) {
                None => {
                    let fresh = Map::new();
                    dest.insert(name, fresh.clone());
                    fresh
                }
                Some(Value::Map(map)) => map,
                Some(other) => {
                    let shown = go_value::format::sprintf(b"%t", &[other]);
                    return Err(Error::Values(format!("type mismatch on {name}: {}", String::from_utf8_lossy(&shown))));
                }
            };
            let prefix = join(prefix, chart.name());
            self.globals(&values, dest, &prefix);
            let values = self.run(sub, values, &prefix, merge)?;
            dest.insert(name, values);
        }
        Ok(())
    }

    /// Push the globals of `src` down into `dest`; where both have a table, `src` wins.
    fn globals(&mut self, dest: &Map, src: &Map, prefix: &str) {
        let take = |map: &Map| match map.get(GLOBAL) {
            None => Some(Map::new()),
            Some(Value::Map(globals)) => Some(globals),
            Some(_) => None,
        };
        let Some(below) = take(dest) else {
            self.warnings.add(format!("warning: skipping globals because destination {GLOBAL} is not a table."));
            return;
        };
        let Some(above) = take(src) else {
            self.warnings.add(format!("warning: skipping globals because source {GLOBAL} is not a table."));
            return;
        };
        for (key, value) in above.entries() {
            let shown = key.to_text().into_owned();
            if let Value::Map(value) = &value {
                let copy = value.shallow_copy();
                match below.get(&key) {
                    None => {
                        below.insert(key, copy);
                    }
                    Some(Value::Map(own)) => {
                        coalesce_tables(&copy, &own, &join(prefix, &shown), true, self.warnings);
                        below.insert(key, copy);
                    }
                    Some(_) => {
                        self.warnings.add(format!("Conflict: cannot merge map onto non-map for {shown:?}. Skipping."));
                    }
                }
            } else if matches!(below.get(&key), Some(Value::Map(_))) {
                self.warnings.add(format!("key {shown} is table. Skipping"));
            } else {
                below.insert(key, value);
            }
        }
        dest.insert(GLOBAL, below);
    }

    fn chart_defaults(&mut self, chart: &Chart, values: &Map, prefix: &str, merge: bool) {
        let prefix = join(prefix, chart.name());
        let drops_nulls = self.profile.drops_chart_nulls();
        for (key, default) in chart.values.deep_copy().entries() {
            match values.get(&key) {
                Some(Value::Nil) if !merge => {
                    values.remove(&key);
                }
                Some(Value::Map(given)) => match default {
                    Value::Map(default) => {
                        let shown = key.to_text().into_owned();
                        // Nulls for a subchart must last until its own turn.
                        let merge = merge || chart.dependencies.iter().any(|d| d.name() == shown);
                        if !merge && drops_nulls {
                            remove_nulls(&default);
                        }
                        coalesce_tables(&given, &default, &join(&prefix, &shown), merge, self.warnings);
                    }
                    Value::Nil => {}
                    _ => self.warnings.add(format!("warning: skipped value for {prefix}.{key}: Not a table.")),
                },
                Some(_) => {}
                None => {
                    if !merge && drops_nulls {
                        match &default {
                            Value::Nil => continue,
                            Value::Map(nested) => remove_nulls(nested),
                            _ => {}
                        }
                    }
                    values.insert(key, default);
                }
            }
        }
    }
}

/// Merge `src` below `dst`, which wins. With `merge` nulls stay; without, a null in `dst` removes a key that `src`
/// has a value for. Marks the nulls of `dst` in `src`, as Helm does.
pub fn coalesce_tables(dst: &Map, src: &Map, prefix: &str, merge: bool, warnings: &mut Warnings) {
    // Who merges a table into itself wants nothing, and would read and write the same map at once.
    if dst.same(src) {
        return;
    }
    let mut nulls = Vec::new();
    dst.for_each(|key, value| {
        if value.is_nil() {
            nulls.push(key.clone());
        }
    });
    // Of these the ones that have a value below.
    let mut overridden = Vec::new();
    for key in nulls {
        if src.insert(key.clone(), Value::Nil).is_some_and(|below| !below.is_nil()) {
            overridden.push(key);
        }
    }
    for (key, below) in src.entries() {
        let above = dst.get(&key);
        match (above, below) {
            (Some(Value::Nil), _) if !merge && overridden.binary_search(&key).is_ok() => {
                dst.remove(&key);
            }
            (None, below) => {
                dst.insert(key, below);
            }
            (Some(Value::Map(above)), Value::Map(below)) => {
                coalesce_tables(&above, &below, &join(prefix, &key.to_text()), merge, warnings);
            }
            (Some(_), Value::Map(_)) => warnings
                .add(format!("warning: cannot overwrite table with non table for {}", join(prefix, &key.to_text()))),
            (Some(Value::Map(_)), below) if !below.is_nil() => warnings.add(format!(
                "warning: destination for {} is a table. Ignoring non-table value",
                join(prefix, &key.to_text())
            )),
            _ => {}
        }
    }
}

fn remove_nulls(map: &Map) {
    let (mut nulls, mut nested) = (Vec::new(), Vec::new());
    map.for_each(|key, value| match value {
        Value::Nil => nulls.push(key.clone()),
        Value::Map(map) => nested.push(map.clone()),
        _ => {}
    });
    for key in nulls {
        map.remove(&key);
    }
    nested.iter().for_each(remove_nulls);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{load_values, to_json};

    fn chart(name: &str, values: &str, dependencies: Vec<Chart>) -> Chart {
        let mut chart = Chart { values: load_values(values.as_bytes()).unwrap(), dependencies, ..Chart::default() };
        chart.metadata.name = name.into();
        chart
    }

    fn coalesce(chart: &Chart, user: &str, profile: HelmProfile) -> String {
        let mut warnings = Warnings::default();
        let user = load_values(user.as_bytes()).unwrap();
        let values = Coalesce::new(profile, &mut warnings).coalesce_values(chart, &user).unwrap();
        to_json(&Value::Map(values)).to_string()
    }

    #[test]
    fn nulls_by_profile() {
        let c = chart("c", "a: null\nm: {none: null, k: 1}\nx: 1", vec![]);
        assert_eq!(coalesce(&c, "", HelmProfile::V4_3), r#"{"m":{"k":1},"x":1}"#);
        assert_eq!(coalesce(&c, "", HelmProfile::V4_1), r#"{"a":null,"m":{"k":1,"none":null},"x":1}"#);
        // A user's null removes a default and stays where there is none.
        assert_eq!(coalesce(&c, "x: null\nm: {k: null}\nnew: null", HelmProfile::V4_3), r#"{"m":{},"new":null}"#);
    }

    #[test]
    fn subcharts_and_globals() {
        let kid = chart("kid", "a: 1\nb: 2\nglobal: {g: kid, own: true}", vec![]);
        let top = chart("top", "kid: {a: 10}\nglobal: {g: top, t: {x: 1}}", vec![kid]);
        assert_eq!(
            coalesce(&top, "kid: {b: 20}", HelmProfile::V4_3),
            r#"{"global":{"g":"top","t":{"x":1}},"kid":{"a":10,"b":20,"global":{"g":"top","own":true,"t":{"x":1}}}}"#
        );
    }

    #[test]
    fn a_scalar_for_a_subchart_is_refused() {
        let top = chart("top", "", vec![chart("kid", "", vec![])]);
        let user = load_values(b"kid: text").unwrap();
        let mut warnings = Warnings::default();
        let error = Coalesce::new(HelmProfile::V4_3, &mut warnings).coalesce_values(&top, &user).unwrap_err();
        assert_eq!(error.to_string(), "type mismatch on kid: %!t(string=text)");
    }
}
