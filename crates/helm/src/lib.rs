//! Helm's rules without a cluster.
//!
//! Owns: charts, values, rendering, splitting and sorting of manifests, hooks, release records. Does not own: clusters,
//! HTTP, clocks and randomness (those of the template functions are handed in as a [`sprig::Host`]). The specification is
//! Helm 4; where its versions differ, a [`HelmProfile`] says whose rules hold.
//!
//! The way of the data: [`chart::load`] gives a [`Chart`]; [`values`] merge what the user gives;
//! [`chart::process_dependencies`] settles the subcharts; [`render`] makes manifests, hooks and notes; [`release`] packs
//! them into what Helm stores.

#![allow(clippy::case_sensitive_file_extension_comparisons, reason = "Helm compares names so")]

pub mod chart;
pub mod engine;
pub mod error;
pub mod manifest;
pub mod postrender;
pub mod profile;
pub mod release;
pub mod render;
pub mod values;

pub use chart::Chart;
pub use error::Error;
pub use profile::HelmProfile;
