//! Texts, numbers and dates of TOML.
//!
//! Follows `lex.go`, for escapes `parse.go`. Does not own: what a number is worth. The surprising thing: a text in three
//! quotes may end with one or two quotes of its own.

use go_value::quote::quote;

use super::{EOF, Found, Lexer, Scalar, is_newline, one};

impl Lexer<'_> {
    pub(super) fn string(&mut self) -> Found<String> {
        self.ignore();
        let mut escaped = false;
        loop {
            let end = self.pos;
            match self.next()? {
                EOF => return self.fault("unexpected EOF; expected '\"'"),
                c if is_newline(c) => return self.fault_before("strings cannot contain newlines"),
                '\\' => {
                    self.escape()?;
                    escaped = true;
                }
                '"' => {
                    let text = String::from_utf8_lossy(&self.input[self.start..end]).into_owned();
                    return if escaped { self.unescape(&text) } else { Ok(text) };
                }
                _ => {}
            }
        }
    }

    pub(super) fn raw_string(&mut self) -> Found<String> {
        self.ignore();
        loop {
            let end = self.pos;
            match self.next()? {
                EOF => return self.fault("unexpected EOF; expected \"'\""),
                c if is_newline(c) => return self.fault_before("strings cannot contain newlines"),
                '\'' => return Ok(String::from_utf8_lossy(&self.input[self.start..end]).into_owned()),
                _ => {}
            }
        }
    }

    /// After one quote of a text in three: the end of the text, if two more follow and it is not one of two quotes
    /// that the text may end with.
    fn closes(&mut self, quote: char) -> Found<Option<usize>> {
        let once = self.mark();
        if !self.accept(quote)? {
            return Ok(None);
        }
        if !self.accept(quote)? {
            self.back(once);
            return Ok(None);
        }
        if self.peek()? == quote {
            let (so_far, six) = (&self.input[self.start..self.pos], quote.to_string().repeat(6));
            let five = &six.as_bytes()[1..];
            if so_far.ends_with(five) && !(quote == '"' && so_far.ends_with(b"\\\"\"\"\"\"")) {
                let outer = if quote == '"' { '\'' } else { '"' };
                return self.fault(format!("unexpected {outer}{six}{outer}"));
            }
            self.back(once);
            return Ok(None);
        }
        Ok(Some(self.pos - 3))
    }

    pub(super) fn multiline_string(&mut self) -> Found<String> {
        self.ignore();
        loop {
            match self.next()? {
                EOF => return self.fault("unexpected EOF; expected '\"\"\"'"),
                '\\' => {
                    let mark = self.mark();
                    if !is_newline(self.next()?) {
                        self.back(mark);
                        self.escape()?;
                    }
                }
                '"' => {
                    if let Some(end) = self.closes('"')? {
                        let text = String::from_utf8_lossy(&self.input[self.start..end]);
                        let text = joined(without_first_newline(&text));
                        return self.unescape(&text);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn multiline_raw_string(&mut self) -> Found<String> {
        self.ignore();
        loop {
            match self.next()? {
                EOF => return self.fault("unexpected EOF; expected \"'''\""),
                '\'' => {
                    if let Some(end) = self.closes('\'')? {
                        let text = String::from_utf8_lossy(&self.input[self.start..end]);
                        return Ok(without_first_newline(&text).to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Found<()> {
        let (digits, words) = match self.next()? {
            'e' | 'b' | 't' | 'n' | 'f' | 'r' | '"' | ' ' | '\t' | '\\' => return Ok(()),
            'x' => (2, "two hexadecimal digits after '\\x'"),
            'u' => (4, "four hexadecimal digits after '\\u'"),
            'U' => (8, "eight hexadecimal digits after '\\U'"),
            c => {
                let text = format!("invalid escape in string '\\{c}'");
                return if self.at_end { self.fault_before(text) } else { self.fault(text) };
            }
        };
        for _ in 0..digits {
            if !self.next()?.is_ascii_hexdigit() {
                let so_far = quote(&self.input[self.start..self.pos]);
                return self.fault(format!("expected {words}, but got {so_far} instead"));
            }
        }
        Ok(())
    }

    /// What the escapes of a text stand for.
    fn unescape(&self, text: &str) -> Found<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            let c = rest[at + 1..].chars().next().unwrap_or_default();
            rest = &rest[at + 1 + c.len_utf8()..];
            let digits = match c {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                _ => {
                    out.push(match c {
                        'b' => '\u{8}',
                        't' => '\t',
                        'n' => '\n',
                        'f' => '\u{c}',
                        'r' => '\r',
                        'e' => '\u{1b}',
                        '"' | '\\' => c,
                        _ => return self.fault(format!("invalid escape: '\\{c}'")),
                    });
                    continue;
                }
            };
            let (digits, after) = rest.split_at(digits);
            rest = after;
            match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
                Some(c) => out.push(c),
                None => return self.fault(format!("Escaped character '\\u{digits}' is not valid UTF-8.")),
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// A number or date whose first digit is read.
    pub(super) fn number(&mut self, zero: bool) -> Found<Scalar> {
        if zero {
            let mark = self.mark();
            let c = self.next()?;
            let (is_part, words): (fn(char) -> bool, _) = match c {
                '0'..='9' => return self.number(false),
                '_' => return self.decimal(),
                '.' | 'e' | 'E' => return self.float(),
                'b' => (|c| matches!(c, '0' | '1'), "a binary"),
                'o' => (|c| matches!(c, '0'..='7'), "an octal"),
                'x' => (|c| c.is_ascii_hexdigit(), "a hexadecimal"),
                _ => {
                    self.back(mark);
                    return Ok(Scalar::Integer(self.current()));
                }
            };
            let c = self.peek()?;
            if !is_part(c) {
                return self.fault(format!("not {words} number: '{}{c}'", self.current()));
            }
            self.over(|c| is_part(c) || c == '_')?;
            return Ok(Scalar::Integer(self.current()));
        }
        self.over(|c| c.is_ascii_digit())?;
        let mark = self.mark();
        match self.next()? {
            '-' | ':' => {
                self.over(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | 't' | ' ' | '.' | 'Z' | 'z' | '+'))?;
                Ok(Scalar::Date(self.current().trim().to_owned()))
            }
            '_' => self.decimal(),
            '.' | 'e' | 'E' => self.float(),
            _ => {
                self.back(mark);
                Ok(Scalar::Integer(self.current()))
            }
        }
    }

    fn decimal(&mut self) -> Found<Scalar> {
        self.over(|c| c.is_ascii_digit() || c == '_')?;
        let mark = self.mark();
        if matches!(self.next()?, '.' | 'e' | 'E') {
            return self.float();
        }
        self.back(mark);
        Ok(Scalar::Integer(self.current()))
    }

    fn float(&mut self) -> Found<Scalar> {
        self.over(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | '-' | '+' | 'e' | 'E'))?;
        Ok(Scalar::Float(self.current()))
    }

    pub(super) fn signed_number(&mut self) -> Found<Scalar> {
        let c = self.next()?;
        match c {
            'i' | 'n' => {
                let rest = if c == 'i' { ['n', 'f'] } else { ['a', 'n'] };
                if !(self.accept(rest[0])? && self.accept(rest[1])?) {
                    return self.fault(format!("invalid float: '{}'", self.current()));
                }
                return Ok(Scalar::Float(self.current()));
            }
            '0' => {
                let next = self.peek()?;
                if matches!(next, 'b' | 'o' | 'x') {
                    let so_far = self.current();
                    return self.fault(format!("cannot use sign with non-decimal numbers: '{so_far}{next}'"));
                }
            }
            '.' => return self.fault("floats must start with a digit, not '.'"),
            _ => {}
        }
        if c.is_ascii_digit() { self.decimal() } else { self.fault(format!("expected a digit but got {}", one(c))) }
    }
}

fn without_first_newline(text: &str) -> &str {
    text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n")).unwrap_or(text)
}

/// The text without the line ends that a backslash hides, and the space after them.
fn joined(mut text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|i| from + i) {
        if text[at + 1..].starts_with('\\') {
            from = at + 2;
            continue;
        }
        let rest = text[at + 1..].trim_start_matches([' ', '\t', '\r', '\n']);
        let end = text.len() - rest.len();
        if text[at + 1..end].contains('\n') {
            out.push_str(&text[..at]);
            (text, from) = (rest, 0);
        } else {
            from = at + 1;
        }
    }
    out.push_str(text);
    out
}
