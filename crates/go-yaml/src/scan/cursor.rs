//! The text and where in it we are.
//!
//! Owns: positions, line breaks, what the reader refuses (broken UTF-8, control characters).
//! Upstream: `readerc.go` and `yamlprivateh.go` of go-yaml v2.
//! The surprising thing: the text is looked at in pieces, so what is refused far behind the first document does no harm.

use std::borrow::Cow;

/// A position; all from 0, index and column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// An error text; the first line is not named.
pub(crate) fn located(line: usize, problem: &str) -> String {
    if line == 0 { format!("yaml: {problem}") } else { format!("yaml: line {line}: {problem}") }
}

/// As much as upstream reads at once.
const CHUNK: usize = 512;

pub(crate) struct Cursor<'a> {
    /// The text up to its end or to what the reader refuses.
    text: Cow<'a, str>,
    /// What the reader refuses behind the text, if anything.
    refused: Option<&'static str>,
    /// How far the text has been read.
    read: usize,
    pos: usize,
    pub(crate) mark: Mark,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        let body = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        let (text, mut refused) = if input.starts_with(b"\xff\xfe") {
            (Cow::Owned(wide(&input[2..], u16::from_le_bytes)), None)
        } else if input.starts_with(b"\xfe\xff") {
            (Cow::Owned(wide(&input[2..], u16::from_be_bytes)), None)
        } else {
            match std::str::from_utf8(body) {
                Ok(text) => (Cow::Borrowed(text), None),
                Err(e) => {
                    let valid = std::str::from_utf8(&body[..e.valid_up_to()]).unwrap_or_default();
                    (Cow::Borrowed(valid), Some(encoding_problem(&body[e.valid_up_to()..])))
                }
            }
        };
        let text = match first_refused(&text) {
            None => text,
            Some(at) => {
                refused = Some("control characters are not allowed");
                match text {
                    Cow::Borrowed(t) => Cow::Borrowed(&t[..at]),
                    Cow::Owned(mut t) => {
                        t.truncate(at);
                        Cow::Owned(t)
                    }
                }
            }
        };
        let read = if refused.is_some() { 0 } else { usize::MAX };
        Self { text, refused, read, pos: 0, mark: Mark::default() }
    }

    /// Read on if need be; fails when that meets something that is refused.
    pub(crate) fn ensure(&mut self) -> Result<(), String> {
        while self.pos + 4 > self.read {
            self.read += CHUNK;
            if self.read > self.text.len() {
                return Err(format!("yaml: {}", self.refused.unwrap_or("input error")));
            }
        }
        Ok(())
    }

    /// An error of the scanner at this place.
    pub(crate) fn error(&self, problem: &str) -> String {
        located(if self.mark.line == 0 { 0 } else { self.mark.line + 1 }, problem)
    }

    /// A byte ahead; 0 behind the end.
    pub(crate) fn at(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    pub(crate) fn is_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.text.as_bytes()[self.pos..].starts_with(prefix)
    }

    /// Upstream looks for the mark at the beginning of its buffer, not where it reads (`is_bom` in `yamlprivateh.go`). So
    /// a mark within the text is a character as any other, and behind two marks at its beginning the first character
    /// of a line is passed over, as long as the buffer is not filled again.
    pub(crate) fn is_bom(&self) -> bool {
        self.pos < CHUNK && !self.is_end() && self.text.as_bytes().starts_with(b"\xef\xbb\xbf")
    }

    pub(crate) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.at(ahead), b' ' | b'\t')
    }

    /// The length of the line break ahead in bytes, 0 if there is none.
    pub(crate) fn break_width(&self, ahead: usize) -> usize {
        match self.at(ahead) {
            b'\r' if self.at(ahead + 1) == b'\n' => 2,
            b'\r' | b'\n' => 1,
            0xc2 if self.at(ahead + 1) == 0x85 => 2,
            0xe2 if self.at(ahead + 1) == 0x80 && matches!(self.at(ahead + 2), 0xa8 | 0xa9) => 3,
            _ => 0,
        }
    }

    pub(crate) fn is_break_or_end(&self) -> bool {
        self.is_end() || self.break_width(0) > 0
    }

    pub(crate) fn is_blank_or_end(&self, ahead: usize) -> bool {
        self.at(ahead) == 0 || self.is_blank(ahead) || self.break_width(ahead) > 0
    }

    /// One character on.
    pub(crate) fn skip(&mut self) {
        self.mark.index += 1;
        self.mark.column += 1;
        self.pos += width(self.at(0));
        self.pos = self.pos.min(self.text.len());
    }

    /// To the end of the line.
    pub(crate) fn skip_comment(&mut self) -> Result<(), String> {
        while !self.is_break_or_end() {
            self.skip();
            self.ensure()?;
        }
        Ok(())
    }

    fn next_line(&mut self, bytes: usize, characters: usize) {
        self.pos += bytes;
        self.mark.index += characters;
        self.mark.column = 0;
        self.mark.line += 1;
    }

    /// Past a line break, if there is one.
    pub(crate) fn skip_line(&mut self) {
        match self.break_width(0) {
            0 => {}
            2 if self.at(0) == b'\r' => self.next_line(2, 2),
            n => self.next_line(n, 1),
        }
    }

    /// Append a line break, if there is one; all but the two of Unicode become `\n`.
    pub(crate) fn read_line(&mut self, out: &mut String) {
        match self.break_width(0) {
            0 => {}
            3 => {
                out.push_str(&self.text[self.pos..self.pos + 3]);
                self.next_line(3, 1);
            }
            n => {
                out.push('\n');
                self.next_line(n, if self.at(0) == b'\r' && n == 2 { 2 } else { 1 });
            }
        }
    }

    /// Append one character.
    pub(crate) fn read(&mut self, out: &mut String) {
        let end = (self.pos + width(self.at(0))).min(self.text.len());
        out.push_str(&self.text[self.pos..end]);
        self.mark.index += 1;
        self.mark.column += 1;
        self.pos = end;
    }

    /// Append characters while the bytes of the text fit; only for bytes that end no line and stay within what is read.
    pub(crate) fn read_while(&mut self, out: &mut String, fits: impl Fn(u8) -> bool) {
        let bytes = &self.text.as_bytes()[self.pos..];
        let most = bytes.len().min(self.read.saturating_sub(self.pos));
        let n = bytes[..most].iter().take_while(|b| b.is_ascii() && fits(**b)).count();
        out.push_str(&self.text[self.pos..self.pos + n]);
        self.pos += n;
        self.mark.index += n;
        self.mark.column += n;
    }
}

fn width(lead: u8) -> usize {
    match lead {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect()
}

/// The first character that YAML forbids.
fn first_refused(text: &str) -> Option<usize> {
    let suspicious = |b: u8| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r') || matches!(b, 0x7f | 0xc2 | 0xef);
    let mut from = 0;
    while let Some(step) = text.as_bytes()[from..].iter().position(|b| suspicious(*b)) {
        from += step;
        let c = text[from..].chars().next()?;
        let fine = match c {
            '\u{85}' => true,
            '\0'..='\u{9f}' => false,
            '\u{fffe}' | '\u{ffff}' => false,
            _ => true,
        };
        if !fine {
            return Some(from);
        }
        from += c.len_utf8();
    }
    None
}

/// go-yaml's words for bytes that are not UTF-8.
fn encoding_problem(bytes: &[u8]) -> &'static str {
    let (width, mut value) = match bytes[0] {
        b if b & 0x80 == 0 => (1, u32::from(b & 0x7f)),
        b if b & 0xe0 == 0xc0 => (2, u32::from(b & 0x1f)),
        b if b & 0xf0 == 0xe0 => (3, u32::from(b & 0x0f)),
        b if b & 0xf8 == 0xf0 => (4, u32::from(b & 0x07)),
        _ => return "invalid leading UTF-8 octet",
    };
    if width > bytes.len() {
        return "incomplete UTF-8 octet sequence";
    }
    for b in &bytes[1..width] {
        if b & 0xc0 != 0x80 {
            return "invalid trailing UTF-8 octet";
        }
        value = value << 6 | u32::from(b & 0x3f);
    }
    let fits = match width {
        1 => true,
        2 => value >= 0x80,
        3 => value >= 0x800,
        _ => value >= 0x10000,
    };
    if fits { "invalid Unicode character" } else { "invalid length of a UTF-8 sequence" }
}
