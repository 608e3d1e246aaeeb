//! Who an object belongs to, by Helm's label and annotations.

use crate::object::Object;

/// The label that says Helm manages the object.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Its value.
pub const HELM: &str = "Helm";
/// The annotation with the release's name.
pub const RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// The annotation with the release's namespace.
pub const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// Mark the object as belonging to a release.
pub fn set(object: &mut Object, release: &str, namespace: &str) {
    object.set_label(MANAGED_BY, HELM);
    object.set_annotation(RELEASE_NAME, release);
    object.set_annotation(RELEASE_NAMESPACE, namespace);
}

/// Does the live object belong to the release?
///
/// # Errors
/// Helm's list of what is missing or different, without the sentence around it.
pub fn check(object: &Object, release: &str, namespace: &str) -> Result<(), String> {
    let mut faults = Vec::new();
    let mut require = |what: &str, actual: Option<&str>, key: &str, want: &str| match actual {
        Some(actual) if actual == want => {}
        Some(actual) => faults
            .push(format!("{what} validation error: key {key:?} must equal {want:?}: current value is {actual:?}")),
        None => faults.push(format!("{what} validation error: missing key {key:?}: must be set to {want:?}")),
    };
    require("label", object.label(MANAGED_BY), MANAGED_BY, HELM);
    require("annotation", object.annotation(RELEASE_NAME), RELEASE_NAME, release);
    require("annotation", object.annotation(RELEASE_NAMESPACE), RELEASE_NAMESPACE, namespace);
    if faults.is_empty() { Ok(()) } else { Err(format!("invalid ownership metadata; {}", faults.join("; "))) }
}

/// The other release that an object says it belongs to, as `namespace/name`; nothing if it names none, or this one.
pub fn other(object: &Object, release: &str, namespace: &str) -> Option<String> {
    let (name, place) = (object.annotation(RELEASE_NAME)?, object.annotation(RELEASE_NAMESPACE)?);
    (name != release || place != namespace).then(|| format!("{place}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn helm_words() {
        let mut object = Object::from_json(json!({"kind": "A", "metadata": {"name": "x"}})).unwrap();
        assert_eq!(
            check(&object, "r", "n").unwrap_err(),
            "invalid ownership metadata; label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\"; annotation validation error: missing key \"meta.helm.sh/release-name\": must be set to \"r\"; annotation validation error: missing key \"meta.helm.sh/release-namespace\": must be set to \"n\""
        );
        assert_eq!(other(&object, "r", "n"), None);
        set(&mut object, "other", "n");
        assert_eq!(other(&object, "r", "n").as_deref(), Some("n/other"));
        assert_eq!(other(&object, "other", "m").as_deref(), Some("n/other"));
        assert_eq!(
            check(&object, "r", "n").unwrap_err(),
            "invalid ownership metadata; annotation validation error: key \"meta.helm.sh/release-name\" must equal \"r\": current value is \"other\""
        );
        set(&mut object, "r", "n");
        assert!(check(&object, "r", "n").is_ok() && other(&object, "r", "n").is_none());
    }
}
