//! Number constants.
//!
//! Owns: which types can hold a constant. Does not own: its type in an expression (`exec`). Upstream: `newNumber`.
//! The surprising thing: a character constant is also a float, and `1e3` is also an integer.

use go_value::float::{parse_float, parse_int, parse_uint};
use go_value::quote::{quote, unquote_char};

use super::node::Number;
use crate::token::Kind;

/// The constant of a number token, or Go's text of what is wrong with it.
pub(super) fn number(pos: usize, text: &[u8], kind: Kind) -> Result<Number, String> {
    let shown = String::from_utf8_lossy(text).into_owned();
    let mut n = Number { pos, text: shown, int: None, uint: None, float: None, complex: None };
    match kind {
        Kind::CharConstant => {
            let c = unquote_char(&text[1..], text[0]).map_err(|e| e.to_string())?;
            if c.tail != b"'" {
                return Err(format!("malformed character constant: {}", n.text));
            }
            n.int = Some(c.value.into());
            n.uint = Some(c.value.into());
            n.float = Some(c.value.into());
            return Ok(n);
        }
        Kind::Complex => {
            let (re, im) = complex_parts(text).ok_or("syntax error scanning complex number")?;
            set_complex(&mut n, re, im);
            return Ok(n);
        }
        _ => {}
    }
    if let Some(Ok(im)) = text.strip_suffix(b"i").map(parse_float) {
        set_complex(&mut n, 0.0, im);
        return Ok(n);
    }
    n.uint = parse_uint(text, 0, 64).ok();
    n.int = parse_int(text, 0, 64).ok();
    if n.int == Some(0) {
        n.uint = Some(0);
    }
    match (n.int, n.uint) {
        (Some(int), _) => n.float = Some(int as f64),
        (None, Some(uint)) => n.float = Some(uint as f64),
        (None, None) => {
            if let Ok(float) = parse_float(text) {
                if !text.iter().any(|b| b".eEpP".contains(b)) {
                    return Err(format!("integer overflow: {}", quote(text)));
                }
                n.float = Some(float);
                n.int = whole_i64(float);
                n.uint = whole_u64(float);
            }
        }
    }
    if n.int.is_none() && n.uint.is_none() && n.float.is_none() {
        return Err(format!("illegal number syntax: {}", quote(text)));
    }
    Ok(n)
}

fn complex_parts(text: &[u8]) -> Option<(f64, f64)> {
    let sign = (1..text.len()).rev().find(|&i| {
        let hex = text.starts_with(b"0x") || text.starts_with(b"0X");
        matches!(text[i], b'+' | b'-')
            && !matches!(text[i - 1], b'p' | b'P')
            && (hex || !matches!(text[i - 1], b'e' | b'E'))
    })?;
    let (re, im) = text.split_at(sign);
    Some((parse_float(re).ok()?, parse_float(im.strip_suffix(b"i")?).ok()?))
}

fn set_complex(n: &mut Number, re: f64, im: f64) {
    n.complex = Some((re, im));
    if im == 0.0 {
        n.float = Some(re);
        n.int = whole_i64(re);
        n.uint = whole_u64(re);
    }
}

fn whole_i64(f: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (f.fract() == 0.0 && (-LIMIT..LIMIT).contains(&f)).then_some(f as i64)
}

fn whole_u64(f: f64) -> Option<u64> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    (f.fract() == 0.0 && (0.0..LIMIT).contains(&f)).then_some(f as u64)
}
