//! What can go wrong, in Go's words.
//!
//! Owns: the three error types of the crate and how they chain. Does not own: the texts, which are made where the
//! failure is found. Upstream: `template.ExecError`, the errors of `parse.Tree`.
//! The surprising thing: an error's `Display` already holds the texts of its sources, because Go's does; whoever prints
//! a chain must not print it twice. [`std::error::Error::source`] is for those who look into the chain, as Helm does.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A template that cannot be parsed. Its text is Go's: `template: NAME:LINE: what`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub(crate) text: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for ParseError {}

/// Execution stopped. Its text is Go's: `template: NAME:LINE:COL: executing "NAME" at <NODE>: what`.
#[derive(Debug)]
pub struct ExecError {
    /// The template that was executing; empty when the template to execute does not exist.
    pub template: Arc<str>,
    /// Where, as `NAME:LINE:COL`, if execution had begun.
    pub location: Option<String>,
    /// The node at fault, as Go prints it.
    pub node: Option<String>,
    /// What happened, without the place.
    pub message: String,
    pub(crate) cause: Option<FuncError>,
}

impl ExecError {
    /// An error that is only a message: execution has not begun.
    pub(crate) fn plain(message: String) -> Box<Self> {
        Box::new(Self { template: "".into(), location: None, node: None, message, cause: None })
    }

    /// The error of the function or method whose call failed, if that is what happened.
    pub fn failure(&self) -> Option<&FuncError> {
        self.cause.as_ref()
    }

    /// The error of the template that a function of this one executed (`include`, `tpl`), if that is what happened:
    /// the next link of the chain that Helm prints.
    pub fn inner(&self) -> Option<&ExecError> {
        match &self.cause {
            Some(FuncError::Exec(e)) => Some(e),
            _ => None,
        }
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(location), Some(node)) = (&self.location, &self.node) {
            let name = go_value::quote::quote(self.template.as_bytes());
            write!(f, "template: {location}: executing {name} at <{node}>: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for ExecError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            Some(FuncError::Exec(e)) => Some(e.as_ref()),
            Some(e) => Some(e),
            None => None,
        }
    }
}

/// What a function answers when it fails; the executor puts `error calling NAME: ` before its text.
#[derive(Debug)]
pub enum FuncError {
    /// Only a text.
    Text(String),
    /// A template that the function executed failed; the text is that error's.
    Exec(Box<ExecError>),
    /// Another error; the text is that error's.
    Other(Box<dyn Error + Send + Sync>),
    /// A text of its own over an error that the chain keeps.
    Wrapped {
        /// The whole text, which may or may not hold the source's.
        text: String,
        /// The error below.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl fmt::Display for FuncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Wrapped { text, .. } => f.write_str(text),
            Self::Exec(e) => e.fmt(f),
            Self::Other(e) => e.fmt(f),
        }
    }
}

impl Error for FuncError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Text(_) => None,
            Self::Exec(e) => Some(e.as_ref()),
            Self::Other(e) => e.source(),
            Self::Wrapped { source, .. } => Some(source.as_ref()),
        }
    }
}

impl From<String> for FuncError {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for FuncError {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Box<ExecError>> for FuncError {
    fn from(e: Box<ExecError>) -> Self {
        Self::Exec(e)
    }
}

impl From<ParseError> for FuncError {
    fn from(e: ParseError) -> Self {
        Self::Other(Box::new(e))
    }
}
