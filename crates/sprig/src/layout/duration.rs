//! `time.ParseDuration`.
//!
//! Owns: the grammar of durations and the texts of its errors. Upstream: `format.go` of Go's package `time`.
//! The surprising thing: the smallest duration has no positive twin, and yet it can be written.

use super::quote;

/// `time.ParseDuration`, in nanoseconds.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let shown = quote(text);
    let invalid = || format!("time: invalid duration {shown}");
    let (negative, mut s) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if s == "0" {
        return Ok(0);
    }
    if s.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !s.is_empty() {
        if !s.starts_with(|c: char| c == '.' || c.is_ascii_digit()) {
            return Err(invalid());
        }
        let whole = s.bytes().take_while(u8::is_ascii_digit).count();
        let n: u64 = if whole == 0 { 0 } else { s[..whole].parse().map_err(|_| invalid())? };
        if n > 1 << 63 {
            return Err(invalid());
        }
        s = &s[whole..];
        let mut fraction = "";
        if let Some(rest) = s.strip_prefix('.') {
            let len = rest.bytes().take_while(u8::is_ascii_digit).count();
            fraction = &rest[..len];
            s = &rest[len..];
            if whole == 0 && len == 0 {
                return Err(invalid());
            }
        }
        let len = s.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(s.len());
        if len == 0 {
            return Err(format!("time: missing unit in duration {shown}"));
        }
        let unit: u64 = match &s[..len] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            other => return Err(format!("time: unknown unit {} in duration {shown}", quote(other))),
        };
        s = &s[len..];
        let mut nanos = n.checked_mul(unit).filter(|v| *v <= 1 << 63).ok_or_else(invalid)?;
        if !fraction.is_empty() {
            let (mut value, mut scale) = (0u64, 1f64);
            for b in fraction.bytes() {
                if value > (i64::MAX as u64) / 10 {
                    break;
                }
                value = value * 10 + u64::from(b - b'0');
                scale *= 10.0;
            }
            nanos += (value as f64 * (unit as f64 / scale)) as u64;
        }
        total = total.checked_add(nanos).filter(|v| *v <= 1 << 63).ok_or_else(invalid)?;
    }
    if negative {
        return Ok((total as i64).wrapping_neg());
    }
    i64::try_from(total).map_err(|_| invalid())
}
