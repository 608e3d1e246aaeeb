//! What can go wrong between a chart and a manifest, with Helm's words.

/// A failed step on the way from a chart to rendered manifests or a release record. `Display` is Helm's own text
/// where Helm has one, so that a person can look it up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The chart's files cannot be read as a chart.
    #[error("{0}")]
    Load(String),
    /// `--set` and its relatives, or a values file.
    #[error("{0}")]
    Values(String),
    /// Conditions, tags, aliases or imports of subcharts.
    #[error("{0}")]
    Dependencies(String),
    /// Values that break a chart's JSON schema.
    #[error("{0}")]
    Schema(String),
    /// The chart asks for another Kubernetes version.
    #[error("{0}")]
    KubeVersion(String),
    /// A template does not parse or does not execute.
    #[error("{0}")]
    Render(String),
    /// Rendered text that is not a Kubernetes manifest.
    #[error("{0}")]
    Manifest(String),
    /// A stored release that cannot be decoded, or a release that cannot be encoded.
    #[error("{0}")]
    Record(String),
    /// A release name Kubernetes would refuse.
    #[error("{0}")]
    ReleaseName(String),
}
