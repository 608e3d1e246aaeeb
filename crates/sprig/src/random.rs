//! Randomness.
//!
//! Upstream: sprig's `strings.go` and `crypto.go`, goutils' `CryptoRandom`, google/uuid.
//! The surprising thing: a negative length gives an empty text, as upstream drops the error.

use go_value::Value;
use go_value::limits::{MAX_TEXT, text_too_long};

use crate::args::{Outcome, from_runes, int, runes, text};
use crate::encoding::to_base64;
use crate::host::Host;

fn random(host: &dyn Host, count: i64, fits: fn(u8) -> bool, from: u8, to: u8) -> Outcome {
    let count = usize::try_from(count).unwrap_or(0);
    if count > MAX_TEXT {
        return Err(text_too_long().into());
    }
    let mut out = String::with_capacity(count);
    while out.len() < count {
        let b = from + host.below(u64::from(to - from)) as u8;
        if fits(b) {
            out.push(char::from(b));
        }
    }
    Ok(out.into())
}

pub(crate) fn rand_alpha_num(host: &dyn Host, a: &[Value]) -> Outcome {
    random(host, int(a, 0), |b| b.is_ascii_alphanumeric(), b' ', b'z' + 1)
}

pub(crate) fn rand_alpha(host: &dyn Host, a: &[Value]) -> Outcome {
    random(host, int(a, 0), |b| b.is_ascii_alphabetic(), b' ', b'z' + 1)
}

pub(crate) fn rand_numeric(host: &dyn Host, a: &[Value]) -> Outcome {
    random(host, int(a, 0), |b| b.is_ascii_digit(), b' ', b'z' + 1)
}

pub(crate) fn rand_ascii(host: &dyn Host, a: &[Value]) -> Outcome {
    random(host, int(a, 0), |_| true, 32, 127)
}

pub(crate) fn rand_bytes(host: &dyn Host, a: &[Value]) -> Outcome {
    let count = usize::try_from(int(a, 0)).unwrap_or(usize::MAX);
    if i64::try_from(count).is_err() {
        return Err("runtime error: makeslice: len out of range".into());
    }
    if count > MAX_TEXT {
        return Err(text_too_long().into());
    }
    let mut bytes = vec![0; count];
    host.fill(&mut bytes);
    Ok(to_base64(&bytes).into())
}

pub(crate) fn rand_int(host: &dyn Host, a: &[Value]) -> Outcome {
    let (min, max) = (int(a, 0), int(a, 1));
    match u64::try_from(max.wrapping_sub(min)) {
        Ok(range) if range > 0 => Ok(Value::int(min.wrapping_add(host.below(range) as i64))),
        _ => Err("invalid argument to Intn".into()),
    }
}

pub(crate) fn shuffle(host: &dyn Host, a: &[Value]) -> Outcome {
    let mut chars = runes(text(a, 0));
    for i in (1..chars.len()).rev() {
        chars.swap(i, host.below(i as u64 + 1) as usize);
    }
    Ok(from_runes(chars))
}

pub(crate) fn uuidv4(host: &dyn Host, _: &[Value]) -> Outcome {
    let mut b = [0; 16];
    host.fill(&mut b);
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let groups = [&b[..4], &b[4..6], &b[6..8], &b[8..10], &b[10..]];
    Ok(groups.map(crate::encoding::hex).join("-").into())
}
