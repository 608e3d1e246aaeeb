//! How a range is written: operators and versions, as upstream's regular expressions take them apart.
//!
//! Owns: the grammar. Does not own: what a range means.
//! Upstream: the expressions at the top of `constraints.go`; their corner cases (`1|2`, `vx`) are part of what is accepted.
//! The surprising thing: usual ranges are read by hand ([`quick`]), since to compile the expressions takes longer than many
//! a chart takes to render; whatever is not usual is left to them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

const VERSION: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";
const OPERATOR: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";
const SPACE: &str = r"[\t\n\f\r ]";

struct Grammar {
    one: Option<Regex>,
    find: Option<Regex>,
    valid: Option<Regex>,
    range: Option<Regex>,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    Grammar {
    one: Regex::new(&format!("^{SPACE}*({OPERATOR}){SPACE}*({VERSION}){SPACE}*$")).ok(),
    find: Regex::new(&format!("({OPERATOR}){SPACE}*({VERSION})")).ok(),
    valid: Regex::new(&format!(
        "^({SPACE}*({OPERATOR}){SPACE}*({VERSION}){SPACE}*)((?:{SPACE}+|,{SPACE}*)({OPERATOR}){SPACE}*({VERSION}){SPACE}*)*$"
    ))
    .ok(),
    range: Regex::new(&format!("{SPACE}*({VERSION}){SPACE}+-{SPACE}+({VERSION}){SPACE}*")).ok(),
}
});

/// An operator and a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    /// `>=` and the like, or nothing.
    pub operator: &'a str,
    /// The whole version.
    pub version: &'a str,
    /// Its first number, or a wildcard.
    pub major: &'a str,
    /// The second one with the dot before it, or nothing.
    pub minor: &'a str,
    /// The third one with the dot before it, or nothing.
    pub patch: &'a str,
    /// The pre-release with the hyphen before it, or nothing.
    pub pre: &'a str,
}

/// The text with `1 - 2` rewritten to `>= 1, <= 2`.
pub(crate) fn without_hyphens(text: &str) -> Cow<'_, str> {
    // A hyphen range has blanks around the hyphen.
    let is_blank = |b: u8| matches!(b, b'\t' | b'\n' | 0x0c | b'\r' | b' ');
    if !text.as_bytes().windows(3).any(|w| is_blank(w[0]) && w[1] == b'-' && is_blank(w[2])) {
        return Cow::Borrowed(text);
    }
    let mut out = text.to_owned();
    if let Some(range) = &GRAMMAR.range {
        for m in range.captures_iter(text) {
            let to = format!(">= {}, <= {} ", &m[1], m.get(11).map_or("", |g| g.as_str()));
            out = out.replacen(&m[0], &to, 1);
        }
    }
    Cow::Owned(out)
}

/// The parts of a range without `||`; nothing if it is not written as one.
pub(crate) fn parts(text: &str) -> Option<Vec<Written<'_>>> {
    quick(text).or_else(|| by_grammar(text))
}

fn by_grammar(text: &str) -> Option<Vec<Written<'_>>> {
    if !GRAMMAR.valid.as_ref()?.is_match(text) {
        return None;
    }
    let one = GRAMMAR.one.as_ref()?;
    let found = GRAMMAR.find.as_ref()?.find_iter(text).map(|found| {
        let m = one.captures(found.as_str())?;
        let group = |i: usize| m.get(i).map_or("", |g| g.as_str());
        Some(Written {
            operator: group(1),
            version: group(2),
            major: group(3),
            minor: group(4),
            patch: group(5),
            pre: group(6),
        })
    });
    found.collect()
}

/// Plain numbers or wildcards, blanks or a comma between the parts. Nothing where the grammar has to be asked.
fn quick(text: &str) -> Option<Vec<Written<'_>>> {
    let blank = |c: char| matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ');
    let mut parts = Vec::new();
    let mut rest = text.trim_matches(blank);
    loop {
        let after = rest.trim_start_matches(['=', '!', '<', '>', '~', '^']);
        let operator = &rest[..rest.len() - after.len()];
        if !matches!(operator, "" | "=" | "!=" | ">" | "<" | ">=" | "=>" | "<=" | "=<" | "~" | "~>" | "^") {
            return None;
        }
        rest = after.trim_start_matches(blank);
        let end = rest.find(|c: char| blank(c) || c == ',').unwrap_or(rest.len());
        parts.push(version(operator, &rest[..end])?);
        let between = rest[end..].trim_start_matches(blank);
        if between.is_empty() {
            return Some(parts);
        }
        rest = between.strip_prefix(',').unwrap_or(between).trim_start_matches(blank);
    }
}

fn version<'a>(operator: &'a str, version: &'a str) -> Option<Written<'a>> {
    let identifiers = |s: &str| {
        s.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
    };
    let number = |s: &str| matches!(s, "x" | "X" | "*") || !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let plain = version.strip_prefix('v').unwrap_or(version);
    let (plain, meta) = plain.split_once('+').map_or((plain, None), |(plain, meta)| (plain, Some(meta)));
    let numbers = &plain[..plain.find('-').unwrap_or(plain.len())];
    let pre = &plain[numbers.len()..];
    let mut dots = numbers.match_indices('.').map(|(at, _)| at);
    let major_end = dots.next().unwrap_or(numbers.len());
    let minor_end = dots.next().unwrap_or(numbers.len());
    let (major, minor, patch) = (&numbers[..major_end], &numbers[major_end..minor_end], &numbers[minor_end..]);
    let fits = dots.next().is_none()
        && number(major)
        && [minor, patch].iter().all(|n| n.is_empty() || number(&n[1..]))
        && (pre.is_empty() || identifiers(&pre[1..]))
        && meta.is_none_or(identifiers);
    fits.then_some(Written { operator, version, major, minor, patch, pre })
}

#[cfg(test)]
mod tests {
    use splitmix::Random;

    use super::*;

    #[test]
    fn what_is_read_by_hand_the_grammar_reads_the_same() {
        let pieces = [
            ">=", "=", "<", ">", "!", "~", "^", "v", "1", "22", ".", ".3", "x", "*", "-", "-0", "+b", "rc", " ", ", ",
            "|", "\t", "1.2.3", "1.2",
        ];
        let mut random = Random(7);
        let mut quickly = 0;
        for _ in 0..60_000 {
            let text: String = (0..=random.below(7)).map(|_| pieces[random.below(pieces.len())]).collect();
            if let Some(parts) = quick(&text) {
                quickly += 1;
                assert_eq!(Some(parts), by_grammar(&text), "{text:?}");
            }
        }
        assert!(quickly > 2_000, "only {quickly}");
    }

    #[test]
    fn usual_ranges_are_read_by_hand() {
        for text in [">=1.19-0", "^1.2.3", "~> 2", ">= 1.0, < 2.0.0-0", " 1.x ", "*", "v1.2.3+b.c", ">1 <2", "!=1 , =2"]
        {
            assert!(quick(text).is_some(), "{text}");
        }
        for text in ["", "1 - 2", "1|2", "1.2.3.4", ">= ", ",1", "1,", "1.", "1-", "> =1"] {
            assert!(quick(text).is_none(), "{text}");
        }
    }
}
