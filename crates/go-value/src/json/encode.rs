//! `json.Marshal`.
//!
//! Owns: the text of each kind of value, cycles, what JSON cannot hold. Does not own: reading it (`decode`).
//! Upstream: `encode.go` and `indent.go` of `encoding/json`.
//! The surprising thing: cycles are looked for only a thousand levels deep, as in Go.

use std::fmt::Write as _;

use crate::float::format_float;
use crate::kind::{Kind, ListType};
use crate::limits::{MAX_TEXT, text_too_long};
use crate::list::List;
use crate::map::Map;
use crate::object::Object;
use crate::value::Value;

/// How to write JSON.
#[derive(Clone, Copy, Debug)]
pub struct Style<'a> {
    /// Write `<`, `>` and `&` as `\u003c` and so on, as `json.Marshal` does.
    pub escape_html: bool,
    /// Prefix and indent of `json.MarshalIndent`; `None` for compact text.
    pub indent: Option<(&'a str, &'a str)>,
}

impl Style<'_> {
    /// `json.Marshal`
    pub const COMPACT: Self = Self { escape_html: true, indent: None };
    /// An encoder with `SetEscapeHTML(false)`
    pub const RAW: Self = Self { escape_html: false, indent: None };
    /// `json.MarshalIndent(v, "", "  ")`
    pub const PRETTY: Self = Self { escape_html: true, indent: Some(("", "  ")) };
}

/// `json.Marshal(value)`.
///
/// # Errors
/// The text of Go's error, e.g. `json: unsupported value: +Inf`.
pub fn encode(value: &Value) -> Result<String, String> {
    encode_with(value, Style::COMPACT)
}

/// `json.Marshal(value)` in another style.
///
/// # Errors
/// The text of Go's error, e.g. `json: unsupported value: +Inf`.
pub fn encode_with(value: &Value, style: Style<'_>) -> Result<String, String> {
    let mut encoder = Encoder { out: String::with_capacity(128), style, depth: 0, objects: 0, seen: Vec::new() };
    encoder.value(value)?;
    Ok(encoder.out)
}

/// From this depth on Go looks for cycles.
const CYCLE_CHECK_DEPTH: usize = 1000;

struct Encoder<'a> {
    out: String,
    style: Style<'a>,
    depth: usize,
    /// How many objects are around; they indent nothing by themselves.
    objects: usize,
    seen: Vec<usize>,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value) -> Result<(), String> {
        if self.out.len() > MAX_TEXT {
            return Err(format!("json: {}", text_too_long()));
        }
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Bool(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Value::Int(_, n) | Value::Duration(n) => {
                let _ = write!(self.out, "{n}");
            }
            Value::Uint(_, n) => {
                let _ = write!(self.out, "{n}");
            }
            Value::Float(kind, f) => {
                self.out.push_str(&float(*f, if *kind == Kind::Float32 { 32 } else { 64 })?);
            }
            Value::Complex(..) => return Err("json: unsupported type: complex128".to_owned()),
            Value::String(s) => write_string(&mut self.out, s, self.style.escape_html),
            Value::List(list) => self.list(list)?,
            Value::Map(map) => self.map(map)?,
            Value::Time(time) => {
                let _ = write!(self.out, "\"{}\"", rfc3339_nano(time));
            }
            Value::Object(object) => {
                self.objects += 1;
                if self.objects > 2 * CYCLE_CHECK_DEPTH {
                    return Err(cycle(object.type_name()));
                }
                self.object(&**object)?;
                self.objects -= 1;
            }
        }
        Ok(())
    }

    fn object(&mut self, object: &dyn Object) -> Result<(), String> {
        if let Some(members) = object.members().filter(|members| !members.is_empty()) {
            self.out.push('{');
            self.enter(None, object.type_name())?;
            for (i, (name, value)) in members.iter().enumerate() {
                self.member(i, name.as_bytes(), value)?;
            }
            self.leave(None);
            self.out.push('}');
            return Ok(());
        }
        match object.data() {
            Some(data) => self.value(&data),
            None if object.kind() == Kind::Func => Err(format!("json: unsupported type: {}", object.type_name())),
            None => {
                self.out.push_str("{}");
                Ok(())
            }
        }
    }

    fn member(&mut self, index: usize, name: &[u8], value: &Value) -> Result<(), String> {
        self.separate(index);
        write_string(&mut self.out, name, self.style.escape_html);
        self.out.push_str(if self.style.indent.is_some() { ": " } else { ":" });
        self.value(value)
    }

    fn list(&mut self, list: &List) -> Result<(), String> {
        if list.nil {
            self.out.push_str("null");
        } else if list.ty == ListType::BYTES {
            self.out.push('"');
            push_base64(&mut self.out, &list.to_bytes());
            self.out.push('"');
        } else if list.is_empty() {
            self.out.push_str("[]");
        } else {
            self.out.push('[');
            self.enter(None, list.ty.name)?;
            for (i, item) in list.iter().enumerate() {
                self.separate(i);
                self.value(item)?;
            }
            self.leave(None);
            self.out.push(']');
        }
        Ok(())
    }

    fn map(&mut self, map: &Map) -> Result<(), String> {
        let entries = map.entries();
        if entries.is_empty() {
            self.out.push_str(if map.nil { "null" } else { "{}" });
            return Ok(());
        }
        self.out.push('{');
        self.enter(Some(map.address()), map.ty.name)?;
        for (i, (key, item)) in entries.iter().enumerate() {
            self.member(i, key, item)?;
        }
        self.leave(Some(map.address()));
        self.out.push('}');
        Ok(())
    }

    fn enter(&mut self, address: Option<usize>, type_name: &str) -> Result<(), String> {
        self.depth += 1;
        if self.depth > CYCLE_CHECK_DEPTH
            && let Some(address) = address
        {
            if self.seen.contains(&address) {
                return Err(cycle(type_name));
            }
            self.seen.push(address);
        }
        Ok(())
    }

    fn leave(&mut self, address: Option<usize>) {
        if self.depth > CYCLE_CHECK_DEPTH && address.is_some() {
            self.seen.pop();
        }
        self.depth -= 1;
        self.line();
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
        self.line();
    }

    fn line(&mut self) {
        if let Some((prefix, indent)) = self.style.indent {
            self.out.push('\n');
            self.out.push_str(prefix);
            (0..self.depth).for_each(|_| self.out.push_str(indent));
        }
    }
}

fn cycle(type_name: &str) -> String {
    format!("json: unsupported value: encountered a cycle via {type_name}")
}

fn push_base64(out: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let six = (n >> (18 - 6 * i)) as usize & 63;
            out.push(if i <= chunk.len() { char::from(ALPHABET[six]) } else { '=' });
        }
    }
}

/// A float as `encoding/json` writes it: like JavaScript, with an exponent only below 1e-6 and from 1e21 on.
///
/// # Errors
/// Infinities and NaN have no JSON text.
pub fn float(f: f64, bits: u8) -> Result<String, String> {
    if !f.is_finite() {
        return Err(format!("json: unsupported value: {}", format_float(f, b'g', None, bits)));
    }
    let size = f.abs();
    let (low, high) = if bits == 32 { (f64::from(1e-6_f32), f64::from(1e21_f32)) } else { (1e-6, 1e21) };
    if size == 0.0 || (low..high).contains(&size) {
        return Ok(format_float(f, b'f', None, bits));
    }
    let mut text = format_float(f, b'e', None, bits);
    // e-09 becomes e-9
    let n = text.len();
    if n >= 4 && text[..n - 1].ends_with("e-0") {
        text.remove(n - 2);
    }
    Ok(text)
}

/// A time as Go's layout `time.RFC3339Nano` shows it.
pub fn rfc3339_nano(time: &jiff::Zoned) -> String {
    let mut out = time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let nanos = time.subsec_nanosecond();
    if nanos != 0 {
        let fraction = format!("{nanos:09}");
        out.push('.');
        out.push_str(fraction.trim_end_matches('0'));
    }
    let minutes = time.offset().seconds() / 60;
    if minutes == 0 {
        out.push('Z');
    } else {
        let sign = if minutes < 0 { '-' } else { '+' };
        let _ = write!(out, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60);
    }
    out
}

/// Append `bytes` as a JSON string.
pub fn write_string(out: &mut String, bytes: &[u8], escape_html: bool) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        let mut start = 0;
        for (i, c) in text.char_indices() {
            let escape = match c {
                '"' | '\\' => true,
                '<' | '>' | '&' => escape_html,
                '\u{2028}' | '\u{2029}' => true,
                c => (c as u32) < 0x20,
            };
            if !escape {
                continue;
            }
            out.push_str(&text[start..i]);
            start = i + c.len_utf8();
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c => {
                    let _ = write!(out, "\\u{:04x}", c as u32);
                }
            }
        }
        out.push_str(&text[start..]);
        chunk.invalid().iter().for_each(|_| out.push_str("\\ufffd"));
    }
    out.push('"');
}
