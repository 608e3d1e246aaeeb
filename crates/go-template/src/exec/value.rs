//! A value while a template executes.
//!
//! Owns: the difference between no value, a nil interface, and values with and without an interface around them. Does not
//! own: the values. Upstream: `reflect.Value` as `text/template/exec.go` uses it.
//! The surprising thing: a pipeline takes the interface off its result, an argument does not, so `f .x` and `.x | f` may
//! answer differently for a nil `.x`.

use std::borrow::Cow;

use go_value::{Elem, Entries, Kind, List, ListType, Map, MapType, Value, format, truth};

#[derive(Clone)]
pub(crate) enum Val {
    /// Not even an argument: nothing came down the pipe.
    Missing,
    /// Go's zero `reflect.Value`.
    Invalid,
    /// What an `interface {}` holds, nil too.
    Iface(Value),
    /// A value known by its own type.
    Typed(Value),
}

impl Val {
    /// `reflect.ValueOf`
    pub(crate) fn of(value: Value) -> Self {
        if value.is_nil() { Self::Invalid } else { Self::Typed(value) }
    }

    /// An element of a slice or map.
    pub(crate) fn element(value: Value, elem: Elem) -> Self {
        if elem == Elem::Any { Self::Iface(value) } else { Self::of(value) }
    }

    /// The zero of an element type.
    pub(crate) fn zero(elem: Elem) -> Self {
        let Elem::Of(kind) = elem else { return Self::Iface(Value::Nil) };
        Self::of(match kind {
            Kind::Bool => false.into(),
            Kind::String => "".into(),
            Kind::Map => Map::of(MapType::ANY, Entries::new()).into(),
            Kind::Slice => List::nil(ListType::BYTES).into(),
            Kind::Complex128 => Value::Complex(0.0, 0.0),
            kind if kind.is_int() => Value::Int(kind, 0),
            kind if kind.is_uint() => Value::Uint(kind, 0),
            kind if kind.is_float() => Value::Float(kind, 0.0),
            _ => Value::Nil,
        })
    }

    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// The value without an interface around it: `indirectInterface`.
    pub(crate) fn dig(self) -> Self {
        match self {
            Self::Iface(value) => Self::of(value),
            other => other,
        }
    }

    /// What is inside; nil if nothing is.
    pub(crate) const fn value(&self) -> &Value {
        match self {
            Self::Missing | Self::Invalid => &Value::Nil,
            Self::Iface(value) | Self::Typed(value) => value,
        }
    }

    /// What is inside; nil if nothing is.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Missing | Self::Invalid => Value::Nil,
            Self::Iface(value) | Self::Typed(value) => value,
        }
    }

    /// The static type's name.
    pub(crate) fn type_name(&self) -> &str {
        match self {
            Self::Iface(_) => "interface {}",
            other => other.value().type_name(),
        }
    }

    /// Is it an interface that holds nothing?
    pub(crate) const fn is_nil_iface(&self) -> bool {
        matches!(self, Self::Iface(Value::Nil))
    }

    pub(crate) fn truth(&self) -> bool {
        truth::is_true(self.value())
    }
}

/// The plain data to range over, index or measure: an object's own, any other value itself.
pub(crate) fn data(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::Object(o) if matches!(o.kind(), Kind::Map | Kind::Slice | Kind::Array | Kind::String) => {
            o.data().map_or(Cow::Borrowed(value), Cow::Owned)
        }
        _ => Cow::Borrowed(value),
    }
}

/// Append a value as an action prints it: no value has a text of its own, a pointer prints what it points to.
pub(crate) fn print(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.extend_from_slice(b"<no value>"),
        Value::Object(o) if o.kind() == Kind::Pointer => {
            let text = o.printed();
            out.extend_from_slice(if text.starts_with(b"&{") { &text[1..] } else { &text });
        }
        Value::Object(o) => out.extend_from_slice(&o.printed()),
        _ => format::append(out, value),
    }
}
