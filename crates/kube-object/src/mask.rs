//! Secrets made safe to show.
//!
//! Owns: what of an object must not be shown. The surprising thing: `kubectl apply` leaves a whole Secret, values
//! included, in an annotation; it is masked too.

use base64::Engine as _;
use serde_json::{Map, Value as Json};

use crate::object::Object;

/// Stands for a value that is the same on both sides, or alone.
pub const MASK: &str = "***";
/// Stands for the old one of two values that differ.
pub const MASK_BEFORE: &str = "*** (before)";
/// Stands for the new one.
pub const MASK_AFTER: &str = "*** (after)";

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Is this an object whose values must not be shown? Its version does not count: a chart may write a wrong one.
pub fn is_secret(object: &Object) -> bool {
    object.kind() == "Secret"
}

/// Replace a Secret's values.
pub fn mask(object: &mut Object) {
    mask_pair(Some(object), None);
}

/// Replace the values of two states of one Secret so that a reader sees which keys differ, and nothing else.
pub fn mask_pair(before: Option<&mut Object>, after: Option<&mut Object>) {
    let secret = |o: &Option<&mut Object>| o.as_ref().is_some_and(|o| is_secret(o));
    if !secret(&before) && !secret(&after) {
        return;
    }
    let (mut before, mut after) = (before, after);
    for object in [before.as_deref_mut(), after.as_deref_mut()].into_iter().flatten() {
        fold(object);
    }
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
        // Whatever else a chart has put there.
        for field in ["data", "stringData"] {
            if object.0.get(field).is_some_and(|v| !v.is_object() && !v.is_null()) {
                object.0.insert(field.into(), MASK.into());
            }
        }
        if object.annotation(LAST_APPLIED).is_some() {
            object.set_annotation(LAST_APPLIED, MASK);
        }
    }
}

/// Text data as the server keeps it, so that what was sent compares with what is there.
fn fold(object: &mut Object) {
    let Some(Json::Object(texts)) = object.0.get("stringData").cloned() else { return };
    if object.0.get("data").is_some_and(|data| !data.is_object() && !data.is_null())
        || !texts.values().all(Json::is_string)
    {
        return;
    }
    let mut data = object.0.get("data").and_then(Json::as_object).cloned().unwrap_or_default();
    for (key, text) in &texts {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or_default());
        data.insert(key.clone(), encoded.into());
    }
    object.0.insert("data".into(), Json::Object(data));
    object.0.remove("stringData");
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

    #[test]
    fn text_data_compares_with_data_and_nothing_odd_shows() {
        let secret = |json: Json| {
            let mut object = Object::from_json(json).unwrap();
            object.0.insert("kind".into(), "Secret".into());
            object
        };
        let mut a = secret(json!({"apiVersion": "v1", "data": {"a": "MQ==", "b": "MQ=="}}));
        let mut b = secret(json!({"apiVersion": "v1", "stringData": {"a": "1", "b": "2"}}));
        mask_pair(Some(&mut a), Some(&mut b));
        assert_eq!(b.0["data"], json!({"a": MASK, "b": MASK_AFTER}));
        assert!(!b.0.contains_key("stringData"));
        let mut odd = secret(json!({"apiVersion": "core/v1", "data": "hidden", "stringData": {"a": ["hidden"]}}));
        mask(&mut odd);
        assert!(!serde_json::to_string(&odd).unwrap().contains("hidden"));
    }
}
