//! Named semantics of Helm versions.
//!
//! Owns: the list of differences between Helm versions that change what a chart renders to, as questions a profile
//! answers. Callers ask the profile instead of comparing versions.

use std::fmt;
use std::str::FromStr;

/// Whose rules values and manifests follow. The default is the newest Helm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HelmProfile {
    /// Helm 4.1 (and, for what is asked here, Helm 3).
    V4_1,
    /// Helm 4.3, the newest.
    #[default]
    V4_3,
}

impl HelmProfile {
    /// Since 4.2 keys that a chart's own `values.yaml` declares null are dropped when values are coalesced.
    pub const fn drops_chart_nulls(self) -> bool {
        matches!(self, Self::V4_3)
    }

    /// Since 4.2.4 documents are split at lines that begin with `---` and keep the blank lines at their end; before,
    /// the space around a separator belonged to it.
    pub const fn keeps_document_tails(self) -> bool {
        matches!(self, Self::V4_3)
    }

    /// The Helm version that `.Capabilities.HelmVersion` shows, and the Kubernetes minor version its client library
    /// is built for (what `.Capabilities.KubeVersion` is without a cluster).
    pub const fn versions(self) -> (&'static str, u32) {
        match self {
            Self::V4_1 => ("v4.1.4", 35),
            Self::V4_3 => ("v4.3.1", 37),
        }
    }

    /// Has this Helm the template functions `mustToToml`, `mustToDuration` and `duration*`?
    pub const fn has_duration_functions(self) -> bool {
        matches!(self, Self::V4_3)
    }
}

impl fmt::Display for HelmProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4_1 => "4.1",
            Self::V4_3 => "4.3",
        })
    }
}

impl FromStr for HelmProfile {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "4.1" => Ok(Self::V4_1),
            "4.3" | "4.2" | "latest" => Ok(Self::V4_3),
            other => Err(format!("unknown Helm profile `{other}`; the profiles are 4.1 and 4.3")),
        }
    }
}
