//! The tree of a template, and how its nodes print.
//!
//! Owns: the node types and their text, which error messages quote. Does not own: making or executing them. Upstream:
//! `text/template/parse/node.go`.
//! The surprising things: a node's text is not the source's: spaces, trim markers, comments are gone, parentheses around a
//! whole command as well. Names are places in the source, since most templates are parsed more often than executed.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use go_value::Str;
use go_value::quote::quote;

use crate::funcs::Builtin;

/// One parsed template, with the text it came from.
pub(crate) struct Tree {
    pub(crate) name: Arc<str>,
    /// The template whose text this was defined in.
    pub(crate) parse_name: Arc<str>,
    pub(crate) text: Bytes,
    pub(crate) root: List,
}

impl Tree {
    /// Does it hold only space and comments?
    pub(crate) fn is_empty(&self) -> bool {
        self.root.nodes.iter().all(|node| match node {
            Node::Text { start, end, .. } => is_blank(&self.text[*start..*end]),
            _ => false,
        })
    }

    /// `NAME:LINE:COLUMN` of a position, as execution errors give it: lines from 1, columns from 0.
    pub(crate) fn location(&self, pos: usize) -> String {
        let before = &self.text[..pos.min(self.text.len())];
        let line = 1 + crate::lex::newlines(before);
        let column = pos - before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        format!("{}:{line}:{column}", self.parse_name)
    }
}

fn is_blank(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|s| s.chars().all(char::is_whitespace))
}

/// A piece of the tree's text.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Texts are much shorter than what fits.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: position(start), end: position(end) }
    }

    /// What is written there.
    pub(crate) fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// What is between the quotes.
    pub(crate) fn inside(self, text: &[u8]) -> &[u8] {
        let quoted = self.of(text);
        quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default()
    }

    /// From here to the end of the other.
    pub(crate) const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// A place in a text.
pub(crate) fn position(pos: usize) -> u32 {
    u32::try_from(pos).unwrap_or(u32::MAX)
}

/// Nodes in order.
pub(crate) struct List {
    pub(crate) pos: usize,
    pub(crate) nodes: Box<[Node]>,
}

pub(crate) enum Node {
    /// The bytes `start..end` of the tree's text.
    Text {
        start: usize,
        end: usize,
    },
    Action {
        pos: usize,
        pipe: Pipe,
    },
    /// An action that is one string constant, which stands for itself between its quotes: what templates of other
    /// templates are full of.
    Quoted {
        quoted: Span,
    },
    Break {
        pos: usize,
    },
    Continue {
        pos: usize,
    },
    If(Box<Branch>),
    Range(Box<Branch>),
    With(Box<Branch>),
    Template {
        pos: usize,
        name: Box<str>,
        pipe: Option<Pipe>,
    },
}

impl Node {
    pub(crate) fn pos(&self) -> usize {
        match self {
            Self::Text { start: pos, .. }
            | Self::Action { pos, .. }
            | Self::Break { pos }
            | Self::Continue { pos }
            | Self::Template { pos, .. } => *pos,
            Self::Quoted { quoted } => quoted.start as usize,
            Self::If(b) | Self::Range(b) | Self::With(b) => b.pos,
        }
    }
}

/// `if`, `range` or `with`.
pub(crate) struct Branch {
    pub(crate) pos: usize,
    pub(crate) pipe: Pipe,
    pub(crate) list: List,
    pub(crate) else_list: Option<List>,
}

/// Commands joined by `|`, whose result may be given to variables.
pub(crate) struct Pipe {
    pub(crate) pos: usize,
    /// The variables exist already.
    pub(crate) assign: bool,
    pub(crate) decl: Vec<Variable>,
    pub(crate) cmds: Box<[Command]>,
}

/// A word and its arguments.
pub(crate) struct Command {
    pub(crate) pos: usize,
    pub(crate) args: Box<[Operand]>,
}

/// `$x.a.b`: the name with its `$`, then the fields.
pub(crate) struct Variable {
    pub(crate) pos: u32,
    pub(crate) path: Span,
}

impl Variable {
    /// The name with its `$`, and the fields with their dots.
    pub(crate) fn parts<'t>(&self, text: &'t [u8]) -> (&'t [u8], &'t [u8]) {
        let path = self.path.of(text);
        path.split_at(memchr::memchr(b'.', path).unwrap_or(path.len()))
    }
}

pub(crate) enum Operand {
    Bool {
        pos: u32,
        value: bool,
    },
    Dot {
        pos: u32,
    },
    Nil {
        pos: u32,
    },
    /// `.a.b`, each name with its dot.
    Field {
        pos: u32,
        path: Span,
    },
    Variable(Variable),
    Identifier {
        name: Span,
        builtin: Option<Builtin>,
    },
    Number(Box<Number>),
    String {
        quoted: Span,
        value: Str,
    },
    /// `(…).a.b`
    Chain {
        pos: u32,
        operand: Box<Operand>,
        fields: Span,
    },
    Pipe(Box<Pipe>),
}

impl Operand {
    pub(crate) fn pos(&self) -> usize {
        match self {
            Self::Bool { pos, .. }
            | Self::Dot { pos }
            | Self::Nil { pos }
            | Self::Field { pos, .. }
            | Self::Chain { pos, .. } => *pos as usize,
            Self::Identifier { name: at, .. } | Self::String { quoted: at, .. } => at.start as usize,
            Self::Variable(v) => v.pos as usize,
            Self::Number(n) => n.pos,
            Self::Pipe(p) => p.pos,
        }
    }
}

/// A constant that is a number of every type that can hold it.
pub(crate) struct Number {
    pub(crate) pos: usize,
    pub(crate) text: String,
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) complex: Option<(f64, f64)>,
}

/// Writes a node the way Go does; the second is the tree's text.
pub(crate) struct Shown<'a, T>(pub(crate) &'a T, pub(crate) &'a [u8]);

impl<T> Shown<'_, T> {
    fn source(&self, span: Span) -> Cow<'_, str> {
        String::from_utf8_lossy(span.of(self.1))
    }
}

impl fmt::Display for Shown<'_, List> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.nodes.iter().try_for_each(|node| Shown(node, self.1).fmt(f))
    }
}

impl fmt::Display for Shown<'_, Node> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Node::Text { start, end } => f.write_str(&String::from_utf8_lossy(&self.1[*start..*end])),
            Node::Action { pipe, .. } => write!(f, "{{{{{}}}}}", Shown(pipe, self.1)),
            Node::Quoted { quoted } => write!(f, "{{{{{}}}}}", self.source(*quoted)),
            Node::Break { .. } => f.write_str("{{break}}"),
            Node::Continue { .. } => f.write_str("{{continue}}"),
            Node::If(branch) => self.branch(f, "if", branch),
            Node::Range(branch) => self.branch(f, "range", branch),
            Node::With(branch) => self.branch(f, "with", branch),
            Node::Template { name, pipe, .. } => {
                write!(f, "{{{{template {}", quote(name.as_bytes()))?;
                if let Some(pipe) = pipe {
                    write!(f, " {}", Shown(pipe, self.1))?;
                }
                f.write_str("}}")
            }
        }
    }
}

impl Shown<'_, Node> {
    fn branch(&self, f: &mut fmt::Formatter<'_>, word: &str, branch: &Branch) -> fmt::Result {
        write!(f, "{{{{{word} {}}}}}{}", Shown(&branch.pipe, self.1), Shown(&branch.list, self.1))?;
        if let Some(list) = &branch.else_list {
            write!(f, "{{{{else}}}}{}", Shown(list, self.1))?;
        }
        f.write_str("{{end}}")
    }
}

impl fmt::Display for Shown<'_, Pipe> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pipe { decl, cmds, assign, .. } = self.0;
        for (i, variable) in decl.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&self.source(variable.path))?;
        }
        if !decl.is_empty() {
            f.write_str(if *assign { " = " } else { " := " })?;
        }
        for (i, command) in cmds.iter().enumerate() {
            if i > 0 {
                f.write_str(" | ")?;
            }
            Shown(command, self.1).fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, Command> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, arg) in self.0.args.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            match arg {
                Operand::Pipe(pipe) => write!(f, "({})", Shown(&**pipe, self.1))?,
                _ => Shown(arg, self.1).fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, Operand> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::Bool { value, .. } => write!(f, "{value}"),
            Operand::Dot { .. } => f.write_str("."),
            Operand::Nil { .. } => f.write_str("nil"),
            Operand::Field { path: span, .. }
            | Operand::Variable(Variable { path: span, .. })
            | Operand::Identifier { name: span, .. }
            | Operand::String { quoted: span, .. } => f.write_str(&self.source(*span)),
            Operand::Number(number) => f.write_str(&number.text),
            Operand::Chain { operand, fields, .. } => {
                match operand.as_ref() {
                    Operand::Pipe(pipe) => write!(f, "({})", Shown(&**pipe, self.1))?,
                    other => Shown(other, self.1).fmt(f)?,
                }
                f.write_str(&self.source(*fields))
            }
            Operand::Pipe(pipe) => Shown(&**pipe, self.1).fmt(f),
        }
    }
}
