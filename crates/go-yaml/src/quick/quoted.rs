//! Quoted scalars, over several lines too, with the usual escapes.

use std::borrow::Cow;

use super::Reader;

/// What a quoted scalar has in one line.
pub(super) struct Part<'a> {
    pub(super) text: Cow<'a, str>,
    /// How much of the text a line break behind it leaves, although it may end with blanks: they were escaped.
    pub(super) kept: usize,
    pub(super) end: End,
}

/// How a line of a quoted scalar ends.
pub(super) enum End {
    /// With the scalar, at this place.
    At(usize),
    /// With a line break, which may be escaped.
    Line { escaped: bool },
}

/// The character of an escape whose text begins here, behind the backslash, and its width with the backslash. What is no
/// escape is left to the grammar.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let digits = match text[0] {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        b'r' => return Some(('\r', 2)),
        b'0' => return Some(('\0', 2)),
        b'\'' => return Some(('\'', 2)),
        _ => return None,
    };
    let mut code: u32 = 0;
    for digit in text.get(1..=digits)? {
        code = code.checked_mul(16)? + char::from(*digit).to_digit(16)?;
    }
    Some((char::from_u32(code)?, digits + 2))
}

impl<'a> Reader<'a> {
    /// A quoted scalar within its line, and where it ends.
    pub(super) fn quoted(&self, at: usize) -> Option<(Cow<'a, str>, usize)> {
        let part = self.quoted_part(at, at + 1)?;
        match part.end {
            End::At(end) => Some((part.text, end)),
            End::Line { .. } => None,
        }
    }

    /// A quoted scalar that may go on in further lines, which are indented more than `indent`.
    pub(super) fn quoted_lines(&self, at: usize, indent: usize) -> Option<(Cow<'a, str>, usize)> {
        let Part { mut text, mut kept, mut end } = self.quoted_part(at, at + 1)?;
        let mut from = at + 1;
        loop {
            let escaped = match end {
                End::At(end) => return Some((text, end)),
                End::Line { escaped } => escaped,
            };
            let out = text.to_mut();
            if !escaped {
                // The blanks before a line break go, but for those that were escaped.
                out.truncate(out.trim_end_matches(' ').len().max(kept));
            }
            let (mut begin, mut breaks) = (self.end_of_line(from) + 1, 0);
            let first = loop {
                let first = self.past_blanks(begin);
                if first >= self.bytes.len() {
                    return None;
                }
                if self.byte(first) != b'\n' {
                    break first;
                }
                breaks += 1;
                begin = first + 1;
            };
            if first - begin <= indent || self.byte(first) == b'\t' || (out.len() > kept && out.ends_with('\t')) {
                return None;
            }
            if breaks == 0 && !escaped {
                out.push(' ');
            } else {
                (0..breaks).for_each(|_| out.push('\n'));
            }
            from = first;
            let part = self.quoted_part(at, from)?;
            kept = if part.kept > 0 { out.len() + part.kept } else { out.len() };
            out.push_str(&part.text);
            end = part.end;
        }
    }

    /// What a quoted scalar that begins at `at` has in the line of `from`.
    pub(super) fn quoted_part(&self, at: usize, from: usize) -> Option<Part<'a>> {
        let quote = self.byte(at);
        let line_end = self.end_of_line(from);
        let line = &self.bytes[from..line_end];
        let (mut text, mut done, mut kept) = (Cow::Borrowed(""), 0, 0);
        loop {
            let found = memchr::memchr2(quote, b'\\', &line[done..]).map(|n| done + n);
            let piece = &self.text[from + done..from + found.unwrap_or(line.len())];
            if done == 0 {
                text = Cow::Borrowed(piece);
            } else {
                text.to_mut().push_str(piece);
            }
            let Some(found) = found else { return Some(Part { text, kept, end: End::Line { escaped: false } }) };
            let (character, width) = match (quote, line[found], line.get(found + 1)) {
                (b'\'', b'\\', _) => ('\\', 1),
                (b'\'', _, Some(b'\'')) => ('\'', 2),
                (_, b'\\', Some(b'"')) => ('"', 2),
                (_, b'\\', Some(b'\\')) => ('\\', 2),
                (_, b'\\', Some(b'n')) => ('\n', 2),
                (_, b'\\', Some(b't')) => ('\t', 2),
                (_, b'\\', Some(b' ')) => (' ', 2),
                (_, b'\\', None) if line_end < self.bytes.len() => {
                    return Some(Part { text, kept, end: End::Line { escaped: true } });
                }
                (_, b'\\', Some(_)) => escape(&line[found + 1..])?,
                (_, b'\\', None) => return None,
                _ => return Some(Part { text, kept, end: End::At(from + found + 1) }),
            };
            text.to_mut().push(character);
            kept = text.len();
            done = found + width;
        }
    }
}
