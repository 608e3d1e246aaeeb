//! Reading a format string: flags, argument indexes, width, precision, verb.
//!
//! Owns: the grammar of directives and the texts for bad ones. Does not own: printing operands. Upstream: `doPrintf`.
//! The surprising thing: an argument index anywhere switches off the check for unused operands.

use super::Printer;
use super::layout::Layout;
use crate::quote::decode_char;
use crate::value::Value;

/// Go takes no width or precision beyond this.
const MAX_NUMBER: i64 = 1_000_000;

/// A position in a format string and in its operands.
struct Reader<'a> {
    format: &'a [u8],
    at: usize,
    args: &'a [Value],
    arg: usize,
    /// The directive's argument index was fine.
    good_index: bool,
    /// Some directive had an argument index.
    reordered: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    /// An unsigned number at the position, if there is one; a crazy long one ends the format.
    fn number(&mut self) -> Option<usize> {
        let (number, end) = parse_number(self.format, self.at, self.format.len());
        self.at = end;
        number
    }

    /// An argument index such as `[3]`, if one is there.
    fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let rest = &self.format[self.at..];
        let close = if rest.len() < 3 { None } else { rest.iter().skip(1).position(|&b| b == b']').map(|i| i + 1) };
        let Some(close) = close else {
            self.good_index = false;
            self.at += 1;
            return false;
        };
        self.at += close + 1;
        match parse_number(rest, 1, close) {
            (Some(n), end) if end == close => {
                match n.checked_sub(1).filter(|&i| i < self.args.len()) {
                    Some(i) => self.arg = i,
                    None => self.good_index = false,
                }
                true
            }
            _ => {
                self.good_index = false;
                false
            }
        }
    }

    /// An operand that gives a width or precision.
    fn star(&mut self) -> Option<i64> {
        let value = self.args.get(self.arg)?;
        self.arg += 1;
        let n = match value {
            Value::Int(_, n) | Value::Duration(n) => *n,
            Value::Uint(_, n) => i64::try_from(*n).ok()?,
            _ => return None,
        };
        (-MAX_NUMBER..=MAX_NUMBER).contains(&n).then_some(n)
    }
}

fn parse_number(s: &[u8], start: usize, end: usize) -> (Option<usize>, usize) {
    let (mut number, mut at) = (None, start);
    while at < end && s[at].is_ascii_digit() {
        let so_far = number.unwrap_or(0);
        if so_far > MAX_NUMBER as usize {
            return (None, end);
        }
        number = Some(so_far * 10 + usize::from(s[at] - b'0'));
        at += 1;
    }
    (number, at)
}

impl Printer {
    pub(super) fn directives(&mut self, format: &[u8], args: &[Value]) {
        let mut r = Reader { format, at: 0, args, arg: 0, good_index: true, reordered: false };
        while r.at < format.len() {
            let text = format[r.at..].iter().position(|&b| b == b'%').map_or(format.len(), |i| r.at + i);
            self.out.extend_from_slice(&format[r.at..text]);
            r.at = text + 1;
            if text < format.len() && !self.directive(&mut r) {
                break;
            }
        }
        if !r.reordered && r.arg < args.len() {
            self.layout = Layout::default();
            self.out.extend_from_slice(b"%!(EXTRA ");
            for (i, arg) in args[r.arg..].iter().enumerate() {
                if i > 0 {
                    self.out.extend_from_slice(b", ");
                }
                if arg.is_nil() {
                    self.out.extend_from_slice(b"<nil>");
                } else {
                    self.out.extend_from_slice(arg.type_name().as_bytes());
                    self.out.push(b'=');
                    self.print_arg(arg, 'v');
                }
            }
            self.out.push(b')');
        }
    }

    /// One directive, after its `%`. False if the format ended in it.
    fn directive(&mut self, r: &mut Reader<'_>) -> bool {
        r.good_index = true;
        self.layout = Layout::default();
        while let Some(b) = r.peek() {
            match b {
                b'#' => self.layout.sharp = true,
                b'0' => self.layout.zero = true,
                b'+' => self.layout.plus = true,
                b'-' => self.layout.minus = true,
                b' ' => self.layout.space = true,
                _ => break,
            }
            r.at += 1;
        }
        let mut after_index = r.index();
        if r.peek() == Some(b'*') {
            r.at += 1;
            match r.star() {
                Some(n) => {
                    self.layout.width = Some(n.unsigned_abs() as usize);
                    if n < 0 {
                        self.layout.minus = true;
                        self.layout.zero = false;
                    }
                }
                None => self.out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            after_index = false;
        } else {
            self.layout.width = r.number();
            if after_index && self.layout.width.is_some() {
                r.good_index = false;
            }
        }
        if r.peek() == Some(b'.') && r.at + 1 < r.format.len() {
            r.at += 1;
            if after_index {
                r.good_index = false;
            }
            after_index = r.index();
            if r.peek() == Some(b'*') {
                r.at += 1;
                self.layout.precision = r.star().and_then(|n| usize::try_from(n).ok());
                if self.layout.precision.is_none() {
                    self.out.extend_from_slice(b"%!(BADPREC)");
                }
                after_index = false;
            } else {
                self.layout.precision = Some(r.number().unwrap_or(0));
            }
        }
        if !after_index {
            r.index();
        }
        if r.at >= r.format.len() {
            self.out.extend_from_slice(b"%!(NOVERB)");
            return false;
        }
        let (verb, width) = decode_char(&r.format[r.at..]);
        r.at += width;
        match (verb, r.args.get(r.arg)) {
            ('%', _) => self.out.push(b'%'),
            _ if !r.good_index => self.bad_directive(verb, b"(BADINDEX)"),
            (_, None) => self.bad_directive(verb, b"(MISSING)"),
            (_, Some(arg)) => {
                if matches!(verb, 'v' | 'w') {
                    let l = &mut self.layout;
                    (l.sharp_v, l.sharp) = (l.sharp, false);
                    (l.plus_v, l.plus) = (l.plus, false);
                }
                self.print_arg(arg, verb);
                r.arg += 1;
            }
        }
        true
    }

    fn bad_directive(&mut self, verb: char, what: &[u8]) {
        self.out.extend_from_slice(b"%!");
        self.push_char(verb);
        self.out.extend_from_slice(what);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sprintf;
    use crate::Value;

    #[test]
    fn bad_directives_are_text() {
        let case = |format: &str, args: &[Value]| String::from_utf8(sprintf(format.as_bytes(), args)).expect("UTF-8");
        assert_eq!(case("%d %", &["x".into()]), "%!d(string=x) %!(NOVERB)");
        assert_eq!(case("%s", &[]), "%!s(MISSING)");
        assert_eq!(case("%[2]d %[1]d %[5]d", &[Value::int(1), Value::int(2)]), "2 1 %!d(BADINDEX)");
        assert_eq!(
            case("%*d|%-5d|%05d", &[Value::int(3), Value::int(7), Value::int(8), Value::int(-9)]),
            "  7|8    |-0009"
        );
        assert_eq!(case("a", &[Value::Nil, Value::int(1)]), "a%!(EXTRA <nil>, int=1)");
    }
}
