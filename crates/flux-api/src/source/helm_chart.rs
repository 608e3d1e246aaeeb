//! HelmChart: one chart of a repository.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::Artifact;
use crate::helmrelease::Verification;
use crate::meta::{Condition, Duration};

/// A source in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalSourceReference {
    /// API version of the referent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Kind of the referent.
    #[schemars(extend("enum" = ["HelmRepository", "GitRepository", "Bucket"]))]
    pub kind: String,
    /// Name of the referent.
    pub name: String,
}

/// Which chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "HelmChart",
    plural = "helmcharts",
    shortname = "hc",
    namespaced,
    status = "HelmChartStatus",
    derive = "PartialEq",
    doc = "A Helm chart from a source."
)]
#[serde(rename_all = "camelCase")]
pub struct HelmChartSpec {
    /// The chart's name, or its path in the source.
    pub chart: String,
    /// A version or range; ignored for paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "*"))]
    pub version: Option<String>,
    /// Where the chart comes from.
    pub source_ref: LocalSourceReference,
    /// How often the source is asked.
    pub interval: Duration,
    /// What makes a new chart of a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "ChartVersion", "enum" = ["ChartVersion", "Revision"]))]
    pub reconcile_strategy: Option<String>,
    /// Values files that replace values.yaml, merged in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values_files: Vec<String>,
    /// Do not mind values files that are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_missing_values_files: Option<bool>,
    /// Nothing happens while true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// Verification of signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verification>,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelmChartStatus {
    /// The generation that was last worked through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The revision of the source's artifact that was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_source_artifact_revision: Option<String>,
    /// The name of the chart that was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_chart_name: Option<String>,
    /// The values files that were there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed_values_files: Vec<String>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Where the newest file is always found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// The last value of the annotation requestedAt that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}
