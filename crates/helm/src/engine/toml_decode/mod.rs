//! `fromToml`.
//!
//! Owns: what keys and values mean, numbers and dates, Go's complaints with the line and the last key. Does not own: the
//! characters ([`lex`]), which keys may be said again ([`tree`]). Follows `parse.go` of the Go library `BurntSushi/toml`,
//! which is laxer than TOML. The surprising thing: the key that a complaint names is the one whose value is being read;
//! while a key itself is read it is that of the table.

mod lex;
mod tree;

use go_value::float::{NumError, parse_float, parse_int};
use go_value::quote::quote;
use go_value::{Map, Value};
use sprig::Host;

use lex::{Fault, Lexer, Scalar, Start};
use tree::{Node, Table, Tree};

/// How deep tables and arrays may nest. Go has no limit; its work grows with the square.
const MAX_DEPTH: usize = 100;

/// The document as a map.
///
/// # Errors
/// What Go's library says.
pub(super) fn decode(text: &[u8], host: &dyn Host) -> Result<Map, String> {
    // The byte order marks of UTF-16 as well, which is refused a little later.
    let marks: [&[u8]; 3] = [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"];
    let text = marks.iter().find_map(|mark| text.strip_prefix(*mark)).unwrap_or(text);
    if text[..text.len().min(6)].contains(&0) {
        let text = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(format!("toml: line 1: {text}"));
    }
    let mut parser = Parser {
        lexer: Lexer::new(text),
        host,
        tree: Tree::default(),
        context: Vec::new(),
        key: String::new(),
        line: 1,
        depth: 0,
    };
    match parser.document() {
        Ok(()) => Ok(tree::map(parser.tree.root)),
        Err(Fault { line, text }) => {
            let key = parser.last_key();
            let key = if key.is_empty() { key } else { format!(" (last key {})", quote(key.as_bytes())) };
            Err(format!("toml: line {line}{key}: {text}"))
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    host: &'a dyn Host,
    tree: Tree,
    /// The table that keys belong to.
    context: Vec<String>,
    /// The key whose value is being read.
    key: String,
    /// Where the last key or header began.
    line: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn last_key(&self) -> String {
        let table = tree::shown(&self.context);
        match (self.key.is_empty(), self.context.is_empty()) {
            (true, _) => table,
            (_, true) => self.key.clone(),
            _ => format!("{table}.{}", self.key),
        }
    }

    /// A complaint about the last key.
    fn about_key<T>(&self, found: Result<T, String>) -> Result<T, Fault> {
        found.map_err(|text| Fault { line: self.line, text })
    }

    fn document(&mut self) -> Result<(), Fault> {
        while let Some(c) = self.lexer.top()? {
            if c == '[' {
                self.header()?;
            } else {
                let outer = self.context.clone();
                self.assignment(None)?;
                self.context = outer;
                self.key.clear();
            }
            if !self.lexer.top_end()? {
                break;
            }
        }
        Ok(())
    }

    fn header(&mut self) -> Result<(), Fault> {
        let array = self.lexer.second_bracket()?;
        let key = self.parts(Lexer::table_part, 0)?;
        if array {
            self.lexer.array_header_end()?;
        }
        let begun = self.tree.begin(&mut self.context, key, array);
        self.about_key(begun)?;
        self.tree.mark_array(&self.context, false);
        Ok(())
    }

    /// The parts of a dotted name, below `outer` others.
    fn parts(
        &mut self,
        next: impl Fn(&mut Lexer<'a>, &mut Option<usize>) -> Result<(String, bool), Fault>,
        outer: usize,
    ) -> Result<Vec<String>, Fault> {
        let (mut key, mut line, mut more) = (Vec::new(), None, true);
        while more {
            let part;
            (part, more) = next(&mut self.lexer, &mut line)?;
            self.line = line.unwrap_or(self.line);
            key.push(part);
            self.check_depth(outer + key.len())?;
        }
        Ok(key)
    }

    fn check_depth(&self, more: usize) -> Result<(), Fault> {
        if self.depth + more > MAX_DEPTH {
            return self.lexer.fault(format!("exceeded max depth of {MAX_DEPTH}"));
        }
        Ok(())
    }

    fn key_path(&self) -> Vec<String> {
        // An empty key has its marks with the table, as in Go.
        let mut path = self.context.clone();
        if !self.key.is_empty() || path.is_empty() {
            path.push(self.key.clone());
        }
        path
    }

    /// A key and its value. Within an inline table, `table` is what that becomes if it is an element of an array.
    fn assignment(&mut self, table: Option<&mut Table>) -> Result<(), Fault> {
        self.lexer.key_start()?;
        let key = self.parts(Lexer::key_part, self.context.len())?;
        let Some((last, parents)) = key.split_last() else { return Ok(()) };
        self.key.clone_from(last);
        for part in parents {
            let mut path = self.context.clone();
            path.push(part.clone());
            self.tree.imply(&path);
            let begun = self.tree.begin(&mut self.context, path, false);
            self.about_key(begun)?;
        }
        let node = self.value(false)?;
        let set = self.tree.set(&self.context, &self.key, &node);
        self.about_key(set)?;
        self.tree.mark_array(&self.key_path(), matches!(node, Node::Array(_)));
        let Some(mut table) = table else { return Ok(()) };
        for part in parents {
            let Node::Table(inner) = table.entry(part.clone()).or_insert_with(|| Node::Table(Table::new())) else {
                let context = quote(tree::shown(&self.context).as_bytes());
                return self.about_key(Err(format!("{context} is not a table")));
            };
            table = inner;
        }
        table.insert(self.key.clone(), node);
        Ok(())
    }

    fn value(&mut self, in_array: bool) -> Result<Node, Fault> {
        let start = self.lexer.value()?;
        self.check_depth(self.context.len() + 1)?;
        self.depth += 1;
        let node = match start {
            Start::Scalar(scalar) => Node::Value(self.scalar(scalar)?),
            Start::Array => self.array()?,
            Start::Table => self.inline(in_array)?,
        };
        self.depth -= 1;
        Ok(node)
    }

    fn array(&mut self) -> Result<Node, Fault> {
        self.tree.mark_array(&self.key_path(), true);
        let mut items = Vec::new();
        while self.lexer.item()? {
            items.push(self.value(true)?);
            if !self.lexer.item_end()? {
                break;
            }
        }
        Ok(Node::Array(items))
    }

    fn inline(&mut self, in_array: bool) -> Result<Node, Fault> {
        let (outer, outer_key) = (self.context.clone(), std::mem::take(&mut self.key));
        self.context.push(outer_key.clone());
        let path = self.context.clone();
        self.tree.imply(&path);
        let begun = self.tree.begin(&mut self.context, path.clone(), in_array);
        self.about_key(begun)?;
        let mut table = Table::new();
        while self.lexer.entry()? {
            self.assignment(Some(&mut table))?;
            self.context.clone_from(&path);
            if !self.lexer.entry_end()? {
                break;
            }
        }
        (self.context, self.key) = (outer, outer_key);
        Ok(Node::Table(table))
    }

    fn scalar(&self, scalar: Scalar) -> Result<Value, Fault> {
        match scalar {
            Scalar::Text(text) => Ok(text.into()),
            Scalar::Bool(b) => Ok(Value::Bool(b)),
            Scalar::Integer(text) => self.whole(&text),
            Scalar::Float(text) => self.float(&text),
            Scalar::Date(text) => self.date(&text),
        }
    }

    fn whole(&self, text: &str) -> Result<Value, Fault> {
        let shown = quote(text.as_bytes());
        if !underscores_are_right(text) {
            return self.lexer.fault(format!("Invalid integer {shown}: underscores must be surrounded by digits"));
        }
        if has_leading_zero(text) {
            return self.lexer.fault(format!("Invalid integer {shown}: cannot have leading zeroes"));
        }
        match parse_int(text.as_bytes(), 0, 64) {
            Ok(n) => Ok(Value::int64(n)),
            Err(_) => self.lexer.fault(format!("{text} is out of range for int64")),
        }
    }

    fn float(&self, text: &str) -> Result<Value, Fault> {
        let shown = quote(text.as_bytes());
        let mut parts = text.split(['.', 'e', 'E']).filter(|part| !part.is_empty());
        if !parts.clone().all(underscores_are_right) {
            return self.lexer.fault(format!("Invalid float {shown}: underscores must be surrounded by digits"));
        }
        if parts.next().is_some_and(has_leading_zero) {
            return self.lexer.fault(format!("Invalid float {shown}: cannot have leading zeroes"));
        }
        let bytes = text.as_bytes();
        if bytes.iter().enumerate().any(|(i, b)| *b == b'.' && !bytes.get(i + 1).is_some_and(u8::is_ascii_digit)) {
            return self.lexer.fault(format!("Invalid float {shown}: '.' must be followed by one or more digits"));
        }
        let (negative, plain) = match text {
            "+nan" | "-nan" => (text == "-nan", "nan".to_owned()),
            _ => (false, text.replace('_', "")),
        };
        match parse_float(plain.as_bytes()) {
            Ok(f) => Ok(Value::float(if negative { f.copysign(-1.0) } else { f })),
            Err(NumError::Range(_)) => self.lexer.fault(format!("{text} is out of range for float64")),
            Err(_) => self.lexer.fault(format!("Invalid float value: {shown}")),
        }
    }

    fn date(&self, text: &str) -> Result<Value, Fault> {
        let text = text.replace('z', "Z").replace(['t', ' '], "T");
        // A zone's name tells `toToml` what the text did not have.
        let layouts = [
            ("2006-01-02T15:04:05.999999999Z07:00", None),
            ("2006-01-02T15:04:05.999999999", Some("datetime-local")),
            ("2006-01-02", Some("date-local")),
            ("15:04:05.999999999", Some("time-local")),
            ("2006-01-02T15:04Z07:00", None),
            ("2006-01-02T15:04", Some("datetime-local")),
            ("15:04", Some("time-local")),
        ];
        for (layout, name) in layouts {
            let zone = match name {
                Some(name) => sprig::named_zone(name, self.host.now().offset()),
                None => self.host.local_zone(),
            };
            let Ok(time) = sprig::parse_time(layout, &text, &zone) else { continue };
            if lacks_a_zero(&text, layout) {
                break;
            }
            return Ok(Value::Time(Box::new(time)));
        }
        self.lexer.fault(format!("invalid datetime: {}", quote(text.as_bytes())))
    }
}

/// Does each underscore stand between digits?
fn underscores_are_right(text: &str) -> bool {
    if matches!(text, "nan" | "+nan" | "-nan" | "inf" | "-inf" | "+inf") {
        return true;
    }
    let mut digit = false;
    for c in text.chars() {
        if c == '_' && !digit {
            return false;
        }
        digit = c.is_ascii_hexdigit();
    }
    digit
}

fn has_leading_zero(text: &str) -> bool {
    match text.as_bytes() {
        [b'0', next, ..] => !matches!(next, b'b' | b'o' | b'x'),
        [b'-' | b'+', b'0', _, ..] => true,
        _ => false,
    }
}

/// Go reads hours of one digit; the separators are then not where the layout has them.
fn lacks_a_zero(text: &str, layout: &str) -> bool {
    let fixed = layout.bytes().take_while(|b| !matches!(b, b'.' | b'Z'));
    fixed.zip(text.bytes()).any(|(wanted, got)| !wanted.is_ascii_digit() && wanted != got)
}

#[cfg(test)]
mod tests {
    use go_value::{List, Map, Value};
    use sprig::FixedHost;

    use super::decode;
    use crate::engine::toml::encode;

    /// Splitmix: numbers that are the same in each run.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) % bound as u64) as usize
        }
    }

    fn host() -> FixedHost {
        FixedHost::new(jiff::Timestamp::UNIX_EPOCH, 1)
    }

    #[test]
    fn no_text_is_too_odd() {
        const PIECES: [&[u8]; 44] = [
            b"a",
            b"b.c",
            b"=",
            b" = ",
            b"1",
            b"[",
            b"]",
            b"[[",
            b"]]",
            b"{",
            b"}",
            b",",
            b"\n",
            b"\r\n",
            b"\"",
            b"\"\"\"",
            b"'",
            b"'''",
            b"\\",
            b"\\u00",
            b"\\U0010",
            b"\\x4",
            b"0x",
            b"_",
            b"+",
            b"-",
            b".",
            b"e",
            b"inf",
            b"in",
            b"na",
            b"true",
            b"2020-02-29",
            b"T10:",
            b"Z",
            b"#",
            b" ",
            b"\t",
            b"\xff",
            b"\x01",
            b"\0",
            b"\xc3\xa9",
            b"\r",
            b"\\\n",
        ];
        let (mut chance, host, mut read) = (Chance(1), host(), 0);
        for _ in 0..30_000 {
            let count = 1 + chance.below(14);
            let text: Vec<u8> = (0..count).flat_map(|_| PIECES[chance.below(PIECES.len())].to_vec()).collect();
            read += usize::from(decode(&text, &host).is_ok());
        }
        assert!(read > 100, "{read}");
    }

    fn value(chance: &mut Chance, depth: usize) -> Value {
        match chance.below(if depth > 3 { 5 } else { 7 }) {
            0 => Value::Bool(chance.below(2) == 0),
            1 => Value::int64(chance.below(1000) as i64 - 500),
            2 => Value::float(chance.below(1000) as f64 / 8.0 - 60.0),
            3 => Value::from(["", "x y", "é\n\t\"\\", "\u{7f}'", "a.b"][chance.below(5)]),
            4 => Value::List(List::any((0..chance.below(4)).map(|_| Value::int64(chance.below(9) as i64)).collect())),
            5 => Value::Map(table(chance, depth + 1)),
            _ => Value::List(List::any((0..chance.below(3)).map(|_| value(chance, depth + 1)).collect())),
        }
    }

    fn table(chance: &mut Chance, depth: usize) -> Map {
        // No empty key: Helm's library takes it for the table, and then reads something else.
        let keys = ["a", "b-1", "c d", "é", "\""];
        (0..chance.below(5)).map(|_| (keys[chance.below(keys.len())], value(chance, depth))).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let (mut chance, host) = (Chance(7), host());
        for _ in 0..3_000 {
            let map = Value::Map(table(&mut chance, 0));
            let text = encode(&map).unwrap();
            let back = decode(text.as_bytes(), &host).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(encode(&Value::Map(back)).unwrap(), text);
        }
    }
}
