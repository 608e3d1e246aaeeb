//! Small cases from bug reports against other tools, as far as they need no cluster.

use std::path::{Path, PathBuf};

use helm::values::set;
use serde_json::Value as Json;

use super::support::{first_difference, folder, helmrel};

/// The folder of a case by its number.
fn case(number: &str) -> Option<PathBuf> {
    let cases = folder("HELMREL_CASES")?;
    let found = std::fs::read_dir(&cases)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{number}-"))));
    if found.is_none() {
        eprintln!("SKIPPED: there is no case {number} in {}", cases.display());
    }
    found
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn template(dir: &Path, profile: &str, args: &[&str]) -> super::support::Run {
    let mut all = vec!["template", "r", "chart", "--namespace", "demo", "--helm-profile", profile];
    all.extend(args);
    helmrel(dir, &all)
}

/// What a chart prints with these arguments, by the profile 4.1 and, where Helm 4.3 was asked, by that too.
fn prints(number: &str, variants: &[(&str, &[&str])]) {
    let Some(dir) = case(number) else { return };
    for (variant, args) in variants {
        for (profile, version) in [("4.1", ""), ("4.3", "-4.3")] {
            let file = dir.join(format!("expected{version}{variant}.yaml"));
            let Ok(want) = std::fs::read_to_string(&file) else { continue };
            let run = template(&dir, profile, args);
            assert!(run.ok, "{}: {}", file.display(), run.err);
            let got = run.text();
            assert!(got == want, "{}: {}", file.display(), first_difference(&want, &got));
        }
    }
}

#[test]
fn nulls() {
    prints("01", &[("", &["-f", "values.yaml"]), ("-defaults", &[])]);
    prints(
        "02",
        &[("", &["-f", "values.yaml"]), ("-sibling-only", &["-f", "values-sibling-only.yaml"]), ("-defaults", &[])],
    );
    prints("03", &[("", &[]), ("-refill", &["-f", "values-refill.yaml"])]);
}

#[test]
fn globals_imports_and_lists() {
    prints("05", &[("", &[]), ("-null-global", &["-f", "values-null-global.yaml"])]);
    prints("07", &[("", &["-f", "values.yaml"]), ("-defaults", &[])]);
    prints(
        "08",
        &[
            ("-base", &["-f", "values-base.yaml"]),
            ("-base-then-over", &["-f", "values-base.yaml", "-f", "values-over.yaml"]),
            ("-kind-clash", &["-f", "values-kind-clash.yaml"]),
            ("-set-index", &["--set", "env[1].value=99"]),
            ("-set-empty-list", &["--set", "env={}"]),
        ],
    );
}

#[test]
fn yaml_1_1() {
    prints("09", &[("", &[]), ("-set-y", &["--set", "axis.y=99"])]);
    prints("11", &[("", &[])]);
    let Some(dir) = case("09") else { return };
    assert!(!helmrel(&dir, &["template", "r", "chart-inf"]).ok, "infinity has no JSON");
}

#[test]
fn block_scalars_keep_their_end() {
    let Some(dir) = case("13") else { return };
    let run = template(&dir, "4.1", &[]);
    let want = std::fs::read_to_string(dir.join("helm-4.1.4.yaml")).unwrap();
    assert!(run.text() == want, "{}", first_difference(&want, &run.text()));
}

#[test]
fn hooks_are_a_stream_of_their_own() {
    prints("14", &[("", &[])]);
}

#[test]
fn crds() {
    prints("16", &[("", &["-f", "values.yaml", "--include-crds"]), ("-on", &["--include-crds"])]);
    let Some(dir) = case("17") else { return };
    let run = template(&dir, "4.1", &["--include-crds"]);
    let want = std::fs::read_to_string(dir.join("helm-template-include-crds.yaml")).unwrap();
    assert!(run.text() == want, "{}", first_difference(&want, &run.text()));
}

#[test]
fn archives() {
    let Some(dir) = case("21") else { return };
    for (name, expected) in json(&dir.join("expected.json")).as_object().unwrap() {
        let run = helmrel(&dir, &["template", "r", &format!("archives/{name}")]);
        // Helm after 4.1 has no limit for one file.
        let loads = name == "six-mib-file.tgz" || expected["loads"].as_bool().unwrap();
        assert_eq!(run.ok, loads, "{name}: {}", run.err);
        let text = run.text();
        for object in expected["objects"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            assert!(text.lines().any(|l| l.trim() == format!("name: {object}")), "{name} has no {object}:\n{text}");
        }
    }
}

/// Flux's `targetPath`: literal, quoted, or by the grammar of `--set`.
fn target_path(values: &go_value::Map, row: &Json) -> Result<(), String> {
    let field = |name: &str| row[name].as_str().unwrap_or_default();
    let (path, value) = (field("targetPath"), field("value"));
    if row["literal"].as_bool().unwrap_or_default() {
        return set::parse_into(&format!("{path}={}", escaped(value)), values, &set::SetKind::Text);
    }
    for quote in ['\'', '"'] {
        if value.len() > 1 && value.starts_with(quote) && value.ends_with(quote) {
            let inner = &value[1..value.len() - 1];
            return set::parse_into(&format!("{path}={inner}"), values, &set::SetKind::Text);
        }
    }
    set::parse_into(&format!("{path}={value}"), values, &set::SetKind::Typed)
}

fn escaped(value: &str) -> String {
    value.chars().flat_map(|c| ['\\', c]).collect()
}

#[test]
fn target_paths() {
    let Some(dir) = case("22") else { return };
    let defaults = || helm::values::load_values(&std::fs::read(dir.join("chart/values.yaml")).unwrap()).unwrap();
    let before = helm::values::to_json(&go_value::Value::Map(defaults()));
    for row in json(&dir.join("expected.json")).as_array().unwrap() {
        let values = go_value::Map::new();
        let done = target_path(&values, row);
        if row["error"].as_bool().unwrap_or_default() {
            assert!(done.is_err(), "{row}");
            continue;
        }
        done.unwrap_or_else(|e| panic!("{row}: {e}"));
        // The user's null takes a default away.
        let merged = defaults();
        helm::values::merge_maps(&merged, &values);
        for key in merged.keys() {
            if merged.get(&key).is_some_and(|v| v.is_nil()) {
                merged.remove(&key);
            }
        }
        let mut want = before.clone();
        for (key, value) in row["changed"].as_object().into_iter().flatten() {
            want[key] = value.clone();
        }
        for key in row["removed"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            want.as_object_mut().unwrap().remove(key);
        }
        assert_eq!(helm::values::to_json(&go_value::Value::Map(merged)), want, "{row}");
    }
}

#[test]
fn long_release_names() {
    let Some(dir) = case("29") else { return };
    for row in json(&dir.join("expected.json")).as_array().unwrap() {
        let release = helm::release::name::shorten(row["composed"].as_str().unwrap());
        assert_eq!(release, row["release"].as_str().unwrap());
        assert_eq!(helm::release::codec::object_name(&release, 1), row["firstSecret"].as_str().unwrap());
    }
}
