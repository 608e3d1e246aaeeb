//! A Go value with its dynamic type.

use std::fmt;
use std::sync::Arc;

use crate::kind::Kind;
use crate::list::List;
use crate::map::Map;
use crate::object::Object;
use crate::text::Str;

/// A Go value that knows its dynamic type, because templates can see it: a number from `values.yaml` is a `float64`,
/// one from `--set` an `int64`, and `kindOf`, `typeOf`, `printf`, `eq` tell them apart.
#[derive(Clone, Default)]
pub enum Value {
    /// An interface that holds nothing.
    #[default]
    Nil,
    /// `bool`
    Bool(bool),
    /// A signed integer of this kind ([`Kind::is_int`]).
    Int(Kind, i64),
    /// An unsigned integer of this kind ([`Kind::is_uint`]).
    Uint(Kind, u64),
    /// `float32` or `float64` ([`Kind::is_float`]).
    Float(Kind, f64),
    /// `complex128`; text/template has literals for it.
    Complex(f64, f64),
    /// `string`
    String(Str),
    /// A slice.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// `time.Time`, with its zone.
    Time(Box<jiff::Zoned>),
    /// `time.Duration` in nanoseconds.
    Duration(i64),
    /// A struct, a type with methods, a function.
    Object(Arc<dyn Object>),
}

impl Value {
    /// An `int`.
    pub const fn int(n: i64) -> Self {
        Self::Int(Kind::Int, n)
    }

    /// An `int64`.
    pub const fn int64(n: i64) -> Self {
        Self::Int(Kind::Int64, n)
    }

    /// A `float64`.
    pub const fn float(n: f64) -> Self {
        Self::Float(Kind::Float64, n)
    }

    /// A `string`.
    pub fn string(s: impl Into<Str>) -> Self {
        Self::String(s.into())
    }

    /// A `[]uint8`.
    pub fn bytes(b: &[u8]) -> Self {
        Self::List(List::bytes(b))
    }

    /// The Go kind of the value; [`Kind::Invalid`] for nil.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Nil => Kind::Invalid,
            Self::Bool(_) => Kind::Bool,
            Self::Int(k, _) | Self::Uint(k, _) | Self::Float(k, _) => *k,
            Self::Complex(..) => Kind::Complex128,
            Self::String(_) => Kind::String,
            Self::List(_) => Kind::Slice,
            Self::Map(_) => Kind::Map,
            Self::Time(_) => Kind::Struct,
            Self::Duration(_) => Kind::Int64,
            Self::Object(o) => o.kind(),
        }
    }

    /// The Go type of the value, as `%T` prints it; `<nil>` for nil.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Nil => "<nil>",
            Self::List(l) => l.ty.name,
            Self::Map(m) => m.ty.name,
            Self::Time(_) => "time.Time",
            Self::Duration(_) => "time.Duration",
            Self::Object(o) => o.type_name(),
            other => other.kind().name(),
        }
    }

    /// Is this nil?
    pub const fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// The string, if it is one.
    pub const fn as_str(&self) -> Option<&Str> {
        match self {
            Self::String(s) => Some(s),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub const fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(m) => Some(m),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub const fn as_list(&self) -> Option<&List> {
        match self {
            Self::List(l) => Some(l),
            _ => None,
        }
    }

    /// The truth value, if it is a `bool`.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// A value that shares no map with this one. A map that contains itself is copied to one that does too.
    pub fn deep_copy(&self) -> Self {
        self.copy_within(&mut Vec::new())
    }

    /// `open` holds the maps whose copies are being made, with these.
    pub(crate) fn copy_within(&self, open: &mut Vec<(Map, Map)>) -> Self {
        match self {
            Self::Map(m) => Self::Map(m.copy_within(open)),
            Self::List(l) => {
                let mut copy = List::new(l.ty, l.iter().map(|v| v.copy_within(open)).collect());
                copy.nil = l.nil;
                Self::List(copy)
            }
            Self::Object(object) => object.deep_copy().unwrap_or_else(|| self.clone()),
            other => other.clone(),
        }
    }

    /// May it hold other values?
    pub(crate) const fn holds_more(&self) -> bool {
        matches!(self, Self::Map(_) | Self::List(_))
    }

    /// How many values this one holds, itself included; what is more than `most` is not counted.
    pub fn count(&self, most: usize) -> usize {
        let mut left = most;
        self.nests_within(crate::limits::MAX_DEPTH, &mut left);
        most - left
    }

    /// Do maps and lists nest at most so deep, and hold at most `budget` values? Those of a map that contains itself do
    /// not, nor do those of a short template that doubles a list forty times.
    pub fn nests_within(&self, depth: usize, budget: &mut usize) -> bool {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        match self {
            Self::Map(m) => {
                let (mut flat, mut nested) = (0, Vec::new());
                m.for_each(|_, value| if value.holds_more() { nested.push(value.clone()) } else { flat += 1 });
                let Some(left) = budget.checked_sub(flat) else { return false };
                *budget = left;
                depth > 0 && nested.iter().all(|v| v.nests_within(depth - 1, budget))
            }
            Self::List(l) => depth > 0 && l.iter().all(|v| v.nests_within(depth - 1, budget)),
            _ => true,
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<Str> for Value {
    fn from(s: Str) -> Self {
        Self::String(s)
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Self::string(s)
    }
}

impl From<String> for Value {
    fn from(s: String) -> Self {
        Self::string(s)
    }
}

impl From<Map> for Value {
    fn from(m: Map) -> Self {
        Self::Map(m)
    }
}

impl From<List> for Value {
    fn from(l: List) -> Self {
        Self::List(l)
    }
}

impl From<f64> for Value {
    fn from(n: f64) -> Self {
        Self::float(n)
    }
}

/// Only the type: values may be secret, and debug output must not show them.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(m) => m.fmt(f),
            Self::List(l) => write!(f, "{}(len {})", l.ty.name, l.len()),
            other => f.write_str(other.type_name()),
        }
    }
}
