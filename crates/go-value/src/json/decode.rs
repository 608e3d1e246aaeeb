//! `json.Unmarshal` into values.
//!
//! Owns: the grammar, the texts of its errors, numbers as `float64`. Does not own: writing (`encode`).
//! Upstream: `scanner.go` and `decode.go` of `encoding/json`.
//! The surprising thing: a text that ends within a token is blamed on a space that is not there.

use crate::entries::Entries;
use crate::kind::{ListType, MapType};
use crate::limits::{MAX_ITEMS, too_many_items};
use crate::list::List;
use crate::map::Map;
use crate::text::Str;
use crate::value::Value;

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
