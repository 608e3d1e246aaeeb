//! Merge patches (RFC 7386).
//!
//! Owns: making a merge patch from two documents and the three-way variant that Helm uses for custom resources under
//! client-side apply. Does not own: strategic merge patches, which need the schema of built-in kinds.

use serde_json::{Map, Value as Json};

/// The merge patch that turns `from` into `to`; `None` when they are equal.
pub fn merge_patch(from: &Json, to: &Json) -> Option<Json> {
    if from == to {
        return None;
    }
    let (Json::Object(from), Json::Object(to)) = (from, to) else { return Some(to.clone()) };
    let mut patch = Map::new();
    for key in from.keys().filter(|k| !to.contains_key(*k)) {
        patch.insert(key.clone(), Json::Null);
    }
    for (key, value) in to {
        match from.get(key) {
            None => {
                patch.insert(key.clone(), value.clone());
            }
            Some(old) => {
                if let Some(change) = merge_patch(old, value) {
                    patch.insert(key.clone(), change);
                }
            }
        }
    }
    (!patch.is_empty()).then_some(Json::Object(patch))
}

/// The three-way merge patch: what `modified` says over `current`, and the removal of what `original` had and
/// `modified` has not. `None` when nothing is to do.
pub fn three_way_merge_patch(original: &Json, modified: &Json, current: &Json) -> Option<Json> {
    let additions = merge_patch(current, modified).and_then(|p| without_nulls(&p, modified));
    let deletions = merge_patch(original, modified).and_then(|p| only_nulls(&p)).and_then(|p| present(&p, current));
    match (additions, deletions) {
        (Some(mut patch), Some(deletions)) => {
            apply(&mut patch, deletions);
            Some(patch)
        }
        (patch, None) | (None, patch) => patch,
    }
}

/// The part of a patch that sets something. Nulls stay where `modified` itself says null.
fn without_nulls(patch: &Json, modified: &Json) -> Option<Json> {
    let Json::Object(entries) = patch else { return Some(patch.clone()) };
    let kept: Map<String, Json> = entries
        .iter()
        .filter_map(|(k, v)| match (v, modified.get(k)) {
            (Json::Null, None) => None,
            (Json::Object(_), Some(inner)) => Some((k.clone(), without_nulls(v, inner)?)),
            _ => Some((k.clone(), v.clone())),
        })
        .collect();
    (!kept.is_empty()).then_some(Json::Object(kept))
}

/// The part of a patch that removes something.
fn only_nulls(patch: &Json) -> Option<Json> {
    let Json::Object(entries) = patch else { return None };
    let kept: Map<String, Json> = entries
        .iter()
        .filter_map(|(k, v)| match v {
            Json::Null => Some((k.clone(), Json::Null)),
            Json::Object(_) => Some((k.clone(), only_nulls(v)?)),
            _ => None,
        })
        .collect();
    (!kept.is_empty()).then_some(Json::Object(kept))
}

/// Removals of what is really there.
fn present(deletions: &Json, current: &Json) -> Option<Json> {
    let Json::Object(entries) = deletions else { return Some(deletions.clone()) };
    let kept: Map<String, Json> =
        entries.iter().filter_map(|(k, v)| Some((k.clone(), present(v, current.get(k)?)?))).collect();
    (!kept.is_empty()).then_some(Json::Object(kept))
}

/// What a merge patch makes of a document: nulls remove, also in objects that the document has not.
pub fn merged(document: &Json, patch: &Json) -> Json {
    let Json::Object(patch) = patch else { return patch.clone() };
    let mut result = document.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            result.remove(key);
        } else {
            let value = merged(result.get(key).unwrap_or(&Json::Null), value);
            result.insert(key.clone(), value);
        }
    }
    Json::Object(result)
}

/// Lay one patch over another.
fn apply(patch: &mut Json, over: Json) {
    match (patch, over) {
        (Json::Object(patch), Json::Object(over)) => {
            for (k, v) in over {
                match patch.get_mut(&k) {
                    Some(slot) => apply(slot, v),
                    None => {
                        patch.insert(k, v);
                    }
                }
            }
        }
        (slot, over) => *slot = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merges() {
        assert_eq!(merge_patch(&json!({"a": 1}), &json!({"a": 1})), None);
        assert_eq!(
            merge_patch(&json!({"a": 1, "b": {"c": 1, "d": 2}}), &json!({"b": {"c": 2, "d": 2}, "e": [1]})),
            Some(json!({"a": null, "b": {"c": 2}, "e": [1]}))
        );
    }

    #[test]
    fn patches_apply() {
        let document = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1]});
        let patch = json!({"a": null, "b": {"c": 2}, "l": [null], "new": {"x": null, "y": 1}});
        assert_eq!(merged(&document, &patch), json!({"b": {"c": 2, "d": 2}, "l": [null], "new": {"y": 1}}));
    }

    #[test]
    fn three_ways() {
        let original = json!({"spec": {"a": 1, "gone": 1}});
        let modified = json!({"spec": {"a": 2}});
        let current = json!({"spec": {"a": 1, "gone": 1, "foreign": 1}, "status": {}});
        assert_eq!(
            three_way_merge_patch(&original, &modified, &current),
            Some(json!({"spec": {"a": 2, "gone": null}}))
        );
        assert_eq!(three_way_merge_patch(&modified, &modified, &json!({"spec": {"a": 2, "x": 1}})), None);
    }
}
