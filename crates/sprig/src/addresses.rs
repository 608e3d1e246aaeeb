//! IP addresses as Go reads them, for the errors of those that are none.
//!
//! Owns: which texts are addresses, and Go's words about the rest. Does not own: URLs around them ([`crate::urls`]).
//! Upstream: `ParseAddr` of Go's package `net/netip`.
//! The surprising thing: an IPv6 address may end in an IPv4 address and a zone, and a zone may be anything.

use go_value::quote::quote;

/// What is wrong, and where, if Go says so.
type Fault<'a> = (&'static str, &'a [u8]);

/// Check the address between the brackets of a URL: IPv6, maybe with a zone.
///
/// # Errors
/// The text of `netip.ParseAddr`.
pub(crate) fn check(text: &[u8]) -> Result<(), String> {
    let found = match text.iter().find(|b| b".:%".contains(b)) {
        None => Err(("unable to parse IP", &b""[..])),
        Some(b'%') => Err(("missing IPv6 address", &b""[..])),
        Some(b'.') => ipv4(text),
        Some(_) => ipv6(text),
    };
    found.map_err(|(what, at)| {
        let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote(at)) };
        format!("ParseAddr({}): {what}{at}", quote(text))
    })
}

/// Is it an IPv4 address?
pub(crate) fn is_ipv4(text: &[u8]) -> bool {
    ipv4(text).is_ok()
}

fn ipv4(s: &[u8]) -> Result<(), Fault<'_>> {
    let (mut value, mut dots, mut digits) = (0, 0, 0);
    for (i, &b) in s.iter().enumerate() {
        match b {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", b""));
                }
                value = value * 10 + u32::from(b - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", b""));
                }
            }
            b'.' => {
                if i == 0 || i == s.len() - 1 || s[i - 1] == b'.' {
                    return Err(("IPv4 field must have at least one digit", &s[i..]));
                }
                if dots == 3 {
                    return Err(("IPv4 address too long", b""));
                }
                (value, digits, dots) = (0, 0, dots + 1);
            }
            _ => return Err(("unexpected character", &s[i..])),
        }
    }
    if dots < 3 { Err(("IPv4 address too short", b"")) } else { Ok(()) }
}

fn ipv6(text: &[u8]) -> Result<(), Fault<'_>> {
    let mut s = text;
    if let Some(i) = text.iter().position(|b| *b == b'%') {
        s = &text[..i];
        if i + 1 == text.len() {
            return Err(("zone must be a non-empty string", b""));
        }
    }
    let mut ellipsis = s.starts_with(b"::");
    if ellipsis {
        s = &s[2..];
        if s.is_empty() {
            return Ok(());
        }
    }
    let (mut bytes, at_start) = (0, ellipsis);
    while bytes < 16 {
        let digits = s.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        match digits {
            0 => return Err(("each colon-separated field must have at least one digit", s)),
            1..=4 => {}
            _ => return Err(("each group must have 4 or less digits", s)),
        }
        if s.get(digits) == Some(&b'.') {
            if !ellipsis && bytes != 12 {
                return Err(("embedded IPv4 address must replace the final 2 fields of the address", s));
            }
            if bytes + 4 > 16 {
                return Err(("too many hex fields to fit an embedded IPv4 at the end of the address", s));
            }
            ipv4(s)?;
            (s, bytes) = (&[], bytes + 4);
            break;
        }
        bytes += 2;
        s = &s[digits..];
        match s {
            [] => break,
            [b':'] => return Err(("colon must be followed by more characters", s)),
            [b':', rest @ ..] => s = rest,
            _ => return Err(("unexpected character, want colon", s)),
        }
        if let Some(rest) = s.strip_prefix(b":") {
            if ellipsis {
                return Err(("multiple :: in address", s));
            }
            ellipsis = true;
            s = rest;
            if s.is_empty() {
                break;
            }
        }
    }
    match (s.is_empty(), bytes < 16) {
        (false, _) => Err(("trailing garbage after address", s)),
        (true, true) if !ellipsis && !at_start => Err(("address string too short", b"")),
        (true, false) if ellipsis => Err(("the :: must expand to at least one field of zeros", b"")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn go_s_addresses() {
        for good in ["::", "::1", "1::", "fe80::1%en0", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4"] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for (bad, what) in [
            ("x", "unable to parse IP"),
            ("%1", "missing IPv6 address"),
            ("::1%", "zone must be a non-empty string"),
            ("1:2", "address string too short"),
            ("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"),
            ("1::2::3", "multiple :: in address (at \":3\")"),
            ("12345::", "each group must have 4 or less digits (at \"12345::\")"),
            ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.256", "IPv4 field has value >255"),
        ] {
            assert_eq!(check(bad.as_bytes()), Err(format!("ParseAddr(\"{bad}\"): {what}")), "{bad}");
        }
    }
}
