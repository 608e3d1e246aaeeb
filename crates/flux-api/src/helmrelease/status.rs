//! What the controller says about a HelmRelease.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meta::Condition;

/// The observed state of a HelmRelease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelmReleaseStatus {
    /// The generation that was last worked through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The digest of postRenderers that the last action saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_post_renderers_digest: Option<String>,
    /// The digest of commonMetadata that the last action saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_common_metadata_digest: Option<String>,
    /// The generation of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_generation: Option<i64>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// `namespace/name` of the HelmChart made for the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm_chart: Option<String>,
    /// Where the records are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_namespace: Option<String>,
    /// The revisions that count, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Snapshot>,
    /// The objects of the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Inventory>,
    /// `install` or `upgrade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_release_action: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_release_action_duration: Option<String>,
    /// Failures in all since the last change.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: i64,
    /// Failed installs since the last change.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub install_failures: i64,
    /// Failed upgrades since the last change.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub upgrade_failures: i64,
    /// The chart version of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision: Option<String>,
    /// The digest of the artifact of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision_digest: Option<String>,
    /// The digest of the values of the last attempt, in an old form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_values_checksum: Option<String>,
    /// Not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_release_revision: Option<i64>,
    /// The digest of the values of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_config_digest: Option<String>,
    /// The last value of the annotation requestedAt that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// The last value of the annotation forceAt that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_force_at: Option<String>,
    /// The last value of the annotation resetAt that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reset_at: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature serde asks for.
fn is_zero(n: &i64) -> bool {
    *n == 0
}

/// One revision of a release as the controller left it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// `v2` for the form of the digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// The digest of the stored release.
    pub digest: String,
    /// The release's name.
    pub name: String,
    /// The release's namespace.
    pub namespace: String,
    /// The revision.
    pub version: i64,
    /// Helm's status.
    pub status: String,
    /// The action that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The chart's name.
    pub chart_name: String,
    /// The chart's version.
    pub chart_version: String,
    /// The chart's appVersion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// The digest of the values.
    pub config_digest: String,
    /// When the release was first deployed.
    pub first_deployed: String,
    /// When this revision was.
    pub last_deployed: String,
    /// When it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    /// The tests that ran; absent until they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_hooks: Option<BTreeMap<String, TestHookStatus>>,
    /// The digest of the OCI artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oci_digest: Option<String>,
}

impl Snapshot {
    /// `namespace/name.vN`, as messages name a revision.
    pub fn full_name(&self) -> String {
        format!("{}/{}.v{}", self.namespace, self.name, self.version)
    }

    /// `chart@version`.
    pub fn chart(&self) -> String {
        format!("{}@{}", self.chart_name, self.chart_version)
    }
}

/// How a test went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestHookStatus {
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_started: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_completed: Option<String>,
    /// `Succeeded`, `Failed` or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

/// The objects of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inventory {
    /// One entry an object.
    pub entries: Vec<ResourceRef>,
}

/// An object of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRef {
    /// `<namespace>_<name>_<group>_<kind>`.
    pub id: String,
    /// The API version.
    pub v: String,
}
