//! Helm's verbs against a cluster.
//!
//! Owns: storage of releases, install, upgrade, rollback, uninstall, unlock, hooks, CRDs, pruning, what an action would
//! change ([`plan`]). Does not own: HelmReleases, conditions, events, or deciding which verb comes next. Follows Helm
//! 4's `pkg/action`; where Flux asks Helm for another behaviour, an option says so.
//!
//! Every verb answers with an [`Outcome`]: the revisions it persisted, in order, and how it ended. An error before the
//! first write leaves nothing behind.

pub mod build;
pub mod capabilities;
pub mod context;
pub mod crds;
pub mod drift;
pub mod error;
pub mod hooks;
pub mod install;
pub mod keep;
pub mod lookup;
pub mod outcome;
pub mod plan;
pub mod prepare;
mod replaced;
pub mod revision;
pub mod rollback;
pub mod storage;
pub mod test;
pub mod uninstall;
pub mod unlock;
pub mod update;
pub mod upgrade;

pub use context::Context;
pub use error::Error;
pub use outcome::Outcome;
pub use storage::Storage;
