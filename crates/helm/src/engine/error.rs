//! Template errors as Helm shows them.
//!
//! Owns: the rewriting of Go's one-line errors into Helm's several lines. Follows `reformatExecErrorMsg` and
//! `cleanupParseError` of `pkg/engine`. The surprising thing: when the chain of errors ends in one that is not a
//! template's own (a function's), Helm gives up and prints Go's raw line.

use std::error::Error as StdError;

use go_template::ExecError;

/// Begins the text of `required` and `fail`, to find it again within Go's error.
pub(super) const WARN_START: &str = "HELM_ERR_START";
/// Ends it.
pub(super) const WARN_END: &str = "HELM_ERR_END";

/// A parse error of the file `name`.
pub(super) fn parse_error(name: &str, text: &str) -> String {
    let tokens: Vec<&str> = text.split(": ").collect();
    match tokens.as_slice() {
        [] | [_] => format!("parse error in ({name}): {text}"),
        [_, location, ..] => format!("parse error at ({location}): {}", tokens[tokens.len() - 1]),
    }
}

/// An execution error of the file `name`.
pub(super) fn exec_error(name: &str, error: &ExecError) -> String {
    let text = error.to_string();
    // Go's error that a template does not exist is no ExecError.
    if error.location.is_none() && error.inner().is_none() {
        return text;
    }
    let mut tokens = text.splitn(3, ": ");
    let (Some(_), Some(location), Some(rest)) = (tokens.next(), tokens.next(), tokens.next()) else {
        return format!("execution error in ({name}): {text}");
    };
    if let Some(message) = warning(rest) {
        return format!("execution error at ({location}): {message}");
    }
    let mut places: Vec<Place> = Vec::new();
    let mut current: Option<&dyn StdError> = Some(error);
    while let Some(e) = current {
        match Place::parse(&e.to_string()) {
            Some(place) => {
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
            None => return text,
        }
        current = e.source();
    }
    let shown: String = places.iter().map(Place::show).collect();
    shown.trim().to_string()
}

/// The text between the marks of `required` and `fail`.
fn warning(text: &str) -> Option<&str> {
    let start = text.find(WARN_START)? + WARN_START.len();
    let end = text.rfind(WARN_END)?;
    text.get(start..end)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Place {
    location: String,
    message: String,
    function: String,
}

impl Place {
    fn show(&self) -> String {
        let mut text = String::new();
        if !self.location.is_empty() {
            text.push_str(&self.location);
            text.push_str("\n  ");
        }
        if !self.function.is_empty() {
            text.push_str(&self.function);
            text.push_str("\n    ");
        }
        if !self.message.is_empty() {
            text.push_str(&self.message);
            text.push('\n');
        }
        text
    }

    /// One link of Go's chain of errors, if it is a template's.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Self { message: text.into(), ..Self::default() });
        }
        Self::executing(rest).or_else(|| Self::simple(rest))
    }

    /// `NAME: executing "FUNCTION" at <NODE>: MESSAGE`
    fn executing(rest: &str) -> Option<Self> {
        let (location, after) = rest.split_once(": executing ")?;
        let after = after.strip_prefix('"')?;
        let (function, after) = after.split_once('"')?;
        let after = after.strip_prefix(" at <")?;
        let (node, message) = after.split_once(">: ")?;
        Some(Self {
            location: location.into(),
            message: without_next(message).into(),
            function: format!("executing \"{function}\" at <{node}>:"),
        })
    }

    /// `NAME: MESSAGE`
    fn simple(rest: &str) -> Option<Self> {
        let (location, message) = rest.rsplit_once(": ")?;
        Some(Self { location: location.into(), message: without_next(message).into(), function: String::new() })
    }
}

/// A message without the next link of the chain, which has a place of its own.
fn without_next(message: &str) -> &str {
    message.find(" template:").map_or(message, |i| &message[..i])
}
