//! Functions that templates can call: their signatures and the map from names to them.
//!
//! Owns: Go parameter types as far as templates see them, which values fit them, the trait that a Rust function
//! implements to become a template function. Does not own: the functions; when arguments are evaluated (`exec::call`).
//! Upstream: `FuncMap` and `validateType` of `text/template`.
//! The surprising thing: a nil map, slice or pointer argument arrives as [`Value::Nil`]; everything else has exactly the
//! declared type when the function is called, so functions need no checks of their own.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use go_value::object::Method;
use go_value::{Elem, Entries, Kind, List, ListType, Map, MapType, Value};

use crate::error::FuncError;
use crate::exec::Context;

/// A Go type in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: takes anything, nil too.
    Any,
    /// An unnamed basic type: `bool`, `string`, the numbers.
    Basic(Kind),
    /// A slice type.
    List(ListType),
    /// A map type.
    Map(MapType),
    /// Another named type, as `%T` prints it, with its kind: `time.Time`, `time.Duration`, an [`go_value::Object`]'s type.
    Named(&'static str, Kind),
    /// `reflect.Value`: takes anything, and a result of it is what it holds.
    Reflect,
}

impl Type {
    /// `bool`
    pub const BOOL: Self = Self::Basic(Kind::Bool);
    /// `string`
    pub const STRING: Self = Self::Basic(Kind::String);
    /// `int`
    pub const INT: Self = Self::Basic(Kind::Int);
    /// `int64`
    pub const INT64: Self = Self::Basic(Kind::Int64);
    /// `float64`
    pub const FLOAT64: Self = Self::Basic(Kind::Float64);
    /// `[]interface {}`
    pub const LIST: Self = Self::List(ListType::ANY);
    /// `[]string`
    pub const STRINGS: Self = Self::List(ListType::STRINGS);
    /// `[]uint8`
    pub const BYTES: Self = Self::List(ListType::BYTES);
    /// `map[string]interface {}`
    pub const MAP: Self = Self::Map(MapType::ANY);
    /// `time.Time`
    pub const TIME: Self = Self::Named("time.Time", Kind::Struct);
    /// `time.Duration`
    pub const DURATION: Self = Self::Named("time.Duration", Kind::Int64);

    /// The type's name, as `%v` prints a `reflect.Type`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Basic(kind) => kind.name(),
            Self::List(ty) => ty.name,
            Self::Map(ty) => ty.name,
            Self::Named(name, _) => name,
            Self::Reflect => "reflect.Value",
        }
    }

    /// The type's kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Any => Kind::Interface,
            Self::Basic(kind) | Self::Named(_, kind) => *kind,
            Self::List(_) => Kind::Slice,
            Self::Map(_) => Kind::Map,
            Self::Reflect => Kind::Struct,
        }
    }

    /// May an untyped nil stand for a value of the type?
    pub const fn can_be_nil(&self) -> bool {
        match self {
            Self::Any | Self::Reflect | Self::List(_) | Self::Map(_) => true,
            Self::Basic(_) => false,
            Self::Named(_, kind) => {
                matches!(kind, Kind::Func | Kind::Interface | Kind::Map | Kind::Pointer | Kind::Slice)
            }
        }
    }

    /// Can a value be assigned to the type without a conversion that must be written down?
    pub(crate) fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any | Self::Reflect, _) => true,
            (_, Value::Nil) => false,
            (Self::Basic(kind), Value::Duration(_) | Value::Object(_)) => value.type_name() == kind.name(),
            (Self::Basic(kind), _) => value.kind() == *kind,
            (Self::List(ty), Value::List(list)) => same_shape(ty.name, list.ty.name, ty.elem, list.ty.elem),
            (Self::Map(ty), Value::Map(map)) => same_shape(ty.name, map.ty.name, ty.elem, map.ty.elem),
            (Self::Map(_) | Self::List(_), Value::Object(o)) => o.type_name() == self.name(),
            (Self::Named(name, _), _) => {
                let own = value.type_name();
                own == *name || own.strip_prefix('*') == Some(name)
            }
            _ => false,
        }
    }

    /// The value as one of this type, after [`Type::takes`] said yes: Go changes a map's type name on assignment, and an
    /// interface holds a copy of a struct.
    pub(crate) fn assign(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Map(ty), Value::Map(map)) if map.ty != *ty => Value::Map(map.with_type(*ty)),
            (Self::Any, Value::Object(object)) => object.without_address().unwrap_or(Value::Object(object)),
            (_, value) => value,
        }
    }

    /// What a function of this result type gave, with nil made a typed nil where templates can tell.
    pub(crate) fn typed_nil(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Map(ty), Value::Nil) => Value::Map(Map::of(*ty, Entries::new())),
            (Self::List(ty), Value::Nil) => Value::List(List::nil(*ty)),
            (_, value) => value,
        }
    }
}

/// Go's assignability of slices and maps: the same type, or the same underlying type and one of the two has no name.
fn same_shape(a: &str, b: &str, a_elem: Elem, b_elem: Elem) -> bool {
    let unnamed = |name: &str| name.starts_with("map[") || name.starts_with('[');
    a == b || (a_elem == b_elem && unnamed(a) != unnamed(b))
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The parameters in order; of a variadic one the type of its elements.
    pub params: Cow<'static, [Type]>,
    /// Does the last parameter repeat?
    pub variadic: bool,
    /// The result.
    pub result: Type,
}

/// A function that templates can call. Closures are registered with [`FuncMap::add`]; implement this for more.
pub trait Function: Send + Sync {
    /// What it takes and gives.
    fn signature(&self) -> &Signature;

    /// Call it. The arguments are checked and converted already: as many as the signature wants, each of its type; a nil
    /// map, slice or pointer is [`Value::Nil`]. The context is the render in progress: the template set, the host's state,
    /// and the way to execute other templates.
    ///
    /// # Errors
    /// Stops the render; the text appears after `error calling NAME: `.
    fn call(&self, context: &mut Context<'_>, args: &[Value]) -> Result<Value, FuncError>;
}

struct Closure<F> {
    signature: Signature,
    call: F,
}

impl<F> Function for Closure<F>
where
    F: Fn(&mut Context<'_>, &[Value]) -> Result<Value, FuncError> + Send + Sync,
{
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn call(&self, context: &mut Context<'_>, args: &[Value]) -> Result<Value, FuncError> {
        (self.call)(context, args)
    }
}

/// Methods of values that are plain data here but named types in Go: times, durations, named maps.
pub trait Methods: Send + Sync {
    /// The method `name` of the value, if its type has it.
    fn method(&self, receiver: &Value, name: &str) -> Option<Method>;

    /// Call a method that [`Methods::method`] gave.
    ///
    /// # Errors
    /// The text of the Go error the method returns.
    fn call(&self, receiver: &Value, name: &str, args: &[Value]) -> Result<Value, String>;
}

/// A function's name, found by its bytes as they stand in a template.
#[derive(Clone, PartialEq, Eq)]
struct Name(Cow<'static, str>);

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_bytes().hash(state);
    }
}

/// Functions are looked up for every call, and whoever names them is not hostile: eight bytes at a time are mixed.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_usize(&mut self, _: usize) {
        // The length before the bytes, which tell enough.
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// Functions by name. They take precedence over the builtin ones.
#[derive(Clone, Default)]
pub struct FuncMap {
    map: HashMap<Name, Arc<dyn Function>, BuildHasherDefault<NameHasher>>,
    methods: Vec<Arc<dyn Methods>>,
}

impl FuncMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Register a closure with a fixed number of parameters.
    pub fn add<F>(&mut self, name: &'static str, params: &'static [Type], result: Type, call: F)
    where
        F: Fn(&mut Context<'_>, &[Value]) -> Result<Value, FuncError> + Send + Sync + 'static,
    {
        let signature = Signature { params: Cow::Borrowed(params), variadic: false, result };
        self.insert(name, Arc::new(Closure { signature, call }));
    }

    /// Register a closure whose last parameter repeats: `&[STRING, ANY]` is Go's `(string, ...interface{})`.
    pub fn add_variadic<F>(&mut self, name: &'static str, params: &'static [Type], result: Type, call: F)
    where
        F: Fn(&mut Context<'_>, &[Value]) -> Result<Value, FuncError> + Send + Sync + 'static,
    {
        let signature = Signature { params: Cow::Borrowed(params), variadic: true, result };
        self.insert(name, Arc::new(Closure { signature, call }));
    }

    /// Register a function; one of the same name is replaced.
    pub fn insert(&mut self, name: impl Into<Cow<'static, str>>, function: Arc<dyn Function>) {
        self.map.insert(Name(name.into()), function);
    }

    /// The function of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Function>> {
        self.get_bytes(name.as_bytes())
    }

    pub(crate) fn get_bytes(&self, name: &[u8]) -> Option<&Arc<dyn Function>> {
        self.map.get(name)
    }

    /// Take a function out (Helm removes `env` and `expandenv`).
    pub fn remove(&mut self, name: &str) -> Option<Arc<dyn Function>> {
        self.map.remove(name.as_bytes())
    }

    /// Take over all functions of another map; its own win.
    pub fn extend(&mut self, other: Self) {
        self.map.extend(other.map);
        self.methods.extend(other.methods);
    }

    /// Register methods of named types.
    pub fn add_methods(&mut self, methods: Arc<dyn Methods>) {
        self.methods.push(methods);
    }

    /// The method of a value, and who implements it.
    pub(crate) fn method(&self, receiver: &Value, name: &str) -> Option<(&Arc<dyn Methods>, Method)> {
        // Most fields by far are those of plain maps, which have no methods.
        let named = match receiver {
            Value::Map(map) => !map.ty.is_unnamed(),
            Value::Time(_) | Value::Duration(_) => true,
            _ => false,
        };
        if !named {
            return None;
        }
        self.methods.iter().find_map(|m| Some((m, m.method(receiver, name)?)))
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.map.keys().map(|name| &*name.0).collect();
        names.sort_unstable();
        names
    }
}

impl fmt::Debug for FuncMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
