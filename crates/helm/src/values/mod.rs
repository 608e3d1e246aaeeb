//! Values: reading, looking up, merging.
//!
//! Owns: YAML text to values, dotted paths, the merge of values files, conversions from and to JSON. Follows Helm's
//! `pkg/chart/common`. The surprising thing: all numbers are `float64`, because Helm reads YAML by way of JSON.

pub mod coalesce;
pub mod digest;
pub(crate) mod methods;
pub mod schema;
pub mod set;
mod set_json;
pub mod set_literal;

use go_value::{List, Map, Value};
use serde_json::Value as Json;

/// Remarks on values that Helm prints as warnings. They name keys, never values.
#[derive(Debug, Default)]
pub struct Warnings(Vec<String>);

impl Warnings {
    /// Add one.
    pub fn add(&mut self, text: String) {
        // A hostile chart could make any number of them.
        if self.0.len() < 1000 {
            self.0.push(text);
        }
    }

    /// What was collected, in order.
    pub fn texts(&self) -> &[String] {
        &self.0
    }
}

/// Read a values file: one or more YAML documents that are merged in order.
///
/// # Errors
/// Helm's text: the YAML error, or a document separator with text behind it.
pub fn load_values(text: &[u8]) -> Result<Map, String> {
    let values = Map::new();
    let (documents, end) = documents(text);
    for document in documents {
        let decoded = go_yaml::decode_map(&document).map_err(|e| format!("cannot unmarshal yaml document: {e}"))?;
        merge_maps(&values, &decoded);
    }
    end.map(|()| values)
}

/// The documents of a stream as Kubernetes' YAML reader splits it: at lines that begin with `---`. Such a line at the
/// beginning of a document stays in it, so that the lines of errors are counted from there. A separator with text behind
/// it ends the stream: an error, but only when the documents before it have none.
fn documents(text: &[u8]) -> (Vec<Vec<u8>>, Result<(), String>) {
    let mut found = Vec::new();
    let mut current: Vec<u8> = Vec::new();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(line);
        let Some(rest) = line.strip_prefix(b"---") else {
            current.extend_from_slice(line);
            current.push(b'\n');
            continue;
        };
        let rest = String::from_utf8_lossy(rest);
        let rest = rest.trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            return (found, Err(format!("error reading yaml document: invalid Yaml document separator: {rest}")));
        }
        if current.is_empty() {
            current.extend_from_slice(line);
            current.push(b'\n');
        } else {
            found.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        found.push(current);
    }
    (found, Ok(()))
}

/// Lay `over` on `base`: maps merge, everything else, nulls included, replaces.
pub fn merge_maps(base: &Map, over: &Map) {
    for (key, value) in over.entries() {
        if let Value::Map(over) = &value
            && let Some(Value::Map(below)) = base.get(&key)
        {
            // The table below may be shared with whoever gave it to us: merge into a copy.
            let merged = below.shallow_copy();
            merge_maps(&merged, over);
            base.insert(key, merged);
        } else {
            base.insert(key, value);
        }
    }
}

/// The table at a dotted path.
///
/// # Errors
/// The first key on the path that is missing or not a table.
pub fn table(values: &Map, path: &str) -> Result<Map, String> {
    let mut current = values.clone();
    for key in path.split('.') {
        match current.get(key) {
            Some(Value::Map(next)) => current = next,
            _ => return Err(key.to_string()),
        }
    }
    Ok(current)
}

/// The value at a dotted path, unless it is missing or a table.
pub fn path_value(values: &Map, path: &str) -> Option<Value> {
    let (parent, key) = match path.rsplit_once('.') {
        Some((parent, key)) => (table(values, parent).ok()?, key),
        None => (values.clone(), path),
    };
    parent.get(key).filter(|v| !matches!(v, Value::Map(_)))
}

/// JSON as Go decodes it into `interface{}`: every number a `float64`.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => Value::float(n.as_f64().unwrap_or_default()),
        Json::String(s) => Value::string(s.as_str()),
        Json::Array(items) => Value::List(List::any(items.iter().map(from_json).collect())),
        Json::Object(entries) => Value::Map(entries.iter().map(|(k, v)| (k.as_str(), from_json(v))).collect()),
    }
}

/// Values as JSON. Whole numbers within the range of exact integers become integers, as Go prints them.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(_, n) => Json::from(*n),
        Value::Uint(_, n) => Json::from(*n),
        Value::Float(_, n) if n.fract() == 0.0 && n.abs() < 1e15 => Json::from(*n as i64),
        Value::Float(_, n) => serde_json::Number::from_f64(*n).map_or(Json::Null, Json::Number),
        Value::String(s) => Json::String(s.to_text().into_owned()),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Map(map) => {
            Json::Object(map.entries().iter().map(|(k, v)| (k.to_text().into_owned(), to_json(v))).collect())
        }
        _ => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(map: &Map) -> String {
        to_json(&Value::Map(map.clone())).to_string()
    }

    #[test]
    fn documents_of_one_file_merge() {
        let values = load_values(b"# c\n---\na: {b: 1, c: [1]}\n--- # next\na: {c: [2], d: null}").unwrap();
        assert_eq!(json(&values), r#"{"a":{"b":1,"c":[2],"d":null}}"#);
        assert_eq!(
            load_values(b"---\r\na: 1\n@: 2").unwrap_err(),
            "cannot unmarshal yaml document: error converting YAML to JSON: yaml: line 3: found character that cannot start any token"
        );
        assert_eq!(
            load_values(b"--- x").unwrap_err(),
            "error reading yaml document: invalid Yaml document separator: x"
        );
        assert_eq!(
            load_values(b"[1]").unwrap_err(),
            "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}"
        );
    }

    #[test]
    fn merging_leaves_the_inputs_alone() {
        let a = load_values(b"m: {x: 1}").unwrap();
        let base = Map::new();
        merge_maps(&base, &a);
        merge_maps(&base, &load_values(b"m: {z: 2}").unwrap());
        assert_eq!(json(&base), r#"{"m":{"x":1,"z":2}}"#);
        assert_eq!(json(&a), r#"{"m":{"x":1}}"#);
    }

    #[test]
    fn paths() {
        let v = load_values(b"a: {b: {c: true}, d: 1}").unwrap();
        assert!(matches!(path_value(&v, "a.b.c"), Some(Value::Bool(true))));
        assert!(path_value(&v, "a.b").is_none() && path_value(&v, "a.x.c").is_none());
        assert_eq!(table(&v, "a.d").unwrap_err(), "d");
    }
}
