//! Text to tokens.
//!
//! Owns: indentation, simple keys, which token comes next.
//! Does not own: characters ([`cursor`]), scalars ([`scalar`]), tags and directives ([`tag`]), grammar
//! ([`crate::parse`]).
//! Upstream: `scannerc.go` of go-yaml v2, a port of libyaml.
//! The surprising thing: whether a scalar is a key is known only when its colon comes, so a `Key` token is put in front
//! of tokens that wait already; how far the scanner must look ahead for that decides which of two errors is found first.

pub(crate) mod cursor;
mod scalar;
mod tag;

use std::collections::{BTreeMap, VecDeque};

use crate::limits::MAX_DEPTH;
use cursor::Cursor;
pub(crate) use cursor::{Mark, located};

#[derive(Debug)]
pub(crate) enum Kind {
    StreamStart,
    StreamEnd,
    Version(u8, u8),
    TagDirective { handle: String, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { value: String, plain: bool },
}

#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: Mark,
    pub(crate) end: Mark,
}

/// Something that may turn out to be a key.
#[derive(Clone, Copy)]
struct SimpleKey {
    possible: bool,
    /// Nothing else can stand there.
    required: bool,
    token: usize,
    mark: Mark,
}

/// A key must end within so many characters.
const LONGEST_KEY: usize = 1024;

pub(crate) struct Scanner<'a> {
    cursor: Cursor<'a>,
    tokens: VecDeque<Token>,
    /// How many tokens have been taken.
    taken: usize,
    started: bool,
    flow_level: usize,
    /// The column of the current block collection, -1 outside of all.
    indent: i64,
    indents: Vec<i64>,
    key_allowed: bool,
    /// One for each flow level.
    keys: Vec<SimpleKey>,
    /// From a token's number to its place in `keys`.
    keys_by_token: BTreeMap<usize, usize>,
}

type Result<T> = std::result::Result<T, String>;

impl<'a> Scanner<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self {
            cursor: Cursor::new(input),
            tokens: VecDeque::new(),
            taken: 0,
            started: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            key_allowed: false,
            keys: Vec::new(),
            keys_by_token: BTreeMap::new(),
        }
    }

    /// The next token, which stays.
    pub(crate) fn peek(&mut self) -> Result<&Token> {
        self.fill()?;
        self.tokens.front().ok_or_else(|| "yaml: unknown problem parsing YAML content".to_owned())
    }

    /// Take the token that [`Scanner::peek`] showed.
    pub(crate) fn take(&mut self) -> Option<Token> {
        self.keys_by_token.remove(&self.taken);
        self.taken += 1;
        self.tokens.pop_front()
    }

    /// Scan until it is known what the first token is.
    fn fill(&mut self) -> Result<()> {
        loop {
            if !self.tokens.is_empty() {
                let Some(&i) = self.keys_by_token.get(&self.taken) else { return Ok(()) };
                if i >= self.keys.len() || !self.key_is_valid(i)? {
                    return Ok(());
                }
            }
            self.fetch()?;
        }
    }

    fn push(&mut self, kind: Kind, start: Mark) {
        self.tokens.push_back(Token { kind, start, end: self.cursor.mark });
    }

    /// An indicator of so many characters.
    fn push_indicator(&mut self, kind: Kind, length: usize) {
        let start = self.cursor.mark;
        (0..length).for_each(|_| self.cursor.skip());
        self.push(kind, start);
    }

    fn fetch(&mut self) -> Result<()> {
        self.cursor.ensure()?;
        if !self.started {
            self.started = true;
            self.keys.push(SimpleKey { possible: false, required: false, token: 0, mark: Mark::default() });
            self.key_allowed = true;
            self.push(Kind::StreamStart, self.cursor.mark);
            return Ok(());
        }
        self.skip_to_token()?;
        self.unroll(self.cursor.mark.column as i64);
        self.cursor.ensure()?;
        let c = &self.cursor;
        let (byte, column) = (c.at(0), c.mark.column);
        let blank_follows = c.is_blank_or_end(1);
        let in_flow = self.flow_level > 0;
        if c.is_end() {
            return self.fetch_stream_end();
        }
        if column == 0 && byte == b'%' {
            self.unroll(-1);
            self.remove_key()?;
            self.key_allowed = false;
            return self.scan_directive();
        }
        if column == 0 && c.is_blank_or_end(3) && (c.starts_with(b"---") || c.starts_with(b"...")) {
            let kind = if byte == b'-' { Kind::DocumentStart } else { Kind::DocumentEnd };
            self.unroll(-1);
            self.remove_key()?;
            self.key_allowed = false;
            self.push_indicator(kind, 3);
            return Ok(());
        }
        match byte {
            b'[' => self.fetch_flow_start(Kind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(Kind::FlowMappingStart),
            b']' => self.fetch_flow_end(Kind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(Kind::FlowMappingEnd),
            b',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.push_indicator(Kind::FlowEntry, 1);
                Ok(())
            }
            b'-' if blank_follows => self.fetch_block_entry(),
            b'?' if in_flow || blank_follows => self.fetch_key(),
            b':' if in_flow || blank_follows => self.fetch_value(),
            b'*' | b'&' => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_anchor(byte == b'*')
            }
            b'!' => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_tag()
            }
            b'|' | b'>' if !in_flow => {
                self.remove_key()?;
                self.key_allowed = true;
                self.scan_block_scalar(byte == b'|')
            }
            b'\'' | b'"' => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_flow_scalar(byte == b'\'')
            }
            _ if self.begins_plain(byte) => {
                self.save_key()?;
                self.key_allowed = false;
                self.scan_plain_scalar()
            }
            _ => Err(self.cursor.error("found character that cannot start any token")),
        }
    }

    fn begins_plain(&self, byte: u8) -> bool {
        match byte {
            b'-' => !self.cursor.is_blank(1),
            b'?' | b':' => self.flow_level == 0 && !self.cursor.is_blank_or_end(1),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
            | b'`' => false,
            _ => !self.cursor.is_blank_or_end(0),
        }
    }

    /// Past blanks, comments and line breaks.
    fn skip_to_token(&mut self) -> Result<()> {
        loop {
            self.cursor.ensure()?;
            if self.cursor.mark.column == 0 && self.cursor.is_bom() {
                self.cursor.skip();
            }
            let tabs = self.flow_level > 0 || !self.key_allowed;
            while self.cursor.at(0) == b' ' || tabs && self.cursor.at(0) == b'\t' {
                self.cursor.skip();
                self.cursor.ensure()?;
            }
            if self.cursor.at(0) == b'#' {
                self.cursor.skip_comment()?;
            }
            if self.cursor.break_width(0) == 0 {
                return Ok(());
            }
            self.cursor.skip_line();
            if self.flow_level == 0 {
                self.key_allowed = true;
            }
        }
    }

    fn key_is_valid(&mut self, i: usize) -> Result<bool> {
        let mark = self.cursor.mark;
        let key = &mut self.keys[i];
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line < mark.line || key.mark.index + LONGEST_KEY < mark.index {
            if key.required {
                return Err(self.cursor.error("could not find expected ':'"));
            }
            key.possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    /// A key may begin here.
    fn save_key(&mut self) -> Result<()> {
        if !self.key_allowed {
            return Ok(());
        }
        let mark = self.cursor.mark;
        let required = self.flow_level == 0 && self.indent == mark.column as i64;
        let token = self.taken + self.tokens.len();
        self.remove_key()?;
        if let Some(last) = self.keys.last_mut() {
            *last = SimpleKey { possible: true, required, token, mark };
        }
        self.keys_by_token.insert(token, self.keys.len() - 1);
        Ok(())
    }

    /// What was a possible key of this level is none.
    fn remove_key(&mut self) -> Result<()> {
        let Some(key) = self.keys.last_mut().filter(|k| k.possible) else { return Ok(()) };
        if key.required {
            return Err(self.cursor.error("could not find expected ':'"));
        }
        key.possible = false;
        self.keys_by_token.remove(&key.token);
        Ok(())
    }

    /// A block collection begins in this column; its token goes before the token `at`, or last.
    fn roll(&mut self, mark: Mark, at: Option<usize>, kind: Kind) -> Result<()> {
        let column = mark.column as i64;
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_DEPTH {
            return Err(self.cursor.error(&format!("exceeded max depth of {MAX_DEPTH}; it is fixed")));
        }
        let token = Token { kind, start: mark, end: mark };
        match at {
            Some(at) => self.insert(at, token),
            None => self.tokens.push_back(token),
        }
        Ok(())
    }

    fn insert(&mut self, number: usize, token: Token) {
        let at = number.saturating_sub(self.taken).min(self.tokens.len());
        self.tokens.insert(at, token);
    }

    /// Block collections that are indented more end.
    fn unroll(&mut self, column: i64) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(Kind::BlockEnd, self.cursor.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch_stream_end(&mut self) -> Result<()> {
        if self.cursor.mark.column != 0 {
            self.cursor.mark.column = 0;
            self.cursor.mark.line += 1;
        }
        self.unroll(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.push(Kind::StreamEnd, self.cursor.mark);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: Kind) -> Result<()> {
        self.save_key()?;
        let token = self.taken + self.tokens.len();
        self.keys.push(SimpleKey { possible: false, required: false, token, mark: self.cursor.mark });
        self.flow_level += 1;
        if self.flow_level > MAX_DEPTH {
            return Err(self.cursor.error(&format!("exceeded max depth of {MAX_DEPTH}; it is fixed")));
        }
        self.key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: Kind) -> Result<()> {
        self.remove_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            if let Some(key) = self.keys.pop() {
                self.keys_by_token.remove(&key.token);
            }
        }
        self.key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<()> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return Err(self.cursor.error("block sequence entries are not allowed in this context"));
            }
            self.roll(self.cursor.mark, None, Kind::BlockSequenceStart)?;
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(Kind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<()> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return Err(self.cursor.error("mapping keys are not allowed in this context"));
            }
            self.roll(self.cursor.mark, None, Kind::BlockMappingStart)?;
        }
        self.remove_key()?;
        self.key_allowed = self.flow_level == 0;
        self.push_indicator(Kind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<()> {
        let last = self.keys.len() - 1;
        if self.key_is_valid(last)? {
            let key = self.keys[last];
            self.insert(key.token, Token { kind: Kind::Key, start: key.mark, end: key.mark });
            self.roll(key.mark, Some(key.token), Kind::BlockMappingStart)?;
            self.keys[last].possible = false;
            self.keys_by_token.remove(&key.token);
            self.key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.key_allowed {
                    return Err(self.cursor.error("mapping values are not allowed in this context"));
                }
                self.roll(self.cursor.mark, None, Kind::BlockMappingStart)?;
            }
            self.key_allowed = self.flow_level == 0;
        }
        self.push_indicator(Kind::Value, 1);
        Ok(())
    }
}
