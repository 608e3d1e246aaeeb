//! Times read by a layout.
//!
//! Owns: what each piece of a layout takes from the text, what of it makes a time, the texts of Go's errors. Does not own:
//! the pieces (`super`). Upstream: `parse` in `format.go` of Go's package `time`.
//! The surprising thing: a fraction of a second in the text is taken even where the layout has none.

use go_value::format::MONTHS;
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::{DAYS, Std, next, quote};

/// What a text said.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    pm: bool,
    am: bool,
    utc: bool,
    offset: Option<i32>,
    zone: Option<String>,
}

enum Trouble {
    /// The text does not fit the piece.
    Bad,
    /// A number beyond what the piece allows.
    Range(&'static str),
}

/// A zone that has a name but no more rules than its offset, `time.FixedZone`; nameless if it cannot have the name.
pub fn named_zone(name: &str, offset: Offset) -> TimeZone {
    let (sign, seconds) = (if offset.seconds() > 0 { '-' } else { '+' }, offset.seconds().abs());
    // POSIX counts westwards.
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let posix = TimeZone::posix(&format!("<{name}>{sign}{hours}:{minutes:02}:{seconds:02}"));
    posix.unwrap_or_else(|_| TimeZone::fixed(offset))
}

/// `time.ParseInLocation`: `value` by `layout`, in the zone `local` if it does not name one.
///
/// # Errors
/// Go's text.
pub fn parse(layout: &str, value: &str, local: &TimeZone) -> Result<Zoned, String> {
    let cannot = |elem: &str, at: &str| {
        format!("parsing time {} as {}: cannot parse {} as {}", quote(value), quote(layout), quote(at), quote(elem))
    };
    let wrong = |what: &str| format!("parsing time {}: {what}", quote(value));
    let mut fields = Fields::default();
    let (mut rest_layout, mut rest) = (layout, value);
    loop {
        let (prefix, std, suffix) = next(rest_layout);
        let elem = &rest_layout[prefix.len()..rest_layout.len() - suffix.len()];
        rest = skip(rest, prefix).map_err(|at| cannot(prefix, at))?;
        let Some((std, _)) = std else {
            if rest.is_empty() {
                break;
            }
            return Err(wrong(&format!("extra text: {}", quote(rest))));
        };
        rest_layout = suffix;
        rest = match fields.take(std, rest, rest_layout) {
            Ok(rest) => rest,
            Err(Trouble::Bad) => return Err(cannot(elem, rest)),
            Err(Trouble::Range(what)) => return Err(wrong(&format!("{what} out of range"))),
        };
    }
    fields.build(local).map_err(|what| wrong(&what))
}

/// Literal text of a layout; a blank stands for any number of them.
fn skip<'a>(mut value: &'a str, mut prefix: &str) -> Result<&'a str, &'a str> {
    while let Some(c) = prefix.chars().next() {
        if c == ' ' {
            if !value.is_empty() && !value.starts_with(' ') {
                return Err(value);
            }
            prefix = prefix.trim_start_matches(' ');
            value = value.trim_start_matches(' ');
        } else {
            value = value.strip_prefix(c).ok_or(value)?;
            prefix = &prefix[c.len_utf8()..];
        }
    }
    Ok(value)
}

fn is_digit(s: &str, i: usize) -> bool {
    s.as_bytes().get(i).is_some_and(u8::is_ascii_digit)
}

/// One or two digits; exactly two if `fixed`.
fn number(s: &str, fixed: bool) -> Result<(i64, &str), Trouble> {
    if !is_digit(s, 0) {
        return Err(Trouble::Bad);
    }
    if !is_digit(s, 1) {
        return if fixed { Err(Trouble::Bad) } else { Ok((digits(&s[..1])?, &s[1..])) };
    }
    Ok((digits(&s[..2])?, &s[2..]))
}

fn digits(s: &str) -> Result<i64, Trouble> {
    s.parse().map_err(|_| Trouble::Bad)
}

fn lookup<'a>(names: &[&str], length: Option<usize>, s: &'a str) -> Result<(i64, &'a str), Trouble> {
    for (i, name) in names.iter().enumerate() {
        let name = &name[..length.unwrap_or(name.len())];
        if s.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)) {
            return Ok((i as i64, &s[name.len()..]));
        }
    }
    Err(Trouble::Bad)
}

/// A separator and digits, to nanoseconds.
fn nanos(s: &str) -> Result<i64, Trouble> {
    let fraction = s.get(1..s.len().min(10)).ok_or(Trouble::Bad)?;
    if !s.starts_with(['.', ',']) || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Trouble::Bad);
    }
    digits(&format!("{fraction:0<9}"))
}

fn in_range(n: i64, low: i64, high: i64, what: &'static str) -> Result<i64, Trouble> {
    if (low..=high).contains(&n) { Ok(n) } else { Err(Trouble::Range(what)) }
}

impl Fields {
    /// Read what one piece stands for; gives back the rest of the text.
    fn take<'a>(&mut self, std: Std, s: &'a str, layout: &str) -> Result<&'a str, Trouble> {
        let (n, rest) = match std {
            Std::Year => {
                let head = s.get(..2).filter(|h| is_digit(h, 0)).ok_or(Trouble::Bad)?;
                let year = digits(head)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                return Ok(&s[2..]);
            }
            Std::LongYear => {
                let head = s.get(..4).filter(|h| is_digit(h, 0)).ok_or(Trouble::Bad)?;
                self.year = digits(head)?;
                return Ok(&s[4..]);
            }
            Std::Month => {
                let (month, rest) = lookup(&MONTHS, Some(3), s)?;
                self.month = Some(month + 1);
                return Ok(rest);
            }
            Std::LongMonth => {
                let (month, rest) = lookup(&MONTHS, None, s)?;
                self.month = Some(month + 1);
                return Ok(rest);
            }
            Std::WeekDay => return Ok(lookup(&DAYS, Some(3), s)?.1),
            Std::LongWeekDay => return Ok(lookup(&DAYS, None, s)?.1),
            Std::UnderYearDay | Std::ZeroYearDay => {
                let padded = if std == Std::UnderYearDay { s.trim_start_matches(' ') } else { s };
                let padded = if s.len() - padded.len() > 2 { &s[2..] } else { padded };
                let blanks = s.len() - padded.len();
                let len = padded.bytes().take(3 - blanks).take_while(u8::is_ascii_digit).count();
                if len == 0 || std == Std::ZeroYearDay && len < 3 {
                    return Err(Trouble::Bad);
                }
                self.year_day = Some(digits(&padded[..len])?);
                return Ok(&padded[len..]);
            }
            Std::UnderDay => number(s.strip_prefix(' ').unwrap_or(s), false)?,
            Std::Pm | Std::LowerPm => {
                let (pm, am) = if std == Std::Pm { ("PM", "AM") } else { ("pm", "am") };
                self.pm |= s.starts_with(pm);
                self.am |= s.starts_with(am);
                return if s.starts_with(pm) || s.starts_with(am) { Ok(&s[2..]) } else { Err(Trouble::Bad) };
            }
            Std::ZoneName => return self.take_zone(s),
            Std::Offset { z, colon, parts } => return self.take_offset(s, z, colon, parts),
            Std::Fraction0(n, _) => {
                let head = s.get(..=n).ok_or(Trouble::Bad)?;
                self.nanos = nanos(head)?;
                return Ok(&s[n + 1..]);
            }
            Std::Fraction9(..) => {
                if !(s.starts_with(['.', ',']) && is_digit(s, 1)) {
                    return Ok(s);
                }
                return self.take_fraction(s);
            }
            Std::ZeroMonth | Std::ZeroDay | Std::ZeroHour12 | Std::ZeroMinute | Std::ZeroSecond => number(s, true)?,
            _ => number(s, false)?,
        };
        match std {
            Std::NumMonth | Std::ZeroMonth => self.month = Some(in_range(n, 1, 12, "month")?),
            Std::Day | Std::UnderDay | Std::ZeroDay => self.day = Some(n),
            Std::Hour => self.hour = in_range(n, 0, 23, "hour")?,
            Std::Hour12 | Std::ZeroHour12 => self.hour = in_range(n, 0, 12, "hour")?,
            Std::Minute | Std::ZeroMinute => self.minute = in_range(n, 0, 59, "minute")?,
            _ => {
                self.second = in_range(n, 0, 59, "second")?;
                let fraction_follows = matches!(next(layout).1, Some((Std::Fraction0(..) | Std::Fraction9(..), _)));
                if rest.starts_with(['.', ',']) && is_digit(rest, 1) && !fraction_follows {
                    return self.take_fraction(rest);
                }
            }
        }
        Ok(rest)
    }

    fn take_fraction<'a>(&mut self, s: &'a str) -> Result<&'a str, Trouble> {
        let len = 1 + s[1..].bytes().take_while(u8::is_ascii_digit).count();
        self.nanos = nanos(&s[..len])?;
        Ok(&s[len..])
    }

    fn take_offset<'a>(&mut self, s: &'a str, z: bool, colon: bool, parts: u8) -> Result<&'a str, Trouble> {
        if z && let Some(rest) = s.strip_prefix('Z') {
            self.utc = true;
            return Ok(rest);
        }
        let sign = match s.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(Trouble::Bad),
        };
        let mut rest = &s[1..];
        let mut numbers = [0; 3];
        for (i, n) in numbers.iter_mut().enumerate().take(usize::from(parts)) {
            if colon && i > 0 {
                rest = rest.strip_prefix(':').ok_or(Trouble::Bad)?;
            }
            (*n, rest) = number(rest, true)?;
        }
        in_range(numbers[0], 0, 24, "time zone offset hour")?;
        in_range(numbers[1], 0, 60, "time zone offset minute")?;
        in_range(numbers[2], 0, 60, "time zone offset second")?;
        self.offset = Some(sign * ((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) as i32);
        Ok(rest)
    }

    /// An abbreviation such as `MST`, `CEST`, `+03`.
    fn take_zone<'a>(&mut self, s: &'a str) -> Result<&'a str, Trouble> {
        if let Some(rest) = s.strip_prefix("UTC") {
            self.utc = true;
            return Ok(rest);
        }
        let signed = |s: &str| {
            let digits = s.get(1..).map_or(0, |t| t.bytes().take_while(u8::is_ascii_digit).count());
            let hours = s.get(1..=digits).and_then(|d| d.parse::<i64>().ok());
            hours.filter(|h| *h < 24 && s.starts_with(['+', '-'])).map(|_| 1 + digits)
        };
        let upper = s.bytes().take(6).take_while(u8::is_ascii_uppercase).count();
        let len = if let Some(rest) = s.strip_prefix("GMT") {
            3 + signed(rest).unwrap_or(0)
        } else if s.starts_with(['+', '-']) {
            signed(s).ok_or(Trouble::Bad)?
        } else {
            match upper {
                3 => 3,
                4 if s.as_bytes()[3] == b'T' || s.starts_with("WITA") => 4,
                5 if s.as_bytes()[4] == b'T' => 5,
                _ if s.starts_with("ChST") || s.starts_with("MeST") => 4,
                _ => return Err(Trouble::Bad),
            }
        };
        self.zone = Some(s[..len].to_owned());
        Ok(&s[len..])
    }

    fn date(&self, year: i16) -> Result<jiff::civil::Date, String> {
        let Some(n) = self.year_day else {
            let (month, day) = (self.month.unwrap_or(1) as i8, self.day.unwrap_or(1));
            let date = i8::try_from(day).ok().and_then(|day| jiff::civil::Date::new(year, month, day).ok());
            return date.ok_or_else(|| "day out of range".to_owned());
        };
        let first = jiff::civil::Date::new(year, 1, 1).map_err(|_| "year out of range")?;
        if n < 1 || n > i64::from(first.days_in_year()) {
            return Err("day-of-year out of range".to_owned());
        }
        let date = first.checked_add(jiff::Span::new().days(n - 1)).map_err(|_| "day-of-year out of range")?;
        if self.month.is_some_and(|m| m != i64::from(date.month())) {
            return Err("day-of-year does not match month".to_owned());
        }
        if self.day.is_some_and(|d| d != i64::from(date.day())) {
            return Err("day-of-year does not match day".to_owned());
        }
        Ok(date)
    }

    fn build(self, local: &TimeZone) -> Result<Zoned, String> {
        let mut hour = self.hour;
        if self.pm && hour < 12 {
            hour += 12;
        } else if self.am && hour == 12 {
            hour = 0;
        }
        let year = i16::try_from(self.year).map_err(|_| "year out of range".to_owned())?;
        let date = self.date(year)?;
        let (minute, second, nanos) = (self.minute as i8, self.second as i8, self.nanos as i32);
        let civil = DateTime::from_parts(
            date,
            jiff::civil::Time::new(hour as i8, minute, second, nanos).map_err(|_| "hour out of range")?,
        );
        let at = |zone: TimeZone| civil.to_zoned(zone).map_err(|_| "year out of range".to_owned());
        if self.utc {
            return at(TimeZone::UTC);
        }
        if let Some(seconds) = self.offset {
            let offset = Offset::from_seconds(seconds).map_err(|_| "time zone offset hour out of range")?;
            let time = at(TimeZone::fixed(offset))?;
            let here = time.with_time_zone(local.clone());
            return Ok(if here.offset() == offset { here } else { time });
        }
        if let Some(name) = self.zone {
            let here = at(local.clone())?;
            if local.to_offset_info(here.timestamp()).abbreviation() == name {
                return Ok(here);
            }
            let hours = name.strip_prefix("GMT").and_then(|h| h.parse::<i8>().ok()).unwrap_or(0);
            // The clock is taken for that of UTC whatever the hours are.
            let zone = named_zone(&name, Offset::from_hours(hours).unwrap_or(Offset::UTC));
            return at(TimeZone::UTC).map(|time| time.with_time_zone(zone));
        }
        at(local.clone())
    }
}
