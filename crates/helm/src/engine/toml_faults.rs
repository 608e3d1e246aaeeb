//! What is wrong with a TOML text, in the words of the Go library `BurntSushi/toml`.
//!
//! Owns: finding the first fault of a text that did not parse, its line and the key before it. Does not own: values;
//! the crate `toml` has already refused the text. What is not found here is told in that crate's words. The surprising
//! thing: the key that is named is the one whose value is being read, not the one that is missing a value.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use go_value::quote::{quote, quote_char};

/// A fault and the key that Go's library names with it.
struct Fault {
    line: usize,
    key: String,
    text: String,
}

/// The complaint about a text, if its fault is one of those known here.
pub(super) fn explain(text: &str) -> Option<String> {
    let mut reader = Reader {
        chars: text.chars().collect(),
        at: 0,
        table: Vec::new(),
        defined: BTreeSet::new(),
        arrays: BTreeSet::new(),
        current: String::new(),
    };
    let Fault { line, key, text } = reader.document().err()?;
    let key = if key.is_empty() { key } else { format!(" (last key {})", quote(key.as_bytes())) };
    Some(format!("toml: line {line}{key}: {text}"))
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    /// The table that keys belong to.
    table: Vec<String>,
    /// Keys with values, and tables by their headers.
    defined: BTreeSet<Vec<String>>,
    /// Arrays of tables.
    arrays: BTreeSet<Vec<String>>,
    /// The key whose value is being read.
    current: String,
}

type Found<T> = Result<T, Fault>;

/// How deep arrays and inline tables are followed.
const MAX_DEPTH: usize = 100;

fn one(c: Option<char>) -> String {
    quote_char(c.unwrap_or('\0').into(), false)
}

fn or_end(c: Option<char>) -> String {
    c.map_or("end of file".into(), |c| one(Some(c)))
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn fault<T>(&self, text: impl Into<String>) -> Found<T> {
        let line = 1 + self.chars.iter().take(self.at).filter(|&&c| c == '\n').count();
        Err(Fault { line, key: self.current.clone(), text: text.into() })
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    /// Space, line ends and comments.
    fn gap(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\n' | '\r') => self.at += 1,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn document(&mut self) -> Found<()> {
        loop {
            self.gap();
            self.current = self.table.join(".");
            match self.peek() {
                None => return Ok(()),
                Some('[') => self.header()?,
                Some(_) => {
                    let table = self.table.clone();
                    self.assignment(&table, 0)?;
                }
            }
            self.current = self.table.join(".");
            self.space();
            match self.peek() {
                None | Some('\n' | '\r' | '#') => {}
                other => {
                    return self.fault(format!(
                        "expected a top-level item to end with a newline, comment, or EOF, but got {} instead",
                        one(other)
                    ));
                }
            }
        }
    }

    fn header(&mut self) -> Found<()> {
        self.at += 1;
        let array = self.peek() == Some('[');
        self.at += usize::from(array);
        let mut path = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(']') | None if path.is_empty() => {
                    return self.fault("unexpected end of table name (table names cannot be empty)");
                }
                Some('.') => return self.fault("unexpected table separator (table names cannot be empty)"),
                _ => path.push(self.part()?),
            }
            self.space();
            match self.peek() {
                Some('.') => self.at += 1,
                Some(']') => break,
                other => {
                    return self
                        .fault(format!("expected '.' or ']' to end table name, but got {} instead", one(other)));
                }
            }
        }
        self.at += 1;
        if array {
            if self.peek() != Some(']') {
                let text =
                    format!("expected end of table array name delimiter ']', but got {} instead", one(self.peek()));
                return self.fault(text);
            }
            self.at += 1;
            // Each element of the array begins anew.
            self.defined.retain(|key| !key.starts_with(&path));
            self.arrays.insert(path.clone());
        } else if self.arrays.contains(&path) || !self.defined.insert(path.clone()) {
            self.current = path[..path.len() - 1].join(".");
            return self.fault(format!("Key '{}' has already been defined.", path.join(".")));
        }
        self.table = path;
        Ok(())
    }

    /// One part of a key: bare or quoted.
    fn part(&mut self) -> Found<String> {
        if let Some(q @ ('"' | '\'')) = self.peek() {
            return self.string(q);
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            self.at += 1;
        }
        if start == self.at {
            return self.fault(format!("expected '.' or '=', but got {} instead", one(self.peek())));
        }
        Ok(self.chars[start..self.at].iter().collect())
    }

    fn assignment(&mut self, table: &[String], depth: usize) -> Found<()> {
        let mut path = table.to_vec();
        match self.peek() {
            Some('=') => return self.fault("unexpected '=': key name appears blank"),
            Some('.') => return self.fault("unexpected '.': keys cannot start with a '.'"),
            _ => {}
        }
        loop {
            path.push(self.part()?);
            self.space();
            match self.peek() {
                Some('.') => {
                    self.at += 1;
                    self.space();
                }
                Some('=') => break,
                None => return self.fault("unexpected EOF; expected key separator '='"),
                other => return self.fault(format!("expected '.' or '=', but got {} instead", one(other))),
            }
        }
        self.at += 1;
        self.current = path.join(".");
        if self.defined.contains(&path) {
            self.value(&path, depth)?;
            return self.fault(format!("Key '{}' has already been defined.", path.join(".")));
        }
        self.value(&path, depth)?;
        self.defined.insert(path);
        Ok(())
    }

    fn value(&mut self, path: &[String], depth: usize) -> Found<()> {
        self.space();
        match self.peek() {
            _ if depth > MAX_DEPTH => Ok(()),
            None => self.fault("unexpected EOF; expected value"),
            Some(q @ ('"' | '\'')) => self.string(q).map(drop),
            Some('[') => self.array(path, depth),
            Some('{') => self.inline(path, depth),
            Some(c) if c.is_ascii_digit() || matches!(c, '+' | '-') => self.number(),
            Some(c) if c.is_alphabetic() => {
                let word = self.word();
                match word.as_str() {
                    "true" | "false" | "inf" | "nan" => Ok(()),
                    _ => self.fault(format!("expected value but found {} instead", quote(word.as_bytes()))),
                }
            }
            Some('.') => self.fault("floats must start with a digit, not '.'"),
            other => self.fault(format!("expected value but found {} instead", one(other))),
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | ':')) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn number(&mut self) -> Found<()> {
        let word = self.word();
        let digits = word.trim_start_matches(['+', '-']);
        let whole = digits.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        if whole && digits.len() > 1 && digits.starts_with('0') {
            return self.fault(format!("Invalid integer {}: cannot have leading zeroes", quote(word.as_bytes())));
        }
        if digits.ends_with('.') || digits.contains(".e") {
            let word = quote(word.as_bytes());
            return self.fault(format!("Invalid float {word}: '.' must be followed by one or more digits"));
        }
        if whole && (digits.ends_with('_') || digits.contains("__")) {
            let word = quote(word.as_bytes());
            return self.fault(format!("Invalid integer {word}: underscores must be surrounded by digits"));
        }
        if whole && digits.replace('_', "").parse::<i64>().is_err() && !digits.is_empty() {
            return self.fault(format!("{digits} is out of range for int64"));
        }
        Ok(())
    }

    fn string(&mut self, q: char) -> Found<String> {
        let triple = self.chars[self.at..].starts_with(&[q, q, q]);
        self.at += if triple { 3 } else { 1 };
        let mut text = String::new();
        loop {
            match self.peek() {
                None => {
                    let end = q.to_string().repeat(if triple { 3 } else { 1 });
                    let outer = if q == '"' { '\'' } else { '"' };
                    return self.fault(format!("unexpected EOF; expected {outer}{end}{outer}"));
                }
                Some('\n') if !triple => return self.fault("strings cannot contain newlines"),
                Some('\\') if q == '"' => {
                    let escaped = self.chars.get(self.at + 1).copied();
                    match escaped {
                        Some('b' | 't' | 'n' | 'f' | 'r' | 'e' | '"' | '\\' | 'u' | 'U' | 'x') => {}
                        Some(' ' | '\t' | '\n' | '\r') if triple => {}
                        Some(c) => return self.fault(format!("invalid escape in string '\\{c}'")),
                        None => {}
                    }
                    self.at += 1 + usize::from(escaped.is_some());
                    let _ = write!(text, "\\{}", escaped.unwrap_or_default());
                }
                Some(c) if c == q && (!triple || self.chars[self.at..].starts_with(&[q, q, q])) => {
                    self.at += if triple { 3 } else { 1 };
                    return Ok(text);
                }
                Some(c) => {
                    self.at += 1;
                    text.push(c);
                }
            }
        }
    }

    fn array(&mut self, path: &[String], depth: usize) -> Found<()> {
        self.at += 1;
        loop {
            self.gap();
            match self.peek() {
                Some(']') => break,
                Some(',') => return self.fault("unexpected comma"),
                None => {
                    return self.fault("expected a comma (',') or array terminator (']'), but got end of file");
                }
                _ => self.value(path, depth + 1)?,
            }
            self.gap();
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => break,
                other => {
                    let other = or_end(other);
                    return self.fault(format!("expected a comma (',') or array terminator (']'), but got {other}"));
                }
            }
        }
        self.at += 1;
        Ok(())
    }

    fn inline(&mut self, path: &[String], depth: usize) -> Found<()> {
        self.at += 1;
        // Each table of an array has keys of its own.
        self.defined.retain(|key| !(key.len() > path.len() && key.starts_with(path)));
        loop {
            self.gap();
            match self.peek() {
                Some('}') => break,
                Some(',') => return self.fault("unexpected comma"),
                _ => self.assignment(path, depth + 1)?,
            }
            self.gap();
            match self.peek() {
                Some(',') => self.at += 1,
                Some('}') => break,
                other => {
                    return self.fault(format!(
                        "expected a comma or an inline table terminator '}}', but got {} instead",
                        or_end(other)
                    ));
                }
            }
        }
        self.at += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn words_of_go() {
        for (text, want) in [
            ("bad", "line 1: unexpected EOF; expected key separator '='"),
            ("a = ", "line 1 (last key \"a\"): unexpected EOF; expected value"),
            ("a = 1\na = 2", "line 2 (last key \"a\"): Key 'a' has already been defined."),
            ("[t]\nx=1\n[t]", "line 3: Key 't' has already been defined."),
            (
                "a = {x=1",
                "line 1 (last key \"a.x\"): expected a comma or an inline table terminator '}', but got end of file instead",
            ),
            ("[a]\nb=1\n[a.b]", "line 3 (last key \"a\"): Key 'a.b' has already been defined."),
            (
                "a = 1 2",
                "line 1: expected a top-level item to end with a newline, comment, or EOF, but got '2' instead",
            ),
            ("a = \"\\q\"", "line 1 (last key \"a\"): invalid escape in string '\\q'"),
        ] {
            assert_eq!(explain(text).as_deref(), Some(format!("toml: {want}").as_str()));
        }
        assert_eq!(explain("a = [1, {b = 2}, {b = 3}] # c\n[[t]]\nx = 1\n[[t]]\nx = '''\n\n'''"), None);
    }
}
