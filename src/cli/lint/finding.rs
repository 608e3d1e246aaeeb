//! One thing worth saying, and its place.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Helm fails.
    Error,
    /// Helm goes on, with something else than what is written.
    Warning,
}

/// What was found, sorted by its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    file: String,
    /// From 1; unknown where a template made it up.
    line: Option<usize>,
    pub(super) level: Level,
    text: String,
}

impl Finding {
    pub(super) fn warning(file: &str, line: Option<usize>, text: impl Into<String>) -> Self {
        Self { file: file.into(), line, level: Level::Warning, text: text.into() }
    }

    pub(super) fn error(file: &str, line: Option<usize>, error: &dyn fmt::Display) -> Self {
        Self { file: file.into(), line, level: Level::Error, text: error.to_string() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        match self.line {
            Some(line) => write!(f, "{}:{line}: {level}: {}", self.file, self.text),
            None => write!(f, "{}: {level}: {}", self.file, self.text),
        }
    }
}
