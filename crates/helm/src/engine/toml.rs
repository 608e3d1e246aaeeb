//! `toToml`.
//!
//! Follows the encoder of the Go library `BurntSushi/toml`. The surprising things: within a table plain values come
//! before tables, nested tables are indented, whole floats keep a `.0` (every number of `values.yaml` is a float), and
//! nulls are left out.

use std::fmt::Write as _;

use go_value::float::format_float;
use go_value::{Kind, List, Value};

/// How many values a text may hold.
const MAX_VALUES: usize = 1_000_000;
/// How deep tables and lists may nest. Go has no limit; a table that contains itself kills it.
const MAX_DEPTH: usize = 1000;

/// The value as TOML.
///
/// # Errors
/// Go's text: a list with a null in it, a value of a type TOML has not.
pub(super) fn encode(value: &Value) -> Result<String, String> {
    if value.is_nil() {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    if !value.nests_within(MAX_DEPTH, &mut { MAX_VALUES }) {
        return Err(format!("toml: exceeded max depth of {MAX_DEPTH}, or {MAX_VALUES} values; both are fixed"));
    }
    let mut out = Encoder { text: String::new() };
    out.value(&[], &plain(value))?;
    Ok(out.text)
}

/// The data behind an object. A struct stays what it is, for the names of its fields and their order.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(o) if o.members().is_some() && o.struct_fields().is_some() => value.clone(),
        Value::Object(o) => o.data().unwrap_or(Value::Nil),
        other => other.clone(),
    }
}

/// An entry of a map, or an exported field of a struct.
struct Member {
    name: String,
    value: Value,
    /// Does no comma follow it in an inline table?
    last: bool,
}

/// What is in a table: first the values, then the tables.
fn members(value: &Value) -> Result<(Vec<Member>, Vec<Member>), String> {
    let (mut direct, mut tables) = (Vec::new(), Vec::new());
    let mut add = |name: String, value: &Value, last| -> Result<(), String> {
        let value = plain(value);
        let list = if is_table(&value)? { &mut tables } else { &mut direct };
        list.push(Member { name, value, last });
        Ok(())
    };
    match value {
        Value::Map(map) => {
            map.entries().iter().try_for_each(|(name, value)| add(name.to_text().into_owned(), value, false))?;
            if let Some(last) = tables.last_mut().or(direct.last_mut()) {
                last.last = true;
            }
        }
        Value::Object(object) => {
            let fields = object.struct_fields().unwrap_or_default();
            let exported = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
            let count = fields.iter().filter(|(name, _)| exported(name)).count();
            // Go's library compares the place among all fields with the number of those that it writes.
            for (i, (name, value)) in fields.iter().enumerate().filter(|(_, (name, _))| exported(name)) {
                add((*name).to_owned(), value, i + 1 == count)?;
            }
        }
        _ => {}
    }
    Ok((direct, tables))
}

/// Does the value become a table or an array of tables?
fn is_table(value: &Value) -> Result<bool, String> {
    match value {
        Value::Map(_) | Value::Object(_) => Ok(true),
        Value::List(items) => is_table_array(items),
        Value::Complex(..) => Err(format!("unsupported type: {}", value.kind().name())),
        _ => Ok(false),
    }
}

fn is_table_array(items: &List) -> Result<bool, String> {
    let mut all = !items.is_empty();
    for item in items.iter() {
        let item = plain(item);
        if item.is_nil() {
            return Err("toml: cannot encode array with nil element".into());
        }
        is_table(&item)?;
        all &= matches!(item, Value::Map(_) | Value::Object(_));
    }
    Ok(all)
}

struct Encoder {
    text: String,
}

impl Encoder {
    fn newline(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn indent(&mut self, key: &[String]) {
        for _ in 1..key.len() {
            self.text.push_str("  ");
        }
    }

    fn value(&mut self, key: &[String], value: &Value) -> Result<(), String> {
        match value {
            Value::Nil => Ok(()),
            Value::Map(_) | Value::Object(_) => {
                if key.len() == 1 {
                    self.newline();
                }
                if !key.is_empty() {
                    self.indent(key);
                    let _ = write!(self.text, "[{}]", path(key));
                    self.newline();
                }
                self.table(key, value)
            }
            Value::List(items) if is_table_array(items)? => {
                if key.is_empty() {
                    return Err("toml: top-level values must be Go maps or structs".into());
                }
                for item in items.iter() {
                    self.newline();
                    self.indent(key);
                    let _ = write!(self.text, "[[{}]]", path(key));
                    self.newline();
                    self.table(key, &plain(item))?;
                }
                Ok(())
            }
            other => {
                if let Some(last) = key.last() {
                    self.indent(key);
                    self.text.push_str(&quoted_key(last));
                    self.text.push_str(" = ");
                    self.element(other)?;
                    self.newline();
                    return Ok(());
                }
                self.element(other)
            }
        }
    }

    fn table(&mut self, key: &[String], value: &Value) -> Result<(), String> {
        let (direct, tables) = members(value)?;
        for member in direct.into_iter().chain(tables) {
            self.value(&[key, &[member.name]].concat(), &member.value)?;
        }
        Ok(())
    }

    fn element(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Bool(b) => self.text.push_str(if *b { "true" } else { "false" }),
            Value::Int(_, n) => self.text.push_str(&n.to_string()),
            Value::Uint(_, n) => self.text.push_str(&n.to_string()),
            Value::Float(kind, f) => self.text.push_str(&float(*f, *kind)),
            Value::String(s) => self.text.push_str(&quoted(&s.to_text())),
            Value::Duration(d) => self.text.push_str(&quoted(&go_value::format::duration(*d))),
            Value::Time(t) => self.text.push_str(&time(t)),
            Value::List(items) => {
                self.text.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.text.push_str(", ");
                    }
                    self.element(&plain(item))?;
                }
                self.text.push(']');
            }
            Value::Map(_) | Value::Object(_) => self.inline(value)?,
            other => return Err(format!("unexpected type: {}", other.type_name())),
        }
        Ok(())
    }

    fn inline(&mut self, value: &Value) -> Result<(), String> {
        let (direct, tables) = members(value)?;
        self.text.push('{');
        for member in direct.into_iter().chain(tables).filter(|member| !member.value.is_nil()) {
            self.text.push_str(&quoted_key(&member.name));
            self.text.push_str(" = ");
            self.element(&member.value)?;
            if !member.last {
                self.text.push_str(", ");
            }
        }
        self.text.push('}');
        Ok(())
    }
}

fn float(f: f64, kind: Kind) -> String {
    let sign = if f.is_sign_negative() { "-" } else { "" };
    if f.is_nan() {
        return format!("{sign}nan");
    }
    if f.is_infinite() {
        return format!("{sign}inf");
    }
    let text = format_float(f, b'g', None, if kind == Kind::Float32 { 32 } else { 64 });
    if text.contains(['e', '.']) { text } else { format!("{text}.0") }
}

/// A date that `fromToml` read without a zone is written without one; it knows it by the zone's name.
fn time(time: &jiff::Zoned) -> String {
    let text = go_value::json::rfc3339_nano(time);
    let (date, clock) = text.split_once('T').unwrap_or((&text, ""));
    let clock = clock.trim_end_matches('Z').split(['+', '-']).next().unwrap_or_default();
    match time.time_zone().to_offset_info(time.timestamp()).abbreviation() {
        "date-local" => date.to_owned(),
        "time-local" => clock.to_owned(),
        "datetime-local" => format!("{date}T{clock}"),
        _ => text,
    }
}

fn path(key: &[String]) -> String {
    key.iter().map(|k| quoted_key(k)).collect::<Vec<_>>().join(".")
}

pub(super) fn quoted_key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.into() } else { quoted(key) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::load_values;

    #[test]
    fn tables_follow_values() {
        let values = load_values(
            b"b: {c: {d: 1}, e: x}\na: 1.5\nl: [1, 2]\nt: [{x: 1}, {w: a}]\nnone: null\n\"k y\": true\nm: [{q: 1}, z]",
        )
        .unwrap();
        let want = "a = 1.5\n\"k y\" = true\nl = [1.0, 2.0]\nm = [{q = 1.0}, \"z\"]\n\n[b]\n  e = \"x\"\n  [b.c]\n    d = 1.0\n\n[[t]]\n  x = 1.0\n\n[[t]]\n  w = \"a\"\n";
        assert_eq!(encode(&Value::Map(values)).unwrap(), want);
        let with_null = load_values(b"l: [null]").unwrap();
        assert_eq!(encode(&Value::Map(with_null)).unwrap_err(), "toml: cannot encode array with nil element");
    }
}
