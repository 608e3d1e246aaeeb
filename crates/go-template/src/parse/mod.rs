//! From tokens to trees.
//!
//! Owns: the grammar, scopes of variables, definitions, the parser's error texts. Does not own: expressions (`pipeline`),
//! constants (`number`), the nodes (`node`). Upstream: `text/template/parse/parse.go`.
//! The surprising thing: an error's line is that of the last token fetched from the lexer, which may be one ahead of the
//! token at fault; the look-ahead buffer is therefore Go's.

pub(crate) mod node;
mod number;
mod pipeline;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use go_value::quote::{quote, unquote};

pub(crate) use node::Tree;
use node::{Branch, Command, List, Node, Operand};
use pipeline::span;

use crate::error::ParseError;
use crate::func::FuncMap;
use crate::lex::{Keywords, Lexer};
use crate::limits::stack_address;
use crate::token::{Kind, Token};

/// Bytes of stack that the nesting of a text may cost; Go allows 10,000 nested parentheses.
const MAX_STACK: usize = 3 << 18;

type Result<T> = std::result::Result<T, ParseError>;

/// What a text gave: the template itself, and all that are to be added to the set (itself among them).
pub(crate) struct Trees {
    pub(crate) main: usize,
    pub(crate) all: Vec<Tree>,
}

/// Parse `text` as the template `name`.
pub(crate) fn parse(name: &str, text: &Bytes, left: &str, right: &str, funcs: &FuncMap) -> Result<Trees> {
    let keywords = Keywords { break_ok: funcs.get("break").is_none(), continue_ok: funcs.get("continue").is_none() };
    let mut parser = Parser {
        lexer: Lexer::new(text, left, right, keywords),
        funcs,
        name: name.into(),
        text: text.clone(),
        trees: Vec::new(),
        nodes: Vec::new(),
        commands: Vec::new(),
        operands: Vec::new(),
        scope: Scope::new(),
        stack_base: stack_address(),
    };
    parser.top()?;
    let main = parser.trees.iter().position(|tree| *tree.name == *name).unwrap_or(0);
    Ok(Trees { main, all: parser.trees })
}

/// What Go keeps per tree while parsing; a definition inside a text begins with a fresh one.
struct Scope<'a> {
    tokens: [Token<'a>; 3],
    peeked: usize,
    vars: Vec<&'a [u8]>,
    /// The line of the left delimiter of the action at hand; 0 outside.
    action_line: usize,
    range_depth: usize,
}

impl Scope<'_> {
    fn new() -> Self {
        Self { tokens: [Token::NONE; 3], peeked: 0, vars: vec![b"$"], action_line: 0, range_depth: 0 }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    funcs: &'a FuncMap,
    name: Arc<str>,
    text: Bytes,
    trees: Vec<Tree>,
    /// What is not finished yet; each list, pipeline and command takes its own from the end.
    nodes: Vec<Node>,
    commands: Vec<Command>,
    operands: Vec<Operand>,
    scope: Scope<'a>,
    stack_base: usize,
}

/// A piece of a list, or what ends it.
enum Item {
    Node(Node),
    End,
    /// Where the list after it begins, if `if` or `with` follows.
    Else(usize),
}

impl Item {
    /// As Go prints the node.
    fn show(&self) -> &'static str {
        match self {
            Self::Else(_) => "{{else}}",
            _ => "{{end}}",
        }
    }
}

impl<'a> Parser<'a> {
    // Tokens.

    fn next(&mut self) -> Token<'a> {
        let s = &mut self.scope;
        if s.peeked > 0 {
            s.peeked -= 1;
        } else {
            s.tokens[0] = self.lexer.next_token();
        }
        s.tokens[s.peeked]
    }

    fn backup(&mut self) {
        self.scope.peeked += 1;
    }

    /// Put back one token before the last one.
    fn backup2(&mut self, before: Token<'a>) {
        self.scope.tokens[1] = before;
        self.scope.peeked = 2;
    }

    /// Put back two tokens before the last one.
    fn backup3(&mut self, first: Token<'a>, second: Token<'a>) {
        self.scope.tokens[1] = second;
        self.scope.tokens[2] = first;
        self.scope.peeked = 3;
    }

    fn peek(&mut self) -> Token<'a> {
        let s = &mut self.scope;
        if s.peeked == 0 {
            s.peeked = 1;
            s.tokens[0] = self.lexer.next_token();
        }
        s.tokens[s.peeked - 1]
    }

    fn next_non_space(&mut self) -> Token<'a> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token<'a> {
        let token = self.next_non_space();
        self.backup();
        token
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token<'a>> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(&token, context)) }
    }

    // Errors.

    fn error(&self, what: impl std::fmt::Display) -> ParseError {
        ParseError { text: format!("template: {}:{}: {what}", self.name, self.scope.tokens[0].line) }
    }

    fn unexpected(&self, token: &Token<'_>, context: &str) -> ParseError {
        let shown = token.show(self.lexer.fault());
        if token.kind != Kind::Error {
            return self.error(format_args!("unexpected {shown} in {context}"));
        }
        let line = self.scope.action_line;
        if line == 0 || line == token.line {
            return self.error(shown);
        }
        let action = if shown.ends_with(" action") { "" } else { " in action" };
        self.error(format_args!("{shown}{action} started at {}:{line}", self.name))
    }

    /// Refuse to nest deeper than the stack allows.
    fn check_stack(&self) -> Result<()> {
        if stack_address().abs_diff(self.stack_base) > MAX_STACK {
            return Err(self.error("max expression depth exceeded (it is fixed, nest less deep)"));
        }
        Ok(())
    }

    // Definitions.

    fn top(&mut self) -> Result<()> {
        let (pos, mark) = (self.peek().pos, self.nodes.len());
        while self.peek().kind != Kind::Eof {
            if self.peek().kind == Kind::LeftDelim {
                let delim = self.next();
                if self.next_non_space().kind == Kind::Define {
                    let outer = std::mem::replace(&mut self.scope, Scope::new());
                    self.definition()?;
                    self.scope = outer;
                    continue;
                }
                self.backup2(delim);
            }
            match self.text_or_action()? {
                Item::Node(node) => self.nodes.push(node),
                stop => return Err(self.error(format_args!("unexpected {}", stop.show()))),
            }
        }
        let root = List { pos, nodes: self.nodes.drain(mark..).collect() };
        self.add(Arc::clone(&self.name), root)
    }

    fn definition(&mut self) -> Result<()> {
        const CONTEXT: &str = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(Kind::RightDelim, CONTEXT)?;
        let root = self.body(CONTEXT)?;
        self.add(name.into(), root)
    }

    /// A list that ends with `{{end}}`.
    fn body(&mut self, context: &str) -> Result<List> {
        match self.item_list()? {
            (list, Item::End) => Ok(list),
            (_, stop) => Err(self.error(format_args!("unexpected {} in {context}", stop.show()))),
        }
    }

    fn add(&mut self, name: Arc<str>, root: List) -> Result<()> {
        let tree = Tree { name, parse_name: Arc::clone(&self.name), text: self.text.clone(), root };
        match self.trees.iter().position(|other| other.name == tree.name) {
            None => self.trees.push(tree),
            Some(i) if self.trees[i].is_empty() => self.trees[i] = tree,
            Some(_) if tree.is_empty() => {}
            Some(_) => {
                let name = quote(tree.name.as_bytes());
                return Err(self.error(format_args!("template: multiple definition of template {name}")));
            }
        }
        Ok(())
    }

    fn template_name(&mut self, token: &Token<'a>, context: &str) -> Result<String> {
        match token.kind {
            Kind::String | Kind::RawString => {
                let name = unquote(token.text).map_err(|e| self.error(e))?;
                Ok(String::from_utf8_lossy(&name).into_owned())
            }
            _ => Err(self.unexpected(token, context)),
        }
    }

    // Lists and actions.

    fn item_list(&mut self) -> Result<(List, Item)> {
        self.check_stack()?;
        let (pos, mark) = (self.peek_non_space().pos, self.nodes.len());
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Item::Node(node) => self.nodes.push(node),
                stop => return Ok((List { pos, nodes: self.nodes.drain(mark..).collect() }, stop)),
            }
        }
        Err(self.error("unexpected EOF"))
    }

    fn text_or_action(&mut self) -> Result<Item> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text { start: token.pos, end: token.pos + token.text.len() })),
            Kind::LeftDelim => {
                self.scope.action_line = token.line;
                let item = self.action()?;
                self.scope.action_line = 0;
                Ok(item)
            }
            _ => Err(self.unexpected(&token, "input")),
        }
    }

    fn action(&mut self) -> Result<Item> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break | Kind::Continue => self.loop_control(&token)?,
            Kind::Else => return self.else_control(),
            Kind::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Item::End);
            }
            Kind::If => Node::If(self.control("if")?),
            Kind::Range => Node::Range(self.control("range")?),
            Kind::Template => self.template()?,
            Kind::With => Node::With(self.control("with")?),
            kind => {
                // What is wrong with a constant is found out before what follows is looked at: an error is in the last line
                // seen.
                let constant = matches!(kind, Kind::RawString | Kind::String)
                    && matches!(unquote(token.text), Ok(Cow::Borrowed(_)));
                if !constant {
                    self.backup();
                } else if self.peek().kind == Kind::RightDelim {
                    self.next();
                    return Ok(Item::Node(Node::Quoted { quoted: span(&token) }));
                } else {
                    self.backup2(token);
                }
                let pos = self.peek().pos;
                // Variables declared here live until the enclosing list ends.
                Node::Action { pos, pipe: self.pipeline("command", Kind::RightDelim)? }
            }
        };
        Ok(Item::Node(node))
    }

    fn loop_control(&mut self, word: &Token<'a>) -> Result<Node> {
        let shown = if word.kind == Kind::Break { "{{break}}" } else { "{{continue}}" };
        let token = self.next_non_space();
        if token.kind != Kind::RightDelim {
            return Err(self.unexpected(&token, shown));
        }
        if self.scope.range_depth == 0 {
            return Err(self.error(format_args!("{shown} outside {{{{range}}}}")));
        }
        let pos = word.pos;
        Ok(if word.kind == Kind::Break { Node::Break { pos } } else { Node::Continue { pos } })
    }

    fn else_control(&mut self) -> Result<Item> {
        let next = self.peek_non_space();
        if !matches!(next.kind, Kind::If | Kind::With) {
            self.expect(Kind::RightDelim, "else")?;
        }
        Ok(Item::Else(next.pos))
    }

    /// `if`, `range` and `with`, after the word.
    fn control(&mut self, word: &str) -> Result<Box<Branch>> {
        self.check_stack()?;
        let vars = self.scope.vars.len();
        let pipe = self.pipeline(word, Kind::RightDelim)?;
        if word == "range" {
            self.scope.range_depth += 1;
        }
        let (list, stop) = self.item_list()?;
        if word == "range" {
            self.scope.range_depth -= 1;
        }
        let mut else_list = None;
        if let Item::Else(pos) = stop {
            // `else if` is an `if` inside the else list, whose end is also this one's.
            let chained = match self.peek().kind {
                Kind::If if word == "if" => true,
                Kind::With if word == "with" => true,
                _ => false,
            };
            else_list = Some(if chained {
                self.next();
                let branch = self.control(word)?;
                List { pos, nodes: Box::new([if word == "if" { Node::If(branch) } else { Node::With(branch) }]) }
            } else {
                match self.item_list()? {
                    (list, Item::End) => list,
                    (_, stop) => return Err(self.error(format_args!("expected end; found {}", stop.show()))),
                }
            });
        }
        self.scope.vars.truncate(vars);
        Ok(Box::new(Branch { pos: pipe.pos, pipe, list, else_list }))
    }

    fn block(&mut self) -> Result<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        let outer = std::mem::replace(&mut self.scope, Scope::new());
        let (list, stop) = self.item_list()?;
        if !matches!(stop, Item::End) {
            self.scope = outer;
            return Err(self.error(format_args!("unexpected {} in {CONTEXT}", stop.show())));
        }
        self.add(name.as_str().into(), list)?;
        self.scope = outer;
        Ok(Node::Template { pos: token.pos, name: name.into(), pipe: Some(pipe) })
    }

    fn template(&mut self) -> Result<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = if self.next_non_space().kind == Kind::RightDelim {
            None
        } else {
            self.backup();
            Some(self.pipeline(CONTEXT, Kind::RightDelim)?)
        };
        Ok(Node::Template { pos: token.pos, name: name.into(), pipe })
    }
}
