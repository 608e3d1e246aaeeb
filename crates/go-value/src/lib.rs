//! The dynamic values that text/template, sprig and go-yaml share.
//!
//! Owns: a value that remembers its Go type ([`Value`]), strings that may hold any bytes ([`Str`]), maps with Go's
//! reference semantics ([`Map`]), immutable slices ([`List`]), and what Go says about values: kinds and type names,
//! emptiness, comparison, `fmt` verbs, `strconv` quoting and floats, `encoding/json`.
//! Does not own: templates, YAML, I/O. The specification is Go's own packages `reflect`, `fmt`, `strconv` and
//! `encoding/json`.
//! The surprising thing: cloning a [`Map`] clones a reference. `set` in a template is seen by everyone who holds the
//! map, as in Go; whoever wants a copy asks for [`Map::deep_copy`].

pub mod compare;
pub mod entries;
pub mod float;
pub mod format;
pub mod json;
pub mod kind;
pub mod limits;
pub mod list;
pub mod map;
pub mod object;
pub mod quote;
pub mod text;
pub mod truth;
pub mod value;

pub use entries::Entries;
pub use kind::{Elem, Kind, ListType, MapType};
pub use list::List;
pub use map::{Map, WeakMap};
pub use object::Object;
pub use text::Str;
pub use value::Value;
