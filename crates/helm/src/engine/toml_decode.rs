//! `fromToml`.
//!
//! Owns: TOML as plain values with Go's types (whole numbers are `int64`). The parser is the crate `toml`;
//! the words of Go's library for what it refuses are found anew by [`super::toml_faults`].

use go_value::{List, Map, Value};

/// The document as a map.
///
/// # Errors
/// What the parser says.
pub(super) fn decode(text: &str) -> Result<Map, String> {
    let table: toml::Table = toml::from_str(text).map_err(|e| {
        super::toml_faults::explain(text).unwrap_or_else(|| {
            let line = e.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            format!("toml: line {line}: {}", e.message())
        })
    })?;
    Ok(map(table))
}

fn map(table: toml::Table) -> Map {
    table.into_iter().map(|(key, item)| (key, value(item))).collect()
}

fn value(item: toml::Value) -> Value {
    match item {
        toml::Value::String(s) => s.into(),
        toml::Value::Integer(n) => Value::int64(n),
        toml::Value::Float(f) => Value::float(f),
        toml::Value::Boolean(b) => Value::Bool(b),
        toml::Value::Datetime(d) => {
            let text = d.to_string();
            match text.parse::<jiff::Timestamp>() {
                Ok(time) => Value::Time(Box::new(time.to_zoned(jiff::tz::TimeZone::UTC))),
                Err(_) => text.into(),
            }
        }
        toml::Value::Array(items) => Value::List(List::any(items.into_iter().map(value).collect())),
        toml::Value::Table(table) => Value::Map(map(table)),
    }
}
