//! What can go wrong with a cluster.
//!
//! Owns: the classes of failure that callers treat differently, and the texts. Messages follow Helm's where Helm has
//! one; the API server's own message is always part of them.

use std::fmt;
use std::time::Duration;

use kube_object::{Gvk, Object, ObjectId};

/// What kind of failure an API call ended in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// There is no such object, or no such kind.
    NotFound,
    /// Someone else changed the object, owns the field, or made the object first.
    Conflict,
    /// The object exists already.
    AlreadyExists,
    /// The identity may not do this.
    Forbidden,
    /// The server refuses the object.
    Invalid,
    /// It may work later: time-outs, overload, lost connections.
    Transient,
    /// Anything else.
    Other,
}

/// The answer of an API server that did not do what was asked, or the reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The class.
    pub class: Class,
    /// The HTTP status; 0 without an answer.
    pub code: u16,
    /// The server's message, or the transport's.
    pub message: String,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<kube::Error> for ApiError {
    fn from(e: kube::Error) -> Self {
        match e {
            kube::Error::Api(status) => {
                let class = match (status.code, status.reason.as_str()) {
                    (404, _) => Class::NotFound,
                    (409, "AlreadyExists") => Class::AlreadyExists,
                    (409 | 412, _) => Class::Conflict,
                    (401 | 403, _) => Class::Forbidden,
                    (400 | 405 | 415 | 422, _) => Class::Invalid,
                    (408 | 429 | 500..=599, _) => Class::Transient,
                    _ => Class::Other,
                };
                let message = if status.message.is_empty() {
                    format!("the server answered {} {}", status.code, status.reason)
                } else {
                    status.message.clone()
                };
                Self { class, code: status.code, message }
            }
            other => {
                // The chain below says what happened ("Connection refused"); kube's own words only name the layer.
                let mut message = other.to_string();
                let mut source = std::error::Error::source(&other);
                while let Some(e) = source {
                    let text = e.to_string();
                    if !message.contains(&text) {
                        message = format!("{message}: {text}");
                    }
                    source = e.source();
                }
                Self { class: Class::Transient, code: 0, message }
            }
        }
    }
}

/// A failed operation on a cluster. The variant names the step.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The cluster's address or credentials are not usable.
    #[error("kubernetes cluster unreachable: {0}")]
    Connect(String),
    /// The kinds of the cluster could not be listed.
    #[error("failed to discover the kinds of the cluster: {0}")]
    Discover(ApiError),
    /// The cluster has no such kind.
    #[error("resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from \"\": no matches for kind \"{}\" in version \"{}\"\nensure CRDs are installed first", gvk.kind, gvk.api_version())]
    UnknownKind {
        /// The kind.
        gvk: Gvk,
        /// The object's name.
        name: String,
        /// The object's namespace.
        namespace: String,
    },
    /// An object could not be read.
    #[error("could not get information about the resource {id}: {source}")]
    Read {
        /// Which.
        id: ObjectId,
        /// Why.
        source: ApiError,
    },
    /// Objects of a kind could not be listed.
    #[error("could not list {kind}: {source}")]
    List {
        /// The kind.
        kind: String,
        /// Why.
        source: ApiError,
    },
    /// An object could not be applied.
    #[error("{}", apply_text(.target, .source))]
    Apply {
        /// `namespace/name group/version, Kind=Kind`.
        target: String,
        /// Why.
        source: ApiError,
    },
    /// An object could not be created.
    #[error("failed to create resource: {source}")]
    Create {
        /// Which.
        id: ObjectId,
        /// Why.
        source: ApiError,
    },
    /// An object could not be patched or replaced.
    #[error("cannot patch {:?} with kind {}: {source}", id.name, id.kind)]
    Patch {
        /// Which.
        id: ObjectId,
        /// Why.
        source: ApiError,
    },
    /// An object could not be deleted.
    #[error("failed to delete resource namespace={}, name={}, kind={}: {source}", id.namespace, id.name, id.kind)]
    Delete {
        /// Which.
        id: ObjectId,
        /// Why.
        source: ApiError,
    },
    /// Objects did not become what was waited for in time.
    #[error("{}", timeout_text(.pending))]
    Timeout {
        /// How long was waited.
        after: Duration,
        /// What is not there yet: the object and its status.
        pending: Vec<(ObjectId, String)>,
    },
    /// Objects that cannot become ready.
    #[error("failed early due to stalled resources: [{}]", statuses(.failed))]
    Stalled {
        /// The objects and their statuses.
        failed: Vec<(ObjectId, String)>,
    },
    /// Someone called the wait off.
    #[error("the wait was cancelled")]
    Cancelled,
    /// An answer that is no object.
    #[error("the cluster's answer for {0} is not an object")]
    Malformed(ObjectId),
}

impl Error {
    /// The class of the failure.
    pub fn class(&self) -> Class {
        match self {
            Self::Connect(_) | Self::Timeout { .. } | Self::Cancelled => Class::Transient,
            Self::UnknownKind { .. } => Class::NotFound,
            Self::Discover(source)
            | Self::Read { source, .. }
            | Self::List { source, .. }
            | Self::Apply { source, .. }
            | Self::Create { source, .. }
            | Self::Patch { source, .. }
            | Self::Delete { source, .. } => source.class,
            Self::Stalled { .. } | Self::Malformed(_) => Class::Other,
        }
    }

    /// What the API server answered to a write, or why it did not answer.
    pub const fn answer(&self) -> Option<&ApiError> {
        match self {
            Self::Apply { source, .. } | Self::Create { source, .. } | Self::Patch { source, .. } => Some(source),
            _ => None,
        }
    }

    /// The failed application of an object.
    pub(crate) fn apply(object: &Object, source: ApiError) -> Self {
        let namespace = object.namespace();
        let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        Self::Apply { target: format!("{place}{} {}", object.name(), object.gvk()), source }
    }
}

fn apply_text(target: &str, source: &ApiError) -> String {
    match source.code {
        409 => format!("conflict occurred while applying object {target}: {source}"),
        415 => format!("server-side apply not available on the server: {source}"),
        _ => format!("server-side apply failed for object {target}: {source}"),
    }
}

fn statuses(items: &[(ObjectId, String)]) -> String {
    items.iter().map(|(id, status)| format!("{id} status: '{status}'")).collect::<Vec<_>>().join(", ")
}

fn timeout_text(pending: &[(ObjectId, String)]) -> String {
    format!("timeout waiting for: [{}]", statuses(pending))
}
