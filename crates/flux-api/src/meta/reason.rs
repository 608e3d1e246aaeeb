//! The reasons of conditions and events, one sentence each.

/// A pass is running.
pub const PROGRESSING: &str = "Progressing";
/// The last try failed and another will follow.
pub const PROGRESSING_WITH_RETRY: &str = "ProgressingWithRetry";
/// The install went through.
pub const INSTALL_SUCCEEDED: &str = "InstallSucceeded";
/// The install failed.
pub const INSTALL_FAILED: &str = "InstallFailed";
/// The upgrade went through.
pub const UPGRADE_SUCCEEDED: &str = "UpgradeSucceeded";
/// The upgrade failed.
pub const UPGRADE_FAILED: &str = "UpgradeFailed";
/// The tests passed.
pub const TEST_SUCCEEDED: &str = "TestSucceeded";
/// A test failed.
pub const TEST_FAILED: &str = "TestFailed";
/// Tests are still to be run.
pub const AWAITING_TESTS: &str = "AwaitingTests";
/// The rollback went through.
pub const ROLLBACK_SUCCEEDED: &str = "RollbackSucceeded";
/// The rollback failed.
pub const ROLLBACK_FAILED: &str = "RollbackFailed";
/// The uninstall went through.
pub const UNINSTALL_SUCCEEDED: &str = "UninstallSucceeded";
/// The uninstall failed.
pub const UNINSTALL_FAILED: &str = "UninstallFailed";
/// A release left pending by a killed process was unlocked.
pub const PENDING_RELEASE: &str = "PendingRelease";
/// The chart could not be loaded.
pub const ARTIFACT_FAILED: &str = "ArtifactFailed";
/// A release this one depends on is not ready.
pub const DEPENDENCY_NOT_READY: &str = "DependencyNotReady";
/// The source of the chart is not ready.
pub const SOURCE_NOT_READY: &str = "SourceNotReady";
/// The values could not be composed.
pub const VALUES_ERROR: &str = "ValuesError";
/// The chart's version does not fit its artifact.
pub const CHART_MUTATE_ERROR: &str = "ChartMutateError";
/// No client for the release's identity.
pub const REST_CLIENT_ERROR: &str = "RESTClientError";
/// The action could not be set up.
pub const FACTORY_ERROR: &str = "FactoryError";
/// The state of the release could not be told.
pub const STATE_ERROR: &str = "StateError";
/// What the release may do is not enough.
pub const ACCESS_DENIED: &str = "AccessDenied";
/// A field is set that this controller does not act on. Ours; Flux has no such reason.
pub const UNSUPPORTED_FIELD: &str = "UnsupportedField";
/// An expression does not compile.
pub const INVALID_CEL_EXPRESSION: &str = "InvalidCELExpression";
/// All retries are used up.
pub const RETRIES_EXCEEDED: &str = "RetriesExceeded";
/// There is no revision to roll back to.
pub const MISSING_ROLLBACK_TARGET: &str = "MissingRollbackTarget";
/// The cluster differs from the release.
pub const DRIFT_DETECTED: &str = "DriftDetected";
/// The cluster is as the release says.
pub const NO_DRIFT_DETECTED: &str = "NoDriftDetected";
/// The cluster was made to match.
pub const DRIFT_CORRECTED: &str = "DriftCorrected";
/// The cluster could not be made to match.
pub const DRIFT_CORRECTION_FAILED: &str = "DriftCorrectionFailed";
/// The HelmChart was made.
pub const HELM_CHART_CREATED: &str = "HelmChartCreated";
/// The HelmChart was changed.
pub const HELM_CHART_CONFIGURED: &str = "HelmChartConfigured";
/// The HelmChart was deleted.
pub const HELM_CHART_DELETED: &str = "HelmChartDeleted";
/// It worked.
pub const SUCCEEDED: &str = "Succeeded";
/// The address is not valid.
pub const URL_INVALID: &str = "URLInvalid";
/// Credentials are missing or refused.
pub const AUTHENTICATION_FAILED: &str = "AuthenticationFailed";
/// It failed in a way that has no word of its own.
pub const FAILED: &str = "Failed";
/// The repository's index cannot be read.
pub const INDEXATION_FAILED: &str = "IndexationFailed";
/// The source of a chart is missing.
pub const SOURCE_UNAVAILABLE: &str = "SourceUnavailable";
/// The source of a chart has nothing to offer yet.
pub const NO_SOURCE_ARTIFACT: &str = "NoSourceArtifact";
/// There is no such chart or version.
pub const INVALID_CHART_REFERENCE: &str = "InvalidChartReference";
/// The chart could not be pulled.
pub const CHART_PULL_ERROR: &str = "ChartPullError";
/// The chart was pulled.
pub const CHART_PULL_SUCCEEDED: &str = "ChartPullSucceeded";
/// The chart was packaged.
pub const CHART_PACKAGE_SUCCEEDED: &str = "ChartPackageSucceeded";
/// Values files could not be merged.
pub const VALUES_FILES_ERROR: &str = "ValuesFilesError";
/// A kind of source that charts cannot come from.
pub const UNSUPPORTED_SOURCE_KIND: &str = "UnsupportedSourceKind";
/// The artifact could not be pulled from the registry.
pub const OCI_PULL_FAILED: &str = "OCIArtifactPullFailed";
/// The artifact's layer could not be used.
pub const OCI_LAYER_FAILED: &str = "OCIArtifactLayerOperationFailed";
/// The tag could not be determined.
pub const READ_OPERATION_FAILED: &str = "ReadOperationFailed";
/// A new artifact is in storage.
pub const NEW_ARTIFACT: &str = "NewArtifact";
/// The artifact is the one in storage.
pub const ARTIFACT_UP_TO_DATE: &str = "ArtifactUpToDate";
/// The artifact could not be stored.
pub const ARCHIVE_OPERATION_FAILED: &str = "ArchiveOperationFailed";
