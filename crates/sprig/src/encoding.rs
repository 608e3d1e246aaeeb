//! Base64, base32 and checksums.
//!
//! Upstream: sprig's `strings.go` and `crypto.go`, Go's `encoding/base64`, `encoding/base32`, `hash/adler32`.
//! The surprising thing: a text that does not decode yields the error's text as the result, not an error.

use go_value::Value;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::args::{Outcome, text};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Standard base64 with padding.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    encode(bytes, BASE64, 6, 4)
}

/// Bits in groups, most significant first, padded to whole blocks of digits.
fn encode(bytes: &[u8], alphabet: &[u8], bits: u32, block: usize) -> String {
    let mut out = String::with_capacity(bytes.len() * 8 / bits as usize + block);
    let (mut buffer, mut have) = (0u32, 0);
    for b in bytes {
        buffer = buffer << 8 | u32::from(*b);
        have += 8;
        while have >= bits {
            have -= bits;
            out.push(char::from(alphabet[(buffer >> have) as usize & (alphabet.len() - 1)]));
        }
        buffer &= (1 << have) - 1;
    }
    if have > 0 {
        out.push(char::from(alphabet[(buffer << (bits - have)) as usize & (alphabet.len() - 1)]));
    }
    while !out.len().is_multiple_of(block) {
        out.push('=');
    }
    out
}

/// `base64.StdEncoding.DecodeString`; the error is the offset that Go names.
pub(crate) fn from_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    decode(text, 4, 6, |padding| matches!(padding, 1 | 2), |b| BASE64.iter().position(|x| *x == b))
}

/// Go's decoders skip line breaks, want whole blocks, and padding only at the end.
fn decode(
    text: &[u8],
    block: usize,
    bits: u32,
    padding_fits: fn(usize) -> bool,
    digit: impl Fn(u8) -> Option<usize>,
) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() * bits as usize / 8);
    let mut at = 0;
    let next = |at: &mut usize| {
        while matches!(text.get(*at), Some(b'\n' | b'\r')) {
            *at += 1;
        }
        let b = text.get(*at).copied();
        *at += 1;
        b
    };
    loop {
        let (mut buffer, mut count) = (0u64, 0);
        let mut padding = 0;
        while count < block {
            let Some(b) = next(&mut at) else {
                return if count == 0 { Ok(out) } else { Err(at - 1 - count) };
            };
            if let Some(d) = digit(b) {
                buffer = buffer << bits | d as u64;
                count += 1;
                continue;
            }
            if b != b'=' || count == 0 {
                return Err(at - 1);
            }
            padding = block - count;
            if !padding_fits(padding) {
                return Err(at - 1);
            }
            for _ in 1..padding {
                match next(&mut at) {
                    Some(b'=') => {}
                    None => return Err(text.len()),
                    Some(_) => return Err(at - 1),
                }
            }
            if next(&mut at).is_some() {
                return Err(at - 1);
            }
            break;
        }
        let have = bits as usize * count;
        let whole = have / 8;
        let shifted = buffer << (64 - have) as u32;
        out.extend_from_slice(&shifted.to_be_bytes()[..whole]);
        if padding > 0 {
            return Ok(out);
        }
    }
}

pub(crate) fn b64enc(a: &[Value]) -> Outcome {
    Ok(to_base64(text(a, 0)).into())
}

pub(crate) fn b64dec(a: &[Value]) -> Outcome {
    Ok(match from_base64(text(a, 0)) {
        Ok(bytes) => Value::string(bytes),
        Err(at) => format!("illegal base64 data at input byte {at}").into(),
    })
}

pub(crate) fn b32enc(a: &[Value]) -> Outcome {
    Ok(encode(text(a, 0), BASE32, 5, 8).into())
}

pub(crate) fn b32dec(a: &[Value]) -> Outcome {
    let clean: Vec<u8> = text(a, 0).iter().copied().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let fits = |padding| matches!(padding, 1 | 3 | 4 | 6);
    Ok(match decode(&clean, 8, 5, fits, |b| BASE32.iter().position(|x| *x == b)) {
        Ok(bytes) => Value::string(bytes),
        Err(at) => format!("illegal base32 data at input byte {at}").into(),
    })
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|d| char::from(DIGITS[usize::from(d)])).collect()
}

pub(crate) fn sha1sum(a: &[Value]) -> Outcome {
    Ok(hex(&Sha1::digest(text(a, 0))).into())
}

pub(crate) fn sha256sum(a: &[Value]) -> Outcome {
    Ok(hex(&Sha256::digest(text(a, 0))).into())
}

pub(crate) fn sha512sum(a: &[Value]) -> Outcome {
    Ok(hex(&Sha512::digest(text(a, 0))).into())
}

pub(crate) fn adler32sum(a: &[Value]) -> Outcome {
    let (mut low, mut high) = (1u32, 0u32);
    for b in text(a, 0).iter() {
        low = (low + u32::from(*b)) % 65521;
        high = (high + low) % 65521;
    }
    Ok((high << 16 | low).to_string().into())
}
