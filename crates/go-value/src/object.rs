//! Go structs, named types with methods and functions, as templates meet them.

use std::fmt;

use crate::kind::{Elem, Kind};
use crate::text::Str;
use crate::value::Value;

/// A Go value that is more than data: a struct with exported fields, or a type with methods (`.Files`,
/// `.Capabilities.APIVersions`, a semantic version). Implementors answer with Go's names.
pub trait Object: fmt::Debug + Send + Sync {
    /// The Go type, as `%T` prints it, e.g. `*common.Capabilities` or `engine.files`.
    fn type_name(&self) -> &str;

    /// The Go kind: a pointer to a struct is [`Kind::Pointer`].
    fn kind(&self) -> Kind;

    /// The exported field `name`, if there is one.
    fn field(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }

    /// The method `name`: `None` if there is none, else how many arguments it takes.
    fn method(&self, name: &str) -> Option<Method> {
        let _ = name;
        None
    }

    /// Call the method `name` with arguments that already have the method's types ([`Method::params`]).
    ///
    /// # Errors
    /// The text of the Go error the method returns.
    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let _ = args;
        Err(format!("can't evaluate field {name} in type {}", self.type_name()))
    }

    /// How much work a call of this method is, in steps of a template (some 100 ns each), besides what its result tells.
    fn work(&self, name: &str) -> u64 {
        let _ = name;
        0
    }

    /// The keys of its [`Object::data`] in order, where that is a map too large to be made at once. A loop then asks for
    /// one value after the other ([`Object::value_at`]).
    fn keys(&self) -> Option<Vec<Str>> {
        None
    }

    /// What is at a key of its [`Object::keys`], and the type of all of them.
    ///
    /// # Errors
    /// It is too large.
    fn value_at(&self, key: &Str) -> Result<(Value, Elem), String> {
        self.field(&key.to_text()).map(|value| (value, Elem::Any)).ok_or_else(|| format!("there is no {key:?}"))
    }

    /// What `fmt` prints with `%v`. Go prints a struct as `{a b}`, a pointer to one as `&{a b}`, a `Stringer` as its
    /// `String()`.
    fn display(&self) -> Vec<u8>;

    /// What an action `{{ … }}` prints. It differs from [`Object::display`] where the `String` of a struct belongs to a
    /// pointer to it: an action can take the address of a field, `printf` gets a copy.
    fn printed(&self) -> Vec<u8> {
        self.display()
    }

    /// Does Go ask the value for its text when it prints it: has its type, not only a pointer to it, `String`?
    fn is_stringer(&self) -> bool {
        false
    }

    /// The value as an argument of type `interface {}` has it: a copy without an address, of which Go does not find the
    /// methods that belong to a pointer. `None` if that makes no difference.
    fn without_address(&self) -> Option<Value> {
        None
    }

    /// A copy as a library makes it that goes by reflection, and finds no fields but the exported ones. `None` if it has
    /// all there is.
    fn deep_copy(&self) -> Option<Value> {
        None
    }

    /// The fields of a struct, or of the struct that a pointer points to, by their names in Go and in their order,
    /// unexported ones too.
    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        None
    }

    /// The fields of a struct by their names in JSON, in the order of the struct, which is that of its JSON too.
    fn members(&self) -> Option<Vec<(&'static str, Value)>> {
        None
    }

    /// What ranging over, indexing, `len` and JSON encoding work on: the plain data behind the object (a map type
    /// with methods gives its map, a struct the map of its JSON fields), if there is any.
    fn data(&self) -> Option<Value> {
        self.members().map(|members| Value::Map(members.into_iter().collect()))
    }

    /// The elements of a slice from the first place to before the second one; Go keeps its type.
    fn slice(&self, from: usize, to: usize) -> Option<Value> {
        let _ = (from, to);
        None
    }

    /// Go's truth of the value in `if`: a struct is always true, a map or slice when it is not empty.
    fn truth(&self) -> bool {
        true
    }
}

/// The signature of a method as far as calling it from a template needs it.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The types of the parameters, in order.
    pub params: &'static [Param],
    /// Does the last parameter repeat (`...T`)?
    pub variadic: bool,
}

/// The type of a method's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// The unnamed type of this kind; [`Kind::Interface`] takes anything.
    Of(Kind),
    /// A named type, as `%T` prints it, with its kind.
    Named(&'static str, Kind),
}

impl Param {
    /// `interface {}`
    pub const ANY: Self = Self::Of(Kind::Interface);
    /// `string`
    pub const STRING: Self = Self::Of(Kind::String);
    /// `int`
    pub const INT: Self = Self::Of(Kind::Int);
}
