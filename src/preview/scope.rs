//! Where objects go whose kinds the cluster has not yet.
//!
//! Owns: reading the scope of a kind from the definition that the chart brings along. Pure. The surprising thing: only
//! definitions under `crds/` are there before the other objects are mapped to kinds, so only those make a kind usable.

use helm_action::plan::defines;
use kube_object::{Object, ownership};

/// The definition of an object's kind among some objects.
pub fn definition<'a>(object: &Object, definitions: &[&'a Object]) -> Option<&'a Object> {
    let gvk = object.gvk();
    definitions.iter().copied().find(|d| defines(d, &gvk.group, &gvk.kind))
}

/// Give an object the namespace and the ownership metadata that it will be sent with.
pub fn place(object: &mut Object, definition: &Object, actions: &helm_action::Context) {
    if definition.text_at(&["spec", "scope"]) == "Namespaced" {
        if object.namespace().is_empty() {
            object.set_namespace(Some(&actions.namespace));
        }
    } else {
        object.set_namespace(None);
    }
    ownership::set(object, &actions.release, &actions.namespace);
}
