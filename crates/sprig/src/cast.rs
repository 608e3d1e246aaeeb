//! Conversions to numbers.
//!
//! Owns: what `int`, `int64`, `float64` and all arithmetic make of any value.
//! Upstream: github.com/spf13/cast v1.7.0 (`ToIntE`, `ToInt64E`, `ToFloat64E`); sprig drops its errors, so what does not
//! convert is 0.
//! The surprising thing: a text is read with Go's base prefixes, so `"010"` is 8 and `"0x1f"` is 31, and a trailing `.0`
//! is dropped first.

use go_value::Value;
use go_value::float::{parse_float, parse_int};

/// `cast.ToInt64`; `cast.ToInt` is the same on 64 bits.
pub(crate) fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Int(_, n) => *n,
        Value::Uint(_, n) => *n as i64,
        Value::Float(_, f) => float_to_int(*f),
        Value::String(s) => parse_int(trim_zero_decimal(s), 0, 64).unwrap_or(0),
        Value::Bool(b) => i64::from(*b),
        Value::Object(_) => named_int(value).unwrap_or(0),
        _ => 0,
    }
}

/// The two named types that the library knows: months and days of the week.
fn named_int(value: &Value) -> Option<i64> {
    match value {
        Value::Object(o) if matches!(o.type_name(), "time.Month" | "time.Weekday") => match o.data() {
            Some(Value::Int(_, n)) => Some(n),
            _ => None,
        },
        _ => None,
    }
}

/// `cast.ToFloat64`
pub(crate) fn to_float64(value: &Value) -> f64 {
    match value {
        Value::Int(_, n) => *n as f64,
        Value::Uint(_, n) => *n as f64,
        Value::Float(_, f) => *f,
        Value::String(s) => parse_float(s).unwrap_or(0.0),
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Object(_) => named_int(value).unwrap_or(0) as f64,
        _ => 0.0,
    }
}

/// Go's conversion on amd64: what does not fit is the smallest number.
pub(crate) fn float_to_int(f: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f) { f as i64 } else { i64::MIN }
}

/// Cuts `.0`, `.00` and so on off the end.
fn trim_zero_decimal(s: &[u8]) -> &[u8] {
    let zeros = s.iter().rev().take_while(|b| **b == b'0').count();
    match s[..s.len() - zeros].split_last() {
        Some((b'.', whole)) if zeros > 0 => whole,
        _ => s,
    }
}
