//! Whether the API server would take an object of ours.
//!
//! Owns: a check of HelmReleases and their sources against the schemas of the definitions, as `kubectl apply` with strict
//! validation makes it on the server. Pure. Does not own: the definitions (flux-api). The surprising things: a status is
//! not looked at, as the server drops it; texts never quote a value, which may be anything.

use std::sync::LazyLock;

use kube_object::Object;
use regex::Regex;
use serde_json::{Value as Json, json};

use crate::reconcile::expression;

/// The definitions of our kinds, parsed once.
static DEFINITIONS: LazyLock<Vec<Json>> = LazyLock::new(|| flux_api::crd::all().into_iter().map(|c| c.json).collect());

/// What is wrong with an object of a kind that matters to a release: one line for each field.
pub fn faults(object: &Object) -> Vec<String> {
    let gvk = object.gvk();
    for (field, text) in [("apiVersion", &gvk.version), ("kind", &gvk.kind)] {
        if text.is_empty() {
            return vec![format!("{field}: required")];
        }
    }
    let mut found = Vec::new();
    if gvk.api_version() == "v1" && (gvk.kind == "ConfigMap" || gvk.kind == "Secret") {
        check(&data(), &Json::Object(object.0.clone()), "", &mut found);
        return found;
    }
    let ours = |d: &&Json| d["spec"]["group"] == gvk.group.as_str() && d["spec"]["names"]["kind"] == gvk.kind.as_str();
    let Some(definition) = DEFINITIONS.iter().find(ours) else {
        let close = gvk.group == "helm.toolkit.fluxcd.io";
        return if close { vec![format!("kind: there is no {} in {}", gvk.kind, gvk.group)] } else { found };
    };
    let mut versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let Some(version) = versions.find(|v| v["name"] == gvk.version.as_str()) else {
        let known = &definition["spec"]["versions"][0]["name"];
        return vec![format!(
            "apiVersion: {} is not known; use {}/{}",
            object.api_version(),
            gvk.group,
            known.as_str().unwrap_or_default()
        )];
    };
    let mut schema = version["schema"]["openAPIV3Schema"].clone();
    let text = json!({"type": "string"});
    schema["properties"]["apiVersion"] = text.clone();
    schema["properties"]["kind"] = text;
    schema["properties"]["metadata"] = metadata();
    schema["properties"]["status"] = json!({"x-kubernetes-preserve-unknown-fields": true});
    check(&schema, &Json::Object(object.0.clone()), "", &mut found);
    if object.name().is_empty() {
        found.push("metadata.name: required".into());
    }
    found
}

/// Fill in what the API server fills in by the definition of HelmReleases.
pub fn default_release(release: &mut Json) {
    let ours = |d: &&Json| d["spec"]["names"]["kind"] == "HelmRelease";
    let versions = DEFINITIONS.iter().find(ours).and_then(|d| d["spec"]["versions"].as_array());
    let schema = versions.into_iter().flatten().find(|v| v["name"] == "v2").map(|v| &v["schema"]["openAPIV3Schema"]);
    if let Some(schema) = schema {
        fill(schema, release);
    }
}

fn fill(schema: &Json, value: &mut Json) {
    match value {
        Json::Object(entries) => {
            for (key, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(default) = property.get("default")
                    && entries.get(key).is_none_or(|v| v.is_null() && property["nullable"] != true)
                {
                    entries.insert(key.clone(), default.clone());
                }
                if let Some(value) = entries.get_mut(key) {
                    fill(property, value);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| fill(&schema["items"], item)),
        _ => {}
    }
}

/// What values come from. The texts of a Secret may be given as they are or in base64.
fn data() -> Json {
    let texts =
        json!({"type": "object", "nullable": true, "additionalProperties": {"type": "string", "nullable": true}});
    let text = json!({"type": "string"});
    json!({"type": "object", "properties": {
        "apiVersion": text, "kind": text, "type": text, "metadata": metadata(),
        "data": texts, "stringData": texts, "binaryData": texts,
        "immutable": {"type": "boolean", "nullable": true},
    }})
}

fn metadata() -> Json {
    let text = json!({"type": "string", "nullable": true});
    let texts = json!({"type": "object", "nullable": true, "additionalProperties": {"type": "string"}});
    let number = json!({"type": "integer", "nullable": true});
    let any = json!({"x-kubernetes-preserve-unknown-fields": true, "nullable": true});
    json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "uid": text, "resourceVersion": text, "selfLink": text,
        "creationTimestamp": text, "deletionTimestamp": text, "generation": number,
        "deletionGracePeriodSeconds": number, "labels": texts, "annotations": texts,
        "finalizers": {"type": "array", "nullable": true, "items": {"type": "string"}},
        "ownerReferences": any, "managedFields": any,
    }})
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(n) if n.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

fn check(schema: &Json, value: &Json, path: &str, faults: &mut Vec<String>) {
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    if let Some(wanted) = schema["type"].as_str() {
        let found = type_of(value);
        let whole = value.as_f64().is_some_and(|n| n.fract() == 0.0);
        if found != wanted && !(wanted == "number" && found == "integer") && !(wanted == "integer" && whole) {
            faults.push(format!("{path}: must be of type {wanted}, not {found}"));
            return;
        }
    }
    let before = faults.len();
    match value {
        Json::Object(entries) => object(schema, entries, path, faults),
        Json::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                check(&schema["items"], item, &format!("{path}[{i}]"), faults);
            }
        }
        Json::String(text) => string(schema, text, path, faults),
        _ => {}
    }
    if let (Some(n), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
        && n < least
    {
        faults.push(format!("{path}: must be at least {least}"));
    }
    // Rules may rely on everything else being right.
    if faults.len() == before {
        for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
            let holds = expression::is_true(rule["rule"].as_str().unwrap_or_default(), &[("self", value)]);
            if holds == Ok(false) {
                faults.push(format!("{path}: {}", rule["message"].as_str().unwrap_or_default()));
            }
        }
    }
}

fn object(schema: &Json, entries: &serde_json::Map<String, Json>, path: &str, faults: &mut Vec<String>) {
    for (key, value) in entries {
        let at = below(path, key);
        if let Some(property) = schema["properties"].get(key) {
            check(property, value, &at, faults);
        } else if schema["additionalProperties"].is_object() {
            check(&schema["additionalProperties"], value, &at, faults);
        } else if schema["x-kubernetes-preserve-unknown-fields"] != true {
            faults.push(format!("unknown field {at:?}"));
        }
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !entries.contains_key(key) && schema["properties"][key].get("default").is_none() {
            faults.push(format!("{}: required", below(path, key)));
        }
    }
}

fn string(schema: &Json, text: &str, path: &str, faults: &mut Vec<String>) {
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.iter().any(|a| a == text)
    {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        faults.push(format!("{path}: must be one of {}", allowed.join(", ")));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text))
    {
        faults.push(format!("{path}: must match '{pattern}'"));
    }
    let length = text.chars().count() as u64;
    if schema["minLength"].as_u64().is_some_and(|least| length < least) {
        faults.push(format!("{path}: must not be empty"));
    }
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
        faults.push(format!("{path}: must not be longer than {most} characters"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(spec: &Json) -> Object {
        let mut object = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "a", "creationTimestamp": null}, "status": {"whatever": 1},
            "spec": {"interval": "1m", "chartRef": {"kind": "OCIRepository", "name": "a"}}});
        for (key, value) in spec.as_object().unwrap() {
            object["spec"][key] = value.clone();
        }
        Object::from_json(object).unwrap()
    }

    #[test]
    fn wrong_fields_are_named_with_their_paths() {
        let none: [&str; 0] = [];
        assert_eq!(faults(&release(&json!({"values": {"any": [1, {"thing": null}]}, "install": null}))), none);
        let cases = [
            (json!({"intervall": "1m"}), "unknown field \"spec.intervall\""),
            (json!({"interval": 5}), "spec.interval: must be of type string, not integer"),
            (json!({"interval": "soon"}), "spec.interval: must match '"),
            (json!({"upgrade": {"remediation": {"retrys": 3}}}), "unknown field \"spec.upgrade.remediation.retrys\""),
            (
                json!({"valuesFrom": [{"kind": "Secret", "name": "a"}, {"kind": "Secret", "nam": "b"}]}),
                "unknown field \"spec.valuesFrom[1].nam\"\nspec.valuesFrom[1].name: required",
            ),
            (
                json!({"valuesFrom": [{"kind": "Secrets", "name": "b"}]}),
                "spec.valuesFrom[0].kind: must be one of \"Secret\"",
            ),
            (json!({"driftDetection": "enabled"}), "spec.driftDetection: must be of type object, not string"),
            (
                json!({"install": {"disableHooks": "yes"}}),
                "spec.install.disableHooks: must be of type boolean, not string",
            ),
            (json!({"releaseName": ""}), "spec.releaseName: must not be empty"),
            (
                json!({"chart": {"spec": {"chart": "a", "sourceRef": {"kind": "HelmRepository", "name": "a"}}}}),
                "spec: either chart or chartRef must be set",
            ),
        ];
        for (spec, wanted) in cases {
            let found = faults(&release(&spec)).join("\n");
            assert!(found.starts_with(wanted), "{spec}: {found}");
        }
    }

    #[test]
    fn other_kinds_are_left_alone_and_old_versions_are_not() {
        let object = |api_version: &str, kind: &str| {
            Object::from_json(json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "lables": {}},
                "spec": {"interval": "1m", "url": "https://example.com", "unheard": 1}}))
            .unwrap()
        };
        assert!(faults(&object("v1", "Service")).is_empty());
        let found = faults(&object("helm.toolkit.fluxcd.io/v2", "HelmRelese")).join(", ");
        assert_eq!(found, "kind: there is no HelmRelese in helm.toolkit.fluxcd.io");
        assert_eq!(faults(&object("v1", "")).join(", "), "kind: required");
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"port": 5432}});
        let found = faults(&Object::from_json(map).unwrap()).join(", ");
        assert_eq!(found, "data.port: must be of type string, not integer");
        let found = faults(&object("source.toolkit.fluxcd.io/v1", "HelmRepository")).join(", ");
        assert_eq!(found, "unknown field \"metadata.lables\", unknown field \"spec.unheard\"");
        let found = faults(&object("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease")).join(", ");
        assert_eq!(found, "apiVersion: helm.toolkit.fluxcd.io/v2beta1 is not known; use helm.toolkit.fluxcd.io/v2");
    }
}
