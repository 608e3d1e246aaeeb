//! One version.
//!
//! Upstream: `version.go`.
//! The surprising thing: equality and order ignore build metadata and the original text, so `v1.2` equals `1.2.0+x`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// How long a version may be.
const MAX_LENGTH: usize = 256;

/// A semantic version that remembers the text it came from. Compared as upstream compares: without build metadata.
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// What follows `-`, or nothing.
    pub pre: String,
    /// What follows `+`, or nothing.
    pub metadata: String,
    original: String,
}

fn is_number(s: &str) -> bool {
    s.bytes().all(|b| b.is_ascii_digit())
}

fn is_identifier(s: &str) -> bool {
    s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn check_pre(pre: &str) -> Result<(), Error> {
    for part in pre.split('.') {
        if part.is_empty() || !is_identifier(part) {
            return Err(Error::InvalidPrerelease);
        }
        if part.len() > 1 && part.starts_with('0') && is_number(part) {
            return Err(Error::SegmentStartsZero);
        }
    }
    Ok(())
}

fn check_metadata(metadata: &str) -> Result<(), Error> {
    if metadata.split('.').any(|part| part.is_empty() || !is_identifier(part)) {
        return Err(Error::InvalidMetadata);
    }
    Ok(())
}

fn number(digits: &str, loose: bool) -> Result<u64, Error> {
    digits.parse().map_err(|_| Error::Number { digits: digits.to_owned(), loose })
}

impl Version {
    /// A version from its parts.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        let mut version =
            Self { major, minor, patch, pre: String::new(), metadata: String::new(), original: String::new() };
        version.original = version.to_string();
        version
    }

    /// `semver.StrictNewVersion`: all three numbers, no `v`.
    ///
    /// # Errors
    /// Not a semantic version.
    pub fn parse_strict(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::Empty);
        }
        if text.len() > MAX_LENGTH {
            return Err(Error::TooLong);
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(mut rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Error::InvalidSemVer);
        };
        let (mut pre, mut metadata) = ("", "");
        if let Some((before, after)) = rest.split_once('+') {
            (rest, metadata) = (before, after);
            check_metadata(metadata)?;
        }
        if let Some((before, after)) = rest.split_once('-') {
            (rest, pre) = (before, after);
            check_pre(pre)?;
        }
        for part in [major, minor, rest] {
            if !is_number(part) {
                return Err(Error::InvalidCharacters);
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(Error::SegmentStartsZero);
            }
        }
        Ok(Self {
            major: number(major, false)?,
            minor: number(minor, false)?,
            patch: number(rest, false)?,
            pre: pre.to_owned(),
            metadata: metadata.to_owned(),
            original: text.to_owned(),
        })
    }

    /// `semver.NewVersion`: a leading `v`, missing numbers and leading zeros are taken.
    ///
    /// # Errors
    /// Nothing that can be made a semantic version.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_LENGTH {
            return Err(Error::TooLong);
        }
        let body = text.strip_prefix('v').unwrap_or(text);
        let (body, metadata) = match body.split_once('+') {
            Some((before, after)) => (before, Some(after)),
            None => (body, None),
        };
        let (numbers, pre) = match body.split_once('-') {
            Some((before, after)) => (before, Some(after)),
            None => (body, None),
        };
        let dotted = |s: &str| s.split('.').all(|part| !part.is_empty() && is_identifier(part));
        let segments: Vec<&str> = numbers.split('.').collect();
        let fits = segments.len() <= 3
            && segments.iter().all(|s| !s.is_empty() && is_number(s))
            && pre.is_none_or(dotted)
            && metadata.is_none_or(dotted);
        if !fits {
            return Err(Error::InvalidSemVer);
        }
        let segment = |i: usize| segments.get(i).map_or(Ok(0), |digits| number(digits, true));
        let version = Self {
            major: segment(0)?,
            minor: segment(1)?,
            patch: segment(2)?,
            pre: pre.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        if !version.pre.is_empty() {
            check_pre(&version.pre)?;
        }
        Ok(version)
    }

    /// The text the version was made from.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Has it a pre-release part?
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }

    fn renamed(mut self) -> Self {
        let v = if self.original.starts_with('v') { "v" } else { "" };
        self.original = format!("{v}{self}");
        self
    }

    /// The next patch version; of a pre-release, the release.
    #[must_use]
    pub fn inc_patch(&self) -> Self {
        let patch = if self.pre.is_empty() { self.patch.wrapping_add(1) } else { self.patch };
        Self { patch, pre: String::new(), metadata: String::new(), ..self.clone() }.renamed()
    }

    /// The next minor version.
    #[must_use]
    pub fn inc_minor(&self) -> Self {
        let minor = self.minor.wrapping_add(1);
        Self { minor, patch: 0, pre: String::new(), metadata: String::new(), ..self.clone() }.renamed()
    }

    /// The next major version.
    #[must_use]
    pub fn inc_major(&self) -> Self {
        let major = self.major.wrapping_add(1);
        Self { major, minor: 0, patch: 0, pre: String::new(), metadata: String::new(), ..self.clone() }.renamed()
    }

    /// The same version with another pre-release part.
    ///
    /// # Errors
    /// The part is not one.
    pub fn with_prerelease(&self, pre: &str) -> Result<Self, Error> {
        if !pre.is_empty() {
            check_pre(pre)?;
        }
        Ok(Self { pre: pre.to_owned(), ..self.clone() }.renamed())
    }

    /// The same version with other build metadata.
    ///
    /// # Errors
    /// The text is not metadata.
    pub fn with_metadata(&self, metadata: &str) -> Result<Self, Error> {
        if !metadata.is_empty() {
            check_metadata(metadata)?;
        }
        Ok(Self { metadata: metadata.to_owned(), ..self.clone() }.renamed())
    }
}

/// Order of pre-release parts. No part comes after any part when versions are compared, but before when an identifier
/// is missing; the constraint code calls this with empty texts too.
pub(crate) fn compare_pre(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let (l, r) = (left.next(), right.next());
        if l.is_none() && r.is_none() {
            return Ordering::Equal;
        }
        match compare_part(l.unwrap_or_default(), r.unwrap_or_default()) {
            Ordering::Equal => {}
            other => return other,
        }
    }
}

fn compare_part(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if a.is_empty() {
        return Ordering::Less;
    }
    if b.is_empty() {
        return Ordering::Greater;
    }
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(x), Ok(y)) => {
            // Equal numbers with different texts (`01`, `1`) are not equal.
            if x > y { Ordering::Greater } else { Ordering::Less }
        }
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch));
        numbers.then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_pre(&self.pre, &other.pre),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl FromStr for Version {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

/// All three numbers and no `v`, whatever the original text was.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}
