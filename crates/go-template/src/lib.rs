//! Go's text/template, byte for byte: the language, its output and its error texts.
//!
//! Owns: the lexer, the parser, the tree and its printing, the executor, the builtin functions, the set of named
//! templates, and the one place where arguments of functions are checked and converted ([`Signature`]).
//! Does not own: sprig's and Helm's functions, files, values. Upstream: Go 1.26 `text/template` and
//! `text/template/parse`.
//! The surprising thing: whether a value came out of an `interface {}` or is statically typed decides error texts and
//! results (`nil` from a map field is not the same as no value at all), so the executor carries that bit with each value.
//!
//! # Use
//! ```
//! use go_template::{FuncMap, Options, Set, Type};
//! use go_value::{Map, Value};
//!
//! let mut funcs = FuncMap::new();
//! // `shout` takes a string, gives a string.
//! funcs.add("shout", &[Type::STRING], Type::STRING, |_, args| {
//!     let Value::String(s) = &args[0] else { return Err("not a string".into()) };
//!     Ok(s.to_text().to_uppercase().into())
//! });
//! // `include` re-enters the executor: the same set, the same limits, the same host state.
//! funcs.add("include", &[Type::STRING, Type::Any], Type::STRING, |cx, args| {
//!     let Value::String(name) = &args[0] else { return Err("not a string".into()) };
//!     Ok(Value::string(cx.execute(&name.to_text(), &args[1])?))
//! });
//! let mut set = Set::new("gotpl", funcs);
//! set.parse("a.tpl", r#"{{ define "hi" }}hi {{ . | shout }}{{ end }}"#)?;
//! set.parse("b.yaml", r#"{{ include "hi" .name }}"#)?;
//! let data = Value::Map(Map::from_iter([("name", "world")]));
//! let out = set.execute("b.yaml", &data, &Options::default(), &mut ())?;
//! assert_eq!(out, b"hi WORLD");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// An error is boxed where it is made, so that results stay small.
#![allow(clippy::unnecessary_box_returns)]

mod error;
mod exec;
mod func;
mod funcs;
mod lex;
mod limits;
mod parse;
mod template;
mod token;

pub use error::{ExecError, FuncError, ParseError};
pub use exec::Context;
pub use func::{FuncMap, Function, Methods, Signature, Type};
pub use funcs::{html_escape, is_builtin, js_escape, query_escape};
pub use limits::{Budget, Grown, Limits, on_large_stack};
pub use template::{MissingKey, Options, Parsed, Set, Template};
