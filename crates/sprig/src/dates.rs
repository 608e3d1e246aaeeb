//! Dates and durations.
//!
//! Owns: sprig's date family.
//! Does not own: layouts ([`crate::layout`]), the clock and the local zone ([`crate::host`]).
//! Upstream: sprig's `date.go`.
//! The surprising thing: what is neither a time nor one of a few integer types counts as now, so `date` of a text or of
//! a `float64` from `values.yaml` is today.

use go_template::FuncError;
use go_value::float::parse_int;
use go_value::{Kind, Value, format};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::args::{Outcome, any, text, utf8};
use crate::host::Host;
use crate::layout;

fn time_of(host: &dyn Host, value: &Value, kinds: &[Kind]) -> Zoned {
    match value {
        Value::Time(t) => (**t).clone(),
        Value::Int(kind, n) if kinds.contains(kind) => {
            Timestamp::from_second(*n).map_or_else(|_| layout::zero(), |t| t.to_zoned(host.local_zone()))
        }
        _ => host.now(),
    }
}

/// `time.LoadLocation`, with UTC for what it does not know.
fn zone(host: &dyn Host, name: &str) -> TimeZone {
    match name {
        "" | "UTC" => TimeZone::UTC,
        "Local" => host.local_zone(),
        name if name.contains("..") || name.starts_with(['/', '\\']) => TimeZone::UTC,
        // Go takes the name for that of a file.
        name => TimeZone::get(name).ok().filter(|zone| zone.iana_name() == Some(name)).unwrap_or(TimeZone::UTC),
    }
}

fn in_zone(host: &dyn Host, layout: &str, date: &Value, name: &str) -> Outcome {
    let time = time_of(host, date, &[Kind::Int64, Kind::Int, Kind::Int32]).with_time_zone(zone(host, name));
    Ok(layout::format(&time, layout).into())
}

pub(crate) fn now(host: &dyn Host, _: &[Value]) -> Outcome {
    Ok(Value::Time(Box::new(host.now())))
}

pub(crate) fn date(host: &dyn Host, a: &[Value]) -> Outcome {
    in_zone(host, &utf8(a, 0), any(a, 1), "Local")
}

pub(crate) fn date_in_zone(host: &dyn Host, a: &[Value]) -> Outcome {
    in_zone(host, &utf8(a, 0), any(a, 1), &utf8(a, 2))
}

pub(crate) fn html_date(host: &dyn Host, a: &[Value]) -> Outcome {
    in_zone(host, "2006-01-02", any(a, 0), "Local")
}

pub(crate) fn html_date_in_zone(host: &dyn Host, a: &[Value]) -> Outcome {
    in_zone(host, "2006-01-02", any(a, 0), &utf8(a, 1))
}

fn moved(a: &[Value], nanos: i64) -> Value {
    match any(a, 1) {
        Value::Time(t) => Value::Time(Box::new(layout::add(t, nanos))),
        other => other.clone(),
    }
}

pub(crate) fn date_modify(a: &[Value]) -> Outcome {
    Ok(layout::parse_duration(&utf8(a, 0)).map_or_else(|_| any(a, 1).clone(), |nanos| moved(a, nanos)))
}

pub(crate) fn must_date_modify(a: &[Value]) -> Outcome {
    Ok(moved(a, layout::parse_duration(&utf8(a, 0))?))
}

/// Nanoseconds since the time, as `time.Since`.
fn since(host: &dyn Host, time: &Zoned) -> i64 {
    let nanos = host.now().timestamp().as_nanosecond() - time.timestamp().as_nanosecond();
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

pub(crate) fn ago(host: &dyn Host, a: &[Value]) -> Outcome {
    const SECOND: i64 = 1_000_000_000;
    let time = time_of(host, any(a, 0), &[Kind::Int64, Kind::Int]);
    let nanos = since(host, &time);
    // To the nearest second, halves away from zero.
    let rest = nanos % SECOND;
    let whole = nanos - rest;
    let rounded = if rest.abs() * 2 < SECOND { whole } else { whole.saturating_add(SECOND * nanos.signum()) };
    Ok(format::duration(rounded).into())
}

pub(crate) fn duration(a: &[Value]) -> Outcome {
    let seconds = match any(a, 0) {
        Value::String(s) => parse_int(s, 10, 64).unwrap_or_else(|e| match e {
            go_value::float::NumError::Range(n) => n,
            _ => 0,
        }),
        Value::Int(Kind::Int64, n) => *n,
        _ => 0,
    };
    Ok(format::duration(seconds.wrapping_mul(1_000_000_000)).into())
}

pub(crate) fn duration_round(host: &dyn Host, a: &[Value]) -> Outcome {
    let nanos = match any(a, 0) {
        Value::String(s) => layout::parse_duration(&s.to_text()).unwrap_or(0),
        Value::Int(Kind::Int64, n) => *n,
        Value::Time(t) => since(host, t),
        _ => 0,
    };
    const HOUR: u64 = 3_600_000_000_000;
    let size = nanos.unsigned_abs();
    let units = [
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (HOUR / 60, "m"),
        (HOUR / 3600, "s"),
    ];
    let largest = units.iter().find(|(unit, _)| size > *unit);
    Ok(largest.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", size / unit)).into())
}

pub(crate) fn to_date(host: &dyn Host, a: &[Value]) -> Outcome {
    let time = layout::parse(&utf8(a, 0), &utf8(a, 1), &host.local_zone());
    Ok(Value::Time(Box::new(time.unwrap_or_else(|_| layout::zero()))))
}

pub(crate) fn must_to_date(host: &dyn Host, a: &[Value]) -> Outcome {
    let time = layout::parse(&utf8(a, 0), &utf8(a, 1), &host.local_zone()).map_err(FuncError::Text)?;
    Ok(Value::Time(Box::new(time)))
}

pub(crate) fn unix_epoch(a: &[Value]) -> Outcome {
    match any(a, 0) {
        Value::Time(t) => Ok(t.timestamp().as_second().to_string().into()),
        _ => Ok(text(a, 0).clone().into()),
    }
}
