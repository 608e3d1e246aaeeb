//! Go's comparisons: those of the template functions `eq` and `lt`, and `reflect.DeepEqual`.
//!
//! Owns: which values may be compared, the answers, Go's texts where they may not. Does not own: the functions with their
//! argument lists (go-template, sprig). Upstream: `text/template/funcs.go`, `reflect/deepequal.go`.
//! The surprising thing: `eq 1 1.0` is an error and not false, while any comparison with nil is allowed.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::format::{self, Verb};
use crate::kind::Kind;
use crate::value::Value;

/// The groups of kinds that compare with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basic {
    None,
    Bool,
    Complex,
    Int,
    Float,
    String,
    Uint,
}

const BAD_TYPE: &str = "invalid type for comparison";

fn basic(value: &Value) -> Basic {
    match value.kind() {
        Kind::Bool => Basic::Bool,
        Kind::Complex128 => Basic::Complex,
        Kind::String => Basic::String,
        kind if kind.is_int() => Basic::Int,
        kind if kind.is_uint() => Basic::Uint,
        kind if kind.is_float() => Basic::Float,
        _ => Basic::None,
    }
}

/// The plain value behind an object that is a named basic type.
fn plain(value: &Value) -> Value {
    match value {
        // What a struct or a pointer holds as data is another thing.
        Value::Object(o) => o.data().filter(|data| data.kind() == o.kind()).unwrap_or_else(|| value.clone()),
        _ => value.clone(),
    }
}

fn signed(value: &Value) -> i64 {
    match value {
        Value::Int(_, n) | Value::Duration(n) => *n,
        _ => 0,
    }
}

fn unsigned(value: &Value) -> u64 {
    match value {
        Value::Uint(_, n) => *n,
        _ => 0,
    }
}

fn is_nil(value: &Value) -> bool {
    match value {
        Value::Nil => true,
        Value::List(l) => l.nil,
        Value::Map(m) => m.nil,
        _ => false,
    }
}

fn incompatible(a: &Value, b: &Value) -> String {
    format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name())
}

/// `a == b` as the template function `eq` has it.
///
/// # Errors
/// Go's text, if the two cannot be compared.
pub fn equal(a: &Value, b: &Value) -> Result<bool, String> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => return Ok(a == b),
        (Value::Object(o), _) if basic(a) != Basic::None && o.data().is_some() => return equal(&plain(a), b),
        (_, Value::Object(o)) if basic(b) != Basic::None && o.data().is_some() => return equal(a, &plain(b)),
        _ => {}
    }
    let (ka, kb) = (basic(a), basic(b));
    match (ka, kb) {
        (Basic::Int, Basic::Uint) => Ok(u64::try_from(signed(a)).is_ok_and(|a| a == unsigned(b))),
        (Basic::Uint, Basic::Int) => Ok(u64::try_from(signed(b)).is_ok_and(|b| unsigned(a) == b)),
        (Basic::None, Basic::None) => equal_composite(a, b),
        _ if ka == kb => Ok(equal_basic(a, b)),
        _ if a.is_nil() || b.is_nil() => Ok(false),
        _ => Err(incompatible(a, b)),
    }
}

#[expect(clippy::float_cmp, reason = "Go compares floats so")]
fn equal_basic(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(_, a) | Value::Duration(a), Value::Int(_, b) | Value::Duration(b)) => a == b,
        (Value::Uint(_, a), Value::Uint(_, b)) => a == b,
        (Value::Float(_, a), Value::Float(_, b)) => a == b,
        (Value::Complex(ar, ai), Value::Complex(br, bi)) => ar == br && ai == bi,
        (Value::String(a), Value::String(b)) => a == b,
        _ => false,
    }
}

fn equal_composite(a: &Value, b: &Value) -> Result<bool, String> {
    let (ka, kb) = (a.kind(), b.kind());
    let text = |v: &Value, verb| String::from_utf8_lossy(&format::verb(v, verb)).into_owned();
    if ka != kb && !a.is_nil() && !b.is_nil() {
        let (a_text, b_text) = (text(a, Verb::S), text(b, Verb::V));
        return Err(format!("non-comparable types {a_text}: {}, {}: {b_text}", a.type_name(), b.type_name()));
    }
    if is_nil(a) || is_nil(b) {
        return Ok(is_nil(a) == is_nil(b));
    }
    match (a, b) {
        (Value::Time(a), Value::Time(b)) => Ok(a.timestamp() == b.timestamp() && a.time_zone() == b.time_zone()),
        (Value::Object(a), Value::Object(o)) if matches!(kb, Kind::Pointer | Kind::Struct) => {
            Ok(Arc::ptr_eq(a, o)
                || (kb == Kind::Struct && a.type_name() == o.type_name() && a.display() == o.display()))
        }
        _ if matches!(kb, Kind::Slice | Kind::Map | Kind::Func) => {
            Err(format!("non-comparable type {}: {}", text(b, Verb::S), b.type_name()))
        }
        _ => Ok(false),
    }
}

/// `a < b` as the template function `lt` has it.
///
/// # Errors
/// Go's text, if the two cannot be ordered.
pub fn less(a: &Value, b: &Value) -> Result<bool, String> {
    let (a, b) = (&plain(a), &plain(b));
    let (ka, kb) = (basic(a), basic(b));
    if ka == Basic::None || kb == Basic::None {
        return Err(BAD_TYPE.to_owned());
    }
    match (ka, kb) {
        (Basic::Int, Basic::Uint) => Ok(u64::try_from(signed(a)).is_err() || (signed(a) as u64) < unsigned(b)),
        (Basic::Uint, Basic::Int) => Ok(u64::try_from(signed(b)).is_ok_and(|b| unsigned(a) < b)),
        _ if ka != kb => Err(incompatible(a, b)),
        _ => match (a, b) {
            (Value::Int(_, a) | Value::Duration(a), Value::Int(_, b) | Value::Duration(b)) => Ok(a < b),
            (Value::Uint(_, a), Value::Uint(_, b)) => Ok(a < b),
            (Value::Float(_, a), Value::Float(_, b)) => Ok(a.partial_cmp(b) == Some(Ordering::Less)),
            (Value::String(a), Value::String(b)) => Ok(a < b),
            _ => Err(BAD_TYPE.to_owned()),
        },
    }
}

/// `reflect.DeepEqual`: the same dynamic types all the way down, and the same contents. Nil and empty slices differ.
pub fn deep_equal(a: &Value, b: &Value) -> bool {
    deep_equal_within(a, b, &mut Vec::new())
}

/// `open` holds the pairs of maps being compared: as in Go, a pair that is met again inside itself counts as equal.
fn deep_equal_within(a: &Value, b: &Value, open: &mut Vec<(usize, usize)>) -> bool {
    match (a, b) {
        (Value::Nil, Value::Nil) => true,
        (Value::List(a), Value::List(b)) => {
            a.ty == b.ty
                && a.nil == b.nil
                && a.len() == b.len()
                && a.iter().zip(b.iter()).all(|(a, b)| deep_equal_within(a, b, open))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.ty == b.ty
                && a.nil == b.nil
                && (a.same(b) || open.contains(&(a.address(), b.address())) || {
                    open.push((a.address(), b.address()));
                    let (a, b) = (a.entries(), b.entries());
                    let equal = a.len() == b.len()
                        && a.iter().zip(&b).all(|((ak, av), (bk, bv))| ak == bk && deep_equal_within(av, bv, open));
                    open.pop();
                    equal
                })
        }
        (Value::Time(a), Value::Time(b)) => a.timestamp() == b.timestamp() && a.time_zone() == b.time_zone(),
        (Value::Object(a), Value::Object(b)) => {
            Arc::ptr_eq(a, b)
                || (a.type_name() == b.type_name()
                    && match (a.data(), b.data()) {
                        (Some(a), Some(b)) => deep_equal_within(&a, &b, open),
                        (None, None) => a.display() == b.display(),
                        _ => false,
                    })
        }
        _ => a.type_name() == b.type_name() && equal_basic(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::{deep_equal, equal, less};
    use crate::{List, ListType, Map, Value};

    #[test]
    fn numbers_of_different_kinds() {
        assert_eq!(equal(&Value::int(1), &Value::int64(1)), Ok(true));
        assert_eq!(
            equal(&Value::int(1), &Value::float(1.0)).unwrap_err(),
            "incompatible types for comparison: int and float64"
        );
        assert_eq!(equal(&Value::Nil, &Value::int(0)), Ok(false));
        assert_eq!(less(&"a".into(), &"b".into()), Ok(true));
        assert_eq!(less(&true.into(), &false.into()).unwrap_err(), "invalid type for comparison");
    }

    #[test]
    fn depth_needs_the_same_types() {
        let a = || Map::from_iter([("k", Value::from(List::any(vec![Value::int(1)])))]).into();
        assert!(deep_equal(&a(), &a()));
        assert!(!deep_equal(&Value::int(1), &Value::int64(1)));
        assert!(!deep_equal(&List::nil(ListType::ANY).into(), &List::any(vec![]).into()));
    }
}
