//! What can go wrong, in the words of go-yaml and sigs.k8s.io/yaml.

use std::fmt;

/// A failed conversion. The display is the whole text that Go prints, [`Error::cause`] the part without the wrapping
/// of sigs.k8s.io/yaml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text is not YAML, or has no JSON form.
    ToJson(String),
    /// The JSON form does not fit the wanted type.
    FromJson(String),
    /// The value has no JSON form.
    Marshal(String),
    /// The value has no YAML form.
    Encode(String),
}

impl Error {
    /// The text without what sigs.k8s.io/yaml puts in front, e.g. `yaml: line 2: did not find expected key`.
    pub fn cause(&self) -> &str {
        match self {
            Self::ToJson(s) | Self::FromJson(s) | Self::Marshal(s) | Self::Encode(s) => s,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToJson(s) => write!(f, "error converting YAML to JSON: {s}"),
            Self::FromJson(s) => write!(f, "error unmarshaling JSON: while decoding JSON: {s}"),
            Self::Marshal(s) => write!(f, "error marshaling into JSON: {s}"),
            Self::Encode(s) => f.write_str(s),
        }
    }
}

impl std::error::Error for Error {}
