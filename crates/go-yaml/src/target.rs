//! What a document is turned into: values for templates, JSON for manifests, or an exact copy for error texts.
//!
//! Owns: the trait and its implementations.
//! Does not own: walking the document ([`crate::decode`]).
//! The surprising thing: sigs.k8s.io/yaml goes through JSON text, so a float that prints without a point (`1.0`) is an
//! integer in JSON, and every number is a `float64` in a template's value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use go_value::float::format_float;
use go_value::quote::quote;
use go_value::{Entries, List, Map, MapType, Str, Value};

/// A key as go-yaml types it.
#[derive(Clone, Debug)]
pub(crate) enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(Cow<'a, str>),
}

impl<'a> Key<'a> {
    /// The key in JSON, if sigs.k8s.io/yaml makes one of it.
    pub(crate) fn into_text(self) -> Result<Cow<'a, str>, Self> {
        match self {
            Self::Text(s) => Ok(s),
            Self::Int(n) => Ok(n.to_string().into()),
            Self::Bool(b) => Ok(b.to_string().into()),
            Self::Float(f) => Ok(match format_float(f, b'g', None, 32).as_str() {
                "+Inf" => ".inf".into(),
                "-Inf" => "-.inf".into(),
                "NaN" => ".nan".into(),
                other => other.to_owned().into(),
            }),
            Self::Null | Self::Uint(_) => Err(self),
        }
    }

    /// As `%#v` prints it.
    pub(crate) fn go_syntax(&self) -> String {
        match self {
            Self::Null => "<nil>".to_owned(),
            Self::Bool(b) => b.to_string(),
            Self::Int(n) => n.to_string(),
            Self::Uint(n) => format!("0x{n:x}"),
            Self::Float(f) => format_float(*f, b'g', None, 64),
            Self::Text(s) => quote(s.as_bytes()),
        }
    }
}

/// Builds values of one kind.
pub(crate) trait Target {
    /// Are the values kept, or only looked at?
    const KEEPS: bool = true;
    type Out;
    type Map: Default;
    fn null() -> Self::Out;
    fn bool(b: bool) -> Self::Out;
    fn int(n: i64) -> Self::Out;
    fn uint(n: u64) -> Self::Out;
    fn float(f: f64) -> Self::Out;
    fn text(s: Cow<'_, str>) -> Self::Out;
    fn list(items: Vec<Self::Out>) -> Self::Out;
    fn map(map: Self::Map) -> Self::Out;
    /// Put an entry, replacing one with the same key.
    fn insert<'k>(map: &mut Self::Map, key: Key<'k>, value: Self::Out) -> Result<(), Key<'k>>;
    fn contains(map: &Self::Map, key: &str) -> bool;
}

/// Values for templates: all numbers are `float64`.
pub(crate) struct ForTemplates;

impl Target for ForTemplates {
    type Out = Value;
    type Map = Entries;

    fn null() -> Value {
        Value::Nil
    }
    fn bool(b: bool) -> Value {
        Value::Bool(b)
    }
    fn int(n: i64) -> Value {
        Value::float(n as f64)
    }
    fn uint(n: u64) -> Value {
        Value::float(n as f64)
    }
    fn float(f: f64) -> Value {
        Value::float(f)
    }
    fn text(s: Cow<'_, str>) -> Value {
        Value::String(Str::from(s))
    }
    fn list(items: Vec<Value>) -> Value {
        Value::List(List::any(items))
    }
    fn map(map: Self::Map) -> Value {
        Value::Map(Map::of(MapType::ANY, map))
    }
    fn insert<'k>(map: &mut Self::Map, key: Key<'k>, value: Value) -> Result<(), Key<'k>> {
        map.insert(Str::from(key.into_text()?), value);
        Ok(())
    }
    fn contains(map: &Self::Map, key: &str) -> bool {
        map.contains_key(key.as_bytes())
    }
}

/// JSON for manifests: integers stay integers.
pub(crate) struct ForManifests;

impl Target for ForManifests {
    type Out = serde_json::Value;
    type Map = serde_json::Map<String, serde_json::Value>;

    fn null() -> serde_json::Value {
        serde_json::Value::Null
    }
    fn bool(b: bool) -> serde_json::Value {
        b.into()
    }
    fn int(n: i64) -> serde_json::Value {
        n.into()
    }
    fn uint(n: u64) -> serde_json::Value {
        n.into()
    }
    fn float(f: f64) -> serde_json::Value {
        // The bounds are powers of two, so the comparison is exact.
        if f.fract() == 0.0 && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f) {
            (f as i64).into()
        } else if f.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&f) {
            (f as u64).into()
        } else {
            f.into()
        }
    }
    fn text(s: Cow<'_, str>) -> serde_json::Value {
        s.into_owned().into()
    }
    fn list(items: Vec<serde_json::Value>) -> serde_json::Value {
        items.into()
    }
    fn map(map: Self::Map) -> serde_json::Value {
        map.into()
    }
    fn insert<'k>(map: &mut Self::Map, key: Key<'k>, value: serde_json::Value) -> Result<(), Key<'k>> {
        map.insert(key.into_text()?.into_owned(), value);
        Ok(())
    }
    fn contains(map: &Self::Map, key: &str) -> bool {
        map.contains_key(key)
    }
}

/// What go-yaml itself would hold, printed as `%#v` does: for error texts.
pub(crate) struct ForErrors;

impl Target for ForErrors {
    type Out = String;
    /// By kind of key (nil comes first, as in Go) and by the key itself: how it is shown, and the value.
    type Map = BTreeMap<(u8, String), (String, String)>;

    fn null() -> String {
        "interface {}(nil)".to_owned()
    }
    fn bool(b: bool) -> String {
        b.to_string()
    }
    fn int(n: i64) -> String {
        n.to_string()
    }
    fn uint(n: u64) -> String {
        format!("0x{n:x}")
    }
    fn float(f: f64) -> String {
        format_float(f, b'g', None, 64)
    }
    fn text(s: Cow<'_, str>) -> String {
        quote(s.as_bytes())
    }
    fn list(items: Vec<String>) -> String {
        format!("[]interface {{}}{{{}}}", items.join(", "))
    }
    fn map(map: Self::Map) -> String {
        let entries: Vec<String> = map.into_values().map(|(k, v)| format!("{k}:{v}")).collect();
        format!("map[interface {{}}]interface {{}}{{{}}}", entries.join(", "))
    }
    fn insert<'k>(map: &mut Self::Map, key: Key<'k>, value: String) -> Result<(), Key<'k>> {
        let shown = if matches!(key, Key::Null) { Self::null() } else { key.go_syntax() };
        let place = match key {
            Key::Null => (0, String::new()),
            Key::Text(text) => (1, text.into_owned()),
            _ => (2, shown.clone()),
        };
        map.insert(place, (shown, value));
        Ok(())
    }
    fn contains(map: &Self::Map, key: &str) -> bool {
        map.contains_key(&(1, key.to_owned()))
    }
}
