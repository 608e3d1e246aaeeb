//! YAML text from values, byte for byte as go-yaml's emitter writes it.
//!
//! Owns: block layout, indentation, the choice of scalar styles.
//! Does not own: which Go value becomes which node ([`crate::encode`]).
//! Upstream: `emitterc.go` and `encode.go` of go-yaml v2 and v3 for what their encoders can reach: one document, block
//! style, no anchors, no comments.
//! The surprising thing: a key longer than 128 bytes or with a line break is written behind `? `.

mod analysis;
mod scalar;

use crate::order::{natural_less, sort};
use crate::resolve::{Dialect, is_base60, is_old_bool, looks_typed};
use analysis::Analysis;

/// A value in YAML's terms, ready to be written.
pub(crate) enum Node {
    /// A number, `null`, `true`: written plain as it is.
    Literal(String),
    /// A string, quoted as needed.
    Text(String),
    /// Base64 text for bytes that are not UTF-8.
    Binary(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    /// A map whose keys are in order already.
    Fields(Vec<(String, Self)>),
}

/// How keys are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    /// go-yaml's own order.
    Natural,
    /// By bytes.
    Bytes,
}

/// Write one document.
pub(crate) fn emit(root: Node, dialect: Dialect, order: KeyOrder) -> String {
    let mut emitter = Emitter {
        out: String::with_capacity(256),
        dialect,
        order,
        width: if dialect == Dialect::V2 { 80 } else { usize::MAX },
        indent: None,
        column: 0,
        whitespace: true,
        indention: true,
    };
    emitter.node(root, Context::default());
    emitter.indent = None;
    emitter.write_indent();
    emitter.out
}

const INDENT: usize = 2;
const LONGEST_SIMPLE_KEY: usize = 128;

/// Where a node stands.
#[derive(Clone, Copy, Default)]
struct Context {
    in_mapping: bool,
    simple_key: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

struct Emitter {
    out: String,
    dialect: Dialect,
    order: KeyOrder,
    width: usize,
    /// `None` outside of everything (libyaml's -1).
    indent: Option<usize>,
    /// In characters.
    column: usize,
    /// The last thing written was a blank or a line start.
    whitespace: bool,
    /// Nothing but indentation and indicators so far on this line.
    indention: bool,
}

impl Emitter {
    fn node(&mut self, node: Node, context: Context) {
        match node {
            Node::Literal(text) => self.scalar(&text, Style::Plain, "", context),
            Node::Text(text) => {
                let style = self.text_style(&text);
                self.scalar(&text, style, "", context);
            }
            Node::Binary(text) => {
                let style = if text.contains('\n') { Style::Literal } else { Style::Plain };
                self.scalar(&text, style, "!!binary", context);
            }
            Node::List(items) if items.is_empty() => self.write_empty("[", "]"),
            Node::Map(entries) | Node::Fields(entries) if entries.is_empty() => self.write_empty("{", "}"),
            Node::List(items) => self.list(items, context),
            Node::Map(mut entries) => {
                self.sort(&mut entries);
                self.map(entries);
            }
            Node::Fields(entries) => self.map(entries),
        }
    }

    fn write_empty(&mut self, open: &str, close: &str) {
        self.write_indicator(open, true, true, false);
        self.write_indicator(close, false, false, false);
    }

    fn list(&mut self, items: Vec<Node>, context: Context) {
        // v2 writes the dashes of a list under its key, v3 indents them.
        let indentless = self.dialect == Dialect::V2 && context.in_mapping && !self.indention;
        let outer = self.increase_indent(false, indentless);
        for item in items {
            self.write_indent();
            self.write_indicator("-", true, false, true);
            self.node(item, Context::default());
        }
        self.indent = outer;
    }

    fn sort(&self, entries: &mut Vec<(String, Node)>) {
        match self.order {
            KeyOrder::Natural => {
                let dialect = self.dialect;
                sort(entries, &|a: &(String, Node), b: &(String, Node)| natural_less(&a.0, &b.0, dialect));
            }
            KeyOrder::Bytes => entries.sort_by(|a, b| a.0.cmp(&b.0)),
        }
    }

    fn map(&mut self, entries: Vec<(String, Node)>) {
        let outer = self.increase_indent(false, false);
        for (key, value) in entries {
            self.write_indent();
            let style = self.text_style(&key);
            let simple = key.len() <= LONGEST_SIMPLE_KEY && !Analysis::of(&key, self.dialect).multiline;
            if simple {
                self.scalar(&key, style, "", Context { in_mapping: true, simple_key: true });
                self.write_indicator(":", false, false, false);
            } else {
                self.write_indicator("?", true, false, true);
                self.scalar(&key, style, "", Context { in_mapping: true, simple_key: false });
                self.write_indent();
                self.write_indicator(":", true, false, true);
            }
            self.node(value, Context { in_mapping: true, simple_key: false });
        }
        self.indent = outer;
    }

    /// The style go-yaml asks for; the analysis may forbid it.
    fn text_style(&self, text: &str) -> Style {
        if text.contains('\n') {
            return Style::Literal;
        }
        let typed =
            looks_typed(text, self.dialect) || is_base60(text) || self.dialect == Dialect::V3 && is_old_bool(text);
        if typed { Style::DoubleQuoted } else { Style::Plain }
    }

    fn scalar(&mut self, text: &str, wanted: Style, tag: &str, context: Context) {
        let analysis = Analysis::of(text, self.dialect);
        let mut style = wanted;
        if context.simple_key && analysis.multiline {
            style = Style::DoubleQuoted;
        }
        if style == Style::Plain && (!analysis.plain_allowed || text.is_empty() && context.simple_key) {
            style = Style::SingleQuoted;
        }
        if style == Style::SingleQuoted && !analysis.single_quoted_allowed {
            style = Style::DoubleQuoted;
        }
        if style == Style::Literal && (!analysis.block_allowed || context.simple_key) {
            style = Style::DoubleQuoted;
        }
        if !tag.is_empty() {
            self.write_indicator(tag, true, false, false);
        }
        let outer = self.increase_indent(true, false);
        let breaks = !context.simple_key;
        match style {
            Style::Plain => self.write_plain(text, breaks),
            Style::SingleQuoted => self.write_single_quoted(text, breaks),
            Style::DoubleQuoted => self.write_double_quoted(text, breaks),
            Style::Literal => self.write_literal(text),
        }
        self.indent = outer;
    }

    /// Gives back the indent to return to.
    fn increase_indent(&mut self, flow: bool, indentless: bool) -> Option<usize> {
        let outer = self.indent;
        self.indent = Some(match outer {
            None => {
                if flow {
                    INDENT
                } else {
                    0
                }
            }
            Some(n) if indentless => n,
            Some(n) => n + INDENT,
        });
        outer
    }
}
