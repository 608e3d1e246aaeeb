//! Objects that a new revision does not render any more, and that stay all the same.
//!
//! Owns: the reasons. Follows Helm for the resource policy and goes further where an upgrade would destroy in passing: an
//! object that another release has taken over is that release's, and with a CustomResourceDefinition the API server
//! deletes every object of its kind.

use helm::Chart;
use kube_object::{Gvk, Object, ownership};
use kube_ops::Resource;

use crate::context::Context;
use crate::crds;

const POLICY: &str = "helm.sh/resource-policy";

/// Why a live object is kept, or nothing if it may be deleted. `chart` is that of the new revision, if there is one.
pub async fn reason(context: &Context, live: &Object, chart: Option<&Chart>) -> Option<String> {
    if live.annotation(POLICY) == Some("keep") {
        return Some("its resource policy says so".into());
    }
    if let Some(owner) = ownership::other(live, &context.release, &context.namespace) {
        return Some(format!("it belongs to the release {owner}"));
    }
    let resource = defined(live)?;
    if chart.is_some_and(|chart| crds::ships(chart, context, live.name())) {
        return Some("the chart has it under crds/ now".into());
    }
    let kind = resource.gvk.kind.clone();
    match context.cluster.list_metadata(&resource, None, None).await {
        Ok(left) if left.is_empty() => None,
        Ok(left) => Some(format!("{} of kind {kind} would be deleted with it", count(left.len()))),
        Err(e) if e.class() == kube_ops::Class::NotFound => None,
        Err(e) => Some(format!("whether objects of kind {kind} are left cannot be told: {e}")),
    }
}

fn count(n: usize) -> String {
    if n == 1 { "1 object".into() } else { format!("{n} objects") }
}

/// The kind that a definition defines; nothing for other objects.
fn defined(object: &Object) -> Option<Resource> {
    if object.kind() != "CustomResourceDefinition" || !object.api_version().starts_with("apiextensions.k8s.io/") {
        return None;
    }
    let versions = object.at(&["spec", "versions"])?.as_array()?;
    let stored = versions.iter().find(|v| v["storage"] == true)?;
    let api_version = format!("{}/{}", object.text_at(&["spec", "group"]), stored["name"].as_str()?);
    Some(Resource {
        gvk: Gvk::new(&api_version, object.text_at(&["spec", "names", "kind"])),
        plural: object.text_at(&["spec", "names", "plural"]).into(),
        namespaced: object.text_at(&["spec", "scope"]) == "Namespaced",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn definitions_tell_their_kind() {
        let crd =
            Object::from_json(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "gadgets.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Gadget", "plural": "gadgets"},
            "versions": [{"name": "v1beta1", "storage": false}, {"name": "v1", "storage": true}]}}))
            .unwrap();
        let resource = defined(&crd).unwrap();
        assert_eq!(
            (resource.gvk.api_version().as_str(), resource.gvk.kind.as_str(), resource.plural.as_str()),
            ("example.com/v1", "Gadget", "gadgets")
        );
        assert!(resource.namespaced);
        let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        assert!(defined(&Object::from_json(other).unwrap()).is_none());
    }
}
