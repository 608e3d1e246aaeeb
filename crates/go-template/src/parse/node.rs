//! The tree of a template, and how its nodes print.
//!
//! Owns: the node types and their text, which error messages quote. Does not own: making or executing them. Upstream:
//! `text/template/parse/node.go`.
//! The surprising thing: a node's text is not the source's: spaces, trim markers, comments are gone, parentheses around a
//! whole command as well.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use go_value::Value;
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

/// Nodes in order.
pub(crate) struct List {
    pub(crate) pos: usize,
    pub(crate) nodes: Vec<Node>,
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
    pub(crate) cmds: Vec<Command>,
}

/// A word and its arguments.
pub(crate) struct Command {
    pub(crate) pos: usize,
    pub(crate) args: Vec<Operand>,
}

/// `$x.a.b`: the name with its `$`, then the fields.
pub(crate) struct Variable {
    pub(crate) pos: usize,
    pub(crate) path: Box<[Box<str>]>,
}

pub(crate) enum Operand {
    Bool {
        pos: usize,
        value: bool,
    },
    Dot {
        pos: usize,
    },
    Nil {
        pos: usize,
    },
    Field {
        pos: usize,
        path: Box<[Box<str>]>,
    },
    Variable(Variable),
    Identifier {
        pos: usize,
        name: Box<str>,
        builtin: Option<Builtin>,
    },
    Number(Box<Number>),
    String {
        pos: usize,
        quoted: Box<str>,
        value: Value,
    },
    /// `(…).a.b`
    Chain {
        pos: usize,
        operand: Box<Operand>,
        fields: Vec<Box<str>>,
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
            | Self::Identifier { pos, .. }
            | Self::String { pos, .. }
            | Self::Chain { pos, .. } => *pos,
            Self::Variable(v) => v.pos,
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

/// Writes a node the way Go does. Text nodes need the tree's text, hence no plain `Display`.
pub(crate) struct Shown<'a, T>(pub(crate) &'a T, pub(crate) &'a Tree);

impl fmt::Display for Shown<'_, List> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.nodes.iter().try_for_each(|node| Shown(node, self.1).fmt(f))
    }
}

impl fmt::Display for Shown<'_, Node> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Node::Text { start, end } => f.write_str(&String::from_utf8_lossy(&self.1.text[*start..*end])),
            Node::Action { pipe, .. } => write!(f, "{{{{{pipe}}}}}"),
            Node::Break { .. } => f.write_str("{{break}}"),
            Node::Continue { .. } => f.write_str("{{continue}}"),
            Node::If(branch) => self.branch(f, "if", branch),
            Node::Range(branch) => self.branch(f, "range", branch),
            Node::With(branch) => self.branch(f, "with", branch),
            Node::Template { name, pipe, .. } => {
                write!(f, "{{{{template {}", quote(name.as_bytes()))?;
                if let Some(pipe) = pipe {
                    write!(f, " {pipe}")?;
                }
                f.write_str("}}")
            }
        }
    }
}

impl Shown<'_, Node> {
    fn branch(&self, f: &mut fmt::Formatter<'_>, word: &str, branch: &Branch) -> fmt::Result {
        write!(f, "{{{{{word} {}}}}}{}", branch.pipe, Shown(&branch.list, self.1))?;
        if let Some(list) = &branch.else_list {
            write!(f, "{{{{else}}}}{}", Shown(list, self.1))?;
        }
        f.write_str("{{end}}")
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, variable) in self.decl.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            variable.fmt(f)?;
        }
        if !self.decl.is_empty() {
            f.write_str(if self.assign { " = " } else { " := " })?;
        }
        for (i, command) in self.cmds.iter().enumerate() {
            if i > 0 {
                f.write_str(" | ")?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, arg) in self.args.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            match arg {
                Operand::Pipe(pipe) => write!(f, "({pipe})")?,
                _ => arg.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path.join("."))
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool { value, .. } => write!(f, "{value}"),
            Self::Dot { .. } => f.write_str("."),
            Self::Nil { .. } => f.write_str("nil"),
            Self::Field { path, .. } => path.iter().try_for_each(|name| write!(f, ".{name}")),
            Self::Variable(variable) => variable.fmt(f),
            Self::Identifier { name, .. } => f.write_str(name),
            Self::Number(number) => f.write_str(&number.text),
            Self::String { quoted, .. } => f.write_str(quoted),
            Self::Chain { operand, fields, .. } => {
                match operand.as_ref() {
                    Self::Pipe(pipe) => write!(f, "({pipe})")?,
                    other => other.fmt(f)?,
                }
                fields.iter().try_for_each(|name| write!(f, ".{name}"))
            }
            Self::Pipe(pipe) => pipe.fmt(f),
        }
    }
}
