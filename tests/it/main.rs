//! The integration tests of the root package: one binary, a module a theme.
//!
//! `generated`: files made from the code are fresh. `layers`: the repository's own rules.

mod generated;
mod layers;
