//! Flags, width and precision of a directive, and what they do to a text or number.
//!
//! Owns: padding, signs, prefixes, truncation. Does not own: which layout a value gets. Upstream: `fmt/format.go`.
//! The surprising thing: width counts characters but precision of `%x` counts bytes.

use crate::float::format_float;
use crate::quote;

/// The flags of the directive at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%+v`: names with struct fields.
    pub(super) plus_v: bool,
    /// `%#v`: Go syntax.
    pub(super) sharp_v: bool,
}

impl Layout {
    fn padding(&self, out: &mut Vec<u8>, n: usize) {
        let byte = if self.zero && !self.minus { b'0' } else { b' ' };
        out.resize(out.len() + n, byte);
    }

    /// A text, filled up to the width.
    pub(super) fn pad(&self, out: &mut Vec<u8>, text: &[u8]) {
        let Some(width) = self.width.filter(|&w| w > 0) else { return out.extend_from_slice(text) };
        let missing = width.saturating_sub(quote::count_chars(text));
        if self.minus {
            out.extend_from_slice(text);
            self.padding(out, missing);
        } else {
            self.padding(out, missing);
            out.extend_from_slice(text);
        }
    }

    /// The same, where zeros never fill.
    fn pad_with_spaces(&self, out: &mut Vec<u8>, text: &[u8]) {
        Self { zero: false, ..*self }.pad(out, text);
    }

    fn truncate<'a>(&self, s: &'a [u8]) -> &'a [u8] {
        let Some(precision) = self.precision else { return s };
        let mut end = 0;
        for _ in 0..precision {
            if end >= s.len() {
                return s;
            }
            end += quote::decode_char(&s[end..]).1;
        }
        &s[..end]
    }

    pub(super) fn string(&self, out: &mut Vec<u8>, s: &[u8]) {
        self.pad(out, self.truncate(s));
    }

    pub(super) fn quoted(&self, out: &mut Vec<u8>, s: &[u8]) {
        let s = self.truncate(s);
        if self.sharp && quote::can_backquote(s) {
            return self.pad(out, &[b"`", s, b"`"].concat());
        }
        let text = if self.plus { quote::quote_to_ascii(s) } else { quote::quote(s) };
        self.pad(out, text.as_bytes());
    }

    pub(super) fn hex_bytes(&self, out: &mut Vec<u8>, s: &[u8], upper: bool) {
        let s = &s[..self.precision.unwrap_or(s.len()).min(s.len())];
        if s.is_empty() {
            return self.padding(out, self.width.unwrap_or(0));
        }
        let prefix = if upper { "0X" } else { "0x" };
        let mut text = String::with_capacity(s.len() * 2);
        for (i, b) in s.iter().enumerate() {
            if i > 0 && self.space {
                text.push(' ');
            }
            if self.sharp && (i == 0 || self.space) {
                text.push_str(prefix);
            }
            for nibble in [b >> 4, b & 0xF] {
                let digit = char::from_digit(nibble.into(), 16).unwrap_or('0');
                text.push(if upper { digit.to_ascii_uppercase() } else { digit });
            }
        }
        self.pad(out, text.as_bytes());
    }

    /// `0x…`, or without the prefix, whatever the flags say.
    pub(super) fn hex0x(&self, out: &mut Vec<u8>, n: u64, prefix: bool) {
        Self { sharp: prefix, ..*self }.integer(out, n, 16, false, 'v');
    }

    pub(super) fn integer(&self, out: &mut Vec<u8>, n: u64, base: u32, signed: bool, verb: char) {
        let negative = signed && (n as i64) < 0;
        let magnitude = if negative { n.wrapping_neg() } else { n };
        let signs = negative || self.plus || self.space;
        let digits = match self.precision {
            Some(0) if magnitude == 0 => {
                return Self { zero: false, ..*self }.padding(out, self.width.unwrap_or(0));
            }
            Some(precision) => precision,
            None if self.zero && !self.minus => self.width.unwrap_or(0).saturating_sub(usize::from(signs)),
            None => 0,
        };
        let text = match base {
            2 => format!("{magnitude:0digits$b}"),
            8 => format!("{magnitude:0digits$o}"),
            16 if verb == 'X' => format!("{magnitude:0digits$X}"),
            16 => format!("{magnitude:0digits$x}"),
            _ => format!("{magnitude:0digits$}"),
        };
        let prefix = match base {
            2 if self.sharp => "0b",
            8 if self.sharp && !text.starts_with('0') => "0",
            16 if self.sharp && verb == 'X' => "0X",
            16 if self.sharp => "0x",
            _ => "",
        };
        let sign = match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.space => " ",
            () => "",
        };
        let octal = if verb == 'O' { "0o" } else { "" };
        self.pad_with_spaces(out, [sign, octal, prefix, &text].concat().as_bytes());
    }

    pub(super) fn unicode(&self, out: &mut Vec<u8>, n: u64) {
        let digits = self.precision.unwrap_or(0).max(4);
        let mut text = format!("U+{n:0digits$X}");
        if let Some(c) = u32::try_from(n).ok().and_then(char::from_u32).filter(|&c| self.sharp && quote::is_print(c)) {
            text.push_str(" '");
            text.push(c);
            text.push('\'');
        }
        self.pad_with_spaces(out, text.as_bytes());
    }

    pub(super) fn float(&self, out: &mut Vec<u8>, f: f64, bits: u8, verb: u8, precision: Option<usize>) {
        let precision = self.precision.or(precision);
        let mut text = format_float(f, verb, precision, bits);
        if !text.starts_with(['-', '+']) {
            text.insert(0, '+');
        }
        if self.space && !self.plus && text.starts_with('+') {
            text.replace_range(..1, " ");
        }
        if !f.is_finite() {
            let bare = f.is_nan() && !self.space && !self.plus;
            return self.pad_with_spaces(out, &text.as_bytes()[usize::from(bare)..]);
        }
        if self.sharp && verb != b'b' {
            text = with_point(&text, verb, precision);
        }
        if text.starts_with('+') && !self.plus {
            return self.pad(out, &text.as_bytes()[1..]);
        }
        match self.width {
            Some(width) if self.zero && !self.minus && width > text.len() => {
                out.push(text.as_bytes()[0]);
                self.padding(out, width - text.len());
                out.extend_from_slice(&text.as_bytes()[1..]);
            }
            _ => self.pad(out, text.as_bytes()),
        }
    }
}

/// What the `#` flag does to a float: always a decimal point, and `g` keeps its trailing zeros. `text` has a sign.
fn with_point(text: &str, verb: u8, precision: Option<usize>) -> String {
    let exponent = match verb {
        b'x' | b'X' => text.find(['p', 'P']),
        _ => text.find(['e', 'E', 'p', 'P']),
    };
    let (number, tail) = text.split_at(exponent.unwrap_or(text.len()));
    let mut digits = match verb {
        b'g' | b'G' | b'x' => precision.unwrap_or(6) as i64,
        _ => 0,
    };
    let significant = number[1..].chars().filter(|&c| c != '.').skip_while(|&c| c == '0').count();
    digits -= significant as i64;
    let mut out = number.to_owned();
    if !number.contains('.') {
        if &number[1..] == "0" {
            digits -= 1;
        }
        out.push('.');
    }
    for _ in 0..digits.max(0) {
        out.push('0');
    }
    out.push_str(tail);
    out
}
