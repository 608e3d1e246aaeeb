//! Stopping the render.

use go_value::Value;

use crate::args::{Outcome, utf8};

pub(crate) fn fail(a: &[Value]) -> Outcome {
    Err(utf8(a, 0).into_owned().into())
}
