//! Helm 4.3's functions over durations.
//!
//! Follows the duration helpers of `pkg/engine/funcs.go`. The surprising thing: numbers, and texts that are only a
//! number, are seconds; what cannot be read counts as zero except for `mustToDuration`.

use go_template::{FuncError, FuncMap, Type};
use go_value::Value;

const SECOND: i64 = 1_000_000_000;

pub(super) fn register(f: &mut FuncMap) {
    f.add("mustToDuration", &[Type::Any], Type::DURATION, |_, a| {
        Ok(Value::Duration(parse(&a[0]).map_err(FuncError::from)?))
    });
    for (name, unit) in [
        ("durationSeconds", 1.0),
        ("durationMinutes", 60.0),
        ("durationHours", 3600.0),
        ("durationDays", 3600.0 * 24.0),
        ("durationWeeks", 3600.0 * 24.0 * 7.0),
    ] {
        f.add(name, &[Type::Any], Type::FLOAT64, move |_, a| {
            let nanos = parse(&a[0]).unwrap_or(0);
            Ok(Value::float(in_units(nanos, unit)))
        });
    }
    for (name, unit) in
        [("durationMilliseconds", 1_000_000), ("durationMicroseconds", 1_000), ("durationNanoseconds", 1)]
    {
        f.add(name, &[Type::Any], Type::INT64, move |_, a| Ok(Value::int64(parse(&a[0]).unwrap_or(0) / unit)));
    }
    f.add("durationRoundTo", &[Type::Any, Type::Any], Type::DURATION, |_, a| Ok(stepped(a, round)));
    f.add("durationTruncateTo", &[Type::Any, Type::Any], Type::DURATION, |_, a| {
        Ok(stepped(a, |d, m| if m <= 0 { d } else { d - d % m }))
    });
}

/// Whole units and the rest apart, as Go adds them, so that the floats come out the same.
fn in_units(nanos: i64, seconds: f64) -> f64 {
    let per = |unit: i64| (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64;
    match seconds as i64 {
        1 => per(SECOND),
        60 => per(60 * SECOND),
        3600 => per(3600 * SECOND),
        86_400 => per(3600 * SECOND) / 24.0,
        _ => per(3600 * SECOND) / 24.0 / 7.0,
    }
}

fn stepped(args: &[Value], step: fn(i64, i64) -> i64) -> Value {
    let Ok(d) = parse(&args[0]) else { return Value::Duration(0) };
    Value::Duration(parse(&args[1]).map_or(d, |m| step(d, m)))
}

/// Go's `Duration.Round`: halves away from zero, saturating.
fn round(d: i64, m: i64) -> i64 {
    if m <= 0 {
        return d;
    }
    let rest = d % m;
    if rest.unsigned_abs() * 2 < m.unsigned_abs() {
        return d - rest;
    }
    if d < 0 { d.saturating_sub(m + rest) } else { d.saturating_add(m - rest) }
}

fn parse(value: &Value) -> Result<i64, String> {
    const MAX_SECONDS: i64 = i64::MAX / SECOND;
    match value {
        Value::Duration(d) => Ok(*d),
        Value::String(s) => {
            let text = s.to_text();
            let trimmed = text.trim();
            if trimmed.is_empty() {
                return Err("empty duration".into());
            }
            if let Ok(d) = sprig::parse_duration(trimmed) {
                return Ok(d);
            }
            match go_value::float::parse_float(trimmed.as_bytes()) {
                Ok(f) => from_float(f),
                Err(_) => Err(format!("could not parse duration {}", go_value::quote::quote(text.as_bytes()))),
            }
        }
        Value::Nil => Err("invalid duration".into()),
        Value::Int(_, n) if n.abs() <= MAX_SECONDS => Ok(n * SECOND),
        Value::Int(_, n) => Err(format!("duration seconds overflow: {n}")),
        Value::Uint(_, n) => match i64::try_from(*n) {
            Ok(s) if s <= MAX_SECONDS => Ok(s * SECOND),
            _ => Err(format!("duration seconds overflow: {n}")),
        },
        Value::Float(_, f) => from_float(*f),
        other => Err(format!("unsupported duration type {}", other.type_name())),
    }
}

fn from_float(seconds: f64) -> Result<i64, String> {
    let shown = || go_value::float::format_float(seconds, b'g', None, 64);
    if !seconds.is_finite() {
        return Err(format!("invalid duration seconds: {}", shown()));
    }
    let limit = i64::MAX as f64 / SECOND as f64;
    if seconds > limit || seconds < -limit {
        return Err(format!("duration seconds overflow: {}", shown()));
    }
    Ok((seconds * SECOND as f64) as i64)
}
