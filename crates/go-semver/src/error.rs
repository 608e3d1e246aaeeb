//! Why a text is not a version or a range, in upstream's words.

use std::fmt;

/// A text that is not a version or a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No text at all.
    Empty,
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
    /// A range whose version is none.
    ConstraintParser,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("version string empty"),
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
            Self::ImproperConstraint(part) => write!(f, "improper constraint: {part}"),
            Self::ConstraintParser => f.write_str("constraint parser error"),
        }
    }
}

impl std::error::Error for Error {}
