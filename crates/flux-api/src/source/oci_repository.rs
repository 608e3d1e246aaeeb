//! OCIRepository: an artifact in a registry.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::Artifact;
use crate::meta::{Condition, Duration, LocalReference};

/// Which artifact, and how to get at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "OCIRepository",
    plural = "ocirepositories",
    shortname = "ocirepo",
    namespaced,
    status = "OCIRepositoryStatus",
    derive = "PartialEq",
    doc = "An artifact in an OCI registry."
)]
#[serde(rename_all = "camelCase")]
pub struct OCIRepositorySpec {
    /// Address of the repository, without a tag.
    #[schemars(regex(pattern = r"^oci://.*$"))]
    pub url: String,
    /// Which tag or digest; `latest` when not given.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<OciRepositoryReference>,
    /// Which layer, and what is done with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer_selector: Option<OciLayerSelector>,
    /// Whose way of authenticating is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "generic", "enum" = ["generic", "aws", "azure", "gcp"]))]
    pub provider: Option<String>,
    /// Credentials: a docker config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// Verification of signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<OciVerification>,
    /// A ServiceAccount whose pull secrets are used too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// TLS: ca.crt, tls.crt and tls.key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_secret_ref: Option<LocalReference>,
    /// A proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_secret_ref: Option<LocalReference>,
    /// How often the registry is asked.
    pub interval: Duration,
    /// How long an operation may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "60s"))]
    pub timeout: Option<Duration>,
    /// Patterns of files to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// Plain HTTP, or certificates nobody checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// Nothing happens while true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

/// Which tag or digest: digest before semver before tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OciRepositoryReference {
    /// `sha256:…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The newest tag in this range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semver: Option<String>,
    /// A regular expression that tags must match first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semver_filter: Option<String>,
    /// A tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Which layer, and what is done with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OciLayerSelector {
    /// The first layer of this media type; the first layer when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// `extract` or `copy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["extract", "copy"]))]
    pub operation: Option<String>,
}

/// How signatures of an artifact are verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OciVerification {
    /// `cosign` or `notation`.
    #[schemars(extend("default" = "cosign", "enum" = ["cosign", "notation"]))]
    pub provider: String,
    /// The keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// Whose identity must have signed.
    #[serde(default, rename = "matchOIDCIdentity", skip_serializing_if = "Vec::is_empty")]
    pub match_oidc_identity: Vec<OidcIdentityMatch>,
    /// A root of trust in place of the public one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_root_secret_ref: Option<LocalReference>,
}

/// An identity that may sign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OidcIdentityMatch {
    /// A regular expression for the issuer.
    pub issuer: String,
    /// A regular expression for the subject.
    pub subject: String,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OCIRepositoryStatus {
    /// The generation that was last worked through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Where the newest file is always found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// The patterns of the last artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_ignore: Option<String>,
    /// The layer of the last artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_layer_selector: Option<OciLayerSelector>,
    /// The last value of the annotation requestedAt that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}
