//! Why a text is not a version or a range, in upstream's words.

use std::fmt::{self, Write as _};

/// A text that is not a version or a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No text at all.
    Empty,
    /// A version of more than 256 bytes.
    TooLong,
    /// Not a version.
    InvalidSemVer,
    /// Something other than digits in a number.
    InvalidCharacters,
    /// A number with a leading zero.
    SegmentStartsZero,
    /// Bad build metadata.
    InvalidMetadata,
    /// Bad pre-release part.
    InvalidPrerelease,
    /// A number too large for 64 bits; `loose` parsing says so with a prefix.
    Number {
        /// The digits.
        digits: String,
        /// Found by the loose parser.
        loose: bool,
    },
    /// Not a range; holds the part that is wrong.
    ImproperConstraint(String),
    /// A range of more than 512 bytes.
    ConstraintTooLong,
    /// A range of more than 32 alternatives.
    TooManyGroups,
    /// A range whose version is none.
    ConstraintParser,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("version string empty"),
            Self::TooLong => f.write_str("version string is too long (max 256 bytes)"),
            Self::InvalidSemVer => f.write_str("invalid semantic version"),
            Self::InvalidCharacters => f.write_str("invalid characters in version"),
            Self::SegmentStartsZero => f.write_str("version segment starts with 0"),
            Self::InvalidMetadata => f.write_str("invalid metadata string"),
            Self::InvalidPrerelease => f.write_str("invalid prerelease string"),
            Self::Number { digits, loose } => {
                if *loose {
                    f.write_str("error parsing version segment: ")?;
                }
                let why = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
                write!(f, "strconv.ParseUint: parsing \"{digits}\": {why}")
            }
            Self::ImproperConstraint(part) => write!(f, "improper constraint: {}", quoted(part)),
            Self::ConstraintTooLong => f.write_str("constraint string is too long (max 512 bytes)"),
            Self::TooManyGroups => f.write_str("too many constraint groups (max 32)"),
            Self::ConstraintParser => f.write_str("constraint parser error"),
        }
    }
}

impl std::error::Error for Error {}

/// The text in quotes as Go's `%q` writes it, for the characters that turn up in ranges.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c == '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if c.is_control() || c.is_whitespace() && c != ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
