//! What a pass tells people besides the status.

use std::collections::BTreeMap;

/// How serious a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// For the record of Kubernetes only.
    Trace,
    /// It went well.
    Info,
    /// It did not.
    Error,
}

/// An event to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How serious.
    pub severity: Severity,
    /// One CamelCase word.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// Annotations of the event.
    pub annotations: BTreeMap<String, String>,
}

impl Notice {
    /// Without annotations.
    pub fn new(severity: Severity, reason: &'static str, message: impl Into<String>) -> Self {
        Self { severity, reason, message: message.into(), annotations: BTreeMap::new() }
    }
}
