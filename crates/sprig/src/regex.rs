//! Regular expressions.
//!
//! Owns: sprig's regex family.
//! Does not own: the syntax ([`crate::re2`]).
//! Upstream: sprig's `regex.go`, Go's package `regexp`.
//! The surprising thing: a broken pattern is false for `regexMatch`, but a panic for the rest.

use std::sync::Arc;

use go_template::FuncError;
use go_value::limits::{MAX_TEXT, text_too_long};
use go_value::quote::{decode_char, is_digit, is_letter};
use go_value::{List, ListType, Str, Value};
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::{Match, PatternID};

use crate::args::{Outcome, int, items_fit, text};
use crate::re2::{compile, must_compile};

/// The two ways to compile: with the error of `must` functions, or with the panic of the others.
type Compile = fn(&[u8], usize) -> Result<Arc<Regex>, String>;

/// The matches, without empty ones inside of a character, which only the crate finds.
fn found<'s>(regex: &'s Regex, s: &'s [u8]) -> impl Iterator<Item = Match> + 's {
    let text = std::str::from_utf8(s).ok();
    regex.find_iter(s).filter(move |m| text.is_none_or(|t| t.is_char_boundary(m.start())))
}

/// The same matches, with their groups, which take longer to find.
fn captured<'s>(regex: &'s Regex, s: &'s [u8]) -> impl Iterator<Item = Captures> + 's {
    let text = std::str::from_utf8(s).ok();
    let fits = move |c: &Captures| c.get_match().is_some_and(|m| text.is_none_or(|t| t.is_char_boundary(m.start())));
    regex.captures_iter(s).filter(fits)
}

/// Does Go's `regexp` find the pattern in the text? Nothing if it is no pattern of Go's.
pub fn go_regexp_matches(pattern: &str, text: &str) -> Option<bool> {
    Some(compile(pattern.as_bytes(), text.len()).ok()?.is_match(text))
}

fn strings(parts: Vec<Str>) -> Value {
    Value::List(List::strings(parts))
}

pub(crate) fn matches(a: &[Value]) -> Outcome {
    let s = text(a, 1);
    Ok(compile(text(a, 0), s.len()).is_ok_and(|r| r.is_match(s)).into())
}

pub(crate) fn must_matches(a: &[Value]) -> Outcome {
    let s = text(a, 1);
    Ok(compile(text(a, 0), s.len()).map_err(FuncError::Text)?.is_match(s).into())
}

fn all(a: &[Value], compile: Compile) -> Outcome {
    let (s, limit) = (text(a, 1), usize::try_from(int(a, 2)).unwrap_or(usize::MAX));
    let regex = compile(text(a, 0), s.len())?;
    let mut found: Vec<Str> = Vec::new();
    for whole in self::found(&regex, s).take(limit) {
        items_fit(found.len())?;
        found.push(Str::from(&s[whole.range()]));
    }
    Ok(if found.is_empty() { Value::List(List::nil(ListType::STRINGS)) } else { strings(found) })
}

pub(crate) fn find_all(a: &[Value]) -> Outcome {
    all(a, must_compile)
}

pub(crate) fn must_find_all(a: &[Value]) -> Outcome {
    all(a, compile)
}

fn first(a: &[Value], compile: Compile) -> Outcome {
    let s = text(a, 1);
    let found = compile(text(a, 0), s.len())?.find(s).map(|m| s[m.range()].to_vec());
    Ok(Value::string(found.unwrap_or_default()))
}

pub(crate) fn find(a: &[Value]) -> Outcome {
    first(a, must_compile)
}

pub(crate) fn must_find(a: &[Value]) -> Outcome {
    first(a, compile)
}

fn replaced(a: &[Value], compile: Compile) -> Outcome {
    let (s, by) = (text(a, 1), text(a, 2));
    if !by.contains(&b'$') {
        return replaced_literally(a, compile);
    }
    let regex = compile(text(a, 0), s.len())?;
    replaced_by(s, captured(&regex, s), Captures::get_match, |captures, out| {
        expand(by, s, captures, &regex, out);
    })
}

fn replaced_literally(a: &[Value], compile: Compile) -> Outcome {
    let (s, by) = (text(a, 1), text(a, 2));
    let regex = compile(text(a, 0), s.len())?;
    replaced_by(s, found(&regex, s), |whole| Some(*whole), |_, out| out.extend_from_slice(by))
}

/// `regexp.Regexp.expand`: a replacement, with the groups that it names.
fn expand(mut by: &[u8], s: &[u8], captures: &Captures, regex: &Regex, out: &mut Vec<u8>) {
    while let Some(at) = by.iter().position(|b| *b == b'$') {
        out.extend_from_slice(&by[..at]);
        by = &by[at + 1..];
        if let Some(rest) = by.strip_prefix(b"$") {
            out.push(b'$');
            by = rest;
            continue;
        }
        let Some((name, rest)) = group_name(by) else {
            // Not well formed, so it stands for itself.
            out.push(b'$');
            continue;
        };
        by = rest;
        let group = group_number(name).or_else(|| regex.group_info().to_index(PatternID::ZERO, name));
        if let Some(span) = group.and_then(|group| captures.get_group(group)) {
            out.extend_from_slice(&s[span.range()]);
        }
    }
    out.extend_from_slice(by);
}

/// `regexp.extract`: the name behind a `$`, in braces or not, and what follows.
fn group_name(text: &[u8]) -> Option<(&str, &[u8])> {
    let (braced, text) = match text.strip_prefix(b"{") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut end = 0;
    while end < text.len() {
        let (c, width) = decode_char(&text[end..]);
        if !(is_letter(c) || is_digit(c) || c == '_') {
            break;
        }
        end += width;
    }
    let name = std::str::from_utf8(&text[..end]).ok().filter(|name| !name.is_empty())?;
    let rest = &text[end..];
    if braced { Some((name, rest.strip_prefix(b"}")?)) } else { Some((name, rest)) }
}

/// The number that a name is; one with zeros before it is none.
fn group_number(name: &str) -> Option<usize> {
    let digits = name.bytes().all(|b| b.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if digits { name.parse().ok().filter(|number| *number <= 1_000_000_000) } else { None }
}

/// The text with something else in the place of each match.
fn replaced_by<M>(
    s: &[u8],
    matches: impl Iterator<Item = M>,
    whole: impl Fn(&M) -> Option<Match>,
    mut write: impl FnMut(&M, &mut Vec<u8>),
) -> Outcome {
    let mut out = Vec::with_capacity(s.len());
    let mut at = 0;
    for found in matches {
        let Some(whole) = whole(&found) else { continue };
        out.extend_from_slice(&s[at..whole.start()]);
        write(&found, &mut out);
        at = whole.end();
        if out.len() > MAX_TEXT {
            return Err(text_too_long().into());
        }
    }
    out.extend_from_slice(&s[at..]);
    Ok(Value::string(out))
}

pub(crate) fn replace_all(a: &[Value]) -> Outcome {
    replaced(a, must_compile)
}

pub(crate) fn must_replace_all(a: &[Value]) -> Outcome {
    replaced(a, compile)
}

pub(crate) fn replace_all_literal(a: &[Value]) -> Outcome {
    replaced_literally(a, must_compile)
}

pub(crate) fn must_replace_all_literal(a: &[Value]) -> Outcome {
    replaced_literally(a, compile)
}

/// `regexp.Regexp.Split`
fn parts(a: &[Value], compile: Compile) -> Outcome {
    let (s, n) = (text(a, 1), int(a, 2));
    let regex = compile(text(a, 0), s.len())?;
    if n == 0 {
        return Ok(Value::List(List::nil(ListType::STRINGS)));
    }
    if !text(a, 0).is_empty() && s.is_empty() {
        return Ok(strings(vec![Str::default()]));
    }
    let limit = usize::try_from(n).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for m in found(&regex, s).take(limit) {
        if parts.len() + 1 == limit {
            break;
        }
        end = m.start();
        if m.end() != 0 {
            items_fit(parts.len())?;
            parts.push(Str::from(&s[begin..end]));
        }
        begin = m.end();
    }
    if end != s.len() {
        parts.push(Str::from(&s[begin..]));
    }
    Ok(strings(parts))
}

pub(crate) fn split(a: &[Value]) -> Outcome {
    parts(a, must_compile)
}

pub(crate) fn must_split(a: &[Value]) -> Outcome {
    parts(a, compile)
}

/// `regexp.QuoteMeta`
pub(crate) fn quote_meta(a: &[Value]) -> Outcome {
    let mut out = Vec::new();
    for b in text(a, 0).iter() {
        if br"\.+*?()|[]{}^$".contains(b) {
            out.push(b'\\');
        }
        out.push(*b);
    }
    Ok(Value::string(out))
}
