//! The testkit keeps its promises: what it starts is real and answers.

mod control_plane;
mod pods;
mod proxy;
mod sources;
