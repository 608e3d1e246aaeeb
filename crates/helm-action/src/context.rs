//! Everything an action needs, and nothing global.

use std::sync::Arc;
use std::time::Duration;

use helm::HelmProfile;
use helm::engine::Limits;
use jiff::Timestamp;
use kube_ops::Cluster;

use crate::storage::Storage;

/// The surroundings of one release's actions.
#[derive(Clone, Debug)]
pub struct Context {
    /// The cluster as the release's identity sees it.
    pub cluster: Cluster,
    /// Where the records are.
    pub storage: Storage,
    /// The release's name.
    pub release: Arc<str>,
    /// Where the release's objects live.
    pub namespace: Arc<str>,
    /// Whose Helm's rules hold.
    pub profile: HelmProfile,
    /// May templates ask DNS?
    pub enable_dns: bool,
    /// How far templates may go.
    pub limits: Limits,
    /// Clock, randomness and DNS of templates.
    pub host: HostRef,
}

/// The host of template functions, shared.
#[derive(Clone)]
pub struct HostRef(pub Arc<dyn sprig::Host>);

impl std::fmt::Debug for HostRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostRef")
    }
}

impl Context {
    /// The time now as records keep it: RFC 3339 with nanoseconds, UTC.
    pub fn now_text(&self) -> String {
        let now: Timestamp = self.host.0.now().timestamp();
        now.to_string()
    }
}

/// How an action waits.
#[derive(Clone, Copy, Debug)]
pub struct WaitOptions {
    /// Wait for readiness at all? Hooks are awaited anyway.
    pub wait: bool,
    /// Wait for Jobs to end, not only to start.
    pub jobs: bool,
    /// How long each wait may take.
    pub timeout: Duration,
}
