//! Literal and folded texts.

use std::borrow::Cow;

use super::Reader;
use crate::target::Target;

impl Reader<'_> {
    /// A literal or folded text whose indicator is at `at`.
    pub(super) fn block_scalar<T: Target>(&mut self, at: usize, indent: usize) -> Option<T::Out> {
        let literal = self.byte(at) == b'|';
        let mut header = at + 1;
        let chomping = match self.byte(header) {
            sign @ (b'+' | b'-') => {
                header += 1;
                Some(sign == b'+')
            }
            _ => None,
        };
        let rest = self.past_blanks(header);
        match self.byte(rest) {
            b'\n' => {}
            b'#' if rest > header => {}
            _ => return None,
        }
        let mut next = self.end_of_line(rest) + 1;
        // The first line that is not empty says how much all are indented.
        let (mut begin, mut widest) = (next, 0);
        let deep = loop {
            let first = self.past_blanks(begin);
            if first >= self.bytes.len() || self.byte(first) == b'\t' {
                return None;
            }
            if self.byte(first) != b'\n' {
                break first - begin;
            }
            widest = widest.max(first - begin);
            begin = first + 1;
        };
        if deep <= indent && chomping != Some(true) {
            self.go_on(begin)?;
            self.ended(indent)?;
            return Some(T::text(Cow::Borrowed("")));
        }
        if deep <= indent || widest > deep || self.byte(begin + deep) == b'\t' {
            return None;
        }
        let mut out = String::new();
        // Empty lines before the next line with text, the line break before them, and whether a line began with a blank.
        let (mut empty, mut broken, mut was_blank, mut first_line) = (0_usize, false, false, true);
        while next < self.bytes.len() {
            let end = self.end_of_line(next);
            let blanks = self.bytes[next..end].iter().take(deep).take_while(|b| **b == b' ').count();
            if next + blanks == end {
                empty += 1;
                next = end + 1;
                if end >= self.bytes.len() {
                    // Blanks without a line break at the very end.
                    empty -= 1;
                }
                continue;
            }
            if blanks < deep {
                if self.bytes[next + blanks] == b'\t' {
                    return None;
                }
                break;
            }
            let line = &self.text[next + deep..end];
            let is_blank = line.starts_with([' ', '\t']);
            if T::KEEPS {
                if !first_line && !literal && !was_blank && !is_blank {
                    if empty == 0 {
                        out.push(' ');
                    }
                } else if broken {
                    out.push('\n');
                }
                (0..empty).for_each(|_| out.push('\n'));
                out.push_str(line);
            }
            (empty, was_blank, first_line) = (0, is_blank, false);
            broken = end < self.bytes.len();
            next = end + 1;
        }
        if chomping != Some(false) && broken {
            out.push('\n');
        }
        if chomping == Some(true) {
            (0..empty).for_each(|_| out.push('\n'));
        }
        self.go_on(next)?;
        self.ended(indent)?;
        Some(T::text(Cow::Owned(out)))
    }
}
