//! Go's time layouts: formatting and parsing by example (`2006-01-02T15:04:05Z07:00`).
//!
//! Owns: the pieces of a layout and what they print; in `parse` what they read, in `duration` what a duration is written as.
//! Does not own: which zone a template function uses ([`crate::dates`]).
//! Upstream: `format.go` of Go's package `time`.
//! The surprising thing: a layout is the one moment of reference, written as times shall be.

mod duration;
mod parse;

use std::fmt::Write as _;

use go_value::format::MONTHS;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Zoned};

pub use duration::parse_duration;
pub use parse::{named_zone, parse};

pub(crate) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A piece of a layout that stands for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Std {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekDay,
    WeekDay,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    Pm,
    LowerPm,
    ZoneName,
    /// An offset; `z` means that UTC is `Z`.
    Offset {
        z: bool,
        colon: bool,
        parts: u8,
    },
    /// A fraction of exactly so many digits behind this separator.
    Fraction0(usize, char),
    /// A fraction of at most so many digits, none if they are all zero.
    Fraction9(usize, char),
}

/// The layout up to its first meaningful piece, that piece, and the rest.
fn next(layout: &str) -> (&str, Option<(Std, usize)>, &str) {
    let bytes = layout.as_bytes();
    for i in 0..bytes.len() {
        if let Some((std, skip, len)) = piece(&bytes[i..]) {
            return (&layout[..i + skip], Some((std, len)), &layout[i + skip + len..]);
        }
    }
    (layout, None, "")
}

/// The piece that a text begins with: what, how many literal bytes before it, how long.
fn piece(s: &[u8]) -> Option<(Std, usize, usize)> {
    let lower_follows = |n: usize| s.get(n).is_some_and(u8::is_ascii_lowercase);
    let is = |std: Std, len: usize| Some((std, 0, len));
    let offset = |z: bool, colon: bool, parts: u8, len: usize| Some((Std::Offset { z, colon, parts }, 0, len));
    match s[0] {
        b'J' if s.starts_with(b"January") => is(Std::LongMonth, 7),
        b'J' if s.starts_with(b"Jan") && !lower_follows(3) => is(Std::Month, 3),
        b'M' if s.starts_with(b"Monday") => is(Std::LongWeekDay, 6),
        b'M' if s.starts_with(b"Mon") && !lower_follows(3) => is(Std::WeekDay, 3),
        b'M' if s.starts_with(b"MST") => is(Std::ZoneName, 3),
        b'0' => match s.get(1) {
            Some(b'1') => is(Std::ZeroMonth, 2),
            Some(b'2') => is(Std::ZeroDay, 2),
            Some(b'3') => is(Std::ZeroHour12, 2),
            Some(b'4') => is(Std::ZeroMinute, 2),
            Some(b'5') => is(Std::ZeroSecond, 2),
            Some(b'6') => is(Std::Year, 2),
            Some(b'0') if s.get(2) == Some(&b'2') => is(Std::ZeroYearDay, 3),
            _ => None,
        },
        b'1' if s.get(1) == Some(&b'5') => is(Std::Hour, 2),
        b'1' => is(Std::NumMonth, 1),
        b'2' if s.starts_with(b"2006") => is(Std::LongYear, 4),
        b'2' => is(Std::Day, 1),
        b'_' if s.starts_with(b"_2006") => Some((Std::LongYear, 1, 4)),
        b'_' if s.starts_with(b"_2") => is(Std::UnderDay, 2),
        b'_' if s.starts_with(b"__2") => is(Std::UnderYearDay, 3),
        b'3' => is(Std::Hour12, 1),
        b'4' => is(Std::Minute, 1),
        b'5' => is(Std::Second, 1),
        b'P' if s.starts_with(b"PM") => is(Std::Pm, 2),
        b'p' if s.starts_with(b"pm") => is(Std::LowerPm, 2),
        sign @ (b'-' | b'Z') => {
            let z = sign == b'Z';
            match &s[1..] {
                t if t.starts_with(b"070000") => offset(z, false, 3, 7),
                t if t.starts_with(b"07:00:00") => offset(z, true, 3, 9),
                t if t.starts_with(b"0700") => offset(z, false, 2, 5),
                t if t.starts_with(b"07:00") => offset(z, true, 2, 6),
                t if t.starts_with(b"07") => offset(z, false, 1, 3),
                _ => None,
            }
        }
        separator @ (b'.' | b',') if matches!(s.get(1), Some(b'0' | b'9')) => {
            let digit = s[1];
            let n = s[1..].iter().take_while(|b| **b == digit).count();
            if s.get(1 + n).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            let separator = char::from(separator);
            let std = if digit == b'0' { Std::Fraction0(n, separator) } else { Std::Fraction9(n, separator) };
            is(std, 1 + n)
        }
        _ => None,
    }
}

/// `time.Time.Format`
pub(crate) fn format(time: &Zoned, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    let mut rest = layout;
    loop {
        let (prefix, std, suffix) = next(rest);
        out.push_str(prefix);
        let Some((std, _)) = std else { return out };
        rest = suffix;
        let _ = match std {
            Std::Year => write!(out, "{:02}", time.year().max(0) % 100),
            Std::LongYear => write!(out, "{:04}", time.year()),
            Std::Month => write!(out, "{}", &MONTHS[time.month() as usize - 1][..3]),
            Std::LongMonth => write!(out, "{}", MONTHS[time.month() as usize - 1]),
            Std::NumMonth => write!(out, "{}", time.month()),
            Std::ZeroMonth => write!(out, "{:02}", time.month()),
            Std::WeekDay => write!(out, "{}", &DAYS[time.weekday().to_sunday_zero_offset() as usize][..3]),
            Std::LongWeekDay => write!(out, "{}", DAYS[time.weekday().to_sunday_zero_offset() as usize]),
            Std::Day => write!(out, "{}", time.day()),
            Std::UnderDay => write!(out, "{:2}", time.day()),
            Std::ZeroDay => write!(out, "{:02}", time.day()),
            Std::UnderYearDay => write!(out, "{:3}", time.day_of_year()),
            Std::ZeroYearDay => write!(out, "{:03}", time.day_of_year()),
            Std::Hour => write!(out, "{:02}", time.hour()),
            Std::Hour12 => write!(out, "{}", (time.hour() + 11) % 12 + 1),
            Std::ZeroHour12 => write!(out, "{:02}", (time.hour() + 11) % 12 + 1),
            Std::Minute => write!(out, "{}", time.minute()),
            Std::ZeroMinute => write!(out, "{:02}", time.minute()),
            Std::Second => write!(out, "{}", time.second()),
            Std::ZeroSecond => write!(out, "{:02}", time.second()),
            Std::Pm => write!(out, "{}", if time.hour() >= 12 { "PM" } else { "AM" }),
            Std::LowerPm => write!(out, "{}", if time.hour() >= 12 { "pm" } else { "am" }),
            Std::ZoneName => write!(out, "{}", zone_name(time)),
            Std::Offset { z, colon, parts } => write!(out, "{}", offset_text(time.offset(), z, colon, parts)),
            Std::Fraction0(n, separator) => {
                write!(out, "{separator}{}", &format!("{:09}", time.subsec_nanosecond())[..n.min(9)])
            }
            Std::Fraction9(n, separator) => {
                let digits = format!("{:09}", time.subsec_nanosecond());
                let digits = digits[..n.min(9)].trim_end_matches('0');
                if digits.is_empty() { Ok(()) } else { write!(out, "{separator}{digits}") }
            }
        };
    }
}

fn offset_text(offset: Offset, z: bool, colon: bool, parts: u8) -> String {
    let seconds = offset.seconds();
    if z && seconds == 0 {
        return "Z".to_owned();
    }
    let (sign, size) = (if seconds / 60 < 0 { '-' } else { '+' }, seconds.abs());
    let separator = if colon { ":" } else { "" };
    let mut text = format!("{sign}{:02}", size / 3600);
    if parts > 1 {
        let _ = write!(text, "{separator}{:02}", size / 60 % 60);
    }
    if parts > 2 {
        let _ = write!(text, "{separator}{:02}", size % 60);
    }
    text
}

fn zone_name(time: &Zoned) -> String {
    let zone = time.time_zone();
    if *zone != TimeZone::UTC && zone.to_fixed_offset().is_ok() {
        return offset_text(time.offset(), false, false, 2);
    }
    zone.to_offset_info(time.timestamp()).abbreviation().to_owned()
}

/// Go's zero time.
pub(crate) fn zero() -> Zoned {
    DateTime::constant(1, 1, 1, 0, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap_or_default()
}

/// Package `time`'s own quoting: bytes beyond ASCII and control characters in hexadecimal.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for b in text.bytes() {
        match b {
            b'"' | b'\\' => out.extend(['\\', char::from(b)]),
            b' '..0x80 => out.push(char::from(b)),
            _ => {
                let _ = write!(out, "\\x{b:02x}");
            }
        }
    }
    out.push('"');
    out
}

/// The time so many nanoseconds later.
pub(crate) fn add(time: &Zoned, nanos: i64) -> Zoned {
    time.checked_add(SignedDuration::from_nanos(nanos)).unwrap_or_else(|_| time.clone())
}
