//! From values to YAML text: `toYaml`, `toYamlPretty`, and the text behind Flux's config digest.
//!
//! Owns: what each Go value becomes, including the detour through JSON that sigs.k8s.io/yaml takes.
//! Does not own: layout and quoting ([`crate::emit`]).
//! Upstream: `Marshal` in sigs.k8s.io/yaml, `encode.go` in go-yaml v3, `JSONObjectToYAMLObject`.
//! The surprising thing: `toYaml` writes JSON and reads that as YAML, so a string with DEL or a C1 control character
//! cannot be encoded (Helm then prints nothing), U+0085 folds away, and a key longer than 1,022 characters is an error.

use std::borrow::Cow;

use go_value::float::format_float;
use go_value::limits::{MAX_TEXT, text_too_long};
use go_value::{Kind, List, ListType, Map, Value, json};

use crate::emit::{KeyOrder, Node, emit};
use crate::error::Error;
use crate::limits::MAX_DEPTH;
use crate::resolve::{Dialect, Resolved, resolve};

/// `yaml.Marshal` of sigs.k8s.io/yaml, behind Helm's `toYaml`: the text ends with a line break.
///
/// # Errors
/// The value has no JSON form, or its JSON is not what the YAML reader takes.
pub fn encode(value: &Value) -> Result<String, Error> {
    // What nests too deep may do so without end, and then Helm's way through JSON has a word for it.
    let node = through_json(value, 0, &mut { MAX_TEXT })
        .map_err(|e| if nests_too_deep(&e) { cyclic(value).unwrap_or(e) } else { e })?;
    Ok(emit(node, Dialect::V2, KeyOrder::Natural))
}

/// `yaml.Marshal` of sigs.k8s.io/yaml for JSON objects.
///
/// # Errors
/// As [`encode`].
pub fn encode_json(value: &serde_json::Value) -> Result<String, Error> {
    encode(&from_json(value))
}

/// go-yaml v3's encoder with an indent of 2, behind Helm's `toYamlPretty`: the text ends with a line break.
///
/// # Errors
/// The value holds something YAML has no text for.
pub fn encode_pretty(value: &Value) -> Result<String, Error> {
    let node = direct(value, 0, Numbers::AsTheyAre, &mut { MAX_TEXT })?;
    Ok(emit(node, Dialect::V3, KeyOrder::Natural))
}

/// The text whose digest is Flux's config digest: go-yaml v2 with keys sorted by bytes at all levels, and floats that
/// are whole numbers written as integers. The caller must not digest empty values (Flux takes no bytes for them).
///
/// # Errors
/// The value holds something YAML has no text for.
pub fn encode_sorted(value: &Value) -> Result<String, Error> {
    let node = direct(value, 0, Numbers::WholeAsIntegers, &mut { MAX_TEXT })?;
    Ok(emit(node, Dialect::V2, KeyOrder::Bytes))
}

/// The value that `encoding/json` would make of JSON, but with integers kept.
pub fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(b) => Value::Bool(*b),
        serde_json::Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => Value::int64(n),
            (_, Some(n)) => Value::Uint(Kind::Uint64, n),
            _ => Value::float(n.as_f64().unwrap_or(0.0)),
        },
        serde_json::Value::String(s) => Value::string(s),
        serde_json::Value::Array(items) => Value::List(List::any(items.iter().map(from_json).collect())),
        serde_json::Value::Object(entries) => {
            Value::Map(entries.iter().map(|(k, v)| (k.as_str(), from_json(v))).collect())
        }
    }
}

/// Take what a value will need at least off the length that a text may have: shared values can be written many times, and
/// what is deep is indented.
fn spend(budget: &mut usize, value: &Value, depth: usize) -> Result<(), Error> {
    /// A node in memory is larger than the shortest text of one.
    const NODE: usize = 16;
    let length = value.as_str().map_or(0, |text| {
        let lines = if depth > 8 { memchr::memchr_iter(b'\n', text).count() } else { 0 };
        text.len() + lines * depth
    });
    let left = budget.checked_sub(NODE + depth + length);
    *budget = left.ok_or_else(|| Error::Encode(format!("yaml: {}", text_too_long())))?;
    Ok(())
}

fn too_deep() -> Error {
    Error::Encode(format!("yaml: exceeded max depth of {MAX_DEPTH}; it is fixed"))
}

fn nests_too_deep(error: &Error) -> bool {
    matches!((error, too_deep()), (Error::Encode(text), Error::Encode(known)) if *text == known)
}

/// A value as JSON text would be read by go-yaml v2.
fn through_json(value: &Value, depth: usize, budget: &mut usize) -> Result<Node, Error> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    spend(budget, value, depth)?;
    Ok(match value {
        Value::Nil => Node::Literal("null".to_owned()),
        Value::Bool(b) => Node::Literal(b.to_string()),
        Value::Int(_, n) | Value::Duration(n) => Node::Literal(n.to_string()),
        Value::Uint(_, n) => Node::Literal(n.to_string()),
        Value::Float(kind, f) => {
            let text = json::float(*f, if *kind == Kind::Float32 { 32 } else { 64 }).map_err(Error::Marshal)?;
            Node::Literal(reread_number(text))
        }
        Value::Complex(..) => return Err(Error::Marshal("json: unsupported type: complex128".to_owned())),
        Value::String(s) => Node::Text(reread_string(&lossy(s))?.into_owned()),
        Value::List(List { nil: true, .. }) | Value::Map(Map { nil: true, .. }) => Node::Literal("null".to_owned()),
        Value::List(list) if list.ty == ListType::BYTES => {
            let text = json::encode(value).map_err(Error::Marshal)?;
            Node::Text(text.trim_matches('"').to_owned())
        }
        Value::List(list) => {
            Node::List(list.iter().map(|v| through_json(v, depth + 1, budget)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (key, item) in map.entries() {
                entries.push((reread_key(&lossy(&key))?, through_json(&item, depth + 1, budget)?));
            }
            Node::Map(entries)
        }
        Value::Time(time) => Node::Text(json::rfc3339_nano(time)),
        Value::Object(object) => match object.data() {
            Some(data) => through_json(&data, depth + 1, budget)?,
            None if object.kind() == Kind::Func => {
                return Err(Error::Marshal(format!("json: unsupported type: {}", object.type_name())));
            }
            None => Node::Map(Vec::new()),
        },
    })
}

/// The error of a value that contains itself.
fn cyclic(value: &Value) -> Option<Error> {
    json::encode(value).err().map(Error::Marshal)
}

/// What JSON makes of bytes: each one that is not UTF-8 becomes U+FFFD.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| text.push('\u{fffd}'));
    }
    Cow::Owned(text)
}

/// A JSON number as go-yaml reads and writes it again.
fn reread_number(text: String) -> String {
    match resolve(None, &text) {
        Ok(Resolved::Int(n)) => n.to_string(),
        Ok(Resolved::Uint(n)) => n.to_string(),
        Ok(Resolved::Float(f)) => yaml_float(f, 64),
        _ => text,
    }
}

fn yaml_float(f: f64, bits: u8) -> String {
    match format_float(f, b'g', None, bits) {
        s if s == "+Inf" => ".inf".to_owned(),
        s if s == "-Inf" => "-.inf".to_owned(),
        s if s == "NaN" => ".nan".to_owned(),
        s => s,
    }
}

/// Go writes these into JSON as they are, and the YAML reader refuses them.
fn is_refused(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// A JSON string as the YAML reader understands it.
fn reread_string(text: &str) -> Result<Cow<'_, str>, Error> {
    if text.is_ascii() && !text.as_bytes().contains(&0x7f) {
        return Ok(Cow::Borrowed(text));
    }
    if text.chars().any(is_refused) {
        return Err(Error::Encode("yaml: control characters are not allowed".to_owned()));
    }
    // U+0085 is a line break, and line breaks in double quotes fold.
    if !text.contains('\u{85}') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split('\u{85}').peekable();
    let mut first = true;
    let mut breaks = 0;
    while let Some(line) = lines.next() {
        let last = lines.peek().is_none();
        let line = if first { line } else { line.trim_start_matches(' ') };
        let line = if last { line } else { line.trim_end_matches(' ') };
        if !first {
            breaks += 1;
        }
        if !first && (!line.is_empty() || last) {
            if breaks == 1 {
                out.push(' ');
            } else {
                (1..breaks).for_each(|_| out.push('\n'));
            }
            breaks = 0;
        }
        out.push_str(line);
        first = false;
    }
    Ok(Cow::Owned(out))
}

/// As [`reread_string`], with what the YAML reader wants of a key: one line, and the colon within 1,024 characters.
fn reread_key(text: &str) -> Result<String, Error> {
    if text.len() > 160 {
        let mut quoted = String::with_capacity(text.len() + 2);
        json::write_string(&mut quoted, text.as_bytes(), true);
        if quoted.chars().count() > 1024 {
            return Err(Error::Encode("yaml: did not find expected ',' or '}'".to_owned()));
        }
    }
    if text.contains('\u{85}') {
        return Err(Error::Encode("yaml: line 1: did not find expected ',' or '}'".to_owned()));
    }
    Ok(reread_string(text)?.into_owned())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    AsTheyAre,
    WholeAsIntegers,
}

/// A value as go-yaml's encoders take it, without the detour.
fn direct(value: &Value, depth: usize, numbers: Numbers, budget: &mut usize) -> Result<Node, Error> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    spend(budget, value, depth)?;
    Ok(match value {
        Value::Nil => Node::Literal("null".to_owned()),
        Value::Bool(b) => Node::Literal(b.to_string()),
        Value::Int(_, n) => Node::Literal(n.to_string()),
        Value::Uint(_, n) => Node::Literal(n.to_string()),
        Value::Float(kind, f) => {
            let bits = if *kind == Kind::Float32 { 32 } else { 64 };
            let whole = numbers == Numbers::WholeAsIntegers && f.fract() == 0.0;
            if whole && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(f) {
                Node::Literal((*f as i64).to_string())
            } else if whole && (0.0..18_446_744_073_709_551_616.0).contains(f) {
                Node::Literal((*f as u64).to_string())
            } else {
                Node::Literal(yaml_float(*f, bits))
            }
        }
        Value::Complex(..) => return Err(Error::Encode("cannot marshal type: complex128".to_owned())),
        Value::String(s) => direct_string(s),
        Value::List(list) => {
            Node::List(list.iter().map(|v| direct(v, depth + 1, numbers, budget)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => direct_map(map, depth, numbers, budget)?,
        Value::Time(time) => Node::Literal(json::rfc3339_nano(time)),
        Value::Duration(n) => Node::Text(go_value::format::duration(*n)),
        Value::Object(object) if object.members().is_some() && object.struct_fields().is_some() => {
            let mut entries = Vec::new();
            for (name, field) in object.struct_fields().unwrap_or_default() {
                if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                    entries.push((name.to_lowercase(), direct(&field, depth + 1, numbers, budget)?));
                }
            }
            Node::Fields(entries)
        }
        Value::Object(object) => match object.data() {
            Some(data) => direct(&data, depth + 1, numbers, budget)?,
            None if object.kind() == Kind::Func => {
                return Err(Error::Encode(format!("cannot marshal type: {}", object.type_name())));
            }
            None => Node::Map(Vec::new()),
        },
    })
}

fn direct_map(map: &Map, depth: usize, numbers: Numbers, budget: &mut usize) -> Result<Node, Error> {
    let mut entries = Vec::with_capacity(map.len());
    for (key, item) in map.entries() {
        entries.push((lossy(&key).into_owned(), direct(&item, depth + 1, numbers, budget)?));
    }
    Ok(Node::Map(entries))
}

fn direct_string(bytes: &[u8]) -> Node {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Node::Text(text.to_owned());
    }
    let list = Value::bytes(bytes);
    let text = json::encode(&list).unwrap_or_default();
    let text = text.trim_matches('"');
    if text.len() < 70 {
        return Node::Binary(text.to_owned());
    }
    // go-yaml breaks base64 into lines of 70, the last one included.
    let lines: Vec<&str> = (0..text.len()).step_by(70).map(|i| &text[i..text.len().min(i + 70)]).collect();
    Node::Binary(lines.join("\n") + "\n")
}
