//! Go's string and character literals: `strconv.Quote`, `Unquote` and their relatives.
//!
//! Owns: quoting, unquoting, and Go's view of which characters are printable, letters, digits. Does not own: JSON strings
//! (`json`), shell or YAML quoting. Upstream: `strconv/quote.go`, `unicode`.
//! The surprising thing: Go strings are bytes, so a literal may stand for text that is not UTF-8 (`"\xff"`), and quoting
//! such text gives back the escape.

use std::borrow::Cow;

mod tables;

/// What Go's [`decode_char`] gives for a byte that begins no valid character.
pub const REPLACEMENT: char = '\u{FFFD}';

/// The first character of `bytes` and its width; U+FFFD and 1 if the bytes are not UTF-8 there, and width 0 at the end.
pub fn decode_char(bytes: &[u8]) -> (char, usize) {
    let Some(&first) = bytes.first() else { return (REPLACEMENT, 0) };
    if first < 0x80 {
        return (char::from(first), 1);
    }
    let width = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return (REPLACEMENT, 1),
    };
    bytes
        .get(..width)
        .and_then(|b| std::str::from_utf8(b).ok())
        .and_then(|s| s.chars().next())
        .map_or((REPLACEMENT, 1), |c| (c, width))
}

/// The last character of `bytes` and its width, as [`decode_char`] from the other end.
pub fn decode_last_char(bytes: &[u8]) -> (char, usize) {
    if bytes.is_empty() {
        return (REPLACEMENT, 0);
    }
    for width in 1..=4.min(bytes.len()) {
        let tail = &bytes[bytes.len() - width..];
        if tail[0] & 0xC0 != 0x80 {
            let (c, w) = decode_char(tail);
            return if w == width { (c, w) } else { (REPLACEMENT, 1) };
        }
    }
    (REPLACEMENT, 1)
}

/// How many characters Go counts in `bytes`: each byte that is not UTF-8 is one.
pub fn count_chars(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    let (mut rest, mut n) = (bytes, 0);
    while !rest.is_empty() {
        rest = &rest[decode_char(rest).1..];
        n += 1;
    }
    n
}

fn in_table(table: &[(u32, u32)], c: u32) -> bool {
    let i = table.partition_point(|&(_, last)| last < c);
    table.get(i).is_some_and(|&(first, _)| first <= c)
}

/// `strconv.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() { matches!(c, ' '..='~') } else { in_table(tables::PRINT, c.into()) }
}

/// `unicode.IsLetter`
pub fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { in_table(tables::LETTER, c.into()) }
}

/// `unicode.IsDigit`: decimal digits of any script.
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { in_table(tables::DIGIT, c.into()) }
}

/// `strconv.Quote`: a double-quoted Go literal.
pub fn quote(s: &[u8]) -> String {
    quote_with(s, '"', false)
}

/// `strconv.QuoteToASCII`: the same with everything outside ASCII escaped.
pub fn quote_to_ascii(s: &[u8]) -> String {
    quote_with(s, '"', true)
}

/// `strconv.QuoteRune`, or its `ToASCII` variant: a single-quoted literal; what is no character becomes U+FFFD.
pub fn quote_char(c: u32, ascii: bool) -> String {
    let c = char::from_u32(c).unwrap_or(REPLACEMENT);
    let mut out = String::from("'");
    push_escaped(&mut out, c, '\'', ascii);
    out.push('\'');
    out
}

fn quote_with(mut s: &[u8], delimiter: char, ascii: bool) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push(delimiter);
    while !s.is_empty() {
        let (c, width) = decode_char(s);
        if c == REPLACEMENT && width == 1 {
            push_hex(&mut out, 'x', s[0].into(), 2);
        } else {
            push_escaped(&mut out, c, delimiter, ascii);
        }
        s = &s[width..];
    }
    out.push(delimiter);
    out
}

fn push_hex(out: &mut String, kind: char, value: u32, digits: u32) {
    out.push('\\');
    out.push(kind);
    for i in (0..digits).rev() {
        out.push(char::from_digit(value >> (4 * i) & 0xF, 16).unwrap_or('0'));
    }
}

fn push_escaped(out: &mut String, c: char, delimiter: char, ascii: bool) {
    if c == delimiter || c == '\\' {
        out.push('\\');
        out.push(c);
        return;
    }
    if is_print(c) && (c.is_ascii() || !ascii) {
        out.push(c);
        return;
    }
    let short = match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        c if c < ' ' || c == '\x7f' => return push_hex(out, 'x', c.into(), 2),
        c if u32::from(c) < 0x10000 => return push_hex(out, 'u', c.into(), 4),
        c => return push_hex(out, 'U', c.into(), 8),
    };
    out.push('\\');
    out.push(short);
}

/// `strconv.CanBackquote`: can the text stand between backquotes as it is?
pub fn can_backquote(mut s: &[u8]) -> bool {
    while !s.is_empty() {
        let (c, width) = decode_char(s);
        s = &s[width..];
        let fits = if width > 1 {
            c != '\u{feff}'
        } else {
            c == '\t' || (c >= ' ' && !matches!(c, '`' | '\x7f' | REPLACEMENT))
        };
        if !fits {
            return false;
        }
    }
    true
}

/// A literal is not well-formed; its text is that of Go's `strconv.ErrSyntax`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError;

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("invalid syntax")
    }
}

impl std::error::Error for SyntaxError {}

/// One character of a literal, as [`unquote_char`] finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unquoted<'a> {
    /// The code point, or the byte that `\x` and octal escapes stand for.
    pub value: u32,
    /// Is `value` a code point, to be encoded as UTF-8, and not a byte?
    pub multibyte: bool,
    /// What follows.
    pub tail: &'a [u8],
}

/// `strconv.UnquoteChar`: the first character of the inside of a literal, where `quote` is the literal's delimiter.
///
/// # Errors
/// If an escape is malformed or the delimiter stands there unescaped.
pub fn unquote_char(s: &[u8], quote: u8) -> Result<Unquoted<'_>, SyntaxError> {
    let &first = s.first().ok_or(SyntaxError)?;
    if first == quote && matches!(quote, b'\'' | b'"') {
        return Err(SyntaxError);
    }
    if first >= 0x80 {
        let (c, width) = decode_char(s);
        return Ok(Unquoted { value: c.into(), multibyte: true, tail: &s[width..] });
    }
    if first != b'\\' {
        return Ok(Unquoted { value: first.into(), multibyte: false, tail: &s[1..] });
    }
    let &escape = s.get(1).ok_or(SyntaxError)?;
    let tail = &s[2..];
    let simple = |value: u8| Ok(Unquoted { value: value.into(), multibyte: false, tail });
    match escape {
        b'a' => simple(7),
        b'b' => simple(8),
        b'f' => simple(12),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'v' => simple(11),
        b'\\' => simple(b'\\'),
        b'\'' | b'"' if escape == quote => simple(escape),
        b'x' | b'u' | b'U' => {
            let digits = match escape {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            let value = number(tail.get(..digits).ok_or(SyntaxError)?, 16)?;
            if escape != b'x' && char::from_u32(value).is_none() {
                return Err(SyntaxError);
            }
            Ok(Unquoted { value, multibyte: escape != b'x', tail: &tail[digits..] })
        }
        b'0'..=b'7' => {
            let value = number(s.get(1..4).ok_or(SyntaxError)?, 8)?;
            if value > 255 {
                return Err(SyntaxError);
            }
            Ok(Unquoted { value, multibyte: false, tail: &s[4..] })
        }
        _ => Err(SyntaxError),
    }
}

fn number(digits: &[u8], base: u32) -> Result<u32, SyntaxError> {
    let mut value = 0_u32;
    for &b in digits {
        let digit = char::from(b).to_digit(base).ok_or(SyntaxError)?;
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    Ok(value)
}

/// `strconv.Unquote`: the text that a double-quoted, backquoted or single-quoted literal stands for.
///
/// # Errors
/// If `s` is not such a literal, whole.
pub fn unquote(s: &[u8]) -> Result<Cow<'_, [u8]>, SyntaxError> {
    let [delimiter, inside @ .., last] = s else { return Err(SyntaxError) };
    match delimiter {
        b'`' => {
            if *last != b'`' || inside.contains(&b'`') {
                return Err(SyntaxError);
            }
            if inside.contains(&b'\r') {
                return Ok(inside.iter().copied().filter(|&b| b != b'\r').collect());
            }
            Ok(Cow::Borrowed(inside))
        }
        b'"' if last == delimiter && stands_for_itself(inside) => Ok(Cow::Borrowed(inside)),
        b'"' | b'\'' => unquote_interpreted(&s[1..], *delimiter).map(Cow::Owned),
        _ => Err(SyntaxError),
    }
}

/// Is every byte between double quotes what it says?
fn stands_for_itself(inside: &[u8]) -> bool {
    let special = inside.iter().fold(false, |found, b| found | matches!(b, b'\\' | b'"' | b'\n'));
    !special && std::str::from_utf8(inside).is_ok()
}

fn unquote_interpreted(mut rest: &[u8], delimiter: u8) -> Result<Vec<u8>, SyntaxError> {
    let mut out = Vec::with_capacity(rest.len());
    while rest.first().is_some_and(|&b| b != delimiter) {
        if rest[0] == b'\n' {
            return Err(SyntaxError);
        }
        let c = unquote_char(rest, delimiter)?;
        match char::from_u32(c.value).filter(|_| c.multibyte) {
            Some(value) => out.extend_from_slice(value.encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.push(c.value as u8),
        }
        rest = c.tail;
        if delimiter == b'\'' {
            break;
        }
    }
    if rest == [delimiter] { Ok(out) } else { Err(SyntaxError) }
}
