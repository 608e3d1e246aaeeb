//! Reads the YAML that charts are mostly made of, in one pass and without tokens.
//!
//! Owns: block mappings and sequences with simple keys, plain scalars; in its rooms quoted scalars (`quoted`), flow
//! collections (`flow`), literal and folded texts (`block`), aliases of scalars (`anchor`). Does not own: errors and
//! everything unusual. There it gives up, and the text is read again by the grammar ([`crate::parse`]), so that it never
//! has to know what is wrong.
//! The surprising thing: giving up is always right, and reading something otherwise than the grammar does never is. The
//! tests compare the two.

mod anchor;
mod block;
mod flow;
mod quoted;

use std::borrow::Cow;

use anchor::Anchors;
use quoted::{End, Part};

use crate::resolve::{Resolved, resolve};
use crate::target::{Key, Target};

/// Collections within collections; more are left to the grammar.
const MAX_DEPTH: usize = 64;
/// A key must end within 1024 characters; what comes near that is left to the grammar.
const LONGEST_KEY: usize = 900;

/// The first document of the text; nothing where the grammar has to read it.
pub(crate) fn read<T: Target>(text: &[u8], strict: bool) -> Option<T::Out> {
    let mut reader = Reader::new(text, strict)?;
    let root = match reader.line {
        None => T::null(),
        Some(line) if reader.is_entry(line.at) || reader.key(line.at)?.is_some() => reader.node::<T>()?,
        Some(line) => reader.root::<T>(line.at)?,
    };
    reader.line.is_none().then_some(root)
}

/// As [`read`] for a document whose root is a mapping: its entries, of which those whose key is not wanted are read
/// past.
pub(crate) fn read_entries<T: Target>(text: &[u8], wanted: impl Fn(&str) -> bool) -> Option<T::Map> {
    let mut reader = Reader::new(text, false)?;
    let mut map = T::Map::default();
    // An empty document is null, no map.
    reader.line?;
    while let Some(line) = reader.line {
        // Deeper than the root, or a sequence: not what this is for.
        if line.indent != 0 || reader.is_entry(line.at) {
            return None;
        }
        let (key, behind) = reader.key(line.at)??;
        // Others have a text in JSON, which is what is wanted or not.
        let Key::Text(name) = &key else { return None };
        if wanted(name) {
            let value = reader.value::<T>(behind, 0, true)?;
            T::insert(&mut map, key, value).ok()?;
        } else {
            reader.value::<Nothing>(behind, 0, true)?;
        }
    }
    Some(map)
}

/// Has the text no more than blank lines and comments? It may have no more if the answer is no.
pub(crate) fn is_empty(text: &[u8]) -> bool {
    Reader::new(text, false).is_some_and(|reader| reader.line.is_none())
}

/// What ends a plain scalar, alone or with what is beside it.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    special[b'\n' as usize] = true;
    special[b'\t' as usize] = true;
    special[b'#' as usize] = true;
    special[b':' as usize] = true;
    special
};

/// A line that has something on it: its indentation, and where that something begins.
#[derive(Clone, Copy)]
struct Line {
    indent: usize,
    at: usize,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The next line, which is looked at already; nothing at the end.
    line: Option<Line>,
    strict: bool,
    depth: usize,
    anchors: Anchors<'a>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8], strict: bool) -> Option<Self> {
        let text = std::str::from_utf8(text).ok().filter(|text| is_usual(text))?;
        let mut reader =
            Self { text, bytes: text.as_bytes(), line: None, strict, depth: 0, anchors: Anchors::default() };
        // One separator may stand before everything, on a line of its own.
        let first = reader.line_from(0)?;
        match first {
            Some(Line { indent: 0, at }) if reader.bytes[at..].starts_with(b"---") => {
                if !reader.bytes[at + 3..reader.end_of_line(at)].iter().all(|b| *b == b' ') {
                    return None;
                }
                reader.finish(at + 3)?;
            }
            Some(Line { indent: 0, at }) if reader.bytes[at..].starts_with(b"...") => return None,
            first => reader.line = first,
        }
        Some(reader)
    }

    /// A byte; behind the end there is a line break.
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn end_of_line(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |n| at + n)
    }

    fn past_blanks(&self, at: usize) -> usize {
        at + self.bytes[at.min(self.bytes.len())..].iter().take_while(|b| **b == b' ').count()
    }

    /// The first character from here on that may end a plain scalar, or the end.
    fn special(&self, at: usize) -> usize {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        at + rest.iter().position(|b| SPECIAL[usize::from(*b)]).unwrap_or(rest.len())
    }

    /// The first line from here on that is neither blank nor comment. `at` is where a line begins.
    #[expect(clippy::option_option)] // Giving up, and finding no line, are two things.
    fn line_from(&self, mut at: usize) -> Option<Option<Line>> {
        while at < self.bytes.len() {
            let first = self.past_blanks(at);
            at = match self.byte(first) {
                b'\n' => first + 1,
                b'#' => self.end_of_line(first) + 1,
                b'\t' | b'%' => return None,
                _ => return Some(Some(Line { indent: first - at, at: first })),
            };
        }
        Some(None)
    }

    /// Go on with the line that begins at `at`, or a later one.
    fn go_on(&mut self, at: usize) -> Option<()> {
        self.line = self.line_from(at)?;
        if let Some(Line { indent: 0, at }) = self.line
            && matches!(&self.bytes[at..], [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..])
        {
            // Here the document ends, and what follows is not looked at.
            if !matches!(self.byte(at + 3), b' ' | b'\n') {
                return None;
            }
            self.line = None;
        }
        Some(())
    }

    /// A value ends at `at`: nothing but a comment may follow in its line.
    fn finish(&mut self, at: usize) -> Option<()> {
        let rest = self.past_blanks(at);
        match self.byte(rest) {
            b'\n' => self.go_on(rest + 1),
            b'#' if rest > at => self.go_on(self.end_of_line(rest) + 1),
            _ => None,
        }
    }

    fn is_entry(&self, at: usize) -> bool {
        self.byte(at) == b'-' && matches!(self.byte(at + 1), b' ' | b'\n')
    }

    /// The block collection that begins in the next line.
    fn node<T: Target>(&mut self) -> Option<T::Out> {
        let line = self.line?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let out = if self.is_entry(line.at) { self.sequence::<T>(line.indent) } else { self.mapping::<T>(line.indent) };
        self.depth -= 1;
        out
    }

    /// A document that is no block collection: what fits into one line.
    fn root<T: Target>(&mut self, at: usize) -> Option<T::Out> {
        match self.byte(at) {
            b'|' | b'>' => None,
            b'[' | b'{' | b'"' | b'\'' => self.inline::<T>(at, 0),
            _ => {
                self.begins_plain(at)?;
                let (end, _) = self.plain_line(at)?;
                self.go_on(self.end_of_line(end) + 1)?;
                plain_value::<T>(Cow::Borrowed(self.text[at..end].trim_end_matches(' ')))
            }
        }
    }

    fn mapping<T: Target>(&mut self, indent: usize) -> Option<T::Out> {
        let mut map = T::Map::default();
        while let Some(line) = self.line.filter(|line| line.indent == indent && !self.is_entry(line.at)) {
            let (key, behind) = self.key(line.at)??;
            self.check::<T>(&map, &key)?;
            let value = self.value::<T>(behind, indent, true)?;
            T::insert(&mut map, key, value).ok()?;
        }
        self.ended(indent)?;
        Some(T::map(map))
    }

    fn sequence<T: Target>(&mut self, indent: usize) -> Option<T::Out> {
        let mut items = Vec::new();
        while let Some(line) = self.line.filter(|line| line.indent == indent && self.is_entry(line.at)) {
            let at = self.past_blanks(line.at + 1);
            let item = match self.byte(at) {
                // A collection that begins in the line of its dash.
                first if first != b'\n' && first != b'#' && (self.is_entry(at) || self.key(at)?.is_some()) => {
                    self.line = Some(Line { indent: indent + (at - line.at), at });
                    self.node::<T>()?
                }
                _ => self.value::<T>(line.at + 1, indent, false)?,
            };
            if T::KEEPS {
                items.push(item);
            }
        }
        self.ended(indent)?;
        Some(T::list(items))
    }

    /// What comes after a collection is not indented more than it.
    fn ended(&self, indent: usize) -> Option<()> {
        self.line.is_none_or(|line| line.indent <= indent).then_some(())
    }

    /// Are keys that are there already of no concern, or is this a new one?
    fn check<T: Target>(&self, map: &T::Map, key: &Key<'_>) -> Option<()> {
        match key {
            _ if !self.strict => Some(()),
            Key::Text(text) => (!T::contains(map, text)).then_some(()),
            _ => None,
        }
    }

    /// The key at `at` and where its colon ends; nothing inside where there is none.
    #[expect(clippy::option_option)] // Giving up, and finding no key, are two things.
    fn key(&self, at: usize) -> Option<Option<(Key<'a>, usize)>> {
        if matches!(self.byte(at), b'"' | b'\'') {
            let Part { text, end: End::At(end), .. } = self.quoted_part(at, at + 1)? else { return Some(None) };
            let colon = self.past_blanks(end);
            let is_key = self.byte(colon) == b':' && matches!(self.byte(colon + 1), b' ' | b'\n');
            if is_key && colon - at > LONGEST_KEY {
                return None;
            }
            return Some(is_key.then(|| (Key::Text(text), colon + 1)));
        }
        if matches!(self.byte(at), b'[' | b'{' | b'|' | b'>' | b'&' | b'*') {
            // No key that is read here; whether it is one is found out where its end is.
            return Some(None);
        }
        self.begins_plain(at)?;
        let mut end = at;
        loop {
            end = self.special(end);
            match self.byte(end) {
                b'\n' => return Some(None),
                b'\t' => return None,
                b'#' if self.byte(end - 1) == b' ' => return Some(None),
                b':' if matches!(self.byte(end + 1), b' ' | b'\n') => break,
                _ => end += 1,
            }
        }
        if end - at > LONGEST_KEY {
            return None;
        }
        let text = self.text[at..end].trim_end_matches(' ');
        plain_key(text).map(|key| Some((key, end + 1)))
    }

    /// What follows the colon or dash that ends at `at`, in a collection with this indentation.
    fn value<T: Target>(&mut self, at: usize, indent: usize, in_mapping: bool) -> Option<T::Out> {
        let first = self.past_blanks(at);
        if self.byte(first) != b'\n' && !(self.byte(first) == b'#' && first > at) {
            return self.inline::<T>(first, indent);
        }
        self.finish(first - usize::from(first > at))?;
        match self.line {
            Some(line) if line.indent > indent => {
                if self.is_entry(line.at) || self.key(line.at)?.is_some() {
                    self.node::<T>()
                } else {
                    self.inline::<T>(line.at, indent)
                }
            }
            Some(line) if in_mapping && line.indent == indent && self.is_entry(line.at) => self.node::<T>(),
            _ => Some(T::null()),
        }
    }

    /// A scalar or flow collection that begins at `at`.
    fn inline<T: Target>(&mut self, at: usize, indent: usize) -> Option<T::Out> {
        let out = match self.byte(at) {
            b'|' | b'>' => return self.block_scalar::<T>(at, indent),
            b'"' | b'\'' => {
                let (text, end) = self.quoted_lines(at, indent)?;
                self.finish(end)?;
                T::text(text)
            }
            b'[' | b'{' => {
                let (out, end) = self.flow::<T>(at)?;
                self.finish(end)?;
                out
            }
            b'&' => self.anchored::<T>(at, indent)?,
            b'*' => self.alias::<T>(at)?,
            _ => plain_value::<T>(self.plain::<T>(at, indent)?)?,
        };
        self.ended(indent)?;
        Some(out)
    }

    fn begins_plain(&self, at: usize) -> Option<()> {
        let fine = match self.byte(at) {
            b'-' | b'?' | b':' => !matches!(self.byte(at + 1), b' ' | b'\t' | b'\n'),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
            | b'`' | b' ' | b'\t' | b'\n' => false,
            _ => true,
        };
        fine.then_some(())
    }

    /// The part of a plain scalar in one line, and whether a comment follows it.
    fn plain_line(&self, at: usize) -> Option<(usize, bool)> {
        let mut end = at;
        loop {
            end = self.special(end);
            match self.byte(end) {
                b'\n' => return Some((end, false)),
                b'\t' => return None,
                b'#' if end > at && self.byte(end - 1) == b' ' => return Some((end, true)),
                // A mapping where none may be.
                b':' if matches!(self.byte(end + 1), b' ' | b'\n') => return None,
                _ => end += 1,
            }
        }
    }

    /// A plain scalar; its text only if the target keeps it.
    fn plain<T: Target>(&mut self, at: usize, indent: usize) -> Option<Cow<'a, str>> {
        self.begins_plain(at)?;
        let (mut end, mut commented) = self.plain_line(at)?;
        let mut text = Cow::Borrowed(self.text[at..end].trim_end_matches(' '));
        let mut next = self.end_of_line(end) + 1;
        // Lines that are indented more go on with it.
        while !commented {
            let (mut begin, mut breaks) = (next, 0);
            let first = loop {
                let first = self.past_blanks(begin);
                if self.byte(first) != b'\n' || first >= self.bytes.len() {
                    break first;
                }
                breaks += 1;
                begin = first + 1;
            };
            if first >= self.bytes.len() || first - begin <= indent || self.byte(first) == b'#' {
                break;
            }
            (end, commented) = self.plain_line(first)?;
            if T::KEEPS {
                let text = text.to_mut();
                if breaks == 0 {
                    text.push(' ');
                } else {
                    (0..breaks).for_each(|_| text.push('\n'));
                }
                text.push_str(self.text[first..end].trim_end_matches(' '));
            }
            next = self.end_of_line(end) + 1;
        }
        self.go_on(next)?;
        Some(text)
    }
}

/// The value of a plain scalar; what JSON cannot hold is an error and left to the grammar.
fn plain_value<T: Target>(text: Cow<'_, str>) -> Option<T::Out> {
    if !T::KEEPS && !matches!(text.as_bytes(), [b'.' | b'+' | b'-', ..]) {
        return Some(T::null());
    }
    Some(match resolve(None, &text).ok()? {
        Resolved::Null => T::null(),
        Resolved::Bool(b) => T::bool(b),
        Resolved::Int(n) => T::int(n),
        Resolved::Uint(n) => T::uint(n),
        Resolved::Float(f) if f.is_finite() => T::float(f),
        Resolved::Float(_) | Resolved::Binary => return None,
        Resolved::Text | Resolved::Timestamp => T::text(text),
    })
}

/// The key that a plain scalar is; a merge, and what JSON cannot hold, are left to the grammar.
fn plain_key(text: &str) -> Option<Key<'_>> {
    if text == "<<" {
        return None;
    }
    Some(match resolve(None, text).ok()? {
        Resolved::Bool(b) => Key::Bool(b),
        Resolved::Int(n) => Key::Int(n),
        Resolved::Float(f) if f.is_finite() => Key::Float(f),
        Resolved::Text | Resolved::Timestamp => Key::Text(Cow::Borrowed(text)),
        Resolved::Null | Resolved::Uint(_) | Resolved::Float(_) | Resolved::Binary => return None,
    })
}

/// Is every character one that says no more than itself? Not so control characters, line breaks but `\n`, marks of byte
/// order.
fn is_usual(text: &str) -> bool {
    // Without a way out in the middle the compiler makes this one that looks at many bytes at once.
    let suspicious = |b: u8| b < 0x20 && b != b'\n' && b != b'\t' || matches!(b, 0x7f | 0xc2 | 0xe2 | 0xef);
    let clean = |part: &[u8]| !part.iter().fold(false, |found, b| found | suspicious(*b));
    if text.as_bytes().chunks(1024).all(clean) {
        return true;
    }
    text.chars().all(|c| match c {
        '\n' | '\t' => true,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => true,
    })
}

/// What is read past.
struct Nothing;

impl Target for Nothing {
    type Out = ();
    type Map = ();
    const KEEPS: bool = false;

    fn null() {}
    fn bool(_: bool) {}
    fn int(_: i64) {}
    fn uint(_: u64) {}
    fn float(_: f64) {}
    fn text(_: Cow<'_, str>) {}
    fn list(_: Vec<()>) {}
    fn map((): ()) {}
    fn insert<'k>((): &mut (), _: Key<'k>, (): ()) -> Result<(), Key<'k>> {
        Ok(())
    }
    fn contains((): &(), _: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
