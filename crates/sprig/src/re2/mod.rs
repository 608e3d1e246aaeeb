//! Go's regular expressions, compiled and kept.
//!
//! Owns: which patterns are kept, how they are built, what it costs to search with them; in `translate` the grammar. Does
//! not own: matching (both are leftmost-first automata with the same results). Upstream: `regexp.Compile`.
//! The surprising thing: what finds quickly takes so long to build that it is built only for patterns that search much.

mod translate;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;

use translate::{BAD_SIZE, Fault, TRAILING, translate};

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

fn kept() -> MutexGuard<'static, HashMap<String, Arc<Kept>>> {
    static KEPT: LazyLock<Mutex<HashMap<String, Arc<Kept>>>> = LazyLock::new(Mutex::default);
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

const TOO_LARGE: &str = "expression too large";

/// Compile a Go pattern that is to be looked for in a text of this length; the error is `regexp.Compile`'s.
pub(crate) fn compile(pattern: &[u8], length: usize) -> Result<Arc<Regex>, String> {
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
    let known = std::str::from_utf8(pattern).is_ok_and(|pattern| kept().contains_key(pattern));
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
