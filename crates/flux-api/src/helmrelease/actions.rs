//! The options of a release's actions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meta::Duration;

/// What is done with the files under `crds/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CrdsPolicy {
    /// Nothing.
    Skip,
    /// New ones are created, existing ones stay as they are. Flux's default for installs and upgrades alike.
    #[default]
    Create,
    /// Existing ones are brought up to date.
    CreateReplace,
}

/// Whether objects are sent by server-side apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerSideApply {
    /// Yes.
    Enabled,
    /// No.
    Disabled,
    /// As the release was before.
    #[default]
    Auto,
}

/// What follows a failed install or upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionStrategy {
    /// `RemediateOnFailure` or `RetryOnFailure`.
    #[schemars(extend("enum" = ["RemediateOnFailure", "RetryOnFailure"]))]
    pub name: String,
    /// The pause between retries, 5m when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_interval: Option<Duration>,
}

/// How a failed install is remediated: by uninstalling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallRemediation {
    /// How many times to try again; negative for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<i64>,
    /// Failed tests are no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_test_failures: Option<bool>,
    /// Uninstall after the last failure too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediate_last_failure: Option<bool>,
}

/// How a failed upgrade is remediated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeRemediation {
    /// How many times to try again; negative for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<i64>,
    /// Failed tests are no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_test_failures: Option<bool>,
    /// Remediate after the last failure too; true when there are retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediate_last_failure: Option<bool>,
    /// `rollback` or `uninstall`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<RemediationStrategy>,
}

/// What remediation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RemediationStrategy {
    /// Go back to the last good revision.
    #[default]
    Rollback,
    /// Uninstall.
    Uninstall,
}

/// Options of installs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Install {
    /// How long each wait may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// What follows a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<ActionStrategy>,
    /// How a failure is remediated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<InstallRemediation>,
    /// Do not adopt objects that others made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_take_ownership: Option<bool>,
    /// Do not wait for readiness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait: Option<bool>,
    /// Do not wait for Jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait_for_jobs: Option<bool>,
    /// Do not run hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_hooks: Option<bool>,
    /// Do not validate against the cluster's schema.
    #[serde(default, rename = "disableOpenAPIValidation", skip_serializing_if = "Option::is_none")]
    pub disable_openapi_validation: Option<bool>,
    /// Do not validate values against the chart's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_schema_validation: Option<bool>,
    /// Reuse the name of an uninstalled or failed release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
    /// Not used; see crds.
    #[serde(default, rename = "skipCRDs", skip_serializing_if = "Option::is_none")]
    pub skip_crds: Option<bool>,
    /// What is done with the files under crds/.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crds: Option<CrdsPolicy>,
    /// Make the target namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_namespace: Option<bool>,
    /// Send objects by server-side apply, true when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_side_apply: Option<bool>,
}

/// Options of upgrades.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Upgrade {
    /// How long each wait may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// What follows a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<ActionStrategy>,
    /// How a failure is remediated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<UpgradeRemediation>,
    /// Do not adopt objects that others made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_take_ownership: Option<bool>,
    /// Do not wait for readiness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait: Option<bool>,
    /// Do not wait for Jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait_for_jobs: Option<bool>,
    /// Do not run hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_hooks: Option<bool>,
    /// Do not validate against the cluster's schema.
    #[serde(default, rename = "disableOpenAPIValidation", skip_serializing_if = "Option::is_none")]
    pub disable_openapi_validation: Option<bool>,
    /// Do not validate values against the chart's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_schema_validation: Option<bool>,
    /// Replace objects instead of patching them (client-side apply only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Keep the values of the last revision below the new ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserve_values: Option<bool>,
    /// Delete what a failed upgrade created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup_on_fail: Option<bool>,
    /// What is done with the files under crds/.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crds: Option<CrdsPolicy>,
    /// Whether objects are sent by server-side apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_side_apply: Option<ServerSideApply>,
    /// `Reinstall` or `InPlaceUpdate` when the chart's name changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["InPlaceUpdate", "Reinstall"]))]
    pub chart_name_change_strategy: Option<String>,
}

/// Options of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Test {
    /// Run tests after installs and upgrades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable: Option<bool>,
    /// How long each test may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Failed tests are no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_failures: Option<bool>,
    /// Which tests run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<TestFilter>,
}

/// Which tests run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestFilter {
    /// The test's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Leave it out instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<bool>,
}

/// Options of rollbacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollback {
    /// How long each wait may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Do not wait for readiness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait: Option<bool>,
    /// Do not wait for Jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait_for_jobs: Option<bool>,
    /// Do not run hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_hooks: Option<bool>,
    /// Has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recreate: Option<bool>,
    /// Replace objects instead of patching them (client-side apply only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Delete what a failed rollback created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup_on_fail: Option<bool>,
    /// Whether objects are sent by server-side apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_side_apply: Option<ServerSideApply>,
}

/// Options of uninstalls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uninstall {
    /// How long each wait may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Do not run hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_hooks: Option<bool>,
    /// Keep the records, marked as uninstalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_history: Option<bool>,
    /// Do not wait until the objects are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_wait: Option<bool>,
    /// `background`, `foreground` or `orphan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "background", "enum" = ["background", "foreground", "orphan"]))]
    pub deletion_propagation: Option<String>,
}
