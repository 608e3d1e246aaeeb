//! `.helmignore`.
//!
//! Owns: parsing the file and matching paths. Follows Helm's `pkg/ignore`. The surprising thing: `!pattern` ignores
//! everything that does *not* match.

use super::archive::BOM;

/// The rules of one `.helmignore`, with Helm's defaults last.
#[derive(Debug, Default)]
pub struct Rules(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    glob: String,
    negate: bool,
    directories_only: bool,
    /// Match against the whole relative path instead of the last element.
    whole_path: bool,
}

impl Rules {
    /// Parse the file's content and add Helm's defaults (dot files in `templates/`).
    ///
    /// # Errors
    /// `**`, or a pattern that does not parse.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let mut rules = Self::default();
        let text = text.strip_prefix(BOM).unwrap_or(text);
        for line in String::from_utf8_lossy(text).lines() {
            rules.add(line)?;
        }
        rules.add("templates/.?*")?;
        Ok(rules)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let rule = line.trim();
        if rule.is_empty() || rule.starts_with('#') {
            return Ok(());
        }
        if rule.contains("**") {
            return Err("double-star (**) syntax is not supported".into());
        }
        glob_match(rule, "abc").ok_or("syntax error in pattern")?;
        let (negate, rule) = rule.strip_prefix('!').map_or((false, rule), |r| (true, r));
        let (directories_only, rule) = rule.strip_suffix('/').map_or((false, rule), |r| (true, r));
        let (whole_path, glob) = match rule.strip_prefix('/') {
            Some(anchored) => (true, anchored),
            None => (rule.contains('/'), rule),
        };
        self.0.push(Pattern { glob: glob.into(), negate, directories_only, whole_path });
        Ok(())
    }

    /// Is the file or folder at this path, relative to the chart's root, to be left out?
    pub fn ignores(&self, path: &str, is_dir: bool) -> bool {
        if path.is_empty() || path == "." || path == "./" {
            return false;
        }
        for p in &self.0 {
            let subject = if p.whole_path { path } else { path.rsplit('/').next().unwrap_or(path) };
            let matched = || glob_match(&p.glob, subject).unwrap_or(false);
            if p.negate {
                if (p.directories_only && !is_dir) || !matched() {
                    return true;
                }
            } else if (is_dir || !p.directories_only) && matched() {
                return true;
            }
        }
        false
    }
}

/// Go's `filepath.Match`: `*` and `?` stop at a slash, `[a-z]` and `[^a]` are classes, `\` quotes. `None` for a
/// malformed pattern.
pub fn glob_match(pattern: &str, name: &str) -> Option<bool> {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    check_glob(&pattern)?;
    Some(match_from(&pattern, &name))
}

fn check_glob(p: &[char]) -> Option<()> {
    let mut i = 0;
    while i < p.len() {
        match p[i] {
            '\\' => {
                p.get(i + 1)?;
                i += 2;
            }
            '[' => i = class(p, i, '\0')?.1,
            _ => i += 1,
        }
    }
    Some(())
}

/// Match one character against the class at `p[i]`; gives the answer and the index after `]`.
fn class(p: &[char], mut i: usize, c: char) -> Option<(bool, usize)> {
    i += 1;
    let negated = p.get(i) == Some(&'^');
    if negated {
        i += 1;
    }
    let mut matched = false;
    let mut first = true;
    let one = |i: &mut usize| -> Option<char> {
        let mut c = *p.get(*i)?;
        if c == '-' || c == ']' {
            return None;
        }
        if c == '\\' {
            *i += 1;
            c = *p.get(*i)?;
        }
        *i += 1;
        Some(c)
    };
    loop {
        if p.get(i) == Some(&']') && !first {
            return Some((matched != negated, i + 1));
        }
        first = false;
        let low = one(&mut i)?;
        let high = if p.get(i) == Some(&'-') {
            i += 1;
            one(&mut i)?
        } else {
            low
        };
        p.get(i)?;
        matched |= (low..=high).contains(&c);
    }
}

/// Iterative matching with one point of return per star, so that no pattern is exponential.
#[expect(clippy::many_single_char_names, reason = "two texts and two places in them")]
fn match_from(p: &[char], s: &[char]) -> bool {
    let (mut i, mut j) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match p.get(i) {
            Some('*') => {
                star = Some((i, j));
                i += 1;
                continue;
            }
            None if j == s.len() => return true,
            None => None,
            Some(&c) => s.get(j).and_then(|&x| match c {
                '?' => (x != '/').then_some(i + 1),
                '[' => class(p, i, x).and_then(|(ok, next)| (ok && x != '/').then_some(next)),
                '\\' => (p.get(i + 1) == Some(&x)).then_some(i + 2),
                c => (c == x).then_some(i + 1),
            }),
        };
        match (step, star) {
            (Some(next), _) => {
                i = next;
                j += 1;
            }
            (None, Some((si, sj))) if s.get(sj).is_some_and(|&c| c != '/') => {
                star = Some((si, sj + 1));
                i = si + 1;
                j = sj + 1;
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (p, s, want) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a/b.txt", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("?", "/", false),
            (r"\*", "*", true),
            ("templates/.?*", "templates/.x", true),
            ("*", "", true),
        ] {
            assert_eq!(glob_match(p, s), Some(want), "{p} {s}");
        }
        for bad in ["[", "[a", "[]a]", r"a\", "[a-]"] {
            assert_eq!(glob_match(bad, "abc"), None, "{bad}");
        }
    }

    #[test]
    fn rules() {
        let r = Rules::parse(b"\xef\xbb\xbf# note\n*.bak\n/top\ndir/\nsub/*.md\n").unwrap();
        assert!(r.ignores("x/y.bak", false));
        assert!(r.ignores("top", false) && !r.ignores("x/top", false));
        assert!(r.ignores("x/dir", true) && !r.ignores("x/dir", false));
        assert!(r.ignores("sub/a.md", false) && !r.ignores("sub/x/a.md", false));
        assert!(r.ignores("templates/.x", false) && !r.ignores("templates/x", false));
        assert!(Rules::parse(b"a/**/b").is_err());
        let only = Rules::parse(b"!keep").unwrap();
        assert!(only.ignores("other", false) && !only.ignores("keep", false));
    }
}
