//! Upper, lower and mixed case.
//!
//! Owns: Go's one-to-one case mappings, and the styles `snakecase`, `kebabcase`, `camelcase`, `swapcase`.
//! Upstream: Go's package `unicode`, github.com/huandu/xstrings v1.5.0, Masterminds/goutils.
//! The surprising thing: Go maps character by character, so `ß` has no upper case, unlike in Rust.

use std::sync::LazyLock;

use go_value::Value;
use go_value::quote::is_letter;
use regex::Regex;

use crate::args::{Outcome, from_runes, runes, text};

/// `unicode.ToUpper`
pub(crate) fn to_upper(c: char) -> char {
    match c {
        // The full mapping has two characters, the simple one has one.
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
            char::from_u32(c as u32 + 8).unwrap_or(c)
        }
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => char::from_u32(c as u32 + 9).unwrap_or(c),
        _ => {
            let mut mapped = c.to_uppercase();
            match (mapped.next(), mapped.next()) {
                (Some(upper), None) => upper,
                _ => c,
            }
        }
    }
}

/// `unicode.ToLower`
pub(crate) fn to_lower(c: char) -> char {
    if c == '\u{130}' {
        return 'i';
    }
    let mut mapped = c.to_lowercase();
    match (mapped.next(), mapped.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

/// `unicode.ToTitle`
pub(crate) fn to_title(c: char) -> char {
    match c {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => c,
        c => to_upper(c),
    }
}

/// What `strings.Title` takes for the end of a word.
pub(crate) fn is_separator(c: char) -> bool {
    if c.is_ascii() {
        return !(c.is_ascii_alphanumeric() || c == '_');
    }
    !is_letter(c) && !go_value::quote::is_digit(c) && c.is_whitespace()
}

fn is_upper(c: char) -> bool {
    c.is_uppercase() && is_letter(c)
}

fn is_lower(c: char) -> bool {
    c.is_lowercase() && is_letter(c)
}

fn is_punct(c: char) -> bool {
    static PUNCTUATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{P}$").ok());
    if c.is_ascii() {
        return c.is_ascii_punctuation() && !matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~');
    }
    PUNCTUATION.as_ref().is_some_and(|r| r.is_match(c.encode_utf8(&mut [0; 4])))
}

/// A letter that is not a Chinese, Japanese or Korean ideograph.
fn is_alphabet(c: char) -> bool {
    is_letter(c) && !matches!(c, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}')
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// `goutils.SwapCase`
pub(crate) fn swapcase(a: &[Value]) -> Outcome {
    let mut whitespace = true;
    let is_title = |c| matches!(c, '\u{1c5}' | '\u{1c8}' | '\u{1cb}' | '\u{1f2}' | '\u{1f88}'..='\u{1f8f}');
    let out = runes(text(a, 0)).into_iter().map(|c| {
        if is_upper(c) || is_title(c) {
            whitespace = false;
            to_lower(c)
        } else if is_lower(c) {
            let changed = if whitespace { to_title(c) } else { to_upper(c) };
            whitespace = false;
            changed
        } else {
            whitespace = c.is_whitespace();
            c
        }
    });
    Ok(from_runes(out.collect::<Vec<_>>()))
}

/// `xstrings.ToPascalCase`
pub(crate) fn camelcase(a: &[Value]) -> Outcome {
    let chars = runes(text(a, 0));
    let mut out = Vec::with_capacity(chars.len());
    let Some(start) = chars.iter().position(|c| !is_connector(*c)) else {
        // Only connectors: the last one is written twice upstream.
        out.extend(&chars);
        out.extend(chars.last());
        return Ok(from_runes(out));
    };
    out.extend(&chars[..start]);
    let mut first_is_upper = is_upper(chars[start]);
    let mut current = to_upper(chars[start]);
    for &next in &chars[start + 1..] {
        let previous = current;
        current = next;
        if is_connector(current) && is_connector(previous) {
            out.push(previous);
            continue;
        }
        if is_connector(previous) {
            first_is_upper = is_upper(current);
            current = to_upper(current);
        } else {
            if first_is_upper {
                if is_upper(current) {
                    current = to_lower(current);
                } else {
                    first_is_upper = false;
                }
            }
            out.push(previous);
        }
    }
    out.push(current);
    Ok(from_runes(out))
}

pub(crate) fn snakecase(a: &[Value]) -> Outcome {
    Ok(from_runes(words_to_lower(&runes(text(a, 0)), '_')))
}

pub(crate) fn kebabcase(a: &[Value]) -> Outcome {
    Ok(from_runes(words_to_lower(&runes(text(a, 0)), '-')))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// The end of the text.
    None,
    Number,
    UpperCase,
    Alphabet,
    Connector,
    Punct,
    Other,
}

/// The words of a text, one after another.
struct Words<'a> {
    rest: &'a [char],
}

impl<'a> Words<'a> {
    fn next(&mut self) -> (Word, &'a [char]) {
        let rest = self.rest;
        let Some(&first) = rest.first() else { return (Word::None, &[]) };
        let run =
            |from: usize, fits: &dyn Fn(char) -> bool| from + rest[from..].iter().take_while(|c| fits(**c)).count();
        let lower = |c: char| is_alphabet(c) && !is_upper(c);
        let (word, length) = if is_connector(first) {
            (Word::Connector, run(1, &is_connector))
        } else if is_punct(first) {
            (Word::Punct, run(1, &is_punct))
        } else if is_upper(first) {
            let length = match rest.get(1) {
                Some(&second) if is_upper(second) => {
                    let end = run(2, &is_upper);
                    // The last capital begins the next word.
                    if rest.get(end).is_some_and(|c| is_alphabet(*c)) { end - 1 } else { end }
                }
                Some(&second) if is_alphabet(second) => run(2, &lower),
                _ => 1,
            };
            (Word::UpperCase, length)
        } else if is_alphabet(first) {
            (Word::Alphabet, run(1, &lower))
        } else if first.is_numeric() {
            (Word::Number, run(1, &char::is_numeric))
        } else {
            let other = |c: char| !(is_connector(c) || is_alphabet(c) || c.is_numeric() || is_punct(c));
            (Word::Other, run(1, &other))
        };
        self.rest = &rest[length..];
        (word, &rest[..length])
    }
}

fn push_lower(out: &mut Vec<char>, word: Word, text: &[char], connector: char) {
    for &c in text {
        out.push(match word {
            Word::UpperCase | Word::Connector if is_connector(c) => connector,
            Word::UpperCase | Word::Connector if is_upper(c) => to_lower(c),
            _ => c,
        });
    }
}

/// `xstrings.camelCaseToLowerCase`
fn words_to_lower(text: &[char], connector: char) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut words = Words { rest: text };
    let (mut word, mut part) = words.next();
    let separates = |word: Word| !matches!(word, Word::Connector | Word::Punct);
    while !words.rest.is_empty() {
        if word != Word::Connector {
            push_lower(&mut out, word, part, connector);
        }
        let (previous, last) = (word, part);
        (word, part) = words.next();
        match previous {
            Word::Number => {
                while matches!(word, Word::Alphabet | Word::Number) {
                    push_lower(&mut out, word, part, connector);
                    (word, part) = words.next();
                }
                if word != Word::None && separates(word) {
                    out.push(connector);
                }
            }
            Word::Connector => push_lower(&mut out, previous, last, connector),
            Word::Punct => {}
            _ if word != Word::Number => {
                if separates(word) {
                    out.push(connector);
                }
            }
            _ if words.rest.is_empty() => {}
            _ => {
                let number = part;
                (word, part) = words.next();
                if word == Word::Alphabet {
                    out.push(connector);
                    push_lower(&mut out, Word::Number, number, connector);
                    while matches!(word, Word::Alphabet | Word::Number) {
                        push_lower(&mut out, word, part, connector);
                        (word, part) = words.next();
                    }
                    if word != Word::None && separates(word) {
                        out.push(connector);
                    }
                } else {
                    push_lower(&mut out, Word::Number, number, connector);
                    if separates(word) {
                        out.push(connector);
                    }
                }
            }
        }
    }
    push_lower(&mut out, word, part, connector);
    out
}
