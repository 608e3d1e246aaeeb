//! The testkit keeps its promises: what it starts is real and answers.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod control_plane;
mod pods;
mod proxy;
mod sources;
