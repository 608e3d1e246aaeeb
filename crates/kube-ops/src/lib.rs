//! What one can do to a cluster.
//!
//! Owns: a cluster as seen by one identity ([`Cluster`]): which kinds it has, reading, applying, deleting, waiting and
//! comparing objects. Does not own: Helm, Flux, or when to do any of it. Everything works on [`Object`]s of whatever
//! kind; the kinds are looked up once and shared.
//!
//! [`Object`]: kube_object::Object

pub mod apply;
pub mod client;
pub mod delete;
pub mod discovery;
pub mod drift;
pub mod error;
pub mod read;
pub mod wait;

pub use client::{Cluster, Identity};
pub use discovery::{Kinds, Resource};
pub use error::{ApiError, Class, Error};
