//! Defaults and emptiness, and sprig's JSON functions.
//!
//! Owns: `default`, `empty`, `coalesce`, `all`, `any`, `ternary`, the JSON family as sprig has it (Helm puts its own
//! `toJson`, `fromJson` and relatives in their place).
//! Upstream: sprig's `defaults.go`.
//! The surprising thing: `fromJson` of a broken text is nil, not an error.

use go_value::json::{self, Style};
use go_value::{Kind, Value};

use crate::args::{Outcome, any as arg, text};

/// sprig's `empty`: nil, false, zero, no elements. A pointer to a struct and a struct never are.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(o) if matches!(o.kind(), Kind::Struct | Kind::Pointer | Kind::Func) => false,
        other => !go_value::truth::is_true(other),
    }
}

pub(crate) fn default(a: &[Value]) -> Outcome {
    Ok(match a.get(1) {
        Some(given) if !is_empty(given) => given.clone(),
        _ => arg(a, 0).clone(),
    })
}

pub(crate) fn empty(a: &[Value]) -> Outcome {
    Ok(is_empty(arg(a, 0)).into())
}

pub(crate) fn coalesce(a: &[Value]) -> Outcome {
    Ok(a.iter().find(|v| !is_empty(v)).cloned().unwrap_or_default())
}

pub(crate) fn all(a: &[Value]) -> Outcome {
    Ok((!a.iter().any(is_empty)).into())
}

pub(crate) fn any(a: &[Value]) -> Outcome {
    Ok(a.iter().any(|v| !is_empty(v)).into())
}

pub(crate) fn ternary(a: &[Value]) -> Outcome {
    Ok(arg(a, usize::from(arg(a, 2).as_bool() != Some(true))).clone())
}

pub(crate) fn from_json(a: &[Value]) -> Outcome {
    Ok(json::decode(text(a, 0)).unwrap_or_default())
}

pub(crate) fn must_from_json(a: &[Value]) -> Outcome {
    Ok(json::decode(text(a, 0))?)
}

pub(crate) fn to_json(a: &[Value]) -> Outcome {
    Ok(json::encode(arg(a, 0)).unwrap_or_default().into())
}

pub(crate) fn must_to_json(a: &[Value]) -> Outcome {
    Ok(json::encode(arg(a, 0))?.into())
}

pub(crate) fn to_pretty_json(a: &[Value]) -> Outcome {
    Ok(json::encode_with(arg(a, 0), Style::PRETTY).unwrap_or_default().into())
}

pub(crate) fn must_to_pretty_json(a: &[Value]) -> Outcome {
    Ok(json::encode_with(arg(a, 0), Style::PRETTY)?.into())
}

pub(crate) fn must_to_raw_json(a: &[Value]) -> Outcome {
    Ok(json::encode_with(arg(a, 0), Style::RAW)?.into())
}
