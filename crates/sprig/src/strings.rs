//! Text functions.
//!
//! Owns: sprig's string family but for randomness and case styles ([`crate::case`]).
//! Upstream: sprig's `strings.go`, Masterminds/goutils, Go's package `strings`.
//! The surprising thing: lengths and positions are bytes, so `trunc` and `abbrev` can cut a character in two; `nospace`
//! and `initials` even take each byte for a character of its own.

use go_template::FuncError;
use go_value::limits::{MAX_TEXT, text_too_long};
use go_value::{List, Map, MapType, Str, Value, format};
use memchr::memmem;

use crate::args::{Outcome, any, cut, elements, from_runes, int, items_fit, repeat, runes, strslice, strval, text};

pub(crate) fn hello(_: &[Value]) -> Outcome {
    Ok("Hello!".into())
}

pub(crate) fn trim(a: &[Value]) -> Outcome {
    let chars = text(a, 0);
    Ok(Value::string(trim_where(chars, char::is_whitespace)))
}

fn trim_where(s: &[u8], mut cut: impl FnMut(char) -> bool) -> &[u8] {
    let mut rest = s;
    while !rest.is_empty() {
        let (c, size) = go_value::quote::decode_char(rest);
        if !cut(c) {
            break;
        }
        rest = &rest[size..];
    }
    while !rest.is_empty() {
        let (c, size) = go_value::quote::decode_last_char(rest);
        if !cut(c) {
            break;
        }
        rest = &rest[..rest.len() - size];
    }
    rest
}

/// `strings.Trim(b, a)`
pub(crate) fn trim_all(a: &[Value]) -> Outcome {
    let set = runes(text(a, 0));
    Ok(Value::string(trim_where(text(a, 1), |c| set.contains(&c))))
}

pub(crate) fn trim_suffix(a: &[Value]) -> Outcome {
    let s = text(a, 1);
    Ok(Value::string(s.strip_suffix(text(a, 0).as_bytes()).unwrap_or(s)))
}

pub(crate) fn trim_prefix(a: &[Value]) -> Outcome {
    let s = text(a, 1);
    Ok(Value::string(s.strip_prefix(text(a, 0).as_bytes()).unwrap_or(s)))
}

pub(crate) fn repeat_text(a: &[Value]) -> Outcome {
    Ok(Value::string(repeat(text(a, 1), int(a, 0))?))
}

/// `goutils.DeleteWhiteSpace`: byte by byte, so anything beyond ASCII is mangled once there is a blank to delete.
pub(crate) fn nospace(a: &[Value]) -> Outcome {
    let s = text(a, 0);
    let kept: String = s.iter().map(|b| char::from(*b)).filter(|c| !c.is_whitespace()).collect();
    if kept.chars().count() == s.len() {
        return Ok(Value::String(s.clone()));
    }
    Ok(kept.into())
}

/// `goutils.Initials`: byte by byte.
pub(crate) fn initials(a: &[Value]) -> Outcome {
    let mut gap = true;
    let mut out = String::new();
    for c in text(a, 0).iter().map(|b| char::from(*b)) {
        if c.is_whitespace() {
            gap = true;
        } else if gap {
            out.push(c);
            gap = false;
        }
    }
    Ok(out.into())
}

pub(crate) fn abbrev(a: &[Value]) -> Outcome {
    let (width, s) = (int(a, 0), text(a, 1));
    if width < 4 {
        return Ok(Value::String(s.clone()));
    }
    abbreviate(s, 0, width)
}

pub(crate) fn abbrevboth(a: &[Value]) -> Outcome {
    let (left, right, s) = (int(a, 0), int(a, 1), text(a, 2));
    if right < 4 || left > 0 && right < 7 {
        return Ok(Value::String(s.clone()));
    }
    abbreviate(s, left, right)
}

/// `goutils.AbbreviateFull`; its errors cannot happen here.
fn abbreviate(s: &[u8], mut offset: i64, width: i64) -> Outcome {
    let len = s.len() as i64;
    if len <= width {
        return Ok(Value::string(s));
    }
    offset = offset.min(len);
    // Go's numbers wrap around where an offset is far below zero.
    if len.wrapping_sub(offset) < width - 3 {
        offset = len - (width - 3);
    }
    let mut out = Vec::new();
    if offset <= 4 {
        out.extend_from_slice(cut(s, None, Some(width - 3))?);
        out.extend_from_slice(b"...");
        return Ok(Value::string(out));
    }
    if width < 7 {
        return Ok("".into());
    }
    out.extend_from_slice(b"...");
    if offset + width - 3 < len {
        let rest = cut(s, Some(offset), None)?;
        // A width below 4 is an error upstream, whose result is then empty.
        if width - 3 >= 4 {
            out.extend_from_slice(&strval(&abbreviate(rest, 0, width - 3)?));
        }
    } else {
        out.extend_from_slice(cut(s, Some(len - (width - 3)), None)?);
    }
    Ok(Value::string(out))
}

pub(crate) fn trunc(a: &[Value]) -> Outcome {
    let (c, s) = (int(a, 0), text(a, 1));
    let len = s.len() as i64;
    if c < 0 && len.saturating_add(c) > 0 {
        return Ok(Value::string(cut(s, Some(len + c), None)?));
    }
    if c >= 0 && len > c {
        return Ok(Value::string(cut(s, None, Some(c))?));
    }
    Ok(Value::String(s.clone()))
}

pub(crate) fn substr(a: &[Value]) -> Outcome {
    let (start, end, s) = (int(a, 0), int(a, 1), text(a, 2));
    let part = if start < 0 {
        cut(s, None, Some(end))?
    } else if end < 0 || end > s.len() as i64 {
        cut(s, Some(start), None)?
    } else {
        cut(s, Some(start), Some(end))?
    };
    Ok(Value::string(part))
}

pub(crate) fn wrap(a: &[Value]) -> Outcome {
    wrapped(text(a, 1), int(a, 0), b"\n", false)
}

pub(crate) fn wrap_with(a: &[Value]) -> Outcome {
    let line = text(a, 1);
    wrapped(text(a, 2), int(a, 0), if line.is_empty() { b"\n" } else { line }, true)
}

/// `goutils.WrapCustom`
fn wrapped(s: &[u8], width: i64, line: &[u8], long_words: bool) -> Outcome {
    let width = usize::try_from(width).unwrap_or(0).max(1);
    let mut out = Vec::with_capacity(s.len());
    let mut at = 0;
    while s.len() - at > width {
        if out.len() > MAX_TEXT {
            return Err(text_too_long().into());
        }
        if s[at] == b' ' {
            at += 1;
            continue;
        }
        let blank = s[at..=at + width].iter().rposition(|b| *b == b' ').map(|i| i + at);
        if blank.is_none() && long_words {
            out.extend_from_slice(&s[at..at + width]);
            out.extend_from_slice(line);
            at += width;
            continue;
        }
        let beyond = || s[at + width..].iter().position(|b| *b == b' ').map(|i| i + at + width);
        let Some(end) = blank.or_else(beyond) else { break };
        out.extend_from_slice(&s[at..end]);
        out.extend_from_slice(line);
        at = end + 1;
    }
    out.extend_from_slice(&s[at..]);
    Ok(Value::string(out))
}

pub(crate) fn contains(a: &[Value]) -> Outcome {
    Ok(memmem::find(text(a, 1), text(a, 0)).is_some().into())
}

pub(crate) fn has_prefix(a: &[Value]) -> Outcome {
    Ok(text(a, 1).starts_with(text(a, 0)).into())
}

pub(crate) fn has_suffix(a: &[Value]) -> Outcome {
    Ok(text(a, 1).ends_with(text(a, 0)).into())
}

fn joined(parts: impl IntoIterator<Item = impl AsRef<[u8]>>, separator: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, part) in parts.into_iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(part.as_ref());
    }
    out
}

pub(crate) fn quote(a: &[Value]) -> Outcome {
    let parts = a.iter().filter(|v| !v.is_nil()).map(|v| go_value::quote::quote(&strval(v)));
    Ok(Value::string(joined(parts, b" ")))
}

pub(crate) fn squote(a: &[Value]) -> Outcome {
    let parts = a.iter().filter(|v| !v.is_nil()).map(|v| {
        let mut part = b"'".to_vec();
        format::append(&mut part, v);
        part.push(b'\'');
        part
    });
    Ok(Value::string(joined(parts, b" ")))
}

pub(crate) fn cat(a: &[Value]) -> Outcome {
    let parts = a.iter().filter(|v| !v.is_nil()).map(|v| {
        let mut part = Vec::new();
        format::append(&mut part, v);
        part
    });
    Ok(Value::string(joined(parts, b" ")))
}

fn indented(spaces: i64, s: &[u8]) -> Result<Vec<u8>, FuncError> {
    let pad = repeat(b" ", spaces)?;
    let lines = 1 + memchr::memchr_iter(b'\n', s).count();
    if pad.len().saturating_mul(lines) > MAX_TEXT {
        return Err(text_too_long().into());
    }
    let mut out = Vec::with_capacity(s.len() + pad.len() * lines);
    for (i, line) in s.split(|b| *b == b'\n').enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&pad);
        out.extend_from_slice(line);
    }
    Ok(out)
}

pub(crate) fn indent(a: &[Value]) -> Outcome {
    Ok(Value::string(indented(int(a, 0), text(a, 1))?))
}

pub(crate) fn nindent(a: &[Value]) -> Outcome {
    let mut out = indented(int(a, 0), text(a, 1))?;
    out.insert(0, b'\n');
    Ok(Value::string(out))
}

pub(crate) fn replace(a: &[Value]) -> Outcome {
    let (old, new, s) = (text(a, 0), text(a, 1), text(a, 2));
    let places = if old.is_empty() { s.len() + 1 } else { s.len() / old.len() };
    if new.len() > old.len() && new.len().saturating_mul(places) > MAX_TEXT {
        // Only what might be too long is counted.
        let places = if old.is_empty() { places } else { s.windows(old.len()).filter(|w| *w == &old[..]).count() };
        if new.len().saturating_mul(places) > MAX_TEXT {
            return Err(text_too_long().into());
        }
    }
    let mut out = Vec::with_capacity(s.len());
    if old.is_empty() {
        // Between all characters, at the beginning and at the end.
        let mut rest: &[u8] = s;
        out.extend_from_slice(new);
        while !rest.is_empty() {
            let (_, size) = go_value::quote::decode_char(rest);
            out.extend_from_slice(&rest[..size]);
            out.extend_from_slice(new);
            rest = &rest[size..];
        }
        return Ok(Value::string(out));
    }
    let mut rest: &[u8] = s;
    while let Some(at) = memmem::find(rest, old) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(new);
        rest = &rest[at + old.len()..];
        if out.len() > MAX_TEXT {
            return Err(text_too_long().into());
        }
    }
    out.extend_from_slice(rest);
    Ok(Value::string(out))
}

pub(crate) fn plural(a: &[Value]) -> Outcome {
    Ok(Value::String(text(a, usize::from(int(a, 2) != 1)).clone()))
}

/// `strings.SplitN`; a negative limit is none.
pub(crate) fn split_n(separator: &[u8], s: &[u8], limit: i64) -> Result<Vec<Str>, FuncError> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut rest = s;
    if separator.is_empty() {
        while !rest.is_empty() && parts.len() + 1 < limit {
            items_fit(parts.len())?;
            let (_, size) = go_value::quote::decode_char(rest);
            parts.push(Str::from(&rest[..size]));
            rest = &rest[size..];
        }
        if !rest.is_empty() {
            parts.push(Str::from(rest));
        }
        return Ok(parts);
    }
    while parts.len() + 1 < limit
        && let Some(at) = memmem::find(rest, separator)
    {
        items_fit(parts.len())?;
        parts.push(Str::from(&rest[..at]));
        rest = &rest[at + separator.len()..];
    }
    parts.push(Str::from(rest));
    Ok(parts)
}

fn numbered(parts: Vec<Str>) -> Value {
    let entries = parts.into_iter().enumerate().map(|(i, part)| (Str::from(format!("_{i}")), Value::String(part)));
    Value::Map(Map::of(MapType::STRINGS, entries.collect()))
}

pub(crate) fn split(a: &[Value]) -> Outcome {
    Ok(numbered(split_n(text(a, 0), text(a, 1), -1)?))
}

pub(crate) fn splitn(a: &[Value]) -> Outcome {
    Ok(numbered(split_n(text(a, 0), text(a, 2), int(a, 1))?))
}

pub(crate) fn split_list(a: &[Value]) -> Outcome {
    Ok(Value::List(List::strings(split_n(text(a, 0), text(a, 1), -1)?)))
}

pub(crate) fn join(a: &[Value]) -> Outcome {
    let (parts, separator) = (strslice(any(a, 1)), text(a, 0));
    let length = parts.iter().fold(0, |n: usize, part| n.saturating_add(part.len() + separator.len()));
    if length > MAX_TEXT {
        return Err(text_too_long().into());
    }
    Ok(Value::string(joined(parts, separator)))
}

pub(crate) fn sort_alpha(a: &[Value]) -> Outcome {
    let list = any(a, 0);
    if elements(list).is_none() {
        return Ok(Value::List(List::strings([strval(list)])));
    }
    let mut parts = strslice(list);
    parts.sort();
    Ok(Value::List(List::strings(parts)))
}

pub(crate) fn to_strings(a: &[Value]) -> Outcome {
    Ok(Value::List(List::strings(strslice(any(a, 0)))))
}

pub(crate) fn to_string(a: &[Value]) -> Outcome {
    Ok(Value::String(strval(any(a, 0))))
}

pub(crate) fn upper(a: &[Value]) -> Outcome {
    mapped(text(a, 0), crate::case::to_upper)
}

pub(crate) fn lower(a: &[Value]) -> Outcome {
    mapped(text(a, 0), crate::case::to_lower)
}

fn mapped(s: &Str, change: fn(char) -> char) -> Outcome {
    if s.is_ascii() {
        return Ok(from_runes(s.iter().map(|b| change(char::from(*b)))));
    }
    Ok(from_runes(runes(s).into_iter().map(change)))
}

/// `strings.Title`
pub(crate) fn title(a: &[Value]) -> Outcome {
    let mut previous = ' ';
    let out = runes(text(a, 0)).into_iter().map(|c| {
        let begins = crate::case::is_separator(previous);
        previous = c;
        if begins { crate::case::to_title(c) } else { c }
    });
    Ok(from_runes(out.collect::<Vec<_>>()))
}

/// `goutils.Uncapitalize`: the first letter of each word.
pub(crate) fn untitle(a: &[Value]) -> Outcome {
    let mut next = true;
    let out = runes(text(a, 0)).into_iter().map(|c| {
        if c.is_whitespace() {
            next = true;
        } else if next {
            next = false;
            return crate::case::to_lower(c);
        }
        c
    });
    Ok(from_runes(out.collect::<Vec<_>>()))
}
