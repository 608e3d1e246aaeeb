//! The methods of `time.Time` and `time.Duration`: `now.Year`, `(now.Add …).Format "2006"`, `$d.Seconds`.
//!
//! Owns: the methods with one result that a template can use. Does not own: sprig's date functions. Upstream: Go's
//! package `time`. The surprising thing: `Month` and `Weekday` print as names but are numbers.

use std::sync::Arc;

use go_template::Methods;
use go_value::format::MONTHS;
use go_value::object::{Method, Param};
use go_value::{Kind, Object, Value, format};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::layout;
use crate::layout::DAYS;

/// The methods, for a function map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeMethods;

const NONE: &[Param] = &[];
const SPAN: &[Param] = &[Param::Named("time.Duration", Kind::Int64)];
const TIME: &[Param] = &[Param::Named("time.Time", Kind::Struct)];
const TEXT: &[Param] = &[Param::STRING];
const DATE: &[Param] = &[Param::INT, Param::INT, Param::INT];

impl Methods for TimeMethods {
    fn method(&self, receiver: &Value, name: &str) -> Option<Method> {
        let params = match (receiver, name) {
            (
                Value::Time(_),
                "GoString" | "MarshalJSON" | "MarshalText" | "Year" | "Month" | "Day" | "Hour" | "Minute" | "Second"
                | "Nanosecond" | "YearDay" | "Weekday" | "Unix" | "UnixMilli" | "UnixMicro" | "UnixNano" | "String"
                | "UTC" | "IsZero",
            ) => NONE,
            (Value::Time(_), "Sub" | "Before" | "After" | "Equal" | "Compare") => TIME,
            (Value::Time(_), "Add" | "Truncate" | "Round") => SPAN,
            (Value::Time(_), "Format") => TEXT,
            (Value::Time(_), "AddDate") => DATE,
            (
                Value::Duration(_),
                "Hours" | "Minutes" | "Seconds" | "Milliseconds" | "Microseconds" | "Nanoseconds" | "String" | "Abs",
            ) => NONE,
            (Value::Duration(_), "Round" | "Truncate") => SPAN,
            _ => return None,
        };
        Some(Method { params, variadic: false })
    }

    fn call(&self, receiver: &Value, name: &str, args: &[Value]) -> Result<Value, String> {
        match receiver {
            Value::Time(time) => of_time(time, name, args),
            Value::Duration(nanos) => of_duration(*nanos, name, args),
            _ => Err(format!("no method {name}")),
        }
    }
}

fn of_time(time: &Zoned, name: &str, args: &[Value]) -> Result<Value, String> {
    let stamp = time.timestamp();
    let int = |n: i64| Ok(Value::int(n));
    match name {
        "Year" => int(time.year().into()),
        "Month" => Ok(named("time.Month", &MONTHS, time.month() as usize, 1)),
        "Day" => int(time.day().into()),
        "Hour" => int(time.hour().into()),
        "Minute" => int(time.minute().into()),
        "Second" => int(time.second().into()),
        "Nanosecond" => int(time.subsec_nanosecond().into()),
        "YearDay" => int(time.day_of_year().into()),
        "Weekday" => Ok(named("time.Weekday", &DAYS, time.weekday().to_sunday_zero_offset() as usize, 0)),
        "Unix" => Ok(Value::int64(stamp.as_second())),
        "UnixMilli" => Ok(Value::int64(stamp.as_millisecond())),
        "UnixMicro" => Ok(Value::int64(stamp.as_microsecond())),
        "UnixNano" => Ok(Value::int64(stamp.as_nanosecond() as i64)),
        "String" => Ok(format::time(time).into()),
        "GoString" => Ok(format::go_time(time).into()),
        "MarshalText" => Ok(Value::bytes(go_value::json::rfc3339_nano(time).as_bytes())),
        "MarshalJSON" => Ok(Value::bytes(format!("\"{}\"", go_value::json::rfc3339_nano(time)).as_bytes())),
        "UTC" => Ok(boxed(time.with_time_zone(TimeZone::UTC))),
        "IsZero" => Ok(Value::Bool(stamp == layout::zero().timestamp())),
        "Format" => {
            let layout = args.first().and_then(Value::as_str).map(|s| s.to_text().into_owned()).unwrap_or_default();
            Ok(layout::format(time, &layout).into())
        }
        "Add" => Ok(boxed(layout::add(time, duration(args)))),
        "AddDate" => add_date(time, args),
        "Truncate" | "Round" => {
            let step = duration(args);
            if step <= 0 {
                return Ok(boxed(time.clone()));
            }
            // Go counts from its zero time.
            let since = stamp.as_nanosecond() - layout::zero().timestamp().as_nanosecond();
            let rest = (since % i128::from(step)) as i64;
            let up = name == "Round" && rest >= step - rest;
            Ok(boxed(layout::add(time, if up { step - rest } else { -rest })))
        }
        "Sub" => {
            let nanos = stamp.as_nanosecond() - other(args)?.timestamp().as_nanosecond();
            Ok(Value::Duration(nanos.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
        }
        "Before" => Ok(Value::Bool(stamp < other(args)?.timestamp())),
        "After" => Ok(Value::Bool(stamp > other(args)?.timestamp())),
        "Equal" => Ok(Value::Bool(stamp == other(args)?.timestamp())),
        _ => int(stamp.cmp(&other(args)?.timestamp()) as i64),
    }
}

/// Go counts months first and lets days run over: one month after the 31st of January is early March.
fn add_date(time: &Zoned, args: &[Value]) -> Result<Value, String> {
    let number = |i: usize| match args.get(i) {
        Some(Value::Int(_, n)) => *n,
        _ => 0,
    };
    let outside = |_| "time: date out of range".to_owned();
    let months = number(0).saturating_mul(12).saturating_add(number(1)).saturating_add(i64::from(time.month()) - 1);
    let year = i64::from(time.year()).saturating_add(months.div_euclid(12));
    let year = i16::try_from(year).map_err(|_| "time: date out of range".to_owned())?;
    let month = (months.rem_euclid(12) + 1) as i8;
    let first = jiff::civil::Date::new(year, month, 1).map_err(outside)?;
    let days = number(2).saturating_add(i64::from(time.day()) - 1);
    let days = jiff::Span::new().try_days(days).map_err(outside)?;
    let date = first.checked_add(days).map_err(outside)?;
    date.to_datetime(time.time()).to_zoned(time.time_zone().clone()).map(boxed).map_err(outside)
}

fn of_duration(nanos: i64, name: &str, args: &[Value]) -> Result<Value, String> {
    let in_units = |unit: i64| Value::float((nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64);
    Ok(match name {
        "Hours" => in_units(3_600_000_000_000),
        "Minutes" => in_units(60_000_000_000),
        "Seconds" => in_units(1_000_000_000),
        "Milliseconds" => Value::int64(nanos / 1_000_000),
        "Microseconds" => Value::int64(nanos / 1_000),
        "Nanoseconds" => Value::int64(nanos),
        "String" => format::duration(nanos).into(),
        "Abs" => Value::Duration(nanos.saturating_abs()),
        "Truncate" => {
            let step = duration(args);
            Value::Duration(if step <= 0 { nanos } else { nanos - nanos % step })
        }
        _ => Value::Duration(round(nanos, duration(args))),
    })
}

/// Halves away from zero, saturating.
fn round(nanos: i64, step: i64) -> i64 {
    if step <= 0 {
        return nanos;
    }
    let rest = nanos % step;
    if rest.unsigned_abs().saturating_mul(2) < step.unsigned_abs() {
        return nanos - rest;
    }
    if nanos < 0 { nanos.saturating_sub(step + rest) } else { nanos.saturating_add(step - rest) }
}

fn boxed(time: Zoned) -> Value {
    Value::Time(Box::new(time))
}

fn duration(args: &[Value]) -> i64 {
    match args.first() {
        Some(Value::Duration(n)) => *n,
        _ => 0,
    }
}

/// The argument, which the executor let through as a time.
fn other(args: &[Value]) -> Result<&Zoned, String> {
    match args.first() {
        Some(Value::Time(time)) => Ok(time),
        _ => Err(crate::args::NIL_POINTER.to_owned()),
    }
}

/// A number that prints as a name.
#[derive(Debug)]
struct Named {
    ty: &'static str,
    name: &'static str,
    number: i64,
}

fn named(ty: &'static str, names: &[&'static str], number: usize, first: usize) -> Value {
    let name = number.checked_sub(first).and_then(|i| names.get(i)).copied().unwrap_or_default();
    Value::Object(Arc::new(Named { ty, name, number: number as i64 }))
}

impl Object for Named {
    fn type_name(&self) -> &str {
        self.ty
    }

    fn kind(&self) -> Kind {
        Kind::Int
    }

    fn method(&self, name: &str) -> Option<Method> {
        (name == "String").then_some(Method { params: NONE, variadic: false })
    }

    fn call(&self, _: &str, _: &[Value]) -> Result<Value, String> {
        Ok(self.name.into())
    }

    fn display(&self) -> Vec<u8> {
        self.name.into()
    }

    fn is_stringer(&self) -> bool {
        true
    }

    fn data(&self) -> Option<Value> {
        Some(Value::int(self.number))
    }
}
