//! Go's regular expressions in the syntax of the `regex` crate.
//!
//! Owns: checking a pattern by RE2's grammar, the texts of Go's errors, the translation.
//! Does not own: matching (both are leftmost-first automata with the same results).
//! Upstream: Go's `regexp/syntax`, with the flags of `regexp.Compile`.
//! The surprising thing: `{` that is no repetition is a plain character, `\d`, `\s`, `\w`, `\b` are ASCII, and `**` is an
//! error, unlike in Rust.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;

/// Go stops at the same number.
const MAX_REPEAT: u32 = 1000;
const MAX_DEPTH: usize = 1000;

/// Patterns that are kept compiled; a chart asks the same few again and again.
const MAX_KEPT: usize = 256;
/// Bytes of an automaton, which is also the limit of the `regex` crate.
const MAX_SIZE: usize = 10 << 20;

/// Bytes that a pattern is looked for in before it is worth to build what finds quickly.
const MUCH: usize = 16 << 10;

/// A compiled pattern. Texts in charts are short: to build what finds quickly in long ones takes a hundred times as long as
/// to search without, so that is only done for those that search much.
struct Kept {
    soon_built: Arc<Regex>,
    searched: AtomicUsize,
    soon_found: OnceLock<Option<Arc<Regex>>>,
}

impl Kept {
    fn for_text(&self, pattern: &str, length: usize) -> Arc<Regex> {
        if self.searched.fetch_add(length, Ordering::Relaxed).saturating_add(length) < MUCH {
            return Arc::clone(&self.soon_built);
        }
        let soon_found = self.soon_found.get_or_init(|| build(&translate(pattern).ok()?, true).ok().map(Arc::new));
        Arc::clone(soon_found.as_ref().unwrap_or(&self.soon_built))
    }
}

static KEPT: LazyLock<Mutex<HashMap<String, Arc<Kept>>>> = LazyLock::new(Mutex::default);

const TOO_LARGE: &str = "expression too large";

/// Compile a Go pattern that is to be looked for in a text of this length; the error is `regexp.Compile`'s.
pub(crate) fn compile(pattern: &[u8], length: usize) -> Result<Arc<Regex>, String> {
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = |(code, arg): Fault| format!("error parsing regexp: {code}: `{arg}`");
    let pattern = match std::str::from_utf8(pattern) {
        Ok(pattern) => pattern,
        Err(e) => {
            let (good, bad) = pattern.split_at(e.valid_up_to());
            // Go reads up to the bad byte, so what is wrong before comes first; what is only missing does not.
            let before = translate(std::str::from_utf8(good).unwrap_or_default()).err();
            let before = before.filter(|(code, _)| !code.starts_with("missing closing") && *code != TRAILING);
            let bad = String::from_utf8_lossy(bad).into_owned();
            return Err(shown(before.unwrap_or(("invalid UTF-8", bad))));
        }
    };
    let known = kept().get(pattern).cloned();
    if let Some(known) = known {
        return Ok(known.for_text(pattern, length));
    }
    let rust = translate(pattern).map_err(shown)?;
    let regex = build(&rust, false).map_err(|_| format!("error parsing regexp: {TOO_LARGE}: `{pattern}`"))?;
    // A clone of the expression itself would begin with no memory for searches.
    let regex = Arc::new(regex);
    let mut kept = kept();
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    let new = Kept { soon_built: Arc::clone(&regex), searched: AtomicUsize::new(length), soon_found: OnceLock::new() };
    kept.insert(pattern.to_owned(), Arc::new(new));
    Ok(regex)
}

/// How much work it is to search the text, in steps of a template: in the worst case each state of the automaton is visited
/// for each byte. A pattern that is not known yet has to be built, too.
pub(crate) fn cost(pattern: &[u8], text: &[u8]) -> u64 {
    /// Bytes of an automaton, times bytes of text, that a step is enough for.
    const SEARCHED: u64 = 4096;
    /// Bytes of an automaton that are built in a step.
    const BUILT: u64 = 16;
    let known = {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        std::str::from_utf8(pattern).is_ok_and(|pattern| kept.contains_key(pattern))
    };
    let size = match compile(pattern, 0) {
        Ok(regex) => regex.memory_usage() as u64,
        Err(e) if e.contains(TOO_LARGE) => MAX_SIZE as u64,
        // What is no pattern is found to be none in a moment.
        Err(_) => return 0,
    };
    (size.saturating_mul(text.len() as u64) / SEARCHED).saturating_add(if known { 0 } else { size / BUILT })
}

/// Would the pattern take too much memory, or repeat more often than Go allows?
pub fn go_regexp_is_too_large(pattern: &str) -> bool {
    // What repeats nothing by number is as large as it is long.
    pattern.contains('{')
        && compile(pattern.as_bytes(), 0).is_err_and(|e| e.contains(TOO_LARGE) || e.contains(BAD_SIZE))
}

fn build(rust: &str, soon_found: bool) -> Result<Regex, Box<regex_automata::meta::BuildError>> {
    let config = Config::new().utf8_empty(false).dfa(false).onepass(false).nfa_size_limit(Some(MAX_SIZE));
    let config = config.hybrid(soon_found);
    Regex::builder().configure(config).syntax(syntax::Config::new().utf8(false)).build(rust).map_err(Box::new)
}

/// What `regexp.MustCompile` panics with.
pub(crate) fn must_compile(pattern: &[u8], length: usize) -> Result<Arc<Regex>, String> {
    compile(pattern, length).map_err(|e| {
        let quoted = match std::str::from_utf8(pattern) {
            Ok(text) if go_value::quote::can_backquote(pattern) => format!("`{text}`"),
            _ => go_value::quote::quote(pattern),
        };
        format!("regexp: Compile({quoted}): {e}")
    })
}

type Fault = (&'static str, String);

const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_RANGE: &str = "invalid character class range";
const BAD_NAME: &str = "invalid named capture";
const NO_ARGUMENT: &str = "missing argument to repetition operator";
const TRAILING: &str = "trailing backslash at end of expression";
const BAD_SIZE: &str = "invalid repeat count";

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

fn translate(pattern: &str) -> Result<String, Fault> {
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

#[cfg(test)]
mod tests {
    use super::{MUCH, Regex, compile};

    /// What is built to find quickly finds the same.
    #[test]
    fn much_text_is_searched_alike() {
        let much = "ab-12 \u{e9}b;".repeat(MUCH);
        for pattern in ["a.", r"\d+", "b|ab", "(a)(b)?", "[^;]*;", r"\bb", "x*"] {
            let (slow, quick) = (compile(pattern.as_bytes(), 0).unwrap(), compile(pattern.as_bytes(), MUCH).unwrap());
            let found = |regex: &Regex| regex.find_iter(&much).take(1000).map(|m| m.range()).collect::<Vec<_>>();
            assert_eq!(found(&slow), found(&quick), "{pattern}");
        }
    }

    #[test]
    fn errors_are_gos() {
        for (pattern, want) in [
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
            ("[", "missing closing ]: `[`"),
            ("[a-", "missing closing ]: `[a-`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(a{100}){100}", "invalid repeat count: `{100}`"),
            ("(a{10}|(b{50}c{2}){11}?){2}", "invalid repeat count: `{2}`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            ("\\y", "invalid escape sequence: `\\y`"),
            ("\\1", "invalid escape sequence: `\\1`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("\\p{Foo}", "invalid character class range: `\\p{Foo}`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        ] {
            assert_eq!(
                compile(pattern.as_bytes(), 0).map(|_| ()),
                Err(format!("error parsing regexp: {want}")),
                "{pattern}"
            );
        }
        for good in [
            "a{",
            "a{,2}",
            "a{x}",
            "\\Qa.b\\E",
            "[]a]",
            "[^]a]",
            "\\pN+",
            "(?i)a(?-i:b)",
            "(?P<n>x)",
            "[[:alpha:]_]",
            "\\07",
            "[\\w-]",
            "a|*?",
        ] {
            let result = compile(good.as_bytes(), 0);
            assert_eq!(result.is_ok(), good != "a|*?", "{good}: {result:?}");
        }
    }
}
