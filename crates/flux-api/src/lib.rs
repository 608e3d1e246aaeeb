//! Flux's resource types.
//!
//! Owns: the shape of `helm.toolkit.fluxcd.io/v2` and `source.toolkit.fluxcd.io/v1` objects, their defaults and
//! accessors, the words of conditions, reasons and annotations, and the CRDs made of all that. Does not own: any
//! behaviour. The API server fills some defaults in; those that Flux's code fills in are methods here and nowhere else.

pub mod crd;
pub mod helmrelease;
pub mod meta;
pub mod source;

pub use helmrelease::{HelmRelease, HelmReleaseSpec, HelmReleaseStatus};
pub use meta::Condition;
pub use source::{HelmChart, HelmRepository, OCIRepository};
