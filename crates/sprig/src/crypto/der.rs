//! DER, as much of it as keys and certificates need.
//!
//! Upstream: Go's `encoding/asn1`.
//! The surprising thing: a number is signed, so one whose first bit is set gets a zero byte in front.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
pub(super) const TRUE: &[u8] = &[0x01, 0x01, 0xff];
pub(super) const NULL: &[u8] = &[0x05, 0x00];

/// A value with its tag and length.
pub(super) fn tagged(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|p| p.len()).sum();
    let mut out = Vec::with_capacity(length + 6);
    out.push(tag);
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let zeros = bytes.iter().take_while(|b| **b == 0).count();
        out.push(0x80 | (bytes.len() - zeros) as u8);
        out.extend_from_slice(&bytes[zeros..]);
    }
    for part in parts {
        out.extend_from_slice(part);
    }
    out
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(SEQUENCE, parts)
}

/// A number that is not negative, from its big-endian bytes.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|b| **b == 0).count();
    let bytes = &bytes[zeros..];
    match bytes.first() {
        None => tagged(INTEGER, &[&[0]]),
        Some(b) if b & 0x80 != 0 => tagged(INTEGER, &[&[0], bytes]),
        Some(_) => tagged(INTEGER, &[bytes]),
    }
}

/// A bit string of whole bytes.
pub(super) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    tagged(BIT_STRING, &[&[0], bytes])
}

/// Go's words about bytes that are not even the beginning of a sequence.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let truncated = || Err("asn1: syntax error: truncated tag or length".to_owned());
    match bytes {
        [] => Err("asn1: syntax error: sequence truncated".to_owned()),
        [_] => truncated(),
        [SEQUENCE, ..] if Reader::new(bytes).next().is_none() => Err("asn1: syntax error: data truncated".to_owned()),
        _ => Ok(()),
    }
}

/// Reads values one after another.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next value: its tag, its content, and all of its bytes.
    pub(super) fn next(&mut self) -> Option<(u8, &'a [u8], &'a [u8])> {
        let (&tag, rest) = self.rest.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let length = if first < 0x80 {
            usize::from(first)
        } else {
            let n = usize::from(first & 0x7f);
            if n == 0 || n > 4 || rest.len() < n {
                return None;
            }
            let length = rest[..n].iter().fold(0, |l, b| l << 8 | usize::from(*b));
            rest = &rest[n..];
            length
        };
        let content = rest.get(..length)?;
        let whole = &self.rest[..self.rest.len() - rest.len() + length];
        self.rest = &rest[length..];
        Some((tag, content, whole))
    }

    /// The content of the next value if it has this tag; otherwise nothing is read.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let mut ahead = self.clone();
        match ahead.next() {
            Some((found, content, _)) if found == tag => {
                *self = ahead;
                Some(content)
            }
            _ => None,
        }
    }

    /// The next value as a number that is not negative.
    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        let bytes = self.take(INTEGER)?;
        let zeros = bytes.iter().take_while(|b| **b == 0).count();
        Some(&bytes[zeros..])
    }
}
