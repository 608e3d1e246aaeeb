//! JSON text of values and back, as Go's `encoding/json` does it.
//!
//! Owns: encoding (compact, indented, with or without HTML escapes) and decoding with Go's error texts.
//! Does not own: decoding into types; whoever needs that uses `serde_json`.
//! Upstream: Go's package `encoding/json` (version 1).
//! The surprising thing: bytes that are not UTF-8 become U+FFFD one by one, a `[]uint8` becomes base64 text, and `<`,
//! `>`, `&`, U+2028 and U+2029 are escaped unless asked otherwise (the last two always).

use std::fmt::Write as _;

use crate::entries::Entries;
use crate::float::format_float;
use crate::kind::{Kind, ListType, MapType};
use crate::limits::{MAX_ITEMS, MAX_TEXT, text_too_long, too_many_items};
use crate::list::List;
use crate::map::Map;
use crate::object::Object;
use crate::text::Str;
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

/// How deep JSON may nest here. Go stops at 10,000; no document that a cluster takes comes near either.
pub const MAX_DEPTH: usize = 1000;

/// `json.Unmarshal` into an `interface{}`: numbers become `float64`.
///
/// # Errors
/// The text of Go's error, e.g. `invalid character 'x' looking for beginning of value`.
pub fn decode(text: &[u8]) -> Result<Value, String> {
    let mut decoder = Decoder { text, at: 0, depth: 0, count: 0, deferred: None };
    let value = decoder.element()?;
    if let Some(c) = decoder.skip_space() {
        return Err(invalid(c, "after top-level value"));
    }
    // Go checks the syntax of the whole text before it looks at any number.
    match decoder.deferred {
        Some(error) => Err(error),
        None => Ok(value),
    }
}

/// `json.Unmarshal` into a `map[string]interface{}`; `None` for `null`.
///
/// # Errors
/// As [`decode`], and `json: cannot unmarshal array into Go value of type map[string]interface {}`.
pub fn decode_map(text: &[u8]) -> Result<Option<Map>, String> {
    match decode(text)? {
        Value::Map(m) => Ok(Some(m)),
        Value::Nil => Ok(None),
        other => Err(mismatch(&other, MapType::ANY.name)),
    }
}

/// `json.Unmarshal` into a `[]interface{}`; `None` for `null`.
///
/// # Errors
/// As [`decode`], and `json: cannot unmarshal object into Go value of type []interface {}`.
pub fn decode_list(text: &[u8]) -> Result<Option<List>, String> {
    match decode(text)? {
        Value::List(l) => Ok(Some(l)),
        Value::Nil => Ok(None),
        other => Err(mismatch(&other, ListType::ANY.name)),
    }
}

/// Go's text for a JSON value that does not fit a Go type.
pub fn mismatch(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Map(_) => "object",
        Value::List(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Nil => "null",
        _ => "number",
    };
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

fn invalid(c: u8, context: &str) -> String {
    let shown = match c {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        c if c < 0x20 || c == 0x7f => format!("\\x{c:02x}"),
        c if (0x80..=0xa0).contains(&c) || c == 0xad => format!("\\u{c:04x}"),
        c => char::from(c).to_string(),
    };
    format!("invalid character '{shown}' {context}")
}

fn end() -> String {
    "unexpected end of JSON input".to_owned()
}

/// The text ends within a token. Go hands its scanner one more space then, and complains about that.
fn cut(context: &str) -> String {
    invalid(b' ', context)
}

struct Decoder<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    count: usize,
    deferred: Option<String>,
}

impl Decoder<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) -> Option<u8> {
        while let Some(c) = self.peek() {
            if !matches!(c, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(c);
            }
            self.at += 1;
        }
        None
    }

    fn element(&mut self) -> Result<Value, String> {
        self.count += 1;
        if self.count > MAX_ITEMS {
            return Err(format!("json: {}", too_many_items()));
        }
        let c = self.skip_space().ok_or_else(end)?;
        match c {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'"' => {
                self.at += 1;
                Ok(Value::String(self.string()?))
            }
            b't' => self.literal("true", Value::Bool(true)),
            b'f' => self.literal("false", Value::Bool(false)),
            b'n' => self.literal("null", Value::Nil),
            b'-' | b'0'..=b'9' => self.number(),
            c => Err(invalid(c, "looking for beginning of value")),
        }
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut entries = Entries::new();
        let mut c = self.skip_space().ok_or_else(end)?;
        if c == b'}' {
            self.at += 1;
            return Ok(Value::Map(Map::new()));
        }
        loop {
            if c != b'"' {
                return Err(invalid(c, "looking for beginning of object key string"));
            }
            self.at += 1;
            let key = self.string()?;
            match self.skip_space().ok_or_else(end)? {
                b':' => self.at += 1,
                c => return Err(invalid(c, "after object key")),
            }
            let value = self.element()?;
            entries.insert(key, value);
            match self.skip_space().ok_or_else(end)? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Value::Map(Map::of(MapType::ANY, entries)));
                }
                c => return Err(invalid(c, "after object key:value pair")),
            }
            c = self.skip_space().ok_or_else(end)?;
        }
    }

    fn array(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        if self.skip_space().ok_or_else(end)? == b']' {
            self.at += 1;
            return Ok(Value::List(List::any(items)));
        }
        loop {
            items.push(self.element()?);
            match self.skip_space().ok_or_else(end)? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Value::List(List::any(items)));
                }
                c => return Err(invalid(c, "after array element")),
            }
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, String> {
        for want in word.bytes() {
            let c = self.peek().unwrap_or(b' ');
            if c != want {
                return Err(invalid(c, &format!("in literal {word} (expecting '{}')", char::from(want))));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        let c = self.peek().ok_or_else(|| cut(context))?;
        if !c.is_ascii_digit() {
            return Err(invalid(c, context));
        }
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        let f = text.parse::<f64>().unwrap_or(f64::INFINITY);
        if f.is_infinite() && self.deferred.is_none() {
            self.deferred = Some(format!("json: cannot unmarshal number {text} into Go value of type float64"));
        }
        Ok(if f.is_infinite() { Value::Nil } else { Value::float(f) })
    }

    /// A string whose opening quote has been read.
    fn string(&mut self) -> Result<Str, String> {
        let start = self.at;
        // Most strings have no escapes and are ASCII: one copy.
        while let Some(c) = self.peek() {
            match c {
                b'"' => {
                    let text = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Str::from(text));
                }
                b'\\' | 0..0x20 | 0x80.. => break,
                _ => self.at += 1,
            }
        }
        let mut out = self.text[start..self.at].to_vec();
        loop {
            let c = self.peek().ok_or_else(end)?;
            match c {
                b'"' => {
                    self.at += 1;
                    return Ok(Str::from(out));
                }
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                0..0x20 => return Err(invalid(c, "in string literal")),
                0x80.. => self.wide(&mut out),
                _ => {
                    out.push(c);
                    self.at += 1;
                }
            }
        }
    }

    /// One character beyond ASCII, or U+FFFD for a byte that is not UTF-8.
    fn wide(&mut self, out: &mut Vec<u8>) {
        let rest = &self.text[self.at..self.text.len().min(self.at + 4)];
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(e) => std::str::from_utf8(&rest[..e.valid_up_to()]).unwrap_or_default(),
        };
        if let Some(c) = valid.chars().next() {
            out.extend_from_slice(&rest[..c.len_utf8()]);
            self.at += c.len_utf8();
        } else {
            out.extend_from_slice("\u{fffd}".as_bytes());
            self.at += 1;
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let c = self.peek().ok_or_else(|| cut("in string escape code"))?;
        self.at += 1;
        out.push(match c {
            b'"' | b'\\' | b'/' => c,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    let before = self.at;
                    self.at += 2;
                    let low = self.hex()?;
                    if (0xdc00..0xe000).contains(&low) {
                        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
                    } else {
                        self.at = before;
                    }
                }
                let c = char::from_u32(code).unwrap_or('\u{fffd}');
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            c => return Err(invalid(c, "in string escape code")),
        });
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let c = self.peek().unwrap_or(b' ');
            let digit = char::from(c).to_digit(16).ok_or_else(|| invalid(c, "in \\u hexadecimal character escape"))?;
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        decode(text.as_bytes()).and_then(|v| encode(&v)).unwrap_or_else(|e| format!("! {e}"))
    }

    #[test]
    fn encodes_as_go_does() {
        assert_eq!(
            round(r#"{"b":1,"a":[true,null,"<&>\u2028é\ud83d\ude00\ud800"],"":{}}"#),
            "{\"\":{},\"a\":[true,null,\"\\u003c\\u0026\\u003e\\u2028é😀\u{fffd}\"],\"b\":1}"
        );
        assert_eq!(
            round("[1e21,1e20,1e-7,123456789,0.000001,-0]"),
            "[1e+21,100000000000000000000,1e-7,123456789,0.000001,-0]"
        );
        assert_eq!(encode(&Value::float(f64::INFINITY)).unwrap_err(), "json: unsupported value: +Inf");
        assert_eq!(encode(&Value::bytes(b"hello")).unwrap(), "\"aGVsbG8=\"");
        assert_eq!(encode(&Value::List(List::nil(ListType::ANY))).unwrap(), "null");
        assert_eq!(encode(&Value::string(&b"a\xff\x01"[..])).unwrap(), "\"a\\ufffd\\u0001\"");
        let v = decode(b"{\"a\":[1,{}],\"b\":[]}").unwrap();
        assert_eq!(encode_with(&v, Style::PRETTY).unwrap(), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
        let loops = Map::new();
        loops.insert("a", Value::Map(loops.clone()));
        assert_eq!(
            encode(&Value::Map(loops)).unwrap_err(),
            "json: unsupported value: encountered a cycle via map[string]interface {}"
        );
    }

    #[test]
    fn syntax_errors_are_gos() {
        for (text, want) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("\"a", "unexpected end of JSON input"),
            ("1,", "invalid character ',' after top-level value"),
            ("tru", "invalid character ' ' in literal true (expecting 'e')"),
            ("-", "invalid character ' ' in numeric literal"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1e+", "invalid character ' ' in exponent of numeric literal"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("\"\\u1", "invalid character ' ' in \\u hexadecimal character escape"),
            ("{a", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"", "invalid character '\"' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("1 x", "invalid character 'x' after top-level value"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
        ] {
            assert_eq!(decode(text.as_bytes()).unwrap_err(), want, "{text}");
        }
        assert_eq!(
            decode_list(b"{}").unwrap_err(),
            "json: cannot unmarshal object into Go value of type []interface {}"
        );
    }
}
