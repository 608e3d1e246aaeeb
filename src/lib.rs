//! helmrel: a Kubernetes controller for Helm releases, and the command line that goes with it.
//!
//! The map: [`cli`] is one person and one command; `controller` is many HelmReleases in one process; `reconcile` is
//! one HelmRelease and one pass; `sources` are the kinds charts come from. The rules below them live in the crates:
//! `helm` (charts, values, rendering, records), `helm-action` (Helm's verbs), `kube-ops` (what one can do to a
//! cluster), `chart-source` (repositories and registries), `flux-api` (the types).

pub mod cli;
pub mod controller;
pub mod host;
pub mod preview;
pub mod reconcile;
pub mod render_limits;
pub mod slot;
pub mod sources;
