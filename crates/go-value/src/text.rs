//! Go strings: any bytes, usually UTF-8, cheap to clone.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A Go string. Immutable bytes behind a counted reference; not necessarily UTF-8 (`b64dec` and `.Files.Get` give
/// whatever was in there). Ordered and compared by bytes, as Go does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(Arc<[u8]>);

impl Str {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, if it is UTF-8.
    pub fn to_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text, with U+FFFD for what is not UTF-8: what Go's `range` and `[]rune` see.
    pub fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Length in bytes, as Go's `len`.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Does anybody else hold the same bytes? If not, they were made for this string.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Is it `""`?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Default for Str {
    fn default() -> Self {
        Self(Arc::from(&b""[..]))
    }
}

impl Deref for Str {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::borrow::Borrow<[u8]> for Str {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Str {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Str {
    fn from(s: &str) -> Self {
        Self(Arc::from(s.as_bytes()))
    }
}

impl From<String> for Str {
    fn from(s: String) -> Self {
        Self(Arc::from(s.into_bytes()))
    }
}

impl From<&String> for Str {
    fn from(s: &String) -> Self {
        Self(Arc::from(s.as_bytes()))
    }
}

impl From<Cow<'_, str>> for Str {
    fn from(s: Cow<'_, str>) -> Self {
        Self(Arc::from(s.as_bytes()))
    }
}

impl From<&[u8]> for Str {
    fn from(s: &[u8]) -> Self {
        Self(Arc::from(s))
    }
}

impl From<Vec<u8>> for Str {
    fn from(s: Vec<u8>) -> Self {
        Self(Arc::from(s))
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_text(), f)
    }
}

/// Lossy for bytes that are not UTF-8; write [`Str::as_bytes`] where bytes matter.
impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.to_text(), f)
    }
}
