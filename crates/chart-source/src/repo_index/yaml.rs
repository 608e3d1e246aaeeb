//! An index that is YAML.
//!
//! Owns: strictness (equal keys, unknown fields). Does not own: YAML itself (`go_yaml`).
//! The surprising thing: the whole document is a tree for a moment, several times its text; only what [`super::Entry`]
//! keeps remains. The limit on the index's bytes is what bounds it.

use serde_json::{Map, Value};

use super::{Raw, json};

const INDEX: [&str; 6] = ["serverInfo", "apiVersion", "generated", "entries", "publicKeys", "annotations"];
const ENTRY: [&str; 25] = [
    "name",
    "home",
    "sources",
    "version",
    "description",
    "keywords",
    "maintainers",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "deprecated",
    "annotations",
    "kubeVersion",
    "dependencies",
    "type",
    "urls",
    "created",
    "removed",
    "digest",
    "checksum",
    "engine",
    "tillerVersion",
    "url",
];
const MAINTAINER: [&str; 3] = ["name", "email", "url"];
const DEPENDENCY: [&str; 8] =
    ["name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"];

/// Read the first document, strictly.
pub(super) fn parse(bytes: &[u8]) -> Result<Raw, String> {
    let tree = go_yaml::decode_json(bytes, go_yaml::Duplicates::Refuse).map_err(|e| e.to_string())?;
    let decoding = |text: String| format!("error unmarshaling JSON: while decoding JSON: {text}");
    check(&tree).map_err(decoding)?;
    json::from_value(tree).map_err(decoding)
}

/// Refuse fields that Helm's types do not have.
fn check(tree: &Value) -> Result<(), String> {
    let index = match tree {
        Value::Object(index) => index,
        Value::Null => return Ok(()),
        other => return Err(format!("json: cannot unmarshal {} into Go value of type v1.IndexFile", kind(other))),
    };
    known(index, &INDEX)?;
    let charts = index.get("entries").and_then(Value::as_object);
    let versions = charts.into_iter().flat_map(Map::values).filter_map(Value::as_array).flatten();
    for entry in versions.filter_map(Value::as_object) {
        known(entry, &ENTRY)?;
        for (field, fields) in [("dependencies", &DEPENDENCY[..]), ("maintainers", &MAINTAINER)] {
            let items = entry.get(field).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_object).try_for_each(|item| known(item, fields))?;
        }
    }
    Ok(())
}

fn known(object: &Map<String, Value>, fields: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !fields.iter().any(|f| f.eq_ignore_ascii_case(key))) {
        Some(key) => Err(format!("json: unknown field {key:?}")),
        None => Ok(()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
        Value::Object(_) | Value::Null => "object",
    }
}
