//! `index`, `slice`, `len`.
//!
//! Owns: what can be indexed, sliced, measured, and Go's texts for the rest. Does not own: fields. Upstream:
//! `text/template/funcs.go`.
//! The surprising thing: an index equal to the length passes the check and fails in `reflect`, with `reflect`'s text.

use go_value::{Kind, List, Str, Value};

use super::{Result, prepare};
use crate::exec::value::{self, Val};
use crate::func::Type;

fn position(index: &Value, cap: usize) -> std::result::Result<usize, String> {
    let x = match index {
        Value::Int(_, n) | Value::Duration(n) => *n,
        Value::Uint(_, n) => *n as i64,
        Value::Nil => return Err("cannot index slice/array with nil".to_owned()),
        other => return Err(format!("cannot index slice/array with type {}", other.type_name())),
    };
    usize::try_from(x).ok().filter(|&x| x <= cap).ok_or_else(|| format!("index out of range: {x}"))
}

/// The type of a value; of a pointer that of what it points to, which is what Go looks at.
fn pointed_to(value: &Value) -> String {
    let name = value.type_name().to_string();
    if value.kind() == Kind::Pointer { name.trim_start_matches('*').to_owned() } else { name }
}

pub(super) fn index(args: Vec<Val>) -> Result {
    let mut args = args.into_iter();
    let mut item = args.next().unwrap_or(Val::Invalid).dig();
    if item.value().is_nil() {
        return Err("index of untyped nil".to_owned());
    }
    for key in args {
        let key = key.into_value();
        if item.value().is_nil() {
            return Err("index of nil pointer".to_owned());
        }
        let next = match &*value::data(item.value()) {
            Value::List(list) => {
                let at = position(&key, list.len())?;
                let found = list.get(at).ok_or("reflect: slice index out of range")?;
                Val::element(found.clone(), list.ty.elem)
            }
            Value::String(s) => {
                let at = position(&key, s.len())?;
                let &byte = s.get(at).ok_or("reflect: string index out of range")?;
                Val::Typed(Value::Uint(Kind::Uint8, byte.into()))
            }
            Value::Map(map) => match prepare(&key, Type::STRING)? {
                Value::String(key) => {
                    map.get(&*key).map_or_else(|| Val::zero(map.ty.elem), |found| Val::element(found, map.ty.elem))
                }
                _ => Val::zero(map.ty.elem),
            },
            other => return Err(format!("can't index item of type {}", pointed_to(other))),
        };
        item = next;
    }
    Ok(item)
}

pub(super) fn slice(args: &[Val]) -> Result {
    let [item, indexes @ ..] = args else { return Ok(Val::Invalid) };
    if item.value().is_nil() {
        return Err("slice of untyped nil".to_owned());
    }
    if indexes.len() > 3 {
        return Err(format!("too many slice indexes: {}", indexes.len()));
    }
    let data = value::data(item.value());
    let len = match &*data {
        Value::String(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".to_owned()),
        Value::String(s) => s.len(),
        Value::List(list) => list.len(),
        other => return Err(format!("can't slice item of type {}", other.type_name())),
    };
    let mut at = [0, len, len];
    for (slot, index) in at.iter_mut().zip(indexes) {
        // Go looks at the index as it is, so one that comes out of an interface is none.
        if let Val::Iface(_) = index {
            return Err("cannot index slice/array with type interface {}".to_owned());
        }
        *slot = position(index.value(), len)?;
    }
    let [from, to, cap] = at;
    if from > to {
        return Err(format!("invalid slice index: {from} > {to}"));
    }
    if indexes.len() == 3 && to > cap {
        return Err(format!("invalid slice index: {to} > {cap}"));
    }
    Ok(Val::Typed(match &*data {
        Value::String(s) => Value::String(Str::from(&s[from..to])),
        Value::List(list) => Value::List(List::new(list.ty, list[from..to].to_vec())),
        _ => Value::Nil,
    }))
}

pub(super) fn len(item: &Val) -> Result {
    let n = match &*value::data(item.value()) {
        Value::String(s) => s.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::Nil if item.is_nil_iface() => return Err("len of nil pointer".to_owned()),
        Value::Nil => return Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        other => return Err(format!("len of type {}", pointed_to(other))),
    };
    Ok(Val::Typed(Value::int(n as i64)))
}
