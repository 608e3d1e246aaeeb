//! Fields of the API that this release of helmrel does not act on.
//!
//! Owns: telling so instead of doing something else than was asked. Pure. The surprising thing: it also holds for a
//! deletion where the field says on which cluster the release is.

use flux_api::HelmRelease;

/// The first field that is set and not supported, with what to do about it.
pub fn field(release: &HelmRelease) -> Option<String> {
    let spec = &release.spec;
    let fields = [
        ("spec.kubeConfig", spec.kube_config.is_some()),
        ("spec.postRenderers", !spec.post_renderers.is_empty()),
        ("spec.healthCheckExprs", !spec.health_check_exprs.is_empty()),
        ("spec.upgrade.force", release.upgrade().force == Some(true)),
        ("spec.rollback.force", release.rollback().force == Some(true)),
    ];
    let (name, _) = fields.into_iter().find(|(_, set)| *set)?;
    Some(format!(
        "HelmRelease {}/{} is left as it is: {name} is not supported by this version of helmrel; remove the field, or leave this release to Flux's helm-controller",
        release.namespace(),
        release.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_supported_is_named() {
        let release = |extra: serde_json::Value| -> HelmRelease {
            let mut object = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
                "metadata": {"name": "a", "namespace": "n"}, "spec": {"interval": "1m"}});
            for (key, value) in extra.as_object().unwrap() {
                object["spec"][key] = value.clone();
            }
            serde_json::from_value(object).unwrap()
        };
        assert_eq!(field(&release(json!({"upgrade": {"force": false}}))), None);
        let cases = [
            (json!({"kubeConfig": {"secretRef": {"name": "x"}}}), "spec.kubeConfig"),
            (json!({"postRenderers": [{"kustomize": {}}]}), "spec.postRenderers"),
            (json!({"upgrade": {"force": true}}), "spec.upgrade.force"),
        ];
        for (extra, name) in cases {
            let told = field(&release(extra)).unwrap();
            assert!(told.starts_with("HelmRelease n/a ") && told.contains(name), "{told}");
        }
    }
}
