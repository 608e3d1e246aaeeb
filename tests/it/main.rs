//! The integration tests of the root package: one binary, a module a theme.
//!
//! `generated`: files made from the code are fresh. `layers`: the repository's own rules. `lab`: the controller as a
//! process. `fixtures`: Flux's scenarios replayed. `release`: costs, drift, interplay with Helm, bad input.
//! `preview`: `helmrel diff`. `faults`: an API server that fails. `sources`: repositories, registries, a
//! source-controller. `records`: large charts. `leftovers`: what goes and what stays. `corpus`: public charts come and go.
//! `template`: rendering that asks a server. `drift`: objects with several owners.

mod corpus;
mod drift;
mod faults;
mod fixtures;
mod generated;
mod lab;
mod layers;
mod leftovers;
mod names;
mod preview;
mod records;
mod release;
mod sources;
mod template;
