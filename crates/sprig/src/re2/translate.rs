//! Patterns in the syntax of the `regex` crate.
//!
//! Owns: RE2's grammar, the texts of Go's errors, the translation. Does not own: compiling what comes of it (`super`).
//! Upstream: Go's `regexp/syntax`, with the flags of `regexp.Compile`.
//! The surprising thing: `{` that is no repetition is a plain character, `\d`, `\s`, `\w`, `\b` are ASCII, and `**` is an
//! error, unlike in Rust.

use std::fmt::Write as _;

use super::build;

/// Go stops at the same number.
const MAX_REPEAT: u32 = 1000;
const MAX_DEPTH: usize = 1000;

/// What is wrong, and with what.
pub(super) type Fault = (&'static str, String);

const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_RANGE: &str = "invalid character class range";
const BAD_NAME: &str = "invalid named capture";
const NO_ARGUMENT: &str = "missing argument to repetition operator";
pub(super) const TRAILING: &str = "trailing backslash at end of expression";
pub(super) const BAD_SIZE: &str = "invalid repeat count";

fn fault<T>(code: &'static str, arg: &str) -> Result<T, Fault> {
    Err((code, arg.to_owned()))
}

struct Translator<'a> {
    pattern: &'a str,
    at: usize,
    out: String,
    depth: usize,
    names: Vec<&'a str>,
    /// Is there something that a repetition could repeat?
    atom: bool,
    /// Where the repetition just before began, if there was one.
    repeat: Option<usize>,
    /// How often counted repetitions repeat at most, multiplied: in the piece before, in the rest of the group so far, and
    /// in each group around it.
    times: u32,
    group_times: u32,
    outer_times: Vec<u32>,
}

/// The pattern as the crate writes it, or what Go has against it.
pub(super) fn translate(pattern: &str) -> Result<String, Fault> {
    let mut t = Translator {
        pattern,
        at: 0,
        out: String::with_capacity(pattern.len() + 16),
        depth: 0,
        names: Vec::new(),
        atom: false,
        repeat: None,
        times: 1,
        group_times: 1,
        outer_times: Vec::new(),
    };
    while t.at < pattern.len() {
        let repeat = t.repeat.take();
        t.step(repeat)?;
    }
    if t.depth > 0 {
        return fault("missing closing )", pattern);
    }
    Ok(t.out)
}

fn literal(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || c == ' ' || c == '_' || !c.is_ascii() {
        out.push(c);
    } else {
        let _ = write!(out, "\\x{{{:x}}}", c as u32);
    }
}

impl<'a> Translator<'a> {
    fn rest(&self) -> &'a str {
        &self.pattern[self.at..]
    }

    /// A new piece begins: what was before it cannot be repeated any more.
    fn new_piece(&mut self) {
        self.group_times = self.group_times.max(self.times);
        self.times = 1;
    }

    fn step(&mut self, repeat: Option<usize>) -> Result<(), Fault> {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return Ok(()) };
        if !matches!(c, '*' | '+' | '?' | '{') {
            self.new_piece();
        }
        match c {
            '(' if rest.starts_with("(?") => return self.perl_group(),
            '(' => {
                self.open("(")?;
                self.at += 1;
            }
            '|' => {
                self.out.push('|');
                self.at += 1;
                self.atom = false;
            }
            ')' => {
                if self.depth == 0 {
                    return fault("unexpected )", self.pattern);
                }
                self.depth -= 1;
                self.times = self.group_times;
                self.group_times = self.outer_times.pop().unwrap_or(1);
                self.out.push(')');
                self.at += 1;
                self.atom = true;
            }
            '^' | '$' | '.' => {
                self.out.push(c);
                self.at += 1;
                self.atom = true;
            }
            '[' => {
                self.class()?;
                self.atom = true;
            }
            '*' | '+' | '?' => {
                let start = self.at;
                self.at += 1;
                return self.repetition(start, repeat, &c.to_string());
            }
            '{' => {
                let Some((min, max, len)) = repetition_range(rest) else {
                    self.new_piece();
                    literal(&mut self.out, '{');
                    self.at += 1;
                    self.atom = true;
                    return Ok(());
                };
                let start = self.at;
                self.at += len;
                if min > MAX_REPEAT || max.is_some_and(|m| m > MAX_REPEAT || min > m) {
                    return fault(BAD_SIZE, &rest[..len]);
                }
                self.repetition(start, repeat, &rest[..len])?;
                // None at all is no repetition of what is inside.
                self.times = match max.unwrap_or(min) {
                    0 if max.is_some() => 1,
                    n => self.times.saturating_mul(n.max(1)),
                };
                if (min >= 2 || max.is_some_and(|m| m >= 2)) && self.times > MAX_REPEAT {
                    return fault(BAD_SIZE, &rest[..self.at - start]);
                }
                return Ok(());
            }
            '\\' => {
                self.escape()?;
                self.atom = true;
            }
            c => {
                literal(&mut self.out, c);
                self.at += c.len_utf8();
                self.atom = true;
            }
        }
        Ok(())
    }

    fn open(&mut self, text: &str) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return fault("expression nests too deeply", self.pattern);
        }
        self.outer_times.push(self.group_times);
        self.group_times = 1;
        self.out.push_str(text);
        self.atom = false;
        Ok(())
    }

    fn repetition(&mut self, start: usize, before: Option<usize>, text: &str) -> Result<(), Fault> {
        let lazy = self.rest().starts_with('?');
        self.at += usize::from(lazy);
        if let Some(before) = before {
            return fault("invalid nested repetition operator", &self.pattern[before..self.at]);
        }
        if !self.atom {
            return fault(NO_ARGUMENT, &self.pattern[start..self.at]);
        }
        self.out.push_str(text);
        if lazy {
            self.out.push('?');
        }
        self.repeat = Some(start);
        Ok(())
    }

    /// `(?P<name>`, `(?<name>`, `(?flags)`, `(?flags:`
    fn perl_group(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let name_start = if rest.starts_with("(?P<") && rest.len() > 4 {
            Some(4)
        } else if rest.starts_with("(?<") && rest.len() > 3 {
            Some(3)
        } else {
            None
        };
        if let Some(start) = name_start {
            let Some(end) = rest.find('>') else { return fault(BAD_NAME, rest) };
            let name = rest.get(start..end).unwrap_or_default();
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return fault(BAD_NAME, &rest[..=end]);
            }
            // The crate wants each name once and a letter first; Go wants neither.
            let text = if self.names.contains(&name) || name.starts_with(|c: char| c.is_ascii_digit()) {
                "(".to_owned()
            } else {
                format!("(?P<{name}>")
            };
            self.names.push(name);
            self.open(&text)?;
            self.at += end + 1;
            return Ok(());
        }
        let (mut i, mut negated, mut seen) = (2, false, false);
        let bytes = rest.as_bytes();
        loop {
            let Some(&b) = bytes.get(i) else { return fault("invalid or unsupported Perl syntax", rest) };
            i += 1;
            match b {
                b'i' | b'm' | b's' | b'U' => seen = true,
                b'-' if !negated => {
                    negated = true;
                    seen = false;
                }
                b':' | b')' if !negated || seen => {
                    let text = &rest[..i];
                    if b == b':' {
                        self.open(text)?;
                    } else if text != "(?)" {
                        self.out.push_str(text);
                    }
                    self.at += i;
                    return Ok(());
                }
                _ => {
                    let end = i - 1 + rest[i - 1..].chars().next().map_or(0, char::len_utf8);
                    return fault("invalid or unsupported Perl syntax", &rest[..end]);
                }
            }
        }
    }

    /// An escape outside of a class.
    fn escape(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let fixed = [("\\A", "\\A"), ("\\z", "\\z"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")];
        if let Some((go, rust)) = fixed.iter().find(|(go, _)| rest.starts_with(go)) {
            self.out.push_str(rust);
            self.at += go.len();
            return Ok(());
        }
        if let Some(quoted) = rest.strip_prefix("\\Q") {
            let end = quoted.find("\\E");
            quoted[..end.unwrap_or(quoted.len())].chars().for_each(|c| literal(&mut self.out, c));
            self.at += 2 + end.map_or(quoted.len(), |e| e + 2);
            return Ok(());
        }
        if let Some((class, len)) = perl_class(rest)? {
            let _ = write!(self.out, "[{class}]");
            self.at += len;
            return Ok(());
        }
        let (c, len) = escaped_char(rest)?;
        literal(&mut self.out, c);
        self.at += len;
        Ok(())
    }

    /// A bracketed class, `self.at` on its `[`.
    fn class(&mut self) -> Result<(), Fault> {
        let whole = self.rest();
        let mut t = &whole[1..];
        self.out.push('[');
        if let Some(rest) = t.strip_prefix('^') {
            self.out.push('^');
            t = rest;
        }
        let mut first = true;
        while first || !t.starts_with(']') {
            if t.is_empty() {
                return fault("missing closing ]", whole);
            }
            first = false;
            if t.starts_with("[:")
                && let Some(end) = t.find(":]")
            {
                let name = &t[..end + 2];
                let bare = name[2..end].trim_start_matches('^');
                const NAMES: [&str; 14] = [
                    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
                    "upper", "word", "xdigit",
                ];
                if !NAMES.contains(&bare) {
                    return fault(BAD_RANGE, name);
                }
                self.out.push_str(name);
                t = &t[end + 2..];
                continue;
            }
            if let Some((class, len)) = perl_class(t)? {
                let _ = write!(self.out, "[{class}]");
                t = &t[len..];
                continue;
            }
            let start = t;
            let (low, len) = class_char(t, whole)?;
            t = &t[len..];
            let mut high = low;
            if t.starts_with('-') && t.len() > 1 && !t[1..].starts_with(']') {
                let (end, len) = class_char(&t[1..], whole)?;
                high = end;
                t = &t[1 + len..];
                if high < low {
                    return fault(BAD_RANGE, &start[..start.len() - t.len()]);
                }
            }
            let _ = write!(self.out, "\\x{{{:x}}}-\\x{{{:x}}}", low as u32, high as u32);
        }
        self.out.push(']');
        self.at += whole.len() - t.len() + 1;
        Ok(())
    }
}

/// `{n}`, `{n,}`, `{n,m}`: the bounds and the length, if it is one.
fn repetition_range(s: &str) -> Option<(u32, Option<u32>, usize)> {
    let end = s.find('}')?;
    let number = |t: &str| {
        let plain = !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()) && (t == "0" || !t.starts_with('0'));
        plain.then(|| t.parse().unwrap_or(u32::MAX))
    };
    let inner = &s[1..end];
    let (min, max) = match inner.split_once(',') {
        None => {
            let n = number(inner)?;
            (n, Some(n))
        }
        Some((min, "")) => (number(min)?, None),
        Some((min, max)) => (number(min)?, Some(number(max)?)),
    };
    Some((min, max, end + 1))
}

/// `\d` and relatives, `\pN`, `\p{Greek}`: what goes between brackets, and the length.
fn perl_class(s: &str) -> Result<Option<(String, usize)>, Fault> {
    let bytes = s.as_bytes();
    if bytes.first() != Some(&b'\\') || bytes.len() < 2 {
        return Ok(None);
    }
    let class = match bytes[1] {
        b'd' => "0-9",
        b'D' => "^0-9",
        b's' => "\\t\\n\\x0c\\r ",
        b'S' => "^\\t\\n\\x0c\\r ",
        b'w' => "0-9A-Za-z_",
        b'W' => "^0-9A-Za-z_",
        b'p' | b'P' => return unicode_class(s).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((class.to_owned(), 2)))
}

fn unicode_class(s: &str) -> Result<(String, usize), Fault> {
    let mut negated = s.as_bytes()[1] == b'P';
    let body = &s[2..];
    let (mut name, len) = if let Some(inner) = body.strip_prefix('{') {
        let Some(end) = inner.find('}') else { return fault(BAD_RANGE, s) };
        (&inner[..end], 2 + end + 2)
    } else {
        let Some(c) = body.chars().next() else { return fault(BAD_RANGE, s) };
        (&body[..c.len_utf8()], 2 + c.len_utf8())
    };
    if let Some(rest) = name.strip_prefix('^') {
        negated = !negated;
        name = rest;
    }
    let class = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
    let known = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && build(&format!("[{class}]"), false).is_ok();
    if known { Ok((class, len)) } else { fault(BAD_RANGE, &s[..len]) }
}

fn class_char(s: &str, whole: &str) -> Result<(char, usize), Fault> {
    match s.chars().next() {
        None => fault("missing closing ]", whole),
        Some('\\') => escaped_char(s),
        Some(c) => Ok((c, c.len_utf8())),
    }
}

/// A backslash and what it stands for, if that is one character.
fn escaped_char(s: &str) -> Result<(char, usize), Fault> {
    let mut chars = s[1..].chars();
    let Some(c) = chars.next() else { return fault(TRAILING, "") };
    let bytes = s.as_bytes();
    let bad = || fault(BAD_ESCAPE, &s[..=c.len_utf8()]);
    let octal = |i: usize| bytes.get(i).filter(|b| (b'0'..=b'7').contains(b)).map(|b| u32::from(b - b'0'));
    match c {
        // A single digit would be a back reference.
        '1'..='7' if octal(2).is_none() => bad(),
        '0'..='7' => {
            let (mut code, mut len) = (0, 1);
            while len < 4 {
                let Some(d) = octal(len) else { break };
                code = code * 8 + d;
                len += 1;
            }
            Ok((char::from_u32(code).unwrap_or('\u{fffd}'), len))
        }
        'x' => {
            let braced = s[2..].starts_with('{');
            let (mut code, mut len) = (0, if braced { 3 } else { 2 });
            // The error shows the escape as far as it was read.
            let mut count = 0;
            loop {
                let Some(c) = s[len..].chars().next() else { return fault(BAD_ESCAPE, s) };
                len += c.len_utf8();
                if braced && c == '}' && count > 0 {
                    break;
                }
                let Some(digit) = c.to_digit(16) else { return fault(BAD_ESCAPE, &s[..len]) };
                code = code * 16 + digit;
                count += 1;
                if code > 0x0010_ffff {
                    return fault(BAD_ESCAPE, &s[..len]);
                }
                if !braced && count == 2 {
                    break;
                }
            }
            Ok((char::from_u32(code).unwrap_or('\u{fffd}'), len))
        }
        'a' => Ok(('\u{7}', 2)),
        'f' => Ok(('\u{c}', 2)),
        'n' => Ok(('\n', 2)),
        'r' => Ok(('\r', 2)),
        't' => Ok(('\t', 2)),
        'v' => Ok(('\u{b}', 2)),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok((c, 2)),
        _ => bad(),
    }
}
