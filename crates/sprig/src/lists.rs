//! List functions.
//!
//! Owns: sprig's list family and its error texts.
//! Upstream: sprig's `list.go`. The `must` variants return what the others panic with, which is the same to a template.
//! The surprising thing: nil is not an empty list; all but `has` panic on it.

use go_template::FuncError;
use go_value::limits::{MAX_ITEMS, too_many_items};
use go_value::{List, ListType, Value};

use crate::args::{NIL_POINTER, Outcome, any, elements, equal, int, kind_name};
use crate::cast::to_int64;
use crate::defaults::is_empty;

fn items(value: &Value, what: &str) -> Result<List, FuncError> {
    if value.is_nil() {
        return Err(NIL_POINTER.into());
    }
    elements(value).ok_or_else(|| format!("{what} {}", kind_name(value)).into())
}

fn list_of(items: Vec<Value>) -> Outcome {
    Ok(Value::List(List::any(items)))
}

fn nil_list() -> Outcome {
    Ok(Value::List(List::nil(ListType::ANY)))
}

pub(crate) fn list(a: &[Value]) -> Outcome {
    list_of(a.to_vec())
}

pub(crate) fn append(a: &[Value]) -> Outcome {
    let mut all = items(any(a, 0), "Cannot push on type")?.to_vec();
    all.push(any(a, 1).clone());
    list_of(all)
}

pub(crate) fn prepend(a: &[Value]) -> Outcome {
    let mut all = items(any(a, 0), "Cannot prepend on type")?.to_vec();
    all.insert(0, any(a, 1).clone());
    list_of(all)
}

pub(crate) fn chunk(a: &[Value]) -> Outcome {
    let size = int(a, 0);
    let list = items(any(a, 1), "Cannot chunk type")?;
    let length = list.len() as f64;
    // As upstream computes it, in floats, with what that means for sizes of 0 and below.
    let count = crate::cast::float_to_int(((length - 1.0) / size as f64).floor() + 1.0);
    if count < 0 || count > list.len() as i64 {
        return Err("runtime error: makeslice: len out of range".into());
    }
    let mut chunks = Vec::new();
    for i in 0..count {
        let mut width = size;
        if i == count - 1 {
            width = crate::cast::float_to_int((length % size as f64).floor());
            if width == 0 {
                width = size;
            }
        }
        if width < 0 {
            return Err("runtime error: makeslice: len out of range".into());
        }
        let start = i.saturating_mul(size);
        let part = usize::try_from(start).ok().and_then(|s| list.get(s..s + width as usize));
        let part = part.ok_or("reflect: slice index out of range")?;
        chunks.push(Value::List(List::any(part.to_vec())));
    }
    Ok(Value::List(List::new(ListType::LISTS, chunks)))
}

pub(crate) fn last(a: &[Value]) -> Outcome {
    Ok(items(any(a, 0), "Cannot find last on type")?.last().cloned().unwrap_or_default())
}

pub(crate) fn first(a: &[Value]) -> Outcome {
    Ok(items(any(a, 0), "Cannot find first on type")?.first().cloned().unwrap_or_default())
}

pub(crate) fn rest(a: &[Value]) -> Outcome {
    match items(any(a, 0), "Cannot find rest on type")?.split_first() {
        Some((_, rest)) => list_of(rest.to_vec()),
        None => nil_list(),
    }
}

pub(crate) fn initial(a: &[Value]) -> Outcome {
    match items(any(a, 0), "Cannot find initial on type")?.split_last() {
        Some((_, initial)) => list_of(initial.to_vec()),
        None => nil_list(),
    }
}

pub(crate) fn reverse(a: &[Value]) -> Outcome {
    let mut all = items(any(a, 0), "Cannot find reverse on type")?.to_vec();
    all.reverse();
    list_of(all)
}

pub(crate) fn compact(a: &[Value]) -> Outcome {
    let list = items(any(a, 0), "Cannot compact on type")?;
    list_of(list.iter().filter(|v| !is_empty(v)).cloned().collect())
}

fn is_among(needle: &Value, items: &[Value]) -> Result<bool, FuncError> {
    for item in items {
        if equal(needle, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn uniq(a: &[Value]) -> Outcome {
    let list = items(any(a, 0), "Cannot find uniq on type")?;
    let mut kept: Vec<Value> = Vec::new();
    for item in list.iter() {
        if !is_among(item, &kept)? {
            kept.push(item.clone());
        }
    }
    list_of(kept)
}

pub(crate) fn without(a: &[Value]) -> Outcome {
    let list = items(any(a, 0), "Cannot find without on type")?;
    let omit = a.get(1..).unwrap_or_default();
    let mut kept = Vec::new();
    for item in list.iter() {
        if !is_among(item, omit)? {
            kept.push(item.clone());
        }
    }
    list_of(kept)
}

pub(crate) fn has(a: &[Value]) -> Outcome {
    let (needle, haystack) = (any(a, 0), any(a, 1));
    if haystack.is_nil() {
        return Ok(false.into());
    }
    let list = items(haystack, "Cannot find has on type")?;
    Ok(is_among(needle, &list)?.into())
}

pub(crate) fn slice(a: &[Value]) -> Outcome {
    let value = any(a, 0);
    if value.is_nil() {
        return Err(NIL_POINTER.into());
    }
    let list =
        elements(value).ok_or_else(|| format!("list should be type of slice or array but {}", kind_name(value)))?;
    if list.is_empty() {
        return Ok(Value::Nil);
    }
    let start = a.get(1).map_or(0, to_int64);
    let end = a.get(2).map_or(list.len() as i64, to_int64);
    let range = match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end && end <= list.len() => start..end,
        _ => return Err("reflect.Value.Slice: slice index out of bounds".into()),
    };
    if let Value::Object(object) = value
        && let Some(part) = object.slice(range.start, range.end)
    {
        return Ok(part);
    }
    Ok(Value::List(List::new(list.ty, list[range].to_vec())))
}

pub(crate) fn concat(a: &[Value]) -> Outcome {
    let mut all = Vec::new();
    for value in a {
        if value.is_nil() {
            return Err(NIL_POINTER.into());
        }
        let list = elements(value).ok_or_else(|| format!("Cannot concat type {} as list", kind_name(value)))?;
        all.extend(list.iter().cloned());
        if all.len() > MAX_ITEMS {
            return Err(too_many_items().into());
        }
    }
    if all.is_empty() { nil_list() } else { list_of(all) }
}
