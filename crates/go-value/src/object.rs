//! Go structs, named types with methods and functions, as templates meet them.

use std::fmt;

use crate::kind::Kind;
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

    /// What `fmt` prints with `%v`. Go prints a struct as `{a b}`, a pointer to one as `&{a b}`, a `Stringer` as its
    /// `String()`.
    fn display(&self) -> Vec<u8>;

    /// What an action `{{ … }}` prints. It differs from [`Object::display`] where the `String` of a struct belongs to a
    /// pointer to it: an action can take the address of a field, `printf` gets a copy.
    fn printed(&self) -> Vec<u8> {
        self.display()
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

    /// Go's truth of the value in `if`: a struct is always true, a map or slice when it is not empty.
    fn truth(&self) -> bool {
        true
    }
}

/// The signature of a method as far as calling it from a template needs it.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The kinds of the parameters, in order; [`Kind::Interface`] takes anything.
    pub params: &'static [Kind],
    /// Does the last parameter repeat (`...T`)?
    pub variadic: bool,
}
