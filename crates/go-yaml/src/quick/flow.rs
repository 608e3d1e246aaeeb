//! Flow collections: what stands between brackets.

use std::borrow::Cow;

use super::{LONGEST_KEY, MAX_DEPTH, Reader, plain_key, plain_value};
use crate::target::{Key, Target};

impl<'a> Reader<'a> {
    /// Past blanks, line breaks and comments between brackets.
    fn past_space(&self, mut at: usize) -> Option<usize> {
        loop {
            let rest = self.past_blanks(at);
            at = match self.byte(rest) {
                b'\n' if rest < self.bytes.len() => rest + 1,
                b'#' if rest > at || self.byte(at - 1) == b'\n' => self.end_of_line(rest),
                b'\n' | b'#' | b'\t' => return None,
                // What ends a document does so here too.
                b'-' | b'.' | b'%' if self.byte(rest - 1) == b'\n' => return None,
                _ => return Some(rest),
            };
        }
    }

    /// A flow collection, and where it ends.
    pub(super) fn flow<T: Target>(&mut self, at: usize) -> Option<(T::Out, usize)> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let out = if self.byte(at) == b'[' { self.flow_sequence::<T>(at + 1) } else { self.flow_mapping::<T>(at + 1) };
        self.depth -= 1;
        out
    }

    fn flow_sequence<T: Target>(&mut self, at: usize) -> Option<(T::Out, usize)> {
        let mut items = Vec::new();
        let mut at = self.past_space(at)?;
        if self.byte(at) == b']' {
            return Some((T::list(items), at + 1));
        }
        loop {
            let (item, end) = self.flow_value::<T>(at)?;
            items.push(item);
            at = self.past_space(end)?;
            match self.byte(at) {
                b',' => at = self.past_space(at + 1)?,
                b']' => return Some((T::list(items), at + 1)),
                _ => return None,
            }
        }
    }

    fn flow_mapping<T: Target>(&mut self, at: usize) -> Option<(T::Out, usize)> {
        let mut map = T::Map::default();
        let mut at = self.past_space(at)?;
        if self.byte(at) == b'}' {
            return Some((T::map(map), at + 1));
        }
        loop {
            let is_quoted = matches!(self.byte(at), b'"' | b'\'');
            let (key, end) = if is_quoted {
                let (text, end) = self.quoted(at)?;
                (Key::Text(text), end)
            } else {
                let (text, end) = self.flow_plain(at)?;
                (plain_key(text)?, end)
            };
            // Behind a plain key the colon needs a blank.
            if self.byte(end) != b':' || !is_quoted && self.byte(end + 1) != b' ' || end - at > LONGEST_KEY {
                return None;
            }
            self.check::<T>(&map, &key)?;
            let (value, end) = self.flow_value::<T>(self.past_blanks(end + 1))?;
            T::insert(&mut map, key, value).ok()?;
            at = self.past_space(end)?;
            match self.byte(at) {
                b',' => at = self.past_space(at + 1)?,
                b'}' => return Some((T::map(map), at + 1)),
                _ => return None,
            }
        }
    }

    fn flow_value<T: Target>(&mut self, at: usize) -> Option<(T::Out, usize)> {
        match self.byte(at) {
            b'"' | b'\'' => {
                let (text, end) = self.quoted(at)?;
                Some((T::text(text), end))
            }
            b'[' | b'{' => self.flow::<T>(at),
            _ => {
                let (text, end) = self.flow_plain(at)?;
                Some((plain_value::<T>(Cow::Borrowed(text))?, end))
            }
        }
    }

    /// A plain scalar between brackets, within its line.
    fn flow_plain(&self, at: usize) -> Option<(&'a str, usize)> {
        if matches!(self.byte(at), b'?' | b':') {
            return None;
        }
        self.begins_plain(at)?;
        let mut end = at;
        loop {
            match self.byte(end) {
                b'\n' | b',' | b'[' | b']' | b'{' | b'}' => break,
                b':' if matches!(self.byte(end + 1), b' ' | b'\n') => break,
                b'\t' | b'?' => return None,
                b'#' if self.byte(end - 1) == b' ' => break,
                _ => end += 1,
            }
        }
        let text = self.text[at..end].trim_end_matches(' ');
        Some((text, at + text.len()))
    }
}
