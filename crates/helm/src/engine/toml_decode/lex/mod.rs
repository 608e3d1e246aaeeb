//! The characters of a TOML text: reading ahead, line numbers, keys, what a value begins with; in `scalar` the extent of
//! texts and numbers.
//!
//! Follows `lex.go`. Does not own: what a key or a value means. The surprising things: the end of the text counts as a
//! line of its own in some complaints, and looking ahead already complains about what a text must not hold.

mod scalar;

use go_value::quote::{decode_char, is_letter, quote, quote_char};

/// The character that stands for the end.
pub(super) const EOF: char = '\0';

/// What is wrong, in Go's words, and where.
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) text: String,
}

pub(super) type Found<T> = Result<T, Fault>;

/// A token that stands for a value by itself.
pub(super) enum Scalar {
    Text(String),
    Bool(bool),
    Integer(String),
    Float(String),
    Date(String),
}

/// What a value begins with.
pub(super) enum Start {
    Array,
    Table,
    Scalar(Scalar),
}

pub(super) struct Lexer<'a> {
    input: &'a [u8],
    start: usize,
    pos: usize,
    line: usize,
    at_end: bool,
}

/// A place to go back to.
#[derive(Clone, Copy)]
struct Mark(usize, usize);

pub(super) fn one(c: char) -> String {
    quote_char(c.into(), false)
}

fn or_end(c: char) -> String {
    if c == EOF { "end of file".into() } else { format!("'{c}'") }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

impl<'a> Lexer<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self { input, start: 0, pos: 0, line: 1, at_end: false }
    }

    /// A fault at the current place.
    pub(super) fn fault<T>(&self, text: impl Into<String>) -> Found<T> {
        let behind = self.at_end && self.pos > 0 && self.input[self.pos - 1] == b'\n';
        Err(Fault { line: self.line - usize::from(behind), text: text.into() })
    }

    /// A fault at the end of the line before.
    fn fault_before<T>(&self, text: impl Into<String>) -> Found<T> {
        Err(Fault { line: self.line - 1, text: text.into() })
    }

    fn mark(&self) -> Mark {
        Mark(self.pos, self.line)
    }

    fn back(&mut self, mark: Mark) {
        (self.pos, self.line) = (mark.0, mark.1);
        self.at_end = false;
    }

    fn ignore(&mut self) {
        self.start = self.pos;
    }

    fn current(&self) -> String {
        String::from_utf8_lossy(&self.input[self.start..self.pos]).into_owned()
    }

    fn next(&mut self) -> Found<char> {
        let Some(&first) = self.input.get(self.pos) else {
            self.at_end = true;
            return Ok(EOF);
        };
        self.line += usize::from(first == b'\n');
        let (c, width) = decode_char(&self.input[self.pos..]);
        if c == char::REPLACEMENT_CHARACTER && width == 1 {
            return Err(Fault { line: self.line, text: format!("invalid UTF-8 byte: 0x{first:02x}") });
        }
        let control = c.is_ascii_control() && !matches!(c, '\t' | '\r' | '\n');
        if control || c == '\r' && self.input.get(self.pos + 1) != Some(&b'\n') {
            let text = format!("TOML files cannot contain control characters: '0x{:02x}'", u32::from(c));
            return Err(Fault { line: self.line, text });
        }
        self.pos += width;
        Ok(c)
    }

    fn peek(&mut self) -> Found<char> {
        let mark = self.mark();
        let c = self.next();
        self.back(mark);
        c
    }

    fn accept(&mut self, wanted: char) -> Found<bool> {
        let mark = self.mark();
        let same = self.next()? == wanted;
        if !same {
            self.back(mark);
        }
        Ok(same)
    }

    /// Over characters that go on with a token.
    fn over(&mut self, which: impl Fn(char) -> bool) -> Found<()> {
        loop {
            let mark = self.mark();
            if !which(self.next()?) {
                self.back(mark);
                return Ok(());
            }
        }
    }

    /// Over characters that belong to no token.
    fn skip(&mut self, which: impl Fn(char) -> bool) -> Found<()> {
        self.over(which)?;
        self.ignore();
        Ok(())
    }

    fn comment(&mut self) -> Found<()> {
        self.skip(|c| !is_newline(c) && c != EOF)
    }

    /// The next character that is no space, line end or comment.
    fn over_gaps(&mut self) -> Found<char> {
        loop {
            match self.next()? {
                c if is_space(c) || is_newline(c) => {}
                '#' => self.comment()?,
                c => return Ok(c),
            }
        }
    }

    /// What comes next at the top: nothing, `[`, or else a key.
    pub(super) fn top(&mut self) -> Found<Option<char>> {
        loop {
            let mark = self.mark();
            match self.next()? {
                c if is_space(c) || is_newline(c) => {}
                '#' => self.comment()?,
                EOF => return Ok(None),
                '[' => return Ok(Some('[')),
                c => {
                    self.back(mark);
                    return Ok(Some(c));
                }
            }
        }
    }

    /// After a key with its value or a header: the line must end. False at the end of the text.
    pub(super) fn top_end(&mut self) -> Found<bool> {
        loop {
            match self.next()? {
                '#' => {
                    self.comment()?;
                    return Ok(true);
                }
                c if is_space(c) => {}
                c if is_newline(c) => return Ok(true),
                EOF => return Ok(false),
                c => {
                    let text = "expected a top-level item to end with a newline, comment, or EOF, but got";
                    return self.fault(format!("{text} {} instead", one(c)));
                }
            }
        }
    }

    /// After `[`: is it the header of an array of tables?
    pub(super) fn second_bracket(&mut self) -> Found<bool> {
        self.accept('[')
    }

    /// A part of the name of a table, up to what follows it; true if that is another part.
    pub(super) fn table_part(&mut self, line: &mut Option<usize>) -> Found<(String, bool)> {
        self.skip(is_space)?;
        match self.peek()? {
            ']' | EOF => return self.fault("unexpected end of table name (table names cannot be empty)"),
            '.' => return self.fault("unexpected table separator (table names cannot be empty)"),
            _ => {}
        }
        let part = self.part()?;
        line.get_or_insert(self.line);
        self.skip(is_space)?;
        match self.next()? {
            '.' => Ok((part, true)),
            ']' => Ok((part, false)),
            c => self.fault(format!("expected '.' or ']' to end table name, but got {} instead", one(c))),
        }
    }

    pub(super) fn array_header_end(&mut self) -> Found<()> {
        match self.next()? {
            ']' => Ok(()),
            c => self.fault(format!("expected end of table array name delimiter ']', but got {} instead", one(c))),
        }
    }

    pub(super) fn key_start(&mut self) -> Found<()> {
        self.skip(is_space)?;
        match self.peek()? {
            '=' | EOF => self.fault("unexpected '=': key name appears blank"),
            '.' => self.fault("unexpected '.': keys cannot start with a '.'"),
            _ => Ok(()),
        }
    }

    /// A part of a key, up to what follows it; true if that is another part.
    pub(super) fn key_part(&mut self, line: &mut Option<usize>) -> Found<(String, bool)> {
        self.skip(is_space)?;
        match self.peek()? {
            '=' | EOF => return self.fault("unexpected '='"),
            '.' => return self.fault("unexpected '.'"),
            _ => {}
        }
        let part = self.part()?;
        line.get_or_insert(self.line);
        self.skip(is_space)?;
        match self.next()? {
            '.' => Ok((part, true)),
            '=' => Ok((part, false)),
            EOF => self.fault("unexpected EOF; expected key separator '='"),
            '\n' => self.fault_before("expected '.' or '=', but got '\\n' instead"),
            c => self.fault(format!("expected '.' or '=', but got {} instead", one(c))),
        }
    }

    /// A bare part, which may turn out to be empty, or a quoted one.
    fn part(&mut self) -> Found<String> {
        match self.peek()? {
            '"' => {
                self.next()?;
                self.string()
            }
            '\'' => {
                self.next()?;
                self.raw_string()
            }
            _ => {
                self.ignore();
                self.over(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?;
                Ok(self.current())
            }
        }
    }

    pub(super) fn value(&mut self) -> Found<Start> {
        self.skip(is_space)?;
        let mark = self.mark();
        let c = self.next()?;
        let text = |text| Ok(Start::Scalar(Scalar::Text(text)));
        match c {
            '0'..='9' => return self.number(c == '0').map(Start::Scalar),
            '[' => return Ok(Start::Array),
            '{' => return Ok(Start::Table),
            '"' => {
                let once = self.mark();
                if self.accept('"')? {
                    if self.accept('"')? {
                        return text(self.multiline_string()?);
                    }
                    self.back(once);
                }
                return text(self.string()?);
            }
            '\'' => {
                let once = self.mark();
                if self.accept('\'')? {
                    if self.accept('\'')? {
                        return text(self.multiline_raw_string()?);
                    }
                    self.back(once);
                }
                return text(self.raw_string()?);
            }
            '.' => return self.fault("floats must start with a digit, not '.'"),
            '-' | '+' => return self.signed_number().map(Start::Scalar),
            'i' | 'n' => {
                let infinite = self.accept('n')? && self.accept('f')?;
                if infinite || self.accept('a')? && self.accept('n')? {
                    return Ok(Start::Scalar(Scalar::Float(self.current())));
                }
                // Only the last of the characters read so far is given back.
                self.back(Mark(self.pos - 1, mark.1));
                self.ignore();
                return self.word();
            }
            _ => {}
        }
        match c {
            c if is_letter(c) => {
                self.back(mark);
                self.word()
            }
            EOF => self.fault("unexpected EOF; expected value"),
            '\n' => self.fault_before("expected value but found '\\n' instead"),
            c => self.fault(format!("expected value but found {} instead", one(c))),
        }
    }

    fn word(&mut self) -> Found<Start> {
        let from = self.pos;
        self.over(is_letter)?;
        let word = &self.input[from..self.pos];
        match word {
            b"true" | b"false" => Ok(Start::Scalar(Scalar::Bool(word == b"true"))),
            _ => self.fault(format!("expected value but found {} instead", quote(word))),
        }
    }

    /// The first item of an array, or the next one: false at its end.
    pub(super) fn item(&mut self) -> Found<bool> {
        self.another(']')
    }

    /// Is there something more before what closes an array or inline table?
    fn another(&mut self, closing: char) -> Found<bool> {
        loop {
            let mark = self.mark();
            match self.next()? {
                c if is_space(c) || is_newline(c) => {}
                '#' => self.comment()?,
                ',' => return self.fault("unexpected comma"),
                c if c == closing => return Ok(false),
                _ => {
                    self.back(mark);
                    return Ok(true);
                }
            }
        }
    }

    /// After an item: false at the end of the array.
    pub(super) fn item_end(&mut self) -> Found<bool> {
        match self.over_gaps()? {
            ',' => Ok(true),
            ']' => Ok(false),
            c => {
                let text = "expected a comma (',') or array terminator (']'), but got";
                self.fault(format!("{text} {}", or_end(c)))
            }
        }
    }

    /// The first key of an inline table, or the next one: false at its end.
    pub(super) fn entry(&mut self) -> Found<bool> {
        self.another('}')
    }

    /// After a value of an inline table: false at the end of the table.
    pub(super) fn entry_end(&mut self) -> Found<bool> {
        match self.over_gaps()? {
            ',' => {
                self.skip(is_space)?;
                if self.peek()? == '}' {
                    self.next()?;
                    return Ok(false);
                }
                Ok(true)
            }
            '}' => Ok(false),
            c => {
                let text = "expected a comma or an inline table terminator '}', but got";
                self.fault(format!("{text} {} instead", or_end(c)))
            }
        }
    }
}
