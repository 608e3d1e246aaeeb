//! Scalars in all their styles.
//!
//! Upstream: `yaml_parser_scan_*_scalar` in `scannerc.go`.
//! The surprising thing: a `?` ends a plain scalar between brackets, so `[http://x/?q]` is an error.

use super::{Kind, Mark, Result, Scanner};

/// Line breaks and blanks within a scalar that are not decided yet.
#[derive(Default)]
struct Gap {
    leading_break: String,
    trailing_breaks: String,
    whitespace: String,
}

impl Gap {
    /// One line break folds to a blank, more to all but the first.
    fn fold(&mut self, out: &mut String) {
        if self.leading_break.starts_with('\n') {
            if self.trailing_breaks.is_empty() {
                out.push(' ');
            } else {
                out.push_str(&self.trailing_breaks);
            }
        } else {
            out.push_str(&self.leading_break);
            out.push_str(&self.trailing_breaks);
        }
        self.leading_break.clear();
        self.trailing_breaks.clear();
    }
}

impl Scanner<'_> {
    fn push_scalar(&mut self, value: String, plain: bool, start: Mark) {
        self.push(Kind::Scalar { value, plain }, start);
    }

    fn at_document_indicator(&self) -> bool {
        let c = &self.cursor;
        c.mark.column == 0 && (c.starts_with(b"---") || c.starts_with(b"...")) && c.is_blank_or_end(3)
    }

    fn digit_or_zero(&mut self) -> Result<usize> {
        match self.cursor.at(0) {
            b'0' => Err(self.cursor.error("found an indentation indicator equal to 0")),
            b @ b'1'..=b'9' => {
                self.cursor.skip();
                Ok(usize::from(b - b'0'))
            }
            _ => Ok(0),
        }
    }

    fn chomping(&mut self) -> Option<bool> {
        let keep = match self.cursor.at(0) {
            b'+' => true,
            b'-' => false,
            _ => return None,
        };
        self.cursor.skip();
        Some(keep)
    }

    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Result<()> {
        let start = self.cursor.mark;
        self.cursor.skip();
        self.cursor.ensure()?;
        // The hints come in any order.
        let mut chomping = self.chomping();
        let increment = self.digit_or_zero()?;
        if chomping.is_none() && increment > 0 {
            chomping = self.chomping();
        }
        self.cursor.ensure()?;
        while self.cursor.is_blank(0) {
            self.cursor.skip();
            self.cursor.ensure()?;
        }
        if self.cursor.at(0) == b'#' {
            self.cursor.skip_comment()?;
        }
        if !self.cursor.is_break_or_end() {
            return Err(self.cursor.error("did not find expected comment or line break"));
        }
        self.cursor.skip_line();
        let mut indent = if increment > 0 { self.indent.max(0) as usize + increment } else { 0 };
        let (mut value, mut leading_break, mut trailing_breaks) = (String::new(), String::new(), String::new());
        self.block_breaks(&mut indent, &mut trailing_breaks)?;
        let mut leading_blank = false;
        while self.cursor.mark.column == indent && !self.cursor.is_end() {
            let trailing_blank = self.cursor.is_blank(0);
            if !literal && !leading_blank && !trailing_blank && leading_break.starts_with('\n') {
                if trailing_breaks.is_empty() {
                    value.push(' ');
                }
            } else {
                value.push_str(&leading_break);
            }
            leading_break.clear();
            value.push_str(&trailing_breaks);
            trailing_breaks.clear();
            leading_blank = trailing_blank;
            while !self.cursor.is_break_or_end() {
                self.cursor.read_while(&mut value, |b| !matches!(b, b'\n' | b'\r'));
                if self.cursor.is_break_or_end() {
                    break;
                }
                self.cursor.read(&mut value);
                self.cursor.ensure()?;
            }
            self.cursor.ensure()?;
            self.cursor.read_line(&mut leading_break);
            self.block_breaks(&mut indent, &mut trailing_breaks)?;
        }
        if chomping != Some(false) {
            value.push_str(&leading_break);
        }
        if chomping == Some(true) {
            value.push_str(&trailing_breaks);
        }
        self.push_scalar(value, false, start);
        Ok(())
    }

    /// Indentation and empty lines; finds out the indentation if it is not known.
    fn block_breaks(&mut self, indent: &mut usize, breaks: &mut String) -> Result<()> {
        let mut deepest = 0;
        loop {
            self.cursor.ensure()?;
            while (*indent == 0 || self.cursor.mark.column < *indent) && self.cursor.at(0) == b' ' {
                self.cursor.skip();
                self.cursor.ensure()?;
            }
            deepest = deepest.max(self.cursor.mark.column);
            if (*indent == 0 || self.cursor.mark.column < *indent) && self.cursor.at(0) == b'\t' {
                return Err(self.cursor.error("found a tab character where an indentation space is expected"));
            }
            if self.cursor.break_width(0) == 0 {
                break;
            }
            self.cursor.read_line(breaks);
        }
        if *indent == 0 {
            *indent = deepest.max((self.indent + 1).max(1) as usize);
        }
        Ok(())
    }

    pub(super) fn scan_flow_scalar(&mut self, single: bool) -> Result<()> {
        let start = self.cursor.mark;
        let quote = if single { b'\'' } else { b'"' };
        self.cursor.skip();
        let mut value = String::new();
        let mut gap = Gap::default();
        loop {
            self.cursor.ensure()?;
            if self.at_document_indicator() {
                return Err(self.cursor.error("found unexpected document indicator"));
            }
            if self.cursor.is_end() {
                return Err(self.cursor.error("found unexpected end of stream"));
            }
            let mut leading_blanks = false;
            while !self.cursor.is_blank_or_end(0) {
                self.cursor.read_while(&mut value, |b| b > b' ' && !matches!(b, b'\'' | b'"' | b'\\'));
                let byte = self.cursor.at(0);
                if self.cursor.is_blank_or_end(0) {
                    break;
                }
                if single && byte == b'\'' && self.cursor.at(1) == b'\'' {
                    value.push('\'');
                    self.cursor.skip();
                    self.cursor.skip();
                } else if byte == quote {
                    break;
                } else if !single && byte == b'\\' {
                    if self.cursor.break_width(1) > 0 {
                        self.cursor.skip();
                        self.cursor.skip_line();
                        leading_blanks = true;
                        break;
                    }
                    self.escape(&mut value)?;
                } else {
                    self.cursor.read(&mut value);
                }
                self.cursor.ensure()?;
            }
            self.cursor.ensure()?;
            if self.cursor.at(0) == quote {
                break;
            }
            self.gap(&mut gap, &mut leading_blanks, None)?;
            if leading_blanks {
                gap.fold(&mut value);
            } else {
                value.push_str(&gap.whitespace);
            }
            gap.whitespace.clear();
        }
        self.cursor.skip();
        self.push_scalar(value, false, start);
        Ok(())
    }

    /// Blanks and line breaks. In a plain scalar tabs may not stand in for its indentation.
    fn gap(&mut self, gap: &mut Gap, leading_blanks: &mut bool, indent: Option<i64>) -> Result<()> {
        while self.cursor.is_blank(0) || self.cursor.break_width(0) > 0 {
            if self.cursor.is_blank(0) {
                let short = indent.is_some_and(|indent| (self.cursor.mark.column as i64) < indent);
                if *leading_blanks && short && self.cursor.at(0) == b'\t' {
                    return Err(self.cursor.error("found a tab character that violates indentation"));
                }
                if *leading_blanks {
                    self.cursor.skip();
                } else {
                    self.cursor.read(&mut gap.whitespace);
                }
            } else if *leading_blanks {
                self.cursor.read_line(&mut gap.trailing_breaks);
            } else {
                gap.whitespace.clear();
                self.cursor.read_line(&mut gap.leading_break);
                *leading_blanks = true;
            }
            self.cursor.ensure()?;
        }
        Ok(())
    }

    fn escape(&mut self, value: &mut String) -> Result<()> {
        let (c, length) = match self.cursor.at(1) {
            b'0' => ('\0', 0),
            b'a' => ('\u{7}', 0),
            b'b' => ('\u{8}', 0),
            b't' | b'\t' => ('\t', 0),
            b'n' => ('\n', 0),
            b'v' => ('\u{b}', 0),
            b'f' => ('\u{c}', 0),
            b'r' => ('\r', 0),
            b'e' => ('\u{1b}', 0),
            b' ' => (' ', 0),
            b'"' => ('"', 0),
            b'\'' => ('\'', 0),
            b'\\' => ('\\', 0),
            b'N' => ('\u{85}', 0),
            b'_' => ('\u{a0}', 0),
            b'L' => ('\u{2028}', 0),
            b'P' => ('\u{2029}', 0),
            b'x' => (' ', 2),
            b'u' => (' ', 4),
            b'U' => (' ', 8),
            _ => return Err(self.cursor.error("found unknown escape character")),
        };
        self.cursor.skip();
        self.cursor.skip();
        if length == 0 {
            value.push(c);
            return Ok(());
        }
        self.cursor.ensure()?;
        let mut code: u64 = 0;
        for i in 0..length {
            let Some(digit) = char::from(self.cursor.at(i)).to_digit(16) else {
                return Err(self.cursor.error("did not find expected hexdecimal number"));
            };
            code = code << 4 | u64::from(digit);
        }
        match u32::try_from(code).ok().and_then(char::from_u32) {
            Some(c) => value.push(c),
            None => return Err(self.cursor.error("found invalid Unicode character escape code")),
        }
        (0..length).for_each(|_| self.cursor.skip());
        Ok(())
    }

    pub(super) fn scan_plain_scalar(&mut self) -> Result<()> {
        let start = self.cursor.mark;
        let indent = self.indent + 1;
        let in_flow = self.flow_level > 0;
        let mut value = String::new();
        let mut gap = Gap::default();
        let mut leading_blanks = false;
        let mut end = start;
        loop {
            self.cursor.ensure()?;
            if self.at_document_indicator() || self.cursor.at(0) == b'#' {
                break;
            }
            while !self.cursor.is_blank_or_end(0) {
                let byte = self.cursor.at(0);
                let ends = byte == b':' && self.cursor.is_blank_or_end(1)
                    || in_flow && matches!(byte, b',' | b'?' | b'[' | b']' | b'{' | b'}');
                if ends {
                    break;
                }
                if leading_blanks {
                    gap.fold(&mut value);
                    leading_blanks = false;
                } else {
                    value.push_str(&gap.whitespace);
                }
                gap.whitespace.clear();
                self.cursor.read(&mut value);
                self.cursor.read_while(&mut value, |b| {
                    b > b' ' && !matches!(b, b':' | b',' | b'?' | b'[' | b']' | b'{' | b'}')
                });
                end = self.cursor.mark;
                self.cursor.ensure()?;
            }
            if !(self.cursor.is_blank(0) || self.cursor.break_width(0) > 0) {
                break;
            }
            self.gap(&mut gap, &mut leading_blanks, Some(indent))?;
            if !in_flow && (self.cursor.mark.column as i64) < indent {
                break;
            }
        }
        self.tokens.push_back(super::Token { kind: Kind::Scalar { value, plain: true }, start, end });
        if leading_blanks {
            self.key_allowed = true;
        }
        Ok(())
    }
}
