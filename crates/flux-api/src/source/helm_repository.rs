//! HelmRepository: an HTTP chart repository, or an OCI registry prefix.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::artifact::SourceStatus;
use crate::meta::{Duration, LocalReference};

/// The status of a HelmRepository.
pub type HelmRepositoryStatus = SourceStatus;

/// Where charts are and how to get at them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "HelmRepository",
    plural = "helmrepositories",
    shortname = "helmrepo",
    namespaced,
    status = "SourceStatus",
    derive = "PartialEq",
    doc = "A repository of Helm charts."
)]
#[serde(rename_all = "camelCase")]
pub struct HelmRepositorySpec {
    /// Address of the repository.
    #[schemars(regex(pattern = r"^(http|https|oci)://.*$"))]
    pub url: String,
    /// Credentials: username and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// TLS: ca.crt, tls.crt and tls.key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_secret_ref: Option<LocalReference>,
    /// Send credentials to other hosts than the repository's too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_credentials: Option<bool>,
    /// How often the index is fetched, 1m when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Plain HTTP for OCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// How long a request may take, 60s when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Nothing happens while true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// Not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::crd::any")]
    pub access_from: Option<Json>,
    /// `default` or `oci`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["default", "oci"]))]
    pub repository_type: Option<String>,
    /// Whose way of authenticating is used for OCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "generic", "enum" = ["generic", "aws", "azure", "gcp"]))]
    pub provider: Option<String>,
}

impl HelmRepositorySpec {
    /// Is it an OCI registry?
    pub fn is_oci(&self) -> bool {
        self.repository_type.as_deref() == Some("oci")
    }
}
