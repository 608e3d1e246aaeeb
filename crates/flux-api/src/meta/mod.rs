//! What all of Flux's kinds share: conditions, durations, references, annotations.

pub mod condition;
pub mod duration;
pub mod reason;

pub use condition::Condition;
pub use duration::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The finalizer of all Flux kinds.
pub const FINALIZER: &str = "finalizers.fluxcd.io";
/// Annotation: a new value asks for a pass now.
pub const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";
/// Annotation: with the same value as [`REQUESTED_AT`], asks for an upgrade whether or not anything changed.
pub const FORCE_AT: &str = "reconcile.fluxcd.io/forceAt";
/// Annotation: with the same value as [`REQUESTED_AT`], asks for the failure counters to be reset.
pub const RESET_AT: &str = "reconcile.fluxcd.io/resetAt";
/// Label or annotation of an object: `disabled` leaves it out of drift detection.
pub const DRIFT_DETECTION: &str = "helm.toolkit.fluxcd.io/driftDetection";
/// Origin label of release objects: the HelmRelease's name.
pub const ORIGIN_NAME: &str = "helm.toolkit.fluxcd.io/name";
/// Origin label of release objects: the HelmRelease's namespace.
pub const ORIGIN_NAMESPACE: &str = "helm.toolkit.fluxcd.io/namespace";
/// Our annotation: whose Helm's rules a release follows, see `HelmProfile`.
pub const HELM_PROFILE: &str = "helmrel.dev/helm-profile";

/// The name of something in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalReference {
    /// Name of the referent.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}
