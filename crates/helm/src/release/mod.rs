//! A stored release: what Helm keeps about one revision.
//!
//! Owns: the record as data, its JSON, its packing into a Secret's value, its labels and name. Does not own: where
//! records are kept. Follows Helm's `pkg/release/v1` and `pkg/storage/driver`. The surprising thing: subcharts and the
//! chart's raw files are not in the record, so it cannot be rendered again; `chart.values` already has the subcharts'
//! defaults merged in.

pub mod codec;
pub mod compact;
pub mod digest;
pub mod name;
pub mod parts;

use std::collections::BTreeMap;

use bytes::Bytes;
use go_value::Map;
use serde::{Deserialize, Serialize};

use crate::chart::{Chart, File, Lock, Metadata};

/// The state of a revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Not known.
    #[default]
    Unknown,
    /// The current one.
    Deployed,
    /// Uninstalled with its history kept.
    Uninstalled,
    /// Replaced by a newer one.
    Superseded,
    /// Failed.
    Failed,
    /// Being uninstalled.
    Uninstalling,
    /// Being installed.
    PendingInstall,
    /// Being upgraded to.
    PendingUpgrade,
    /// Being rolled back to.
    PendingRollback,
}

impl Status {
    /// Helm's word, as in records and labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Deployed => "deployed",
            Self::Uninstalled => "uninstalled",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
            Self::Uninstalling => "uninstalling",
            Self::PendingInstall => "pending-install",
            Self::PendingUpgrade => "pending-upgrade",
            Self::PendingRollback => "pending-rollback",
        }
    }

    /// Is an action running, or was one cut off?
    pub const fn is_pending(self) -> bool {
        matches!(self, Self::PendingInstall | Self::PendingUpgrade | Self::PendingRollback)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// Before an install.
    PreInstall,
    /// After an install.
    PostInstall,
    /// Before an uninstall.
    PreDelete,
    /// After an uninstall.
    PostDelete,
    /// Before an upgrade.
    PreUpgrade,
    /// After an upgrade.
    PostUpgrade,
    /// Before a rollback.
    PreRollback,
    /// After a rollback.
    PostRollback,
    /// On `helm test`.
    Test,
}

impl HookEvent {
    /// The event that a word of the annotation `helm.sh/hook` names (lower case, trimmed).
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "pre-install" => Self::PreInstall,
            "post-install" => Self::PostInstall,
            "pre-delete" => Self::PreDelete,
            "post-delete" => Self::PostDelete,
            "pre-upgrade" => Self::PreUpgrade,
            "post-upgrade" => Self::PostUpgrade,
            "pre-rollback" => Self::PreRollback,
            "post-rollback" => Self::PostRollback,
            "test" | "test-success" => Self::Test,
            _ => return None,
        })
    }

    /// Helm's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::Test => "test",
        }
    }
}

/// How the last run of a hook ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookExecution {
    /// RFC 3339; empty when it never ran.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "codec::time_text")]
    pub started_at: String,
    /// RFC 3339; empty while it runs.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "codec::time_text")]
    pub completed_at: String,
    /// `Unknown`, `Running`, `Succeeded`, `Failed` or empty.
    #[serde(default)]
    pub phase: String,
}

/// An object that runs at a point of a release's life instead of living with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// metadata.name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The template's path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Its YAML.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub manifest: String,
    /// When it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "codec::null_default")]
    pub events: Vec<HookEvent>,
    /// How it went the last time.
    #[serde(default)]
    pub last_run: HookExecution,
    /// Order among hooks of an event.
    #[serde(default, skip_serializing_if = "codec::is_zero")]
    pub weight: i64,
    /// When its objects are deleted. Words Helm does not know are kept without effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "codec::null_default")]
    pub delete_policies: Vec<String>,
    /// When its logs are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "codec::null_default")]
    pub output_log_policies: Vec<String>,
}

impl Hook {
    /// Does it run at this event?
    pub fn runs_at(&self, event: HookEvent) -> bool {
        self.events.contains(&event)
    }
}

/// What is known about a revision besides its content. Times are RFC 3339 as stored, empty when not set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// When the release was first deployed.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "codec::time_text")]
    pub first_deployed: String,
    /// When this revision was.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "codec::time_text")]
    pub last_deployed: String,
    /// When it was uninstalled.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "codec::time_text")]
    pub deleted: String,
    /// One sentence on how it went.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its state.
    #[serde(default)]
    pub status: Status,
    /// The revision it was rolled back to.
    #[serde(default, skip_serializing_if = "codec::is_zero")]
    pub rollback_revision: i64,
    /// NOTES.txt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// How the objects of a revision were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplyMethod {
    /// Client-side apply: Helm 3's way, and what an absent field means.
    #[default]
    ClientSide,
    /// Server-side apply.
    ServerSide,
}

/// The part of a chart that a record keeps.
#[derive(Clone, Debug, Default)]
pub struct StoredChart {
    /// Chart.yaml after processing.
    pub metadata: Metadata,
    /// Chart.lock.
    pub lock: Option<Lock>,
    /// Templates.
    pub templates: Vec<File>,
    /// Default values, with those of enabled subcharts merged in.
    pub values: Map,
    /// values.schema.json.
    pub schema: Option<Bytes>,
    /// Other files.
    pub files: Vec<File>,
    /// When Chart.yaml was last changed. Helm 3 does not keep times of files.
    pub modified: Option<jiff::Timestamp>,
    /// When values.schema.json was last changed.
    pub schema_modified: Option<jiff::Timestamp>,
}

impl From<&Chart> for StoredChart {
    fn from(chart: &Chart) -> Self {
        Self {
            metadata: chart.metadata.clone(),
            lock: chart.lock.clone(),
            templates: chart.templates.clone(),
            values: chart.values.clone(),
            schema: chart.schema.clone(),
            files: chart.files.clone(),
            modified: chart.modified,
            schema_modified: chart.schema_modified,
        }
    }
}

/// One revision of a release.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// The release's name.
    pub name: String,
    /// Where its objects live.
    pub namespace: String,
    /// The revision number.
    pub version: i64,
    /// State and times.
    pub info: Info,
    /// The chart.
    pub chart: StoredChart,
    /// The user's values.
    pub config: Map,
    /// The rendered objects.
    pub manifest: String,
    /// The rendered hooks.
    pub hooks: Vec<Hook>,
    /// How the objects are sent.
    pub apply_method: ApplyMethod,
    /// Labels of the record beside Helm's own; not part of the JSON.
    pub labels: BTreeMap<String, String>,
}

impl Release {
    /// Set state and description together, as every step of an action does.
    pub fn set_status(&mut self, status: Status, description: impl Into<String>) {
        self.info.status = status;
        self.info.description = description.into();
    }
}
