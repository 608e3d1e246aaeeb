//! Versions and ranges by the rules of Masterminds/semver v3.
//!
//! Owns: parsing versions (strictly and loosely), ordering, ranges with their reasons for refusal.
//! Does not own: picking a chart from an index (`chart-source`), template functions (`sprig`).
//! Upstream: github.com/Masterminds/semver/v3 v3.5.0.
//! The surprising thing: a range without a pre-release part never accepts a pre-release version, whatever the numbers
//! say.

mod constraint;
mod error;
mod version;
mod written;

pub use constraint::Constraints;
pub use error::Error;
pub use version::Version;
