//! The CustomResourceDefinitions, made from the types.
//!
//! Owns: what the types cannot say: printer columns, categories, the status default, rules over several fields. The
//! files under `crds/` are this module's output; a test keeps them fresh.

use kube::CustomResourceExt;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value as Json, json};

use crate::{HelmChart, HelmRelease, HelmRepository, OCIRepository};

/// The schema of a field that holds any JSON.
pub(crate) fn any(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

/// A definition and the name of its file.
pub struct CrdFile {
    /// E.g. `helm.toolkit.fluxcd.io_helmreleases.yaml`.
    pub name: String,
    /// The definition as JSON.
    pub json: Json,
}

/// All definitions that helmrel needs.
pub fn all() -> Vec<CrdFile> {
    vec![
        finish(
            serde_json::to_value(HelmRelease::crd()),
            &["all", "fluxcd", "fluxcd-appliers"],
            &[(
                "either chart or chartRef must be set",
                "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))",
            )],
        ),
        finish(serde_json::to_value(HelmRepository::crd()), &["all", "fluxcd", "fluxcd-sources"], &[]),
        finish(
            serde_json::to_value(HelmChart::crd()),
            &["all", "fluxcd", "fluxcd-sources"],
            &[(
                "spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'",
                "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'",
            )],
        ),
        finish(serde_json::to_value(OCIRepository::crd()), &["all", "fluxcd", "fluxcd-sources"], &[]),
    ]
}

fn finish(crd: serde_json::Result<Json>, categories: &[&str], rules: &[(&str, &str)]) -> CrdFile {
    // A CRD made of our own types always serialises; an empty one would fail the freshness test at once.
    let mut json = crd.unwrap_or_default();
    let (group, plural) = (json["spec"]["group"].clone(), json["spec"]["names"]["plural"].clone());
    let name = format!("{}_{}.yaml", group.as_str().unwrap_or_default(), plural.as_str().unwrap_or_default());
    json["spec"]["names"]["categories"] = json!(categories);
    if json["spec"]["names"]["kind"] == "HelmRelease" {
        json["metadata"]["annotations"] = json!({"kustomize.toolkit.fluxcd.io/substitute": "disabled"});
    }
    let url = json!({"jsonPath": ".spec.url", "name": "URL", "type": "string"});
    let mut columns = vec![
        json!({"jsonPath": ".metadata.creationTimestamp", "name": "Age", "type": "date"}),
        json!({"jsonPath": ".status.conditions[?(@.type==\"Ready\")].status", "name": "Ready", "type": "string"}),
        json!({"jsonPath": ".status.conditions[?(@.type==\"Ready\")].message", "name": "Status", "type": "string"}),
    ];
    match json["spec"]["names"]["kind"].as_str() {
        Some("HelmRepository" | "OCIRepository") => columns.insert(0, url),
        Some("HelmChart") => {
            let column = |name: &str, path: &str| json!({"jsonPath": path, "name": name, "type": "string"});
            columns.splice(
                0..0,
                [
                    column("Chart", ".spec.chart"),
                    column("Version", ".spec.version"),
                    column("Source Kind", ".spec.sourceRef.kind"),
                    column("Source Name", ".spec.sourceRef.name"),
                ],
            );
        }
        _ => {}
    }
    if let Some(version) = json.pointer_mut("/spec/versions/0") {
        version["additionalPrinterColumns"] = json!(columns);
        if let Some(status) = version.pointer_mut("/schema/openAPIV3Schema/properties/status") {
            status["default"] = json!({"observedGeneration": -1});
            if let Some(condition) = status.pointer_mut("/properties/conditions/items") {
                complete_condition(condition);
            }
        }
        if let Some(spec) = version.pointer_mut("/schema/openAPIV3Schema/properties/spec")
            && !rules.is_empty()
        {
            spec["x-kubernetes-validations"] =
                rules.iter().map(|(message, rule)| json!({"message": message, "rule": rule})).collect();
        }
        if let Some(kube_config) = version.pointer_mut("/schema/openAPIV3Schema/properties/spec/properties/kubeConfig")
        {
            let message = "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified";
            kube_config["x-kubernetes-validations"] = json!([
                {"message": message, "rule": "has(self.configMapRef) || has(self.secretRef)"},
                {"message": message, "rule": "!has(self.configMapRef) || !has(self.secretRef)"},
            ]);
        }
        for (action, message, rule) in [
            (
                "install",
                ".retryInterval cannot be set when .name is 'RemediateOnFailure'",
                "!has(self.retryInterval) || self.name != 'RemediateOnFailure'",
            ),
            (
                "upgrade",
                ".retryInterval can only be set when .name is 'RetryOnFailure'",
                "!has(self.retryInterval) || self.name == 'RetryOnFailure'",
            ),
        ] {
            let path = format!("/schema/openAPIV3Schema/properties/spec/properties/{action}/properties/strategy");
            if let Some(strategy) = version.pointer_mut(&path) {
                strategy["x-kubernetes-validations"] = json!([{"message": message, "rule": rule}]);
            }
        }
    }
    CrdFile { name, json }
}

/// What is read leniently is written in full: a condition of ours has all its fields.
fn complete_condition(condition: &mut serde_json::Value) {
    condition["required"] = json!(["lastTransitionTime", "message", "reason", "status", "type"]);
    condition["properties"]["status"]["enum"] = json!(["True", "False", "Unknown"]);
    condition["properties"]["lastTransitionTime"]["format"] = json!("date-time");
    for field in ["lastTransitionTime", "message", "reason"] {
        if let Some(schema) = condition["properties"][field].as_object_mut() {
            schema.remove("default");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_whole() {
        for crd in all() {
            let version = &crd.json["spec"]["versions"][0];
            assert!(crd.name.ends_with("s.yaml") && crd.name.contains("toolkit.fluxcd.io_"), "{}", crd.name);
            assert_eq!(
                version["schema"]["openAPIV3Schema"]["properties"]["status"]["default"]["observedGeneration"],
                -1
            );
            assert_eq!(version["subresources"]["status"], json!({}));
        }
    }
}
