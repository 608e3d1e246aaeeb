//! Writing scalars and indicators.
//!
//! Upstream: the `yaml_emitter_write_*` functions of `emitterc.go`.
//! The surprising thing: a text that begins with a byte order mark is escaped as a whole when double-quoted.

use std::fmt::Write as _;

use super::analysis::{is_break, is_printable};
use super::{Emitter, INDENT};
use crate::resolve::Dialect;

impl Emitter {
    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        if self.dialect == Dialect::V3 {
            self.indention = true;
        }
    }

    fn write_break(&mut self, c: char) {
        if c == '\n' {
            self.put_break();
        } else {
            self.out.push(c);
            self.column = 0;
            if self.dialect == Dialect::V3 {
                self.indention = true;
            }
        }
    }

    pub(super) fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || self.column == indent && !self.whitespace {
            self.put_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        if self.dialect == Dialect::V2 {
            self.indention = true;
        }
    }

    pub(super) fn write_indicator(
        &mut self,
        indicator: &str,
        need_whitespace: bool,
        is_whitespace: bool,
        is_indention: bool,
    ) {
        if need_whitespace && !self.whitespace {
            self.put(' ');
        }
        self.out.push_str(indicator);
        self.column += indicator.len();
        self.whitespace = is_whitespace;
        self.indention = self.indention && is_indention;
    }

    /// Characters of plain and single-quoted scalars, folded at blanks beyond the width.
    fn write_folded(&mut self, text: &str, fold: bool, quoted: bool) {
        let (mut spaces, mut breaks) = (false, false);
        for (i, c) in text.char_indices() {
            if c == ' ' {
                let next_is_space = text.as_bytes().get(i + 1) == Some(&b' ');
                let inside = !quoted || i > 0 && i + 1 < text.len();
                if fold && !spaces && self.column > self.width && inside && !next_is_space {
                    self.write_indent();
                } else {
                    self.put(c);
                }
                spaces = true;
            } else if is_break(c) {
                if !breaks && c == '\n' {
                    self.put_break();
                }
                self.write_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                if quoted && c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
        }
    }

    pub(super) fn write_plain(&mut self, text: &str, fold: bool) {
        let silent = text.is_empty() && self.dialect == Dialect::V3;
        if !silent && !self.whitespace {
            self.put(' ');
        }
        self.write_folded(text, fold, false);
        if !silent {
            self.whitespace = false;
        }
        self.indention = false;
    }

    pub(super) fn write_single_quoted(&mut self, text: &str, fold: bool) {
        self.write_indicator("'", true, false, false);
        self.write_folded(text, fold, true);
        self.write_indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    pub(super) fn write_double_quoted(&mut self, text: &str, fold: bool) {
        self.write_indicator("\"", true, false, false);
        let escape_all = text.starts_with('\u{feff}');
        let mut spaces = false;
        for (i, c) in text.char_indices() {
            if escape_all || !is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                self.escape(c);
                spaces = false;
            } else if c == ' ' {
                if fold && !spaces && self.column > self.width && i > 0 && i + 1 < text.len() {
                    self.write_indent();
                    if text.as_bytes().get(i + 1) == Some(&b' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
        }
        self.write_indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, c: char) {
        let before = self.out.len();
        self.out.push('\\');
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => ' ',
        };
        let code = c as u32;
        if short != ' ' {
            self.out.push(short);
        } else if code <= 0xff {
            let _ = write!(self.out, "x{code:02X}");
        } else if code <= 0xffff {
            let _ = write!(self.out, "u{code:04X}");
        } else {
            let _ = write!(self.out, "U{code:08X}");
        }
        self.column += self.out.len() - before;
    }

    pub(super) fn write_literal(&mut self, text: &str) {
        self.write_indicator("|", true, false, false);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.write_indicator(&INDENT.to_string(), false, false, false);
        }
        let mut last = text.chars().rev();
        let chomp = match (last.next(), last.next()) {
            (Some(c), _) if !is_break(c) => "-",
            (Some(_), None) => "+",
            (Some(_), Some(c)) if is_break(c) => "+",
            (Some(_), _) => "",
            (None, _) => "-",
        };
        if !chomp.is_empty() {
            self.write_indicator(chomp, false, false, false);
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        let mut breaks = true;
        for c in text.chars() {
            if is_break(c) {
                self.write_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                self.put(c);
                self.indention = false;
                breaks = false;
            }
        }
    }
}
