//! HelmRelease.

pub mod actions;
pub mod spec;
pub mod status;

pub use actions::*;
pub use spec::*;
pub use status::*;

use std::time::Duration as Std;

/// How long an action waits when nothing says otherwise.
pub const DEFAULT_TIMEOUT: Std = Std::from_mins(5);
/// How many revisions are kept when nothing says otherwise.
pub const DEFAULT_MAX_HISTORY: i64 = 5;
/// Flux's field manager, and ours, so that ownership does not change hands.
pub const FIELD_MANAGER: &str = "helm-controller";

impl HelmRelease {
    /// The object's namespace.
    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// `metadata.generation`.
    pub fn generation(&self) -> i64 {
        self.metadata.generation.unwrap_or(0)
    }

    /// Where the release's objects live.
    pub fn release_namespace(&self) -> &str {
        self.spec.target_namespace.as_deref().unwrap_or_else(|| self.namespace())
    }

    /// Where its records are kept.
    pub fn storage_namespace(&self) -> &str {
        self.spec.storage_namespace.as_deref().unwrap_or_else(|| self.namespace())
    }

    /// The release's name before it is shortened: what was asked for, else `[<targetNamespace>-]<name>`.
    pub fn full_release_name(&self) -> String {
        match (&self.spec.release_name, &self.spec.target_namespace) {
            (Some(name), _) => name.clone(),
            (None, Some(namespace)) => format!("{namespace}-{}", self.name()),
            (None, None) => self.name().to_string(),
        }
    }

    /// The timeout of an action that has `own` of its own or not.
    pub fn timeout(&self, own: Option<&crate::meta::Duration>) -> Std {
        own.or(self.spec.timeout.as_ref()).map_or(DEFAULT_TIMEOUT, crate::meta::Duration::as_std)
    }

    /// How many revisions are kept; 0 is all.
    pub fn max_history(&self) -> i64 {
        self.spec.max_history.unwrap_or(DEFAULT_MAX_HISTORY)
    }

    /// The name of the HelmChart made for `spec.chart`.
    pub fn helm_chart_name(&self) -> String {
        format!("{}-{}", self.namespace(), self.name())
    }

    /// The install options, or their defaults.
    pub fn install(&self) -> Install {
        self.spec.install.clone().unwrap_or_default()
    }

    /// The upgrade options, or their defaults.
    pub fn upgrade(&self) -> Upgrade {
        self.spec.upgrade.clone().unwrap_or_default()
    }

    /// The rollback options, or their defaults.
    pub fn rollback(&self) -> Rollback {
        self.spec.rollback.clone().unwrap_or_default()
    }

    /// The uninstall options, or their defaults.
    pub fn uninstall(&self) -> Uninstall {
        self.spec.uninstall.clone().unwrap_or_default()
    }

    /// The test options, or their defaults.
    pub fn test(&self) -> Test {
        self.spec.test.clone().unwrap_or_default()
    }

    /// What is done about drift.
    pub fn drift_mode(&self) -> DriftMode {
        self.spec.drift_detection.as_ref().and_then(|d| d.mode).unwrap_or_default()
    }
}
