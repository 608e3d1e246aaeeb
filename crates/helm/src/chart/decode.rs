//! YAML into the structs that Helm decodes with sigs.k8s.io/yaml and encoding/json.
//!
//! Owns: field lookup (exact name, else case-insensitive), the conversion of scalars where a string is wanted, and the
//! error texts. Follows `yaml.Unmarshal` of sigs.k8s.io/yaml. The surprising thing: `version: 1.10` is the string
//! `1.1`, because the number is read first and printed again, with the precision of a `float32`.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json};

/// The fields of one object on its way into the Go struct `strukt`.
pub struct Fields<'a> {
    object: &'a JsonMap<String, Json>,
    strukt: &'static str,
    path: String,
}

const PREFIX: &str = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";

fn kind(value: &Json) -> String {
    match value {
        Json::Null => "null".into(),
        Json::Bool(_) => "bool".into(),
        Json::Number(_) => "number".into(),
        Json::String(_) => "string".into(),
        Json::Array(_) => "array".into(),
        Json::Object(_) => "object".into(),
    }
}

/// A scalar as the string that sigs.k8s.io/yaml makes of it for a string field; `None` for arrays and objects.
fn scalar_text(value: &Json) -> Option<String> {
    match value {
        Json::String(s) => Some(s.clone()),
        Json::Bool(b) => Some(b.to_string()),
        Json::Number(n) if n.is_f64() => {
            Some(go_value::float::format_float(n.as_f64().unwrap_or_default(), b'g', None, 32))
        }
        Json::Number(n) => Some(n.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

impl<'a> Fields<'a> {
    /// The fields of a whole document. `None` for an empty document.
    ///
    /// # Errors
    /// The document is a scalar or a list: Go's text, with `go_type` such as `v2.Metadata`.
    pub fn root(document: &'a Json, strukt: &'static str, go_type: &str) -> Result<Option<Self>, String> {
        match document {
            Json::Null => Ok(None),
            Json::Object(object) => Ok(Some(Self { object, strukt, path: String::new() })),
            other => Err(format!("{PREFIX} {} into Go value of type {go_type}", kind(other))),
        }
    }

    fn mismatch(&self, value: &Json, name: &str, want: &str) -> String {
        format!("{PREFIX} {} into Go struct field {}.{}{name} of type {want}", kind(value), self.strukt, self.path)
    }

    /// The value under `name`; null counts as absent.
    pub fn get(&self, name: &str) -> Option<&'a Json> {
        let exact = self.object.get(name);
        let found = exact
            .or_else(|| self.object.iter().filter(|(k, _)| k.eq_ignore_ascii_case(name)).map(|(_, v)| v).next_back());
        found.filter(|v| !v.is_null())
    }

    /// A string field.
    pub fn string(&self, name: &str) -> Result<String, String> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(value) => scalar_text(value).ok_or_else(|| self.mismatch(value, name, "string")),
        }
    }

    /// A bool field.
    pub fn bool(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(Json::Bool(b)) => Ok(*b),
            Some(value) => Err(self.mismatch(value, name, "bool")),
        }
    }

    /// A list of anything.
    pub fn list(&self, name: &str) -> Result<&'a [Json], String> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Json::Array(items)) => Ok(items),
            Some(value) => Err(self.mismatch(value, name, "[]interface {}")),
        }
    }

    /// A list of strings.
    pub fn strings(&self, name: &str) -> Result<Vec<String>, String> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Json::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Json::Null => Ok(String::new()),
                    item => scalar_text(item).ok_or_else(|| self.mismatch(item, name, "string")),
                })
                .collect(),
            Some(value) => Err(self.mismatch(value, name, "[]string")),
        }
    }

    /// A map from strings to strings.
    pub fn string_map(&self, name: &str) -> Result<BTreeMap<String, String>, String> {
        match self.get(name) {
            None => Ok(BTreeMap::new()),
            Some(Json::Object(entries)) => entries
                .iter()
                .map(|(key, value)| match value {
                    Json::Null => Ok((key.clone(), String::new())),
                    value => scalar_text(value)
                        .map(|text| (key.clone(), text))
                        .ok_or_else(|| self.mismatch(value, name, "string")),
                })
                .collect(),
            Some(value) => Err(self.mismatch(value, name, "map[string]string")),
        }
    }

    /// A list of structs; null elements are `None`.
    pub fn structs(&self, name: &str, strukt: &'static str, go_type: &str) -> Result<Vec<Option<Fields<'a>>>, String> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Json::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Json::Null => Ok(None),
                    Json::Object(object) => Ok(Some(Fields { object, strukt, path: format!("{}{name}.", self.path) })),
                    other => Err(self.mismatch(other, name, go_type)),
                })
                .collect(),
            Some(value) => Err(self.mismatch(value, name, &format!("[]*{go_type}"))),
        }
    }

    /// A nested struct.
    pub fn strukt(&self, name: &str, strukt: &'static str, go_type: &str) -> Result<Option<Fields<'a>>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Json::Object(object)) => Ok(Some(Fields { object, strukt, path: format!("{}{name}.", self.path) })),
            Some(value) => Err(self.mismatch(value, name, go_type)),
        }
    }
}
