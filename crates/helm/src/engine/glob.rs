//! Patterns of `.Files.Glob`.
//!
//! Follows the Go library `gobwas/glob` with `/` as the separator: `*` and `?` stop at slashes, `**` does not, `[a-z]`,
//! `[!a-z]`, `{a,b}`, and `\` quotes. Matching is linear in pattern and text per alternative.

/// A parsed pattern.
#[derive(Debug)]
pub struct Glob(Vec<Vec<Token>>);

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Char(char),
    /// One character that is no slash.
    One,
    /// Characters that are no slashes.
    Star,
    /// Any characters.
    Super,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// How many alternatives a pattern with braces may unfold to.
const MAX_ALTERNATIVES: usize = 1024;

impl Glob {
    /// Parse; `None` for a malformed pattern.
    pub fn new(pattern: &str) -> Option<Self> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut at = 0;
        let alternatives = parse(&chars, &mut at, false)?;
        (at == chars.len()).then_some(Self(alternatives))
    }

    /// Does the whole text match?
    pub fn matches(&self, text: &str) -> bool {
        self.0.iter().any(|tokens| {
            // Most texts differ before the first token that is no character.
            let mut rest = text.chars();
            for (i, token) in tokens.iter().enumerate() {
                match token {
                    Token::Char(c) if rest.next() != Some(*c) => return false,
                    Token::Char(_) => {}
                    _ => return match_tokens(&tokens[i..], rest.as_str()),
                }
            }
            rest.as_str().is_empty()
        })
    }
}

/// A sequence up to the end, or within braces up to `,` or `}`. Alternatives multiply out. Braces that are not closed end
/// with the pattern.
fn parse(p: &[char], at: &mut usize, nested: bool) -> Option<Vec<Vec<Token>>> {
    let mut done: Vec<Vec<Token>> = vec![Vec::new()];
    let push = |done: &mut Vec<Vec<Token>>, token: Token| done.iter_mut().for_each(|d| d.push(token.clone()));
    while let Some(&c) = p.get(*at) {
        match c {
            ',' | '}' if nested => return Some(done),
            '*' => {
                *at += 1;
                if p.get(*at) == Some(&'*') {
                    while p.get(*at) == Some(&'*') {
                        *at += 1;
                    }
                    push(&mut done, Token::Super);
                } else {
                    push(&mut done, Token::Star);
                }
            }
            '?' => {
                *at += 1;
                push(&mut done, Token::One);
            }
            '\\' => {
                // At the end of the pattern it quotes nothing.
                if let Some(&quoted) = p.get(*at + 1) {
                    push(&mut done, Token::Char(quoted));
                }
                *at = (*at + 2).min(p.len());
            }
            '[' => {
                *at += 1;
                let token = class(p, at)?;
                push(&mut done, token);
            }
            '{' => {
                *at += 1;
                let mut choices = Vec::new();
                loop {
                    choices.extend(parse(p, at, true)?);
                    let end = p.get(*at).copied();
                    *at = (*at + 1).min(p.len());
                    if end != Some(',') {
                        break;
                    }
                }
                if done.len() * choices.len() > MAX_ALTERNATIVES {
                    return None;
                }
                done = done
                    .iter()
                    .flat_map(|d| choices.iter().map(move |c| d.iter().chain(c).cloned().collect()))
                    .collect();
            }
            c => {
                *at += 1;
                push(&mut done, Token::Char(c));
            }
        }
    }
    Some(done)
}

/// What follows `[`: one range `a-z`, or characters, of which the first may be a `]` or `-` only behind a backslash.
fn class(p: &[char], at: &mut usize) -> Option<Token> {
    let negated = p.get(*at) == Some(&'!');
    if negated {
        *at += 1;
    }
    let mut ranges = Vec::new();
    if p.get(*at + 1) == Some(&'-') {
        let (low, high) = (p[*at], *p.get(*at + 2)?);
        if high < low {
            return None;
        }
        ranges.push((low, high));
        *at += 3;
    } else {
        loop {
            let mut c = *p.get(*at)?;
            if c == ']' {
                break;
            }
            *at += 1;
            if c == '\\' {
                c = *p.get(*at)?;
                *at += 1;
            }
            ranges.push((c, c));
        }
    }
    if ranges.is_empty() || p.get(*at) != Some(&']') {
        return None;
    }
    *at += 1;
    Some(Token::Class { negated, ranges })
}

/// The set of reachable pattern positions, advanced one character at a time.
fn match_tokens(tokens: &[Token], text: &str) -> bool {
    let (mut reachable, mut next) = (vec![false; tokens.len() + 1], vec![false; tokens.len() + 1]);
    let close = |reachable: &mut Vec<bool>| {
        for i in 0..tokens.len() {
            if reachable[i] && matches!(tokens[i], Token::Star | Token::Super) {
                reachable[i + 1] = true;
            }
        }
    };
    reachable[0] = true;
    close(&mut reachable);
    for c in text.chars() {
        next.fill(false);
        for (i, token) in tokens.iter().enumerate().filter(|(i, _)| reachable[*i]) {
            match token {
                Token::Char(x) => next[i + 1] |= *x == c,
                Token::One => next[i + 1] |= c != '/',
                Token::Star => next[i] |= c != '/',
                Token::Super => next[i] = true,
                Token::Class { negated, ranges } => {
                    next[i + 1] |= ranges.iter().any(|&(a, b)| (a..=b).contains(&c)) != *negated;
                }
            }
        }
        std::mem::swap(&mut reachable, &mut next);
        close(&mut reachable);
    }
    reachable[tokens.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, want) in [
            ("files/*", "files/a.txt", true),
            ("files/*", "files/sub/a.txt", false),
            ("files/**", "files/sub/a.txt", true),
            ("**.yaml", "a/b/c.yaml", true),
            ("{foo,bar}/*.{yaml,yml}", "bar/x.yml", true),
            ("{foo,bar}/*.{yaml,yml}", "baz/x.yml", false),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            (r"\*", "*", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().matches(text), want, "{pattern} {text}");
        }
        // What gobwas/glob makes of them was tried.
        for (pattern, text) in [("{a", "a"), ("{a,b", "b"), ("a\\", "a"), ("[a\\]]", "]"), ("]", "]"), ("},", "},")] {
            assert!(Glob::new(pattern).unwrap().matches(text), "{pattern} {text}");
        }
        for bad in ["[", "[]", "[a-zA]", "[z-a]", "[a"] {
            assert!(Glob::new(bad).is_none(), "{bad}");
        }
    }
}
