//! Scalars with an anchor, and their aliases.
//!
//! Owns: `key: &name text` and `key: *name`. Does not own: anchors of collections, aliases as keys, merges, what is wrong:
//! all that is left to the grammar.
//! The surprising thing: an alias gives the scalar's text, which is resolved again; so does go-yaml with the node.

use std::borrow::Cow;

use super::{Reader, plain_value};
use crate::target::Target;

/// From here on the share of a document that comes from aliases is looked at, by the grammar.
const MAX_ALIASES: usize = 100;

/// The scalars that were named so far.
#[derive(Default)]
pub(super) struct Anchors<'a> {
    named: Vec<(&'a str, Scalar<'a>)>,
    aliases: usize,
}

#[derive(Clone)]
struct Scalar<'a> {
    text: Cow<'a, str>,
    quoted: bool,
}

impl Scalar<'_> {
    fn value<T: Target>(self) -> Option<T::Out> {
        if self.quoted { Some(T::text(self.text)) } else { plain_value::<T>(self.text) }
    }
}

impl<'a> Reader<'a> {
    /// The name behind the `&` or `*` at `at`, and where it ends.
    fn name(&self, at: usize) -> Option<(&'a str, usize)> {
        let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let mut end = at + 1;
        while is_part(self.byte(end)) {
            end += 1;
        }
        (end > at + 1 && matches!(self.byte(end), b' ' | b'\n')).then(|| (&self.text[at + 1..end], end))
    }

    /// A scalar that is named.
    pub(super) fn anchored<T: Target>(&mut self, at: usize, indent: usize) -> Option<T::Out> {
        // What is only read past leaves no text for an alias.
        if !T::KEEPS {
            return None;
        }
        let (name, end) = self.name(at)?;
        let first = self.past_blanks(end);
        let quoted = matches!(self.byte(first), b'"' | b'\'');
        let text = if quoted {
            let (text, end) = self.quoted_lines(first, indent)?;
            self.finish(end)?;
            text
        } else {
            self.plain::<T>(first, indent)?
        };
        let scalar = Scalar { text, quoted };
        self.anchors.named.push((name, scalar.clone()));
        scalar.value::<T>()
    }

    /// The scalar of that name.
    pub(super) fn alias<T: Target>(&mut self, at: usize) -> Option<T::Out> {
        let (name, end) = self.name(at)?;
        self.anchors.aliases += 1;
        if self.anchors.aliases > MAX_ALIASES {
            return None;
        }
        let (_, scalar) = self.anchors.named.iter().rfind(|(known, _)| *known == name)?;
        let scalar = scalar.clone();
        self.finish(end)?;
        scalar.value::<T>()
    }
}
