//! What can go wrong in an action, in Helm's words.

use kube_object::ObjectId;

/// A failed step of an action.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Something in the chart or the values.
    #[error(transparent)]
    Chart(#[from] helm::Error),
    /// Something in the cluster.
    #[error(transparent)]
    Cluster(#[from] kube_ops::Error),
    /// A record could not be read or written.
    #[error("{step}: {source}")]
    Storage {
        /// Helm's words for the step, e.g. `create: failed to create`.
        step: &'static str,
        /// Why.
        source: Box<kube_ops::Error>,
    },
    /// A record is too large for a Secret.
    #[error(
        "create: failed to create: the record {object} would take {size} bytes without the chart's templates and files, more than the {limit} that a Secret may hold; the largest parts are {parts}"
    )]
    TooLarge {
        /// The Secret, as `namespace/name`.
        object: String,
        /// Bytes it would take until the action ends.
        size: usize,
        /// Bytes a Secret may hold.
        limit: usize,
        /// What takes the room.
        parts: String,
    },
    /// There is no such release, or no such revision.
    #[error("release: not found")]
    NotFound,
    /// A pending revision is in the way.
    #[error("another operation (install/upgrade/rollback) is in progress")]
    Pending,
    /// The name is taken.
    #[error("release name check failed: cannot reuse a name that is still in use")]
    NameInUse,
    /// Nothing to upgrade from.
    #[error("{0:?} has no deployed releases")]
    NoDeployedRelease(String),
    /// The rendered objects cannot be mapped to kinds of the cluster.
    #[error("unable to build kubernetes objects from {which} manifest: {source}")]
    Build {
        /// `release` or `current release`.
        which: &'static str,
        /// Why.
        source: Box<Error>,
    },
    /// An object that has no name, or is to get one by `generateName`: it could never be found again.
    #[error("could not get information about the resource {}: resource name may not be empty{}", owner_text(.id), source_text(.source_path))]
    Nameless {
        /// The object, as far as it is known.
        id: ObjectId,
        /// The template it comes from.
        source_path: String,
    },
    /// All records of the release are damaged.
    #[error("no revision for release {0:?}")]
    NoRevision(String),
    /// Objects that belong to someone else.
    #[error("unable to continue with {verb}: {} exists and cannot be imported into the current release: {why}", owner_text(.id))]
    Ownership {
        /// `install` or `update`.
        verb: &'static str,
        /// The object.
        id: ObjectId,
        /// What is missing or different.
        why: String,
    },
    /// Several objects failed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(" && "))]
    Several(Vec<Error>),
    /// A hook failed.
    #[error("{prefix}: {source}")]
    Hooks {
        /// `failed pre-install`, `pre-upgrade hooks failed` and so on.
        prefix: String,
        /// Why.
        source: Box<Error>,
    },
    /// A hook's object could not be sent.
    #[error("warning: Hook {event} {path} failed: {source}")]
    Hook {
        /// The event.
        event: &'static str,
        /// The template's path.
        path: String,
        /// Why.
        source: Box<Error>,
    },
    /// The files under crds/ could not be applied.
    #[error("failed to apply CustomResourceDefinitions: {0}")]
    Crds(Box<Error>),
    /// Objects of a release could not be deleted.
    #[error("failed to delete release: {release}: {source}")]
    DeleteRelease {
        /// The release.
        release: String,
        /// The first error.
        source: Box<Error>,
    },
    /// The release was uninstalled but something went wrong on the way.
    #[error("uninstallation completed with {} error(s): {}", .0.len(), .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Uninstalled(Vec<Error>),
    /// The release is marked as uninstalled already.
    #[error("the release named {0:?} is already deleted")]
    AlreadyDeleted(String),
    /// What should run beside the event loop could not.
    #[error("failed to {what}: {why}")]
    Internal {
        /// The step.
        what: &'static str,
        /// Why.
        why: String,
    },
}

fn source_text(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" ({path})") }
}

fn owner_text(id: &ObjectId) -> String {
    let namespace = &id.namespace;
    format!("{} {:?} in namespace {namespace:?}", id.kind, id.name)
}

impl Error {
    /// Has the identity not the rights?
    pub fn is_forbidden(&self) -> bool {
        match self {
            Self::Cluster(e) => e.class() == kube_ops::Class::Forbidden,
            Self::Several(all) => all.iter().all(Self::is_forbidden),
            Self::Hooks { source, .. } | Self::Hook { source, .. } => source.is_forbidden(),
            _ => false,
        }
    }

    /// Is this the cluster saying that it may work later?
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Cluster(e) => e.class() == kube_ops::Class::Transient,
            Self::Storage { source, .. } => source.class() == kube_ops::Class::Transient,
            Self::Build { source, .. }
            | Self::Hooks { source, .. }
            | Self::Hook { source, .. }
            | Self::Crds(source) => source.is_transient(),
            _ => false,
        }
    }
}
