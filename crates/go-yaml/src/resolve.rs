//! What a scalar means.
//!
//! Owns: the type of plain scalars by their text (YAML 1.1 as go-yaml understands it) and the standard tags.
//! Does not own: quoting decisions beyond [`looks_typed`] ([`crate::emit`]).
//! Upstream: `resolve.go` in go-yaml v2 (reading) and v3 (where it differs for writing).
//! The surprising thing: `y`, `n`, `on`, `off` are booleans, `0777` is octal, `08` is the float 8, `1_000` is a number,
//! and `1e1000` is a string because it does not fit a float.

use go_value::float::{parse_float, parse_int, parse_uint};

use crate::timestamp::is_timestamp;

const TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// A resolved scalar. Texts are left to the caller, who has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    /// The text as it is.
    Text,
    /// A date or time; its value is the text.
    Timestamp,
    /// Base64 of the value.
    Binary,
}

impl Resolved {
    const fn tag(self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Bool(_) => "!!bool",
            Self::Int(_) | Self::Uint(_) => "!!int",
            Self::Float(_) => "!!float",
            Self::Text => "!!str",
            Self::Timestamp => "!!timestamp",
            Self::Binary => "!!binary",
        }
    }
}

/// Which generation of go-yaml decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    V2,
    V3,
}

/// The meaning of a scalar with a tag (the long form, as the parser gives it) or plain without one.
pub(crate) fn resolve(tag: Option<&str>, text: &str) -> Result<Resolved, String> {
    let Some(long) = tag.filter(|t| !t.is_empty()) else {
        return Ok(plain(text, Dialect::V2, true));
    };
    let Some(name) = long.strip_prefix(TAG_PREFIX) else {
        return Ok(Resolved::Text);
    };
    let found = match name {
        "str" => return Ok(Resolved::Text),
        "binary" => return Ok(Resolved::Binary),
        "bool" | "int" | "float" | "null" => plain(text, Dialect::V2, false),
        "timestamp" => plain(text, Dialect::V2, true),
        _ => return Ok(Resolved::Text),
    };
    match (name, found) {
        ("float", Resolved::Int(n)) => Ok(Resolved::Float(n as f64)),
        (name, found) if found.tag().strip_prefix("!!") == Some(name) => Ok(found),
        (name, found) => Err(format!("yaml: cannot decode {} `{text}` as a !!{name}", found.tag())),
    }
}

/// Would this text, written plain, be read as something other than itself?
pub(crate) fn looks_typed(text: &str, dialect: Dialect) -> bool {
    plain(text, dialect, true) != Resolved::Text
}

/// The meaning of a plain scalar.
fn plain(text: &str, dialect: Dialect, timestamps: bool) -> Resolved {
    let Some(first) = text.bytes().next() else {
        return Resolved::Null;
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text, dialect),
        b'.' => match text {
            ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" => Resolved::Float(f64::INFINITY),
            _ => parse_float(text.as_bytes()).map_or(Resolved::Text, Resolved::Float),
        },
        b'+' | b'-' | b'0'..=b'9' => number(text, dialect, timestamps),
        // The table of words has `<<` too, but its first letter is not one that go-yaml looks at.
        _ => Resolved::Text,
    }
}

fn word(text: &str, dialect: Dialect) -> Resolved {
    const LONGEST: usize = "false".len();
    match text {
        _ if text.len() > LONGEST => Resolved::Text,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" if dialect == Dialect::V2 => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" if dialect == Dialect::V2 => Resolved::Bool(false),
        _ => Resolved::Text,
    }
}

fn number(text: &str, dialect: Dialect, timestamps: bool) -> Resolved {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if timestamps && is_timestamp(text) {
        return Resolved::Timestamp;
    }
    let without;
    let digits = if text.contains('_') {
        without = text.replace('_', "");
        without.as_str()
    } else {
        text
    };
    let bytes = digits.as_bytes();
    let integer = |bytes: &[u8], base| {
        parse_int(bytes, base, 64).map(Resolved::Int).or_else(|_| parse_uint(bytes, base, 64).map(Resolved::Uint))
    };
    if let Ok(n) = integer(bytes, 0) {
        return n;
    }
    if is_float(bytes)
        && let Ok(f) = parse_float(bytes)
    {
        return Resolved::Float(f);
    }
    // What is left of prefixed numbers: a sign behind the prefix.
    let bases: &[(&str, u32)] = if dialect == Dialect::V3 { &[("0b", 2), ("0o", 8)] } else { &[("0b", 2)] };
    for (prefix, base) in bases {
        if let Some(rest) = digits.strip_prefix(prefix) {
            return integer(rest.as_bytes(), *base).unwrap_or(Resolved::Text);
        }
        if let Some(rest) = digits.strip_prefix('-').and_then(|d| d.strip_prefix(prefix)) {
            let negative = format!("-{rest}");
            return parse_int(negative.as_bytes(), *base, 64).map_or(Resolved::Text, Resolved::Int);
        }
    }
    Resolved::Text
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(bytes: &[u8]) -> bool {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut i = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if bytes.get(i) == Some(&b'.') {
        let n = digits(i + 1);
        if n == 0 {
            return false;
        }
        i += 1 + n;
    } else {
        let n = digits(i);
        if n == 0 {
            return false;
        }
        i += n;
        if bytes.get(i) == Some(&b'.') {
            i += 1;
            i += digits(i);
        }
    }
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        i += 1;
        i += usize::from(matches!(bytes.get(i), Some(b'+' | b'-')));
        let n = digits(i);
        if n == 0 {
            return false;
        }
        i += n;
    }
    i == bytes.len()
}

/// `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`: base 60 as in YAML 1.1, which is never read but always quoted.
pub(crate) fn is_base60(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut i = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if !bytes.get(i).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    while bytes.get(i).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
        i += 1;
    }
    let mut groups = 0;
    while bytes.get(i) == Some(&b':') {
        let Some(first) = bytes.get(i + 1).filter(|b| b.is_ascii_digit()) else {
            return false;
        };
        let two = *first <= b'5' && bytes.get(i + 2).is_some_and(u8::is_ascii_digit);
        i += if two { 3 } else { 2 };
        groups += 1;
    }
    if bytes.get(i) == Some(&b'.') {
        i += 1;
        while bytes.get(i).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            i += 1;
        }
    }
    groups > 0 && i == bytes.len()
}

/// Words that are booleans in YAML 1.1 only; go-yaml v3 quotes them although it reads them as text.
pub(crate) fn is_old_bool(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars() {
        let v2 = |t: &str| resolve(None, t).unwrap();
        assert_eq!(v2("0777"), Resolved::Int(511));
        assert_eq!(v2("08"), Resolved::Float(8.0));
        assert_eq!(v2("1e1000"), Resolved::Text);
        assert_eq!(v2("on"), Resolved::Bool(true));
        assert_eq!(v2("1:30"), Resolved::Text);
        assert_eq!(v2("18446744073709551615"), Resolved::Uint(u64::MAX));
        assert_eq!(v2("2001-12-14"), Resolved::Timestamp);
        assert_eq!(v2("0b-1"), Resolved::Int(-1));
        assert!(is_base60("1:30") && !is_base60("1:70") && is_base60("190:20:30.15"));
        let e = resolve(Some("tag:yaml.org,2002:int"), "x").unwrap_err();
        assert_eq!(e, "yaml: cannot decode !!str `x` as a !!int");
    }
}
