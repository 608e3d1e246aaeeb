//! Executing a tree: a walk that writes as it goes.
//!
//! Owns: control structures, variables, calls of templates, where an error happened. Does not own: expressions
//! (`pipeline`, `field`, `call`), loops (`range`). Upstream: `text/template/exec.go`.
//! The surprising thing: an error blames the node that was last looked at, so the order in which nodes are noted
//! ([`State::at`]) is Go's, also where it looks redundant.

pub(crate) mod call;
mod field;
mod pipeline;
mod range;
pub(crate) mod value;

use std::any::Any;
use std::sync::Arc;

use go_value::quote::quote;
use go_value::{Kind, Map, Value};

use crate::error::{ExecError, FuncError};
use crate::limits::Budget;
use crate::parse::Tree;
use crate::parse::node::{Branch, Command, List, Node, Operand, Pipe, Shown};
use crate::template::{Options, Set, Template};
use value::Val;

type Result<T> = std::result::Result<T, Box<ExecError>>;

/// The render in progress, as functions see it.
pub struct Context<'a> {
    set: &'a Set,
    options: &'a Options,
    host: &'a mut dyn Any,
    budget: &'a mut Budget,
}

/// Each link of a chain of errors holds the text of those below it, so a chain that is longer than Helm's longest is cut:
/// thousands of links would fill the memory.
const LONGEST_CAUSE: usize = 128 << 10;

impl<'a> Context<'a> {
    pub(crate) fn new(set: &'a Set, options: &'a Options, host: &'a mut dyn Any, budget: &'a mut Budget) -> Self {
        Self { set, options, host, budget }
    }

    /// The set whose template is being executed.
    pub fn set(&self) -> &'a Set {
        self.set
    }

    /// The options of the render.
    pub fn options(&self) -> &'a Options {
        self.options
    }

    /// The state that the host handed to [`Set::execute`], if it is a `T`.
    pub fn host<T: Any>(&mut self) -> Option<&mut T> {
        self.host.downcast_mut()
    }

    /// Execute another template of the same set, within the limits of the render; what it writes comes back.
    ///
    /// # Errors
    /// The template's error. Give it back as it is (`?`), so that the chain is kept.
    pub fn execute(&mut self, name: &str, data: &Value) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.execute_into(&mut out, name, data)?;
        Ok(out)
    }

    /// Go's error that there is no template with this name, which may be one that no template can have.
    pub fn no_template(&self, name: &[u8]) -> Box<ExecError> {
        self.set.missing(name)
    }

    pub(crate) fn execute_into(&mut self, out: &mut Vec<u8>, name: &str, data: &Value) -> Result<()> {
        let set = self.set;
        let template = set.find(name)?;
        self.run(out, set, template, data)
    }

    /// Execute a template of another set, within the limits of the render and with its host state. `tpl` clones
    /// [`Context::set`], parses into the clone, and executes what [`Set::parse`] gave.
    ///
    /// # Errors
    /// The template's error. Give it back as it is (`?`), so that the chain is kept.
    pub fn execute_template(&mut self, set: &Set, template: &Template, data: &Value) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.run(&mut out, set, template, data)?;
        Ok(out)
    }

    fn reborrow<'b>(&'b mut self, set: &'b Set) -> Context<'b> {
        Context { set, options: self.options, host: &mut *self.host, budget: &mut *self.budget }
    }

    fn run(&mut self, out: &mut Vec<u8>, set: &Set, template: &Template, data: &Value) -> Result<()> {
        let dot = Val::of(data.clone());
        self.budget.enter_call().map_err(|what| plain(&template.tree, &what))?;
        let mut state = State {
            cx: self.reborrow(set),
            out,
            tree: &template.tree,
            vars: vec![(b"$", dot.clone())],
            at: At::List(&template.tree.root),
        };
        let walked = state.walk_list(&dot, &template.tree.root);
        state.leave_scope(0);
        self.budget.leave_call();
        walked.map(|_| ())
    }

    /// Count the work that a function is about to do, in nodes (some 100 ns each).
    ///
    /// # Errors
    /// The limit is reached.
    pub fn work(&mut self, steps: u64) -> std::result::Result<(), FuncError> {
        self.budget.work(steps).map_err(FuncError::from)
    }

    /// Count entries that a function added to maps it was given; `maps` are those that got other maps or lists, and could
    /// contain themselves now.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn grew(&mut self, entries: usize, maps: &[Map]) -> std::result::Result<(), FuncError> {
        for map in maps {
            self.budget.grew(map);
        }
        self.budget.hold_entries(entries).map_err(FuncError::from)
    }
}

fn without_middle(text: &str) -> String {
    const KEPT: usize = 2 << 10;
    let head = &text[..text.floor_char_boundary(KEPT)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(KEPT))..];
    format!("too long, so cut: {head} [...] {tail}")
}

fn plain(tree: &Tree, what: &str) -> Box<ExecError> {
    ExecError::plain(format!("template: {}: {what}", tree.name))
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("set", &self.set.name()).finish_non_exhaustive()
    }
}

/// The node that an error would be about.
#[derive(Clone, Copy)]
enum At<'a> {
    List(&'a List),
    Node(&'a Node),
    Pipe(&'a Pipe),
    Command(&'a Command),
    Operand(&'a Operand),
}

/// How a list ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// The execution of one template.
struct State<'a> {
    cx: Context<'a>,
    out: &'a mut Vec<u8>,
    tree: &'a Tree,
    /// A stack; names are looked up from its top.
    vars: Vec<(&'a [u8], Val)>,
    at: At<'a>,
}

impl<'a> State<'a> {
    // Errors.

    #[cold]
    fn fail(&self, message: impl Into<String>) -> Box<ExecError> {
        let text = self.text();
        let (pos, node) = match self.at {
            At::List(list) => (list.pos, Shown(list, text).to_string()),
            At::Node(node) => (node.pos(), Shown(node, text).to_string()),
            At::Pipe(pipe) => (pipe.pos, Shown(pipe, text).to_string()),
            At::Command(command) => (command.pos, Shown(command, text).to_string()),
            At::Operand(operand) => (operand.pos(), Shown(operand, text).to_string()),
        };
        Box::new(ExecError {
            template: Arc::clone(&self.tree.name),
            location: Some(self.tree.location(pos)),
            node: Some(node),
            message: message.into(),
            cause: None,
        })
    }

    #[cold]
    fn fail_call(&self, name: &str, cause: FuncError) -> Box<ExecError> {
        let mut text = cause.to_string();
        let mut cause = cause;
        if text.len() > LONGEST_CAUSE {
            text = without_middle(&text);
            cause = FuncError::Text(text.clone());
        }
        let mut error = self.fail(format!("error calling {name}: {text}"));
        error.cause = Some(cause);
        error
    }

    /// Count this many executed nodes, or what takes as long.
    fn work(&mut self, steps: u64) -> Result<()> {
        self.cx.budget.work(steps).map_err(|what| self.fail(what))
    }

    // Variables.

    /// The text that names are pieces of.
    fn text(&self) -> &'a [u8] {
        &self.tree.text
    }

    fn set_var(&mut self, name: &[u8], value: Val) -> Result<()> {
        match self.vars.iter_mut().rfind(|(known, _)| *known == name) {
            Some((_, slot)) => {
                let old = std::mem::replace(slot, value);
                self.cx.budget.release(old.value());
                Ok(())
            }
            None => Err(self.undefined(name)),
        }
    }

    #[cold]
    fn undefined(&self, name: &[u8]) -> Box<ExecError> {
        self.fail(format!("undefined variable: {}", String::from_utf8_lossy(name)))
    }

    fn var(&self, name: &[u8]) -> Result<&Val> {
        match self.vars.iter().rfind(|(known, _)| *known == name) {
            Some((_, value)) => Ok(value),
            None => Err(self.undefined(name)),
        }
    }

    /// The variables above `mark` go out of scope.
    fn leave_scope(&mut self, mark: usize) {
        for (_, old) in self.vars.drain(mark..) {
            self.cx.budget.release(old.value());
        }
    }

    // Output.

    fn write(&mut self, text: &[u8]) -> Result<()> {
        self.cx.budget.write(text.len()).map_err(|what| self.fail(what))?;
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn print(&mut self, node: &'a Node, pipe: &'a Pipe, val: &Val) -> Result<()> {
        self.at = At::Node(node);
        if let Value::Object(o) = val.value()
            && o.kind() == Kind::Func
        {
            let shown = Shown(pipe, self.text());
            return Err(self.fail(format!("can't print {{{{{shown}}}}} of type {}", o.type_name())));
        }
        let before = self.out.len();
        value::print(self.out, val.value());
        let written = self.out.len() - before;
        crate::limits::text_fits(written).map_err(|what| self.fail(what))?;
        self.cx.budget.write(written).map_err(|what| self.fail(what))
    }

    // The walk.

    fn walk_list(&mut self, dot: &Val, list: &'a List) -> Result<Flow> {
        self.at = At::List(list);
        self.cx.budget.recurse().map_err(|what| self.fail(what))?;
        for node in &list.nodes {
            match self.walk(dot, node)? {
                Flow::Next => {}
                stop => return Ok(stop),
            }
        }
        Ok(Flow::Next)
    }

    fn walk(&mut self, dot: &Val, node: &'a Node) -> Result<Flow> {
        self.at = At::Node(node);
        self.work(1)?;
        match node {
            Node::Text { start, end } => {
                let text = &self.tree.text[*start..*end];
                self.write(text)?;
            }
            Node::Action { pipe, .. } => {
                let val = self.pipeline(dot, pipe)?;
                if pipe.decl.is_empty() {
                    self.print(node, pipe, &val)?;
                }
                self.cx.budget.release(val.value());
            }
            Node::Quoted { quoted } => {
                let text = quoted.inside(self.text());
                self.write(text)?;
            }
            Node::Break { .. } => return Ok(Flow::Break),
            Node::Continue { .. } => return Ok(Flow::Continue),
            Node::If(branch) => return self.branch(dot, branch, false),
            Node::With(branch) => return self.branch(dot, branch, true),
            Node::Range(branch) => return self.range(dot, node, branch),
            Node::Template { name, pipe, .. } => self.template(dot, name, pipe.as_ref())?,
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, dot: &Val, branch: &'a Branch, with: bool) -> Result<Flow> {
        let mark = self.vars.len();
        let val = self.pipeline(dot, &branch.pipe)?;
        let flow = match &branch.else_list {
            _ if val.truth() => self.walk_list(if with { &val } else { dot }, &branch.list)?,
            Some(list) => self.walk_list(dot, list)?,
            None => Flow::Next,
        };
        self.cx.budget.release(val.value());
        self.leave_scope(mark);
        Ok(flow)
    }

    fn template(&mut self, dot: &Val, name: &str, pipe: Option<&'a Pipe>) -> Result<()> {
        let set = self.cx.set;
        let Some(template) = set.lookup(name) else {
            return Err(self.fail(format!("template {} not defined", quote(name.as_bytes()))));
        };
        self.cx.budget.enter().map_err(|what| self.fail(what))?;
        let dot = match pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Val::Invalid,
        };
        let tree = &template.tree;
        let mut state = State {
            cx: self.cx.reborrow(set),
            out: &mut *self.out,
            tree,
            vars: vec![(b"$", dot.clone())],
            at: At::List(&tree.root),
        };
        let walked = state.walk_list(&dot, &tree.root);
        state.leave_scope(0);
        self.cx.budget.release(dot.value());
        self.cx.budget.leave();
        walked.map(|_| ())
    }
}
