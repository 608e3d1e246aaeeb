//! What someone can do about a failure.
//!
//! Owns: one sentence for each kind of failure, put behind Flux's text after an empty line. Pure. The surprising thing:
//! only what is certain is said; a failure without a known remedy gets none.

use flux_api::meta::reason;
use helm_action::Error;
use kube_ops::{Class, Error as ClusterError};

const RIGHTS: &str = "Give these rights to the identity the release acts as (spec.serviceAccountName, or else the controller's own). If it has stalled by then, ask for a new attempt with the annotation reconcile.fluxcd.io/resetAt.";
const REFUSED: &str = "The API server refuses the object: fix the chart's template or the values.";
const LATER: &str = "The API server could not answer; it is tried again.";

/// The text with its remedy.
pub fn with(message: String, remedy: Option<&str>) -> String {
    match remedy {
        Some(remedy) => format!("{message}\n\n{remedy}"),
        None => message,
    }
}

/// What to do about a prerequisite that is missing.
pub fn of_halt(reason: &str, message: &str) -> Option<&'static str> {
    Some(match reason {
        _ if message.contains("is forbidden") => RIGHTS,
        reason::SOURCE_NOT_READY if message.contains("must be no more than 63") => {
            "Labels carry the HelmRelease's name and take 63 characters: give it a shorter name."
        }
        reason::SOURCE_NOT_READY if message.contains("failed to run server-side apply") => {
            "Check spec.chart of the HelmRelease: the API server refuses the HelmChart that is made from it."
        }
        reason::SOURCE_NOT_READY if message.contains("AuthenticationFailed") || message.contains("authenticate") => {
            "Check the Secret that the source names in spec.secretRef or spec.certSecretRef."
        }
        reason::SOURCE_NOT_READY if message.contains("invalid chart reference") => {
            "Check the chart's name and version in the HelmRelease against what the repository has."
        }
        reason::SOURCE_NOT_READY if message.contains("could not get Source object") => {
            "Create the source, or change the reference of the HelmRelease to one that exists."
        }
        reason::SOURCE_NOT_READY if message.contains("integrity failure") => {
            "The archive is not the one the repository's index describes: publish the chart again, or make the index anew."
        }
        reason::SOURCE_NOT_READY => {
            "Check the source that is named above (its spec.url, and whether the controller can reach it); the release goes on when it is ready."
        }
        reason::ARTIFACT_FAILED => "Check that the source's artifact is a Helm chart and can be fetched.",
        reason::VALUES_ERROR if message.contains("not found") => {
            "Create the object and the key, or mark the reference in spec.valuesFrom as optional."
        }
        reason::VALUES_ERROR => "Check the reference in spec.valuesFrom and the content of its key.",
        _ => return None,
    })
}

/// What to do about an action that failed.
pub fn of_error(error: &Error) -> Option<&'static str> {
    match error {
        Error::Chart(_) => Some("Fix the chart's template or the values; no object of the release was changed."),
        Error::Cluster(e) => of_cluster(e),
        Error::Storage { source, .. } => of_cluster(source),
        Error::TooLarge { .. } => Some(
            "Render and set less: name the files that templates take in by mistake in .helmignore, move large ones out of the chart, make the values smaller, or split the chart; no object of the release was changed.",
        ),
        Error::Pending => Some("Wait for it, or end it with `helm rollback` if no one works on the release."),
        Error::NameInUse => Some("Uninstall the release of that name, or choose another with spec.releaseName."),
        Error::Ownership { .. } => {
            Some("Delete the object, or let the release take it over: leave disableTakeOwnership unset.")
        }
        Error::Several(all) => all.first().and_then(of_error),
        Error::Hooks { source, .. } | Error::Hook { source, .. } => match &**source {
            Error::Cluster(ClusterError::Timeout { .. } | ClusterError::Stalled { .. }) => {
                Some("Look at the hook's object, its Pods and their logs.")
            }
            source => of_error(source),
        },
        Error::Build { source, .. } | Error::Crds(source) | Error::DeleteRelease { source, .. } => of_error(source),
        Error::Uninstalled(all) => all.first().and_then(of_error),
        Error::Nameless { .. } => Some(
            "Give the object a metadata.name in the chart's template; generateName is not enough. Nothing in the cluster was changed for it.",
        ),
        Error::NoRevision(_) => Some(
            "Repair the records of the release (Secrets with the labels owner=helm and name), or delete them to install it anew.",
        ),
        Error::NotFound | Error::NoDeployedRelease(_) | Error::AlreadyDeleted(_) | Error::Internal { .. } => None,
    }
}

fn of_cluster(error: &ClusterError) -> Option<&'static str> {
    match error {
        ClusterError::UnknownKind { .. } => {
            return Some(
                "Install the definition of that kind first, for example with a release that this one names in spec.dependsOn.",
            );
        }
        ClusterError::Timeout { .. } => {
            return Some(
                "Look at these objects, their Pods and events; give them more time with spec.timeout if they only start slowly.",
            );
        }
        // The server answers 500 to an object whose fields have the wrong types.
        e if e.to_string().contains("failed to create typed patch object") => return Some(REFUSED),
        ClusterError::Stalled { .. } => return Some("Look at these objects, their Pods and events."),
        _ => {}
    }
    match error.class() {
        Class::Forbidden => Some(RIGHTS),
        Class::Invalid => Some(REFUSED),
        Class::Transient => Some(LATER),
        Class::NotFound => Some("Create the namespace or object that is missing, or set install.createNamespace."),
        Class::Conflict | Class::AlreadyExists | Class::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_ops::ApiError;

    #[test]
    fn each_kind_of_failure_has_its_sentence() {
        let refused = |class: Class| {
            Error::Cluster(ClusterError::Apply {
                target: "n/a v1, Kind=ConfigMap".into(),
                source: ApiError { class, code: 0, message: String::new() },
            })
        };
        assert_eq!(of_error(&refused(Class::Forbidden)), Some(RIGHTS));
        assert_eq!(of_error(&refused(Class::Invalid)), Some(REFUSED));
        assert_eq!(of_error(&refused(Class::Conflict)), None);
        let hook = Error::Hooks { prefix: "failed pre-install".into(), source: Box::new(refused(Class::Forbidden)) };
        assert_eq!(of_error(&hook), Some(RIGHTS));
        let slow = ClusterError::Timeout { after: std::time::Duration::from_secs(1), pending: Vec::new() };
        let hook = Error::Hooks { prefix: "failed pre-install".into(), source: Box::new(Error::Cluster(slow)) };
        assert!(of_error(&hook).is_some_and(|r| r.contains("hook")));
        assert!(of_halt(reason::VALUES_ERROR, "secrets \"x\" not found").is_some_and(|r| r.contains("optional")));
        assert_eq!(of_halt(reason::STATE_ERROR, "secrets is forbidden"), Some(RIGHTS));
        assert_eq!(of_halt(reason::DEPENDENCY_NOT_READY, "dependency 'a/b' is not ready"), None);
        assert_eq!(with("text".into(), Some("do")), "text\n\ndo");
    }
}
