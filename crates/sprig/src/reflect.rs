//! Questions about types.
//!
//! Upstream: sprig's `reflect.go`, `reflect.DeepEqual`.
//! The surprising thing: numbers of different Go types are never deeply equal, so `deepEqual 1 1.0` is false.

use go_value::Value;

use crate::args::{Outcome, any, equal, kind_name, text};

pub(crate) fn type_of(a: &[Value]) -> Outcome {
    Ok(any(a, 0).type_name().into())
}

pub(crate) fn type_is(a: &[Value]) -> Outcome {
    Ok((*text(a, 0) == *any(a, 1).type_name()).into())
}

pub(crate) fn type_is_like(a: &[Value]) -> Outcome {
    let (target, ty) = (text(a, 0), any(a, 1).type_name());
    let bare = ty.strip_prefix('*').unwrap_or(ty);
    Ok((*target == *ty || *target == *bare).into())
}

pub(crate) fn kind_of(a: &[Value]) -> Outcome {
    Ok(kind_name(any(a, 0)).into())
}

pub(crate) fn kind_is(a: &[Value]) -> Outcome {
    Ok((*text(a, 0) == *kind_name(any(a, 1))).into())
}

pub(crate) fn deep_equal(a: &[Value]) -> Outcome {
    Ok(equal(any(a, 0), any(a, 1))?.into())
}
