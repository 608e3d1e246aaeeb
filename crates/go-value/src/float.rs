//! Numbers to text and back, as Go's `strconv` does it.
//!
//! Owns: `FormatFloat`, `ParseFloat`, `ParseInt`, `ParseUint`, with Go's error texts.
//! Does not own: `fmt` verbs with widths and flags ([`crate::format`]), JSON's own float rule ([`crate::json`]).
//! Upstream: Go's package `strconv`.
//! The surprising thing: `ParseInt` with base 0 takes underscores (`1_000`) and prefixes (`0x`, `0o`, `0b`, a leading
//! `0` for octal), with another base it takes neither.

use std::fmt::Write as _;

/// Why a text is not a number.
#[derive(Clone, Debug, PartialEq)]
pub enum NumError<T> {
    /// Not a number at all.
    Syntax,
    /// A number beyond the type; holds the nearest value, which Go also returns.
    Range(T),
    /// A base outside 2..=36.
    Base(u32),
}

impl<T> NumError<T> {
    /// Go's text of the error: `strconv.ParseInt: parsing "x": invalid syntax`.
    pub fn text(&self, function: &str, input: &[u8]) -> String {
        let why = match self {
            Self::Syntax => "invalid syntax".to_owned(),
            Self::Range(_) => "value out of range".to_owned(),
            Self::Base(b) => format!("invalid base {b}"),
        };
        format!("strconv.{function}: parsing {}: {why}", crate::quote::quote(input))
    }
}

/// Go's `strconv.FormatFloat(f, verb, precision, bits)`; no precision (Go's -1) means the fewest digits that read back
/// as the same number. `verb` is one of `e E f F g G x X b`.
pub fn format_float(f: f64, verb: u8, precision: Option<usize>, bits: u8) -> String {
    // What is too large for a `float32` is infinite as one.
    let f = if bits == 32 && (f as f32).is_infinite() { f64::from(f as f32) } else { f };
    if f.is_nan() {
        return "NaN".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let negative = f.is_sign_negative();
    let magnitude = f.abs();
    let mut out = String::with_capacity(24);
    if negative {
        out.push('-');
    }
    match verb {
        b'x' | b'X' => hexadecimal(&mut out, magnitude, verb, precision, bits),
        b'b' => binary(&mut out, magnitude, bits),
        b'e' | b'E' => {
            let digits = match precision {
                None => Digits::shortest(magnitude, bits),
                Some(p) => Digits::rounded(magnitude, p + 1, bits),
            };
            let p = precision.unwrap_or(digits.digits.len() - 1);
            digits.exponential(&mut out, p, verb);
        }
        b'f' | b'F' => match precision {
            Some(p) => {
                // No float has more digits than these; Rust takes a precision of 65,535 at most.
                let exact = p.min(1100);
                let _ = write!(out, "{magnitude:.exact$}");
                out.extend(std::iter::repeat_n('0', p - exact));
            }
            None => Digits::shortest(magnitude, bits).fixed(&mut out),
        },
        b'g' | b'G' => {
            let (digits, limit) = match precision {
                None => (Digits::shortest(magnitude, bits), None),
                Some(p) => {
                    let p = p.max(1);
                    (Digits::rounded(magnitude, p, bits), Some(p))
                }
            };
            // %e is used if the exponent is below -4 or not below the precision.
            let mut eprec = limit.unwrap_or(6);
            if eprec > digits.digits.len() && digits.digits.len() as i32 > digits.exp {
                eprec = digits.digits.len();
            }
            if limit.is_none() {
                eprec = 6;
            }
            let exp = digits.exp;
            if exp < -4 || exp >= eprec as i32 {
                let p = digits.digits.len() - 1;
                digits.exponential(&mut out, p, verb + b'e' - b'g');
            } else {
                digits.fixed(&mut out);
            }
        }
        other => {
            out.clear();
            out.push('%');
            out.push(char::from(other));
        }
    }
    out
}

/// The significant decimal digits of a number without trailing zeros, and the exponent of the first one.
struct Digits {
    digits: Vec<u8>,
    exp: i32,
}

impl Digits {
    fn parse(text: &str) -> Self {
        let (mantissa, exp) = text.split_once('e').unwrap_or((text, "0"));
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        while digits.len() > 1 && digits.last() == Some(&b'0') {
            digits.pop();
        }
        Self { digits, exp: exp.parse().unwrap_or(0) }
    }

    fn shortest(f: f64, bits: u8) -> Self {
        if bits == 32 { Self::parse(&format!("{:e}", f as f32)) } else { Self::parse(&format!("{f:e}")) }
    }

    fn rounded(f: f64, count: usize, bits: u8) -> Self {
        let p = count.saturating_sub(1);
        let f = if bits == 32 { f64::from(f as f32) } else { f };
        Self::parse(&format!("{f:.p$e}"))
    }

    fn exponential(&self, out: &mut String, precision: usize, verb: u8) {
        let digit = |i: usize| char::from(self.digits.get(i).copied().unwrap_or(b'0'));
        out.push(digit(0));
        if precision > 0 {
            out.push('.');
            (1..=precision).for_each(|i| out.push(digit(i)));
        }
        out.push(char::from(verb));
        out.push(if self.exp < 0 { '-' } else { '+' });
        let _ = write!(out, "{:02}", self.exp.unsigned_abs());
    }

    fn fixed(&self, out: &mut String) {
        let text = std::str::from_utf8(&self.digits).unwrap_or("0");
        let point = self.exp + 1;
        if point <= 0 {
            if text == "0" {
                out.push('0');
                return;
            }
            out.push_str("0.");
            (point..0).for_each(|_| out.push('0'));
            out.push_str(text);
        } else if point as usize >= text.len() {
            out.push_str(text);
            (text.len()..point as usize).for_each(|_| out.push('0'));
        } else {
            out.push_str(&text[..point as usize]);
            out.push('.');
            out.push_str(&text[point as usize..]);
        }
    }
}

/// Mantissa and exponent, so that the number is `mantissa * 2^exponent`, plus the width of the fraction field.
fn parts(f: f64, bits: u8) -> (u64, i32, u32) {
    let (raw, width, bias, mask) =
        if bits == 32 { (u64::from((f as f32).to_bits()), 23, -127, 0xff) } else { (f.to_bits(), 52, -1023, 0x7ff) };
    let field = (raw >> width) as i32 & mask;
    let fraction = raw & ((1 << width) - 1);
    let (mantissa, exp) = if field == 0 { (fraction, 1 + bias) } else { (fraction | 1 << width, field + bias) };
    (mantissa, exp, width)
}

fn binary(out: &mut String, f: f64, bits: u8) {
    let (mantissa, exp, width) = parts(f, bits);
    let _ = write!(out, "{mantissa}p{:+}", exp - width as i32);
}

fn hexadecimal(out: &mut String, f: f64, verb: u8, precision: Option<usize>, bits: u8) {
    let (mut mantissa, mut exp, width) = parts(f, bits);
    if mantissa == 0 {
        exp = 0;
    }
    mantissa <<= 60 - width;
    while mantissa != 0 && mantissa & (1 << 60) == 0 {
        mantissa <<= 1;
        exp -= 1;
    }
    if let Some(p) = precision.filter(|p| *p < 15) {
        let shift = p * 4;
        let extra = (mantissa << shift) & ((1 << 60) - 1);
        mantissa >>= 60 - shift;
        if extra | (mantissa & 1) > 1 << 59 {
            mantissa += 1;
        }
        mantissa <<= 60 - shift;
        if mantissa & (1 << 61) != 0 {
            mantissa >>= 1;
            exp += 1;
        }
    }
    let mut digits = String::new();
    let mut rest = mantissa << 4;
    match precision {
        None => {
            while rest != 0 {
                let _ = write!(digits, "{:x}", (rest >> 60) & 15);
                rest <<= 4;
            }
        }
        Some(p) => {
            for _ in 0..p {
                let _ = write!(digits, "{:x}", (rest >> 60) & 15);
                rest <<= 4;
            }
        }
    }
    let mut text = format!("0x{}", (mantissa >> 60) & 1);
    if !digits.is_empty() {
        text.push('.');
        text.push_str(&digits);
    }
    let _ = write!(text, "p{}{:02}", if exp < 0 { '-' } else { '+' }, exp.unsigned_abs());
    out.push_str(&if verb == b'X' { text.to_uppercase() } else { text });
}

/// Are the underscores of a number literal where Go allows them?
fn underscores_fit(s: &[u8]) -> bool {
    let s = match s.first() {
        Some(b'+' | b'-') => &s[1..],
        _ => s,
    };
    let mut saw = b'^';
    let mut i = 0;
    let mut hex = false;
    if s.len() >= 2 && s[0] == b'0' && matches!(s[1] | 0x20, b'b' | b'o' | b'x') {
        i = 2;
        saw = b'0';
        hex = s[1] | 0x20 == b'x';
    }
    for &c in &s[i..] {
        if c.is_ascii_digit() || hex && c.is_ascii_hexdigit() {
            saw = b'0';
        } else if c == b'_' {
            if saw != b'0' {
                return false;
            }
            saw = b'_';
        } else {
            if saw == b'_' {
                return false;
            }
            saw = b'!';
        }
    }
    saw != b'_'
}

/// Go's `strconv.ParseUint(s, base, bits)`.
///
/// # Errors
/// Not a number, or beyond the type.
pub fn parse_uint(s: &[u8], base: u32, bits: u32) -> Result<u64, NumError<u64>> {
    if s.is_empty() {
        return Err(NumError::Syntax);
    }
    let mut digits = s;
    let mut radix = base;
    if base == 0 {
        radix = 10;
        if s[0] == b'0' {
            let prefix = if s.len() >= 3 { s[1] | 0x20 } else { 0 };
            (radix, digits) = match prefix {
                b'b' => (2, &s[2..]),
                b'o' => (8, &s[2..]),
                b'x' => (16, &s[2..]),
                _ => (8, &s[1..]),
            };
        }
    } else if !(2..=36).contains(&base) {
        return Err(NumError::Base(base));
    }
    let max = if bits == 0 || bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let mut n: u64 = 0;
    let mut underscores = false;
    let mut beyond = false;
    for &c in digits {
        if c == b'_' && base == 0 {
            underscores = true;
            continue;
        }
        let d = char::from(c).to_digit(36).filter(|d| *d < radix).ok_or(NumError::Syntax)?;
        if beyond {
            // Go stops at the overflow, before it looks at the rest.
            break;
        }
        match n.checked_mul(u64::from(radix)).and_then(|m| m.checked_add(u64::from(d))).filter(|m| *m <= max) {
            Some(m) => n = m,
            None => beyond = true,
        }
    }
    if beyond {
        return Err(NumError::Range(max));
    }
    if underscores && !underscores_fit(s) {
        return Err(NumError::Syntax);
    }
    Ok(n)
}

/// Go's `strconv.ParseInt(s, base, bits)`; with base 10 and 64 bits also what `strconv.Atoi` accepts.
///
/// # Errors
/// Not a number, or beyond the type.
pub fn parse_int(s: &[u8], base: u32, bits: u32) -> Result<i64, NumError<i64>> {
    let (negative, rest) = match s.first() {
        None => return Err(NumError::Syntax),
        Some(b'+') => (false, &s[1..]),
        Some(b'-') => (true, &s[1..]),
        Some(_) => (false, s),
    };
    let width = if bits == 0 { 64 } else { bits };
    let cutoff = 1u64 << (width - 1);
    let n = match parse_uint(rest, base, width) {
        Ok(n) => n,
        Err(NumError::Syntax) => return Err(NumError::Syntax),
        Err(NumError::Base(b)) => return Err(NumError::Base(b)),
        Err(NumError::Range(_)) => u64::MAX,
    };
    if !negative && n >= cutoff {
        return Err(NumError::Range((cutoff - 1) as i64));
    }
    if negative && n > cutoff {
        return Err(NumError::Range((cutoff as i64).wrapping_neg()));
    }
    Ok(if negative { (n as i64).wrapping_neg() } else { n as i64 })
}

/// Go's `strconv.ParseFloat(s, 64)`: decimal and hexadecimal literals, `inf`, `infinity`, `nan` in any case,
/// underscores between digits.
///
/// # Errors
/// Not a number, or beyond `float64` (the error then holds the infinity Go returns).
pub fn parse_float(s: &[u8]) -> Result<f64, NumError<f64>> {
    let (negative, rest) = match s.first() {
        None => return Err(NumError::Syntax),
        Some(b'+') => (false, &s[1..]),
        Some(b'-') => (true, &s[1..]),
        Some(_) => (false, s),
    };
    let signed = |f: f64| if negative { -f } else { f };
    if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
        return Ok(signed(f64::INFINITY));
    }
    if s.eq_ignore_ascii_case(b"nan") {
        return Ok(f64::NAN);
    }
    let hex = rest.len() > 2 && rest[0] == b'0' && rest[1] | 0x20 == b'x';
    if !well_formed(if hex { &rest[2..] } else { rest }, hex) || rest.contains(&b'_') && !underscores_fit(s) {
        return Err(NumError::Syntax);
    }
    let plain: String = rest.iter().filter(|c| **c != b'_').map(|c| char::from(*c)).collect();
    let f = if hex { hex_float(&plain[2..]) } else { plain.parse::<f64>().ok() };
    match f {
        None => Err(NumError::Syntax),
        Some(f) if f.is_infinite() => Err(NumError::Range(signed(f))),
        Some(f) => Ok(signed(f)),
    }
}

/// Digits with at most one point, at least one digit, then an exponent (`p` and required for hexadecimal).
fn well_formed(s: &[u8], hex: bool) -> bool {
    let mut i = 0;
    let (mut digits, mut points) = (0, 0);
    while i < s.len() {
        match s[i] {
            b'_' => {}
            b'.' => points += 1,
            c if c.is_ascii_digit() || hex && c.is_ascii_hexdigit() => digits += 1,
            _ => break,
        }
        i += 1;
    }
    if digits == 0 || points > 1 {
        return false;
    }
    if i == s.len() {
        return !hex;
    }
    if s[i] | 0x20 != if hex { b'p' } else { b'e' } {
        return false;
    }
    i += 1;
    if i < s.len() && matches!(s[i], b'+' | b'-') {
        i += 1;
    }
    i < s.len() && s[i].is_ascii_digit() && s[i..].iter().all(|c| c.is_ascii_digit() || *c == b'_')
}

/// The nearest `float64` of a hexadecimal literal without its `0x`, ties to even.
fn hex_float(s: &str) -> Option<f64> {
    let (digits, exponent) = s.split_once(['p', 'P'])?;
    let negative = exponent.starts_with('-');
    let size: i64 = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(100_000).min(100_000);
    let mut exp = if negative { -size } else { size };
    let mut mantissa: u64 = 0;
    let mut sticky = false;
    let mut after_point = false;
    for c in digits.chars() {
        if c == '.' {
            after_point = true;
            continue;
        }
        let d = u64::from(c.to_digit(16)?);
        if mantissa >> 58 == 0 {
            mantissa = mantissa << 4 | d;
            exp -= if after_point { 4 } else { 0 };
        } else {
            sticky |= d != 0;
            exp += if after_point { 0 } else { 4 };
        }
    }
    if mantissa == 0 {
        return Some(0.0);
    }
    // The lowest bit that the result can hold, given where its highest bit is.
    let top = exp + 63 - i64::from(mantissa.leading_zeros());
    if top > 1023 {
        return Some(f64::INFINITY);
    }
    let low = (top - 52).max(-1074);
    let shift = low - exp;
    let mut kept = mantissa;
    if shift > 0 {
        let cut = if shift > 63 { mantissa } else { mantissa & ((1 << shift) - 1) };
        let half = if shift > 63 { u64::MAX } else { 1 << (shift - 1) };
        kept = if shift > 63 { 0 } else { mantissa >> shift };
        if cut > half || cut == half && (sticky || kept & 1 == 1) {
            kept += 1;
        }
        exp = low;
    }
    // Two factors, as a power of two down to 2^-1074 times a 53-bit integer is exact but 2^exp alone may not be.
    let half = (exp / 2) as i32;
    Some(kept as f64 * 2f64.powi(half) * 2f64.powi(exp as i32 - half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_strconv_does() {
        let cases: &[(f64, u8, Option<usize>, u8, &str)] = &[
            (1.0, b'g', None, 64, "1"),
            (0.0, b'g', None, 64, "0"),
            (-0.0, b'g', None, 64, "-0"),
            (123_456.0, b'g', None, 64, "123456"),
            (1_234_567.0, b'g', None, 64, "1.234567e+06"),
            (1e20, b'g', None, 64, "1e+20"),
            (1e-5, b'g', None, 64, "1e-05"),
            (123_456.789, b'g', Some(3), 64, "1.23e+05"),
            (400.0, b'g', Some(2), 64, "4e+02"),
            (40.0, b'g', Some(2), 64, "40"),
            (0.000_123, b'g', Some(6), 64, "0.000123"),
            (3.5, b'f', Some(0), 64, "4"),
            (2.5, b'f', Some(0), 64, "2"),
            (0.1, b'g', None, 32, "0.1"),
            (1.0, b'e', None, 64, "1e+00"),
            (1.5, b'E', Some(3), 64, "1.500E+00"),
            (1e100, b'f', None, 64, &format!("1{}", "0".repeat(100))),
            (100.0, b'x', None, 64, "0x1.9p+06"),
            (-1.0, b'X', Some(2), 64, "-0X1.00P+00"),
            (1.0, b'b', None, 64, "4503599627370496p-52"),
            (f64::INFINITY, b'g', None, 64, "+Inf"),
            (0.5, b'f', None, 64, "0.5"),
            (0.05, b'f', None, 64, "0.05"),
        ];
        for (f, verb, precision, bits, want) in cases {
            assert_eq!(format_float(*f, *verb, *precision, *bits), *want, "{f} {}", char::from(*verb));
        }
    }

    #[test]
    fn parses_as_strconv_does() {
        assert_eq!(parse_int(b"0x1F", 0, 64), Ok(31));
        assert_eq!(parse_int(b"-0777", 0, 64), Ok(-511));
        assert_eq!(parse_int(b"1_000", 0, 64), Ok(1000));
        assert_eq!(parse_int(b"1_000", 10, 64), Err(NumError::Syntax));
        assert_eq!(parse_int(b"08", 0, 64), Err(NumError::Syntax));
        assert_eq!(parse_int(b"9223372036854775808", 10, 64), Err(NumError::Range(i64::MAX)));
        assert_eq!(parse_int(b"-9223372036854775808", 10, 64), Ok(i64::MIN));
        assert_eq!(parse_float(b"1_23.50_0_0e+1_2"), Ok(1.235e14));
        assert_eq!(parse_float(b"0x_1_2.3_4_5p+1_2"), Ok(74565.0));
        assert_eq!(parse_float(b"0x1p-1074"), Ok(5e-324));
        assert_eq!(parse_float(b"1e400"), Err(NumError::Range(f64::INFINITY)));
        assert_eq!(parse_float(b"1__2"), Err(NumError::Syntax));
        assert_eq!(parse_float(b"."), Err(NumError::Syntax));
        assert_eq!(parse_float(b".5"), Ok(0.5));
        assert_eq!(parse_float(b"-Inf"), Ok(f64::NEG_INFINITY));
        let e: NumError<i64> = NumError::Syntax;
        assert_eq!(e.text("ParseInt", b"x\n"), r#"strconv.ParseInt: parsing "x\n": invalid syntax"#);
    }
}
