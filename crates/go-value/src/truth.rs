//! Go's truth in templates: what `if`, `with`, `and`, `or`, `not` see.
//!
//! Owns: that one question. Does not own: sprig's `empty` and `default`, which ask the same but are sprig's. Upstream:
//! `template.IsTrue`. The surprising thing: a struct is always true, also `time.Time`'s zero.

use crate::value::Value;

/// Is the value not the zero of its type? Nil is false.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Nil => false,
        Value::Bool(b) => *b,
        Value::Int(_, n) | Value::Duration(n) => *n != 0,
        Value::Uint(_, n) => *n != 0,
        Value::Float(_, n) => *n != 0.0,
        Value::Complex(re, im) => *re != 0.0 || *im != 0.0,
        Value::String(s) => !s.is_empty(),
        Value::List(l) => !l.is_empty(),
        Value::Map(m) => !m.is_empty(),
        Value::Time(_) => true,
        Value::Object(o) => o.truth(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_true;
    use crate::{List, Map, Value};

    #[test]
    fn zero_values_are_false() {
        let no = [Value::Nil, false.into(), Value::int(0), Value::float(-0.0), "".into(), Map::new().into()];
        assert!(!no.iter().any(is_true));
        assert!(!is_true(&List::any(vec![]).into()));
        let yes = [true.into(), Value::int64(-1), Value::float(f64::NAN), "0".into(), Value::Duration(1)];
        assert!(yes.iter().all(is_true));
    }
}
