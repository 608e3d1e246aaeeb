//! Which texts go-yaml takes for timestamps.
//!
//! Owns: the check. Nobody needs the time itself: sigs.k8s.io/yaml keeps such values as strings, so the check only
//! decides about quotes and about the tag `!!timestamp`.
//! Upstream: `parseTimestamp` in go-yaml's `resolve.go`, with the rules of Go's `time.Parse`.

/// Is this a timestamp in one of go-yaml's four layouts?
pub(crate) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 5 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
        return false;
    }
    let year = bytes[..4].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    date(year, &bytes[5..]).is_some_and(|rest| match rest.first() {
        None => true,
        Some(b'T' | b't') => clock(&rest[1..]).is_some_and(zone),
        Some(b' ') => {
            let blanks = rest.iter().take_while(|b| **b == b' ').count();
            clock(&rest[blanks..]).is_some_and(<[u8]>::is_empty)
        }
        Some(_) => false,
    })
}

/// One or two digits.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |i: usize| text.get(i).filter(|b| b.is_ascii_digit()).map(|b| u32::from(b - b'0'));
    let first = digit(0)?;
    Some(match digit(1) {
        Some(second) => (first * 10 + second, &text[2..]),
        None => (first, &text[1..]),
    })
}

fn date(year: u32, text: &[u8]) -> Option<&[u8]> {
    let (month, rest) = number(text)?;
    let (day, rest) = number(rest.strip_prefix(b"-")?)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days).contains(&day).then_some(rest)
}

/// Hours, minutes, seconds and a fraction of any length.
fn clock(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = number(text)?;
    let (minute, rest) = number(rest.strip_prefix(b":")?)?;
    let (second, mut rest) = number(rest.strip_prefix(b":")?)?;
    if matches!(rest, [b'.' | b',', b'0'..=b'9', ..]) {
        let digits = rest[1..].iter().take_while(|b| b.is_ascii_digit()).count();
        rest = &rest[1 + digits..];
    }
    (hour < 24 && minute < 60 && second < 60).then_some(rest)
}

fn zone(text: &[u8]) -> bool {
    match text {
        b"Z" => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] if [h1, h2, m1, m2].iter().all(|b| b.is_ascii_digit()) => {
            (h1 - b'0') * 10 + (h2 - b'0') <= 24 && (m1 - b'0') * 10 + (m2 - b'0') <= 60
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_timestamp;

    #[test]
    fn follows_time_parse() {
        for yes in [
            "2001-12-14",
            "2001-1-2",
            "2001-12-14T21:59:43.10-05:00",
            "2001-12-14t1:2:3Z",
            "2001-12-14 21:59:43.10",
            "2000-02-29",
        ] {
            assert!(is_timestamp(yes), "{yes}");
        }
        for no in ["2001-02-29", "2001-13-01", "2001-12-14T21:59:43", "2001-12-14 21:59:43 Z", "201-1-1", "2001-1-1x"] {
            assert!(!is_timestamp(no), "{no}");
        }
    }
}
