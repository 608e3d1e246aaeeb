//! libyaml's events with go-yaml's limits and error texts.
//!
//! Owns: feeding the parser in chunks, the two things libyaml accepts and go-yaml does not (`"\/"`, `%YAML 1.2`), and
//! the text of syntax errors.
//! Does not own: what events mean ([`crate::tree`]).
//! Upstream: `parser.fail` in go-yaml v2's `decode.go`, `readerc.go`.
//! The surprising thing: an error names its line only when it is not the first one.

use std::io::{BufRead, Read};

use libyaml_safer::{Encoding, ErrorKind, Event, EventData, Mark, Parser, ScalarStyle};

/// As much as go-yaml reads at once, more or less: what comes after the first document is hardly looked at.
const CHUNK: usize = 1024;

/// A source of events; errors are go-yaml's texts with their `yaml: `.
pub(crate) struct Events<'a> {
    parser: Parser<Chunks<'a>>,
    input: &'a [u8],
    /// Where the text has `\/`, if it does at all: byte offsets are found as marks come by.
    escapes: Option<Locator<'a>>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        let input = if input.is_empty() { b"\n" } else { input };
        let mut parser = Parser::new();
        let wide = input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff");
        let body = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        if !wide {
            parser.set_encoding(Encoding::Utf8);
        }
        parser.set_input(Chunks { rest: body, wide });
        let escapes = match std::str::from_utf8(body) {
            Ok(text) if text.contains("\\/") => Some(Locator { text, index: 0, byte: 0 }),
            _ => None,
        };
        Self { parser, input: body, escapes }
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Result<Event, String> {
        let event = self.parser.parse().map_err(|e| self.text(&e))?;
        match &event.data {
            EventData::DocumentStart { version_directive: Some(v), .. } if v.minor != 1 => {
                return Err(located(event.start_mark.line, "found incompatible YAML document"));
            }
            EventData::Scalar { style: ScalarStyle::DoubleQuoted, .. } => {
                if let Some(line) = self.escapes.as_mut().and_then(|l| l.slash(event.start_mark, event.end_mark)) {
                    let line = event.start_mark.line + line;
                    return Err(located(if line == 0 { 0 } else { line + 1 }, "found unknown escape character"));
                }
            }
            _ => {}
        }
        Ok(event)
    }

    fn text(&self, error: &libyaml_safer::Error) -> String {
        if error.kind() == ErrorKind::Io || error.problem() == "invalid UTF-8" {
            return format!("yaml: {}", encoding_problem(self.input));
        }
        let problem = error.problem_mark().map_or(0, |m| m.line);
        let line = match problem {
            0 => error.context_mark().map_or(0, |m| m.line),
            n if error.kind() == ErrorKind::Scanner => n + 1,
            n => n,
        };
        located(line, error.problem())
    }
}

fn located(line: u64, problem: &str) -> String {
    if line == 0 { format!("yaml: {problem}") } else { format!("yaml: line {line}: {problem}") }
}

/// Finds the source text of double-quoted scalars; marks count characters and only ever grow.
struct Locator<'a> {
    text: &'a str,
    index: u64,
    byte: usize,
}

impl Locator<'_> {
    fn advance(&mut self, index: u64) -> usize {
        let ahead = index.saturating_sub(self.index);
        let rest = &self.text[self.byte..];
        let step = rest.char_indices().nth(ahead as usize).map_or(rest.len(), |(i, _)| i);
        self.index = self.index.max(index);
        self.byte += step;
        self.byte
    }

    /// How many lines into the scalar its first `\/` is, if it has one.
    fn slash(&mut self, start: Mark, end: Mark) -> Option<u64> {
        let from = self.advance(start.index);
        let to = self.advance(end.index);
        let bytes = self.text.as_bytes().get(from..to)?;
        let (mut i, mut lines) = (0, 0);
        while i < bytes.len() {
            match bytes[i] {
                b'\n' => lines += 1,
                b'\\' if bytes.get(i + 1) == Some(&b'/') => return Some(lines),
                b'\\' => {
                    i += 1;
                    lines += u64::from(bytes.get(i) == Some(&b'\n'));
                }
                _ => {}
            }
            i += 1;
        }
        None
    }
}

/// go-yaml's words for the first bytes that are not UTF-8.
fn encoding_problem(input: &[u8]) -> &'static str {
    let at = match std::str::from_utf8(input) {
        Ok(_) => return "input error",
        Err(e) => e.valid_up_to(),
    };
    let bytes = &input[at..];
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

/// The input in pieces that end between characters.
struct Chunks<'a> {
    rest: &'a [u8],
    wide: bool,
}

impl Read for Chunks<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.rest.read(out)
    }
}

impl BufRead for Chunks<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        let mut end = self.rest.len().min(CHUNK);
        if !self.wide {
            while end < self.rest.len() && self.rest[end] & 0xc0 == 0x80 && end < CHUNK + 4 {
                end += 1;
            }
        }
        Ok(&self.rest[..end])
    }

    fn consume(&mut self, amount: usize) {
        self.rest = &self.rest[amount..];
    }
}
