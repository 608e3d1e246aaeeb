//! A set of named templates that can call each other.
//!
//! Owns: parsing texts into a set, lookup, redefinition rules, options of an execution. Does not own: how a text is
//! parsed or a tree executed. Upstream: `Template` of `text/template` (`New`, `Clone`, `Parse`, `Lookup`).
//! The surprising thing: a clone shares everything and costs one counter, so `tpl` may clone a set for each call; what is
//! parsed into a shared set goes into a layer of its own above.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use go_value::Value;
use go_value::quote::quote;

use crate::error::{ExecError, ParseError};
use crate::exec;
use crate::func::FuncMap;
use crate::limits::{Budget, Limits};
use crate::parse::{self, Tree};

/// One parsed template.
pub struct Template {
    pub(crate) tree: Tree,
}

impl Template {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.tree.name
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.tree.name).finish()
    }
}

/// What became of one text: the template itself, and those that it defines. Can be kept and added to many sets.
#[derive(Clone, Debug)]
pub struct Parsed {
    main: usize,
    all: Vec<Arc<Template>>,
}

#[derive(Debug, Default)]
struct Layer {
    below: Option<Arc<Layer>>,
    templates: HashMap<Arc<str>, Arc<Template>>,
}

impl Layer {
    fn get(&self, name: &str) -> Option<&Arc<Template>> {
        let mut layer = self;
        loop {
            if let Some(found) = layer.templates.get(name) {
                return Some(found);
            }
            layer = layer.below.as_ref()?;
        }
    }
}

/// Templates that know each other by name, and the functions they may call. Parsed once, a set can be shared between
/// threads and executed any number of times; [`Clone`] is cheap and gives an independent set.
#[derive(Clone, Debug)]
pub struct Set {
    name: Arc<str>,
    funcs: Arc<FuncMap>,
    delims: Option<Arc<(String, String)>>,
    layer: Arc<Layer>,
}

impl Set {
    /// An empty set. The name is that of Go's root template (Helm's is `gotpl`), which one error text shows.
    pub fn new(name: &str, funcs: FuncMap) -> Self {
        Self { name: name.into(), funcs: Arc::new(funcs), delims: None, layer: Arc::default() }
    }

    /// The name given to [`Set::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The functions.
    pub fn funcs(&self) -> &FuncMap {
        &self.funcs
    }

    /// The functions, to add some; texts parsed before are not checked again, but call the new ones.
    pub fn funcs_mut(&mut self) -> &mut FuncMap {
        Arc::make_mut(&mut self.funcs)
    }

    /// The action delimiters of the texts parsed from now on; an empty one stands for the default.
    pub fn set_delims(&mut self, left: &str, right: &str) {
        self.delims = Some(Arc::new((left.to_owned(), right.to_owned())));
    }

    /// Parse a text without adding it: the result can be kept and added to several sets with [`Set::add`].
    ///
    /// # Errors
    /// Go's error with `name` and the line.
    pub fn compile(&self, name: &str, text: &Bytes) -> Result<Parsed, ParseError> {
        let (left, right) = self.delims.as_deref().map_or(("", ""), |(l, r)| (l, r));
        let trees = parse::parse(name, text, left, right, &self.funcs)?;
        Ok(Parsed { main: trees.main, all: trees.all.into_iter().map(|tree| Arc::new(Template { tree })).collect() })
    }

    /// Add what was parsed. A definition that holds only space and comments never replaces another one; any other does.
    /// Gives the main template, which is to be executed itself ([`exec::Context::execute_template`]) when it may be
    /// empty: looking its name up would then find an older one.
    pub fn add(&mut self, parsed: &Parsed) -> Arc<Template> {
        if Arc::get_mut(&mut self.layer).is_none() {
            self.layer = Arc::new(Layer { below: Some(Arc::clone(&self.layer)), templates: HashMap::new() });
        }
        for template in &parsed.all {
            if template.tree.is_empty() && self.layer.get(template.name()).is_some() {
                continue;
            }
            if let Some(layer) = Arc::get_mut(&mut self.layer) {
                layer.templates.insert(Arc::clone(&template.tree.name), Arc::clone(template));
            }
        }
        Arc::clone(&parsed.all[parsed.main])
    }

    /// Parse a text as the template `name` and add it, with all that it defines.
    ///
    /// # Errors
    /// Go's error with `name` and the line.
    pub fn parse(&mut self, name: &str, text: impl AsRef<[u8]>) -> Result<Arc<Template>, ParseError> {
        let parsed = self.compile(name, &Bytes::copy_from_slice(text.as_ref()))?;
        Ok(self.add(&parsed))
    }

    /// The template of this name.
    pub fn lookup(&self, name: &str) -> Option<&Arc<Template>> {
        self.layer.get(name)
    }

    /// The names of all templates, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let mut layer = Some(&self.layer);
        while let Some(l) = layer {
            names.extend(l.templates.keys().map(AsRef::as_ref));
            layer = l.below.as_ref();
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Execute the template `name` on `data`. `host` is the state of the render that functions find with
    /// [`exec::Context::host`]; `&mut ()` if there is none.
    ///
    /// # Errors
    /// Go's error, with the place and the node.
    pub fn execute(
        &self,
        name: &str,
        data: &Value,
        options: &Options,
        host: &mut dyn Any,
    ) -> Result<Vec<u8>, Box<ExecError>> {
        let mut out = Vec::new();
        self.execute_into(&mut out, name, data, options, host, &mut Budget::new(options.limits))?;
        Ok(out)
    }

    /// As [`Set::execute`], writing behind what is in `out` and spending of the budget that all executions of a render
    /// share; its limits hold, not those of the options.
    ///
    /// # Errors
    /// As there; `out` then has what was written before the fault.
    pub fn execute_into(
        &self,
        out: &mut Vec<u8>,
        name: &str,
        data: &Value,
        options: &Options,
        host: &mut dyn Any,
        budget: &mut Budget,
    ) -> Result<(), Box<ExecError>> {
        exec::Context::new(self, options, host, budget).execute_into(out, name, data)
    }

    /// The template to execute, or Go's error that there is none.
    pub(crate) fn find(&self, name: &str) -> Result<&Arc<Template>, Box<ExecError>> {
        self.lookup(name).ok_or_else(|| self.missing(name.as_bytes()))
    }

    /// Go's error that there is no such template.
    pub(crate) fn missing(&self, name: &[u8]) -> Box<ExecError> {
        let (name, own) = (quote(name), quote(self.name.as_bytes()));
        ExecError::plain(format!("template: no template {name} associated with template {own}"))
    }
}

/// What a map field gives whose key is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// `missingkey=default`: no value at all, printed as `<no value>`; its fields are no value either.
    #[default]
    Invalid,
    /// `missingkey=zero`: the zero of the map's element type; for `interface {}` a nil whose fields are errors. Helm's.
    Zero,
    /// `missingkey=error`: stop.
    Error,
}

/// How to execute.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What missing keys give.
    pub missing_key: MissingKey,
    /// How far the render may go.
    pub limits: Limits,
}
