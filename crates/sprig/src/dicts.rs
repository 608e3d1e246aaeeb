//! Dictionary functions.
//!
//! Owns: sprig's dict family, with mergo's rules for the merges.
//! Upstream: sprig's `dict.go`, dario.cat/mergo v1.0.1 as sprig calls it.
//! The surprising thing: a merge writes into its first argument, and what it takes over from the others is shared with
//! them, so a later `set` shows in both. Keys come sorted, where Go's order is random.

use go_template::FuncError;
use go_value::limits::{MAX_DEPTH, too_deep};
use go_value::{List, Map, MapType, Str, Value};

use crate::args::{Outcome, any, fits, map, strval, text};

const NIL_MAP: &str = "assignment to entry in nil map";

pub(crate) fn dict(a: &[Value]) -> Outcome {
    let dict = Map::new();
    for pair in a.chunks(2) {
        dict.insert(strval(&pair[0]), pair.get(1).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(Value::Map(dict))
}

pub(crate) fn get(a: &[Value]) -> Outcome {
    Ok(map(a, 0).and_then(|m| m.get(text(a, 1))).unwrap_or_else(|| "".into()))
}

/// What a function gives that adds to a map.
pub(crate) type Grown = Result<(Map, Growth), FuncError>;

/// What was added.
#[derive(Default)]
pub(crate) struct Growth {
    /// The number of entries that were not there before.
    pub(crate) entries: usize,
    /// The maps that got other maps or lists.
    pub(crate) maps: Vec<Map>,
}

impl Growth {
    fn insert(&mut self, map: &Map, key: Str, value: Value) {
        if matches!(value, Value::Map(_) | Value::List(_)) && !self.maps.last().is_some_and(|last| last.same(map)) {
            self.maps.push(map.clone());
        }
        self.entries += usize::from(map.insert(key, value).is_none());
    }
}

pub(crate) fn set(a: &[Value]) -> Grown {
    let dict = map(a, 0).filter(|dict| !dict.nil).ok_or(NIL_MAP)?;
    let mut growth = Growth::default();
    growth.insert(&dict, text(a, 1).clone(), any(a, 2).clone());
    Ok((dict, growth))
}

pub(crate) fn unset(a: &[Value]) -> Outcome {
    let Some(dict) = map(a, 0) else { return Ok(Value::Nil) };
    dict.remove(text(a, 1));
    Ok(Value::Map(dict))
}

pub(crate) fn has_key(a: &[Value]) -> Outcome {
    Ok(map(a, 0).is_some_and(|m| m.contains_key(text(a, 1))).into())
}

pub(crate) fn pluck(a: &[Value]) -> Outcome {
    let found = (1..a.len()).filter_map(|i| map(a, i)?.get(text(a, 0))).collect();
    Ok(Value::List(List::any(found)))
}

pub(crate) fn keys(a: &[Value]) -> Outcome {
    let keys = (0..a.len()).filter_map(|i| map(a, i)).flat_map(|m| m.keys());
    Ok(Value::List(List::strings(keys.collect::<Vec<_>>())))
}

pub(crate) fn values(a: &[Value]) -> Outcome {
    let values = map(a, 0).map(|m| m.entries().into_iter().map(|(_, v)| v).collect()).unwrap_or_default();
    Ok(Value::List(List::any(values)))
}

pub(crate) fn pick(a: &[Value]) -> Outcome {
    let dict = map(a, 0).unwrap_or_default();
    let picked = Map::new();
    for i in 1..a.len() {
        let key = text(a, i);
        if let Some(value) = dict.get(key) {
            picked.insert(key.clone(), value);
        }
    }
    Ok(Value::Map(picked))
}

pub(crate) fn omit(a: &[Value]) -> Outcome {
    let kept = Map::new();
    for (key, value) in map(a, 0).unwrap_or_default().entries() {
        if !(1..a.len()).any(|i| *text(a, i) == key) {
            kept.insert(key, value);
        }
    }
    Ok(Value::Map(kept))
}

pub(crate) fn merge(a: &[Value]) -> Grown {
    merge_all(a, false)
}

pub(crate) fn merge_overwrite(a: &[Value]) -> Grown {
    merge_all(a, true)
}

fn merge_all(a: &[Value], overwrite: bool) -> Grown {
    let dst = match a.first() {
        // A nil destination becomes a new map once there is something to put in.
        Some(Value::Nil) => Map::new(),
        _ => map(a, 0).filter(|dict| !dict.nil).unwrap_or_default(),
    };
    let mut growth = Growth::default();
    for i in 1..a.len() {
        if let Some(src) = map(a, i) {
            merge_into(&dst, &src, overwrite, &mut growth, 0)?;
        }
    }
    Ok((dst, growth))
}

/// mergo's idea of an empty value.
fn is_empty(value: &Value) -> bool {
    !matches!(value, Value::Object(_)) && !go_value::truth::is_true(value)
}

/// mergo's `deepMerge` of two maps.
fn merge_into(dst: &Map, src: &Map, overwrite: bool, growth: &mut Growth, depth: usize) -> Result<(), FuncError> {
    if depth > MAX_DEPTH {
        return Err(too_deep().into());
    }
    for (key, from) in src.entries() {
        if from.is_nil() {
            if overwrite {
                growth.insert(dst, key, Value::Nil);
            }
            continue;
        }
        let into = dst.get(&key);
        if let (Value::Map(from), Some(Value::Map(into))) = (&from, &into) {
            merge_into(into, from, overwrite, growth, depth + 1)?;
        }
        // Looked at after the merge above: a map that was empty may not be any more.
        if let Some(into) = into.as_ref().filter(|v| !is_empty(v)) {
            match (&from, into) {
                (Value::List(_), _) => {
                    if overwrite {
                        growth.insert(dst, key, from);
                    }
                    continue;
                }
                (Value::Map(_), Value::Map(_)) => continue,
                _ if !overwrite => continue,
                _ => {}
            }
        }
        growth.insert(dst, key, from);
    }
    Ok(())
}

pub(crate) fn deep_copy(a: &[Value]) -> Outcome {
    match any(a, 0) {
        Value::Nil => Err("reflect: call of reflect.Value.Type on zero Value".into()),
        value if !fits(value, MAX_DEPTH) => Err(too_deep().into()),
        value => Ok(value.deep_copy()),
    }
}

pub(crate) fn dig(a: &[Value]) -> Outcome {
    if a.len() < 3 {
        return Err("dig needs at least three arguments".into());
    }
    let (default, dict) = (any(a, a.len() - 2), any(a, a.len() - 1));
    let mut dict = as_dict(dict)?;
    let keys = &a[..a.len() - 2];
    for key in keys {
        if key.as_str().is_none() {
            return Err(format!("interface conversion: interface {{}} is {}, not string", dynamic(key)).into());
        }
    }
    for (i, _) in keys.iter().enumerate() {
        let Some(step) = dict.get(text(a, i)) else { return Ok(default.clone()) };
        if i + 1 == keys.len() {
            return Ok(step);
        }
        dict = as_dict(&step)?;
    }
    Ok(default.clone())
}

fn dynamic(value: &Value) -> &str {
    if value.is_nil() { "nil" } else { value.type_name() }
}

/// Go's type assertion to `map[string]interface {}`; named map types do not pass.
fn as_dict(value: &Value) -> Result<Map, FuncError> {
    match value {
        Value::Map(m) if m.ty == MapType::ANY => Ok(m.clone()),
        other => {
            Err(format!("interface conversion: interface {{}} is {}, not map[string]interface {{}}", dynamic(other))
                .into())
        }
    }
}
