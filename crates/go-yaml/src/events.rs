//! libyaml's events with go-yaml's limits and error texts.
//!
//! Owns: feeding the parser in chunks, the two things libyaml accepts and go-yaml does not (`"\/"`, `%YAML 1.2`), and
//! the text of syntax errors.
//! Does not own: what events mean ([`crate::tree`]).
//! Upstream: `parser.fail` in go-yaml v2's `decode.go`, `readerc.go`.
//! The surprising thing: an error names its line only when it is not the first one.

use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Encoding, ErrorKind, Event, EventData, Parser, ScalarStyle};

/// As much as go-yaml reads at once, more or less: what comes after the first document is hardly looked at.
const CHUNK: usize = 1024;

/// A source of events; errors are go-yaml's texts with their `yaml: `.
pub(crate) struct Events<'a> {
    parser: Parser<Chunks<'a>>,
    input: &'a [u8],
    /// A line break has been put behind the input, which must not become part of a block scalar.
    completed: bool,
    /// The text has `\/` somewhere.
    slashes: bool,
}

/// Why there is no next event.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The text is wrong; go-yaml's words.
    Syntax(String),
    /// The parser stumbled over the end of the text inside a block scalar; it does not when a line break is there.
    NeedsLineBreak,
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Syntax(text)
    }
}

impl<'a> Events<'a> {
    /// `complete` puts a line break behind a text that lacks one.
    pub(crate) fn new(input: &'a [u8], complete: bool) -> Self {
        let input = if input.is_empty() { b"\n" } else { input };
        let mut parser = Parser::new();
        let wide = input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff");
        let body = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        if !wide {
            parser.set_encoding(Encoding::Utf8);
        }
        let completed = !wide && !body.ends_with(b"\n") && complete;
        parser.set_input(Chunks { rest: body, then: if completed { b"\n" } else { b"" }, wide });
        let slashes = body.windows(2).any(|w| w == b"\\/");
        Self { parser, input: body, completed, slashes }
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Result<Event, Failure> {
        // libyaml-safer has a few panics for texts that end where it does not expect it.
        let parsed = catch_unwind(AssertUnwindSafe(|| self.parser.parse()));
        let mut event = match parsed {
            Ok(Ok(event)) => event,
            Ok(Err(error)) => return Err(self.text(&error).into()),
            Err(_) if !self.completed && !self.input.ends_with(b"\n") => return Err(Failure::NeedsLineBreak),
            Err(_) => return Err("yaml: did not find expected whitespace or line break".to_owned().into()),
        };
        let (start, end) = (event.start_mark, event.end_mark);
        match &mut event.data {
            EventData::DocumentStart { version_directive: Some(v), .. } if v.minor != 1 => {
                return Err(located(start.line, "found incompatible YAML document").into());
            }
            EventData::Scalar { style: ScalarStyle::DoubleQuoted, .. } if self.slashes => {
                let source = self.input.get(start.index as usize..end.index as usize).unwrap_or_default();
                if let Some(lines) = slash(source) {
                    let line = match start.line + lines {
                        0 => 0,
                        n => n + 1,
                    };
                    return Err(located(line, "found unknown escape character").into());
                }
            }
            EventData::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, value, .. }
                if self.completed && end.index as usize > self.input.len() && value.ends_with('\n') =>
            {
                value.pop();
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

/// How many lines into a double-quoted scalar its first `\/` is, if it has one.
fn slash(source: &[u8]) -> Option<u64> {
    let (mut i, mut lines) = (0, 0);
    while i < source.len() {
        match source[i] {
            b'\n' => lines += 1,
            b'\\' if source.get(i + 1) == Some(&b'/') => return Some(lines),
            b'\\' => {
                i += 1;
                lines += u64::from(source.get(i) == Some(&b'\n'));
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// Does the last line look like the content of a block scalar? A wrong answer costs a second attempt.
pub(crate) fn ends_in_block_scalar(text: &[u8]) -> bool {
    let mut least = usize::MAX;
    for (i, line) in text.rsplit(|b| *b == b'\n').enumerate() {
        let indent = line.iter().take_while(|b| **b == b' ').count();
        let content = line[indent..].trim_ascii_end();
        if content.is_empty() {
            if i == 0 {
                return false;
            }
            continue;
        }
        if i > 0 && indent < least && is_block_header(content) {
            return true;
        }
        least = least.min(indent);
        if least == 0 {
            return false;
        }
    }
    false
}

/// Does the line end in `|` or `>` with its hints and perhaps a comment?
fn is_block_header(line: &[u8]) -> bool {
    let code = line.windows(2).position(|w| w == b" #").map_or(line, |i| &line[..i]).trim_ascii_end();
    let hints = code.iter().rev().take_while(|b| matches!(b, b'+' | b'-' | b'0'..=b'9')).count();
    hints <= 2 && matches!(code[..code.len() - hints], [.., b'|' | b'>'])
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
    /// What follows when that is used up.
    then: &'a [u8],
    wide: bool,
}

impl Read for Chunks<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.rest.read(out)
    }
}

impl BufRead for Chunks<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.rest.is_empty() {
            self.rest = std::mem::take(&mut self.then);
        }
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
