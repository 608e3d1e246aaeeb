//! From text to tokens.
//!
//! Owns: delimiters, trim markers, comments, where each token begins and on which line. Does not own: what tokens mean.
//! Upstream: `text/template/parse/lex.go`.
//! The surprising thing: space inside an action is a token, because `.a .b` and `.a.b` differ; and after an error the rest
//! of the text is gone.

use go_value::quote::{decode_char, decode_last_char, is_digit, is_letter, is_print, quote};
use memchr::memmem;

use crate::token::{Kind, Token};

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";
/// A `-` and the space beside it.
const TRIM_MARKER: usize = 2;

/// Which words are keywords: not those that are functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keywords {
    pub(crate) break_ok: bool,
    pub(crate) continue_ok: bool,
}

pub(crate) struct Lexer<'a> {
    input: &'a [u8],
    left: &'a [u8],
    right: &'a [u8],
    pos: usize,
    start: usize,
    at_eof: bool,
    parens: i32,
    line: usize,
    start_line: usize,
    inside_action: bool,
    keywords: Keywords,
    fault: String,
    /// Looks for the left delimiter.
    finder: memmem::Finder<'a>,
}

/// What a step of the lexer found: a token, or nothing yet.
type Step<'a> = Option<Token<'a>>;

impl<'a> Lexer<'a> {
    /// An empty delimiter stands for the default one.
    pub(crate) fn new(input: &'a [u8], left: &'a str, right: &'a str, keywords: Keywords) -> Self {
        let left = if left.is_empty() { LEFT } else { left.as_bytes() };
        Self {
            input,
            left,
            right: if right.is_empty() { RIGHT } else { right.as_bytes() },
            pos: 0,
            start: 0,
            at_eof: false,
            parens: 0,
            line: 1,
            start_line: 1,
            inside_action: false,
            keywords,
            fault: String::new(),
            finder: memmem::Finder::new(left),
        }
    }

    /// What is wrong, after a token of [`Kind::Error`].
    pub(crate) fn fault(&self) -> &str {
        &self.fault
    }

    /// The next token; [`Kind::Eof`] for ever at the end.
    pub(crate) fn next_token(&mut self) -> Token<'a> {
        loop {
            let step = if self.inside_action { self.inside() } else { self.text() };
            if let Some(token) = step {
                return token;
            }
        }
    }

    // The cursor.

    fn rest(&self) -> &'a [u8] {
        &self.input[self.pos..]
    }

    /// The next character; `None` at the end.
    fn next(&mut self) -> Option<char> {
        let Some(&byte) = self.input.get(self.pos) else {
            self.at_eof = true;
            return None;
        };
        if byte.is_ascii() {
            self.pos += 1;
            self.line += usize::from(byte == b'\n');
            return Some(char::from(byte));
        }
        let (c, width) = decode_char(self.rest());
        self.pos += width;
        Some(c)
    }

    fn peek(&mut self) -> Option<char> {
        let c = self.next();
        self.backup();
        c
    }

    fn backup(&mut self) {
        if self.at_eof || self.pos == 0 {
            return;
        }
        let byte = self.input[self.pos - 1];
        if byte.is_ascii() {
            self.pos -= 1;
            self.line -= usize::from(byte == b'\n');
        } else {
            self.pos -= decode_last_char(&self.input[..self.pos]).1;
        }
    }

    fn accept(&mut self, valid: &str) -> bool {
        if self.next().is_some_and(|c| valid.contains(c)) {
            return true;
        }
        self.backup();
        false
    }

    fn accept_run(&mut self, valid: &str) {
        while self.next().is_some_and(|c| valid.contains(c)) {}
        self.backup();
    }

    fn pending(&self) -> &'a [u8] {
        &self.input[self.start..self.pos]
    }

    fn count_lines(&mut self) {
        self.line += newlines(self.pending());
    }

    fn emit(&mut self, kind: Kind) -> Token<'a> {
        let token = Token { kind, pos: self.start, line: self.start_line, text: self.pending() };
        self.start = self.pos;
        self.start_line = self.line;
        token
    }

    /// Skip text that was not read character by character.
    fn ignore(&mut self) {
        self.count_lines();
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn error(&mut self, what: impl Into<String>) -> Token<'a> {
        self.fault = what.into();
        let token = Token { kind: Kind::Error, pos: self.start, line: self.start_line, text: b"" };
        self.start = 0;
        self.pos = 0;
        self.input = b"";
        token
    }

    // Outside of actions.

    fn text(&mut self) -> Step<'a> {
        let Some(found) = self.finder.find(self.rest()) else {
            self.pos = self.input.len();
            if self.pos > self.start {
                self.count_lines();
                return Some(self.emit(Kind::Text));
            }
            return Some(self.emit(Kind::Eof));
        };
        if found > 0 {
            self.pos += found;
            let after = &self.input[self.pos + self.left.len()..];
            let kept = if has_left_trim(after) { right_trim(self.pending()).len() } else { found };
            let trimmed = self.pos - (self.start + kept);
            self.pos -= trimmed;
            self.count_lines();
            let token = self.emit(Kind::Text);
            self.pos += trimmed;
            self.ignore();
            if !token.text.is_empty() {
                return Some(token);
            }
        }
        self.left_delim()
    }

    fn left_delim(&mut self) -> Step<'a> {
        self.pos += self.left.len();
        let marker = if has_left_trim(self.rest()) { TRIM_MARKER } else { 0 };
        if self.input[self.pos + marker..].starts_with(b"/*") {
            self.pos += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.emit(Kind::LeftDelim);
        self.inside_action = true;
        self.pos += marker;
        self.ignore();
        self.parens = 0;
        Some(token)
    }

    fn comment(&mut self) -> Step<'a> {
        self.pos += 2;
        let Some(end) = memmem::find(self.rest(), b"*/") else { return Some(self.error("unclosed comment")) };
        self.pos += end + 2;
        let Some(trim) = self.at_right_delim() else {
            return Some(self.error("comment ends before closing delimiter"));
        };
        if trim {
            self.pos += TRIM_MARKER;
        }
        self.pos += self.right.len();
        if trim {
            self.pos += left_trim(self.rest());
        }
        self.ignore();
        None
    }

    // Inside of actions.

    /// Is a right delimiter here, and does it trim?
    fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if rest.first() != self.right.first() && !rest.first().is_some_and(|b| is_space_byte(*b)) {
            return None;
        }
        if has_right_trim(rest) && rest[TRIM_MARKER..].starts_with(self.right) {
            return Some(true);
        }
        rest.starts_with(self.right).then_some(false)
    }

    fn right_delim(&mut self) -> Token<'a> {
        let trim = self.at_right_delim().unwrap_or(false);
        if trim {
            self.pos += TRIM_MARKER;
            self.ignore();
        }
        self.pos += self.right.len();
        let token = self.emit(Kind::RightDelim);
        if trim {
            self.pos += left_trim(self.rest());
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn inside(&mut self) -> Step<'a> {
        if self.at_right_delim().is_some() {
            return Some(if self.parens == 0 { self.right_delim() } else { self.error("unclosed left paren") });
        }
        let Some(c) = self.next() else { return Some(self.error("unclosed action")) };
        Some(match c {
            ' ' | '\t' | '\r' | '\n' => {
                self.backup();
                self.space()
            }
            '=' => self.emit(Kind::Assign),
            ':' => {
                if self.next() == Some('=') {
                    self.emit(Kind::Declare)
                } else {
                    self.error("expected :=")
                }
            }
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted(b'"', Kind::String, "unterminated quoted string"),
            '\'' => self.quoted(b'\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw_string(),
            '$' => self.field_or_variable(Kind::Variable),
            '.' if self.rest().first().is_some_and(|b| !b.is_ascii_digit()) => self.field_or_variable(Kind::Field),
            '.' | '+' | '-' | '0'..='9' => {
                self.backup();
                self.number()
            }
            c if is_alphanumeric(c) => {
                self.backup();
                self.identifier()
            }
            '(' => {
                self.parens += 1;
                self.emit(Kind::LeftParen)
            }
            ')' => {
                self.parens -= 1;
                if self.parens < 0 { self.error("unexpected right paren") } else { self.emit(Kind::RightParen) }
            }
            c if c.is_ascii() && is_print(c) => self.emit(Kind::Char),
            c => self.error(format!("unrecognized character in action: {}", code_point(c))),
        })
    }

    fn space(&mut self) -> Token<'a> {
        let spaces = left_trim(self.rest());
        self.line += newlines(&self.rest()[..spaces]);
        self.pos += spaces;
        // The last space may belong to a trimming delimiter.
        let from_last = &self.input[self.pos - 1..];
        if has_right_trim(from_last) && from_last[TRIM_MARKER..].starts_with(self.right) {
            self.backup();
            if spaces == 1 {
                return self.right_delim();
            }
        }
        self.emit(Kind::Space)
    }

    fn identifier(&mut self) -> Token<'a> {
        let after = self.skip_alphanumeric();
        let word = self.pending();
        if !self.at_terminator() {
            return self.bad_character(after);
        }
        match Kind::keyword(word) {
            Some(Kind::Break) if !self.keywords.break_ok => self.emit(Kind::Identifier),
            Some(Kind::Continue) if !self.keywords.continue_ok => self.emit(Kind::Identifier),
            Some(keyword) => self.emit(keyword),
            None if matches!(word, b"true" | b"false") => self.emit(Kind::Bool),
            None => self.emit(Kind::Identifier),
        }
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token<'a> {
        if self.at_terminator() {
            return self.emit(if kind == Kind::Variable { kind } else { Kind::Dot });
        }
        let after = self.skip_alphanumeric();
        if !self.at_terminator() {
            return self.bad_character(after);
        }
        self.emit(kind)
    }

    /// Go over letters and digits; gives the character after them, which is not consumed.
    fn skip_alphanumeric(&mut self) -> Option<char> {
        self.pos += self.rest().iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if let Some(&byte) = self.rest().first()
            && byte.is_ascii()
        {
            return Some(char::from(byte));
        }
        loop {
            match self.next() {
                Some(c) if is_alphanumeric(c) => {}
                other => {
                    self.backup();
                    return other;
                }
            }
        }
    }

    fn bad_character(&mut self, c: Option<char>) -> Token<'a> {
        let shown = c.map_or_else(String::new, code_point);
        self.error(format!("bad character {shown}"))
    }

    /// May an identifier end here?
    fn at_terminator(&mut self) -> bool {
        match self.rest() {
            [] => {
                self.at_eof = true;
                true
            }
            [b' ' | b'\t' | b'\r' | b'\n' | b'.' | b',' | b'|' | b':' | b')' | b'(', ..] => true,
            rest => rest.starts_with(self.right),
        }
    }

    fn quoted(&mut self, delimiter: u8, kind: Kind, unterminated: &str) -> Token<'a> {
        loop {
            let special = memchr::memchr3(delimiter, b'\\', b'\n', self.rest());
            self.pos += special.unwrap_or(self.rest().len());
            let mut c = self.next();
            if c == Some('\\') {
                c = self.next();
                if c.is_some_and(|c| c != '\n') {
                    continue;
                }
            }
            match c {
                None | Some('\n') => return self.error(unterminated),
                Some(c) if c == char::from(delimiter) => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn raw_string(&mut self) -> Token<'a> {
        let Some(end) = memchr::memchr(b'`', self.rest()) else {
            return self.error("unterminated raw quoted string");
        };
        self.line += newlines(&self.rest()[..end]);
        self.pos += end + 1;
        self.emit(Kind::RawString)
    }

    fn number(&mut self) -> Token<'a> {
        let mut kind = Kind::Number;
        let mut good = self.scan_number();
        if good && matches!(self.peek(), Some('+' | '-')) {
            kind = Kind::Complex;
            good = self.scan_number() && self.pending().ends_with(b"i");
        }
        if good {
            return self.emit(kind);
        }
        let text = quote(self.pending());
        self.error(format!("bad number syntax: {text}"))
    }

    /// Goes over anything that looks like a number; the parser finds out whether it is one.
    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = match digits.len() {
            11 => "eE",
            23 => "pP",
            _ => "",
        };
        if !exponent.is_empty() && self.accept(exponent) {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }
}

/// Go's `%#U`: the code point, and the character if it can be printed.
fn code_point(c: char) -> String {
    let number = format!("U+{:04X}", u32::from(c));
    if is_print(c) { format!("{number} '{c}'") } else { number }
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}

const fn is_space_byte(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

fn has_left_trim(s: &[u8]) -> bool {
    matches!(s, [b'-', space, ..] if is_space_byte(*space))
}

fn has_right_trim(s: &[u8]) -> bool {
    matches!(s, [space, b'-', ..] if is_space_byte(*space))
}

fn left_trim(s: &[u8]) -> usize {
    s.iter().take_while(|&&b| is_space_byte(b)).count()
}

/// Without the spaces at the end that Go's trim marker takes (fewer than ASCII has).
fn right_trim(s: &[u8]) -> &[u8] {
    let kept = s.iter().rposition(|&b| !is_space_byte(b)).map_or(0, |i| i + 1);
    &s[..kept]
}

pub(crate) fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}
