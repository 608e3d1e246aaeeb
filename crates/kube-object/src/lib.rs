//! Pure functions over Kubernetes objects.
//!
//! Owns: an object as JSON with the accessors everyone needs ([`Object`]), Helm's kind order, Helm's ownership metadata,
//! readiness ([`status`]), differences ([`diff`]), owners of fields ([`fields`]), merge patches ([`patch`]) and masking of Secrets ([`mask`]).
//! Does not own: clients, time, Helm charts. Follows Helm's `kind_sorter.go`, `cli-utils/pkg/kstatus` and, for drift,
//! Flux's `ssa/jsondiff`.

pub mod diff;
pub mod fields;
pub mod mask;
pub mod object;
pub mod order;
pub mod ownership;
pub mod patch;
pub mod pointer;
pub mod status;

pub use object::{Gvk, Object, ObjectId};
