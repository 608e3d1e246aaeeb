//! Which styles a text can be written in.
//!
//! Upstream: `yaml_emitter_analyze_scalar` and the character classes of `yamlprivateh.go`.
//! The surprising thing: characters beyond the basic plane count as not printable, so an emoji forces double quotes.

use crate::resolve::Dialect;

pub(super) struct Analysis {
    pub(super) multiline: bool,
    pub(super) plain_allowed: bool,
    pub(super) single_quoted_allowed: bool,
    pub(super) block_allowed: bool,
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// The characters that say nothing about styles, but for what stands before and behind them.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = b'!';
    while b <= b'~' {
        plain[b as usize] = !matches!(b, b':' | b'#');
        b += 1;
    }
    plain
};

impl Analysis {
    pub(super) fn of(text: &str, dialect: Dialect) -> Self {
        if text.is_empty() {
            return Self { multiline: false, plain_allowed: true, single_quoted_allowed: true, block_allowed: false };
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut line_breaks, mut special, mut tabs) = (false, false, false);
        let (mut edge_blank, mut trailing_space) = (false, false);
        let (mut break_space, mut space_break) = (false, false);
        let (mut previous_space, mut previous_break) = (false, false);
        let mut preceded_by_whitespace = true;
        let mut first = true;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if !first {
                let plain = rest.bytes().take_while(|b| PLAIN[usize::from(*b)]).count();
                if plain > 0 {
                    rest = &rest[plain..];
                    (previous_space, previous_break, preceded_by_whitespace) = (false, false, false);
                    continue;
                }
            }
            rest = &rest[c.len_utf8()..];
            let next = rest.chars().next();
            let followed_by_whitespace = matches!(next, None | Some(' ' | '\t'));
            indicators |= match c {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                    if first =>
                {
                    true
                }
                '?' | '-' if first => followed_by_whitespace,
                ':' => followed_by_whitespace,
                '#' => preceded_by_whitespace,
                _ => false,
            };
            if dialect == Dialect::V3 && c == '\t' {
                tabs = true;
            } else if !is_printable(c) {
                special = true;
            }
            if c == ' ' {
                edge_blank |= first || next.is_none();
                trailing_space |= next.is_none();
                break_space |= previous_break;
                (previous_space, previous_break) = (true, false);
            } else if is_break(c) {
                line_breaks = true;
                edge_blank |= first || next.is_none();
                space_break |= previous_space;
                (previous_space, previous_break) = (false, true);
            } else {
                (previous_space, previous_break) = (false, false);
            }
            preceded_by_whitespace = matches!(c, ' ' | '\t' | '\0') || is_break(c);
            first = false;
        }
        let unquotable = space_break || special;
        Self {
            multiline: line_breaks,
            plain_allowed: !(edge_blank || break_space || unquotable || tabs || line_breaks || indicators),
            single_quoted_allowed: !(break_space || unquotable || tabs),
            block_allowed: !(trailing_space || unquotable),
        }
    }
}
