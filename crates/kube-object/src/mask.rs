//! Secrets made safe to show.
//!
//! Owns: what of an object must not be shown. The surprising thing: `kubectl apply` leaves a whole Secret, values
//! included, in an annotation; it is masked too.

use serde_json::{Map, Value as Json};

use crate::object::Object;

/// Stands for a value that is the same on both sides, or alone.
pub const MASK: &str = "***";
/// Stands for the old one of two values that differ.
pub const MASK_BEFORE: &str = "*** (before)";
/// Stands for the new one.
pub const MASK_AFTER: &str = "*** (after)";

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Is this an object whose values must not be shown?
pub fn is_secret(api_version: &str, kind: &str) -> bool {
    kind == "Secret" && api_version == "v1"
}

/// Replace a Secret's values; other objects only lose the annotation that may repeat a Secret.
pub fn mask(object: &mut Object) {
    mask_pair(Some(object), None);
}

/// Replace the values of two states of one Secret so that a reader sees which keys differ, and nothing else.
pub fn mask_pair(before: Option<&mut Object>, after: Option<&mut Object>) {
    let secret = |o: &Option<&mut Object>| o.as_ref().is_some_and(|o| is_secret(o.api_version(), o.kind()));
    if !secret(&before) && !secret(&after) {
        return;
    }
    let (mut before, mut after) = (before, after);
    for field in ["data", "stringData"] {
        let old = before.as_deref().and_then(|o| o.0.get(field)).and_then(Json::as_object).cloned();
        let new = after.as_deref().and_then(|o| o.0.get(field)).and_then(Json::as_object).cloned();
        let masked = |own: &Map<String, Json>, other: Option<&Map<String, Json>>, differs: &str| {
            let entry = |(k, v): (&String, &Json)| {
                let text = match other.and_then(|o| o.get(k)) {
                    Some(there) if there != v => differs,
                    _ => MASK,
                };
                (k.clone(), Json::from(text))
            };
            Json::Object(own.iter().map(entry).collect())
        };
        if let (Some(object), Some(old)) = (before.as_deref_mut(), &old) {
            object.0.insert(field.into(), masked(old, new.as_ref(), MASK_BEFORE));
        }
        if let (Some(object), Some(new)) = (after.as_deref_mut(), &new) {
            object.0.insert(field.into(), masked(new, old.as_ref(), MASK_AFTER));
        }
    }
    for object in [before, after].into_iter().flatten() {
        if object.annotation(LAST_APPLIED).is_some() {
            object.set_annotation(LAST_APPLIED, MASK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_differ_show_and_values_never() {
        let secret = |data: Json| {
            Object::from_json(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s",
                "annotations": {LAST_APPLIED: "{\"data\":{\"a\":\"MQ==\"}}"}}, "data": data}))
            .unwrap()
        };
        let mut a = secret(json!({"a": "MQ==", "b": "Mg==", "gone": "Mw=="}));
        let mut b = secret(json!({"a": "MQ==", "b": "WA==", "new": "WQ=="}));
        mask_pair(Some(&mut a), Some(&mut b));
        assert_eq!(a.0["data"], json!({"a": MASK, "b": MASK_BEFORE, "gone": MASK}));
        assert_eq!(b.0["data"], json!({"a": MASK, "b": MASK_AFTER, "new": MASK}));
        assert!(!serde_json::to_string(&a).unwrap().contains("MQ=="));
    }
}
