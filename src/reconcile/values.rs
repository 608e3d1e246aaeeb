//! The values of a release: `valuesFrom`, then inline values, then `targetPath`.
//!
//! Owns: the order and the merge, in Flux's precedence. Pure. Follows `pkg/chartutil` of Flux. The surprising thing:
//! inline values are laid over everything once more at the end, so a `targetPath` survives only where the map it
//! writes into is still the very map of the inline values. Releases that are taken over must get the same values, so
//! that is reproduced: maps here are shared by reference as they are in Go.

use flux_api::helmrelease::ValuesReference;
use go_value::{List, Map, Value};
use helm::values::set::{SetKind, parse_into};

/// A document a reference led to.
#[derive(Clone)]
pub struct Document {
    /// The reference.
    pub reference: ValuesReference,
    /// What was under its key; nothing for an optional one that is not there.
    pub data: Option<Vec<u8>>,
}

/// Only the reference: the data may be secret.
impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.reference.fmt(f)
    }
}

/// Flux's words for a reference that cannot be used.
pub fn fault(reference: &ValuesReference, namespace: &str, why: &str) -> String {
    let optional = if reference.optional == Some(true) { " optional" } else { "" };
    format!(
        "could not resolve{optional} {} chart values reference '{namespace}/{}' with key '{}': {why}",
        reference.kind,
        reference.name,
        reference.key()
    )
}

/// The values of a release.
///
/// # Errors
/// Flux's text for the reference that cannot be used.
pub fn compose(inline: Option<&serde_json::Value>, documents: &[Document], namespace: &str) -> Result<Map, String> {
    let inline = match inline.map(helm::values::from_json) {
        Some(Value::Map(map)) => map,
        _ => Map::new(),
    };
    let mut result = Map::new();
    for document in documents {
        let Some(data) = &document.data else { continue };
        let reference = &document.reference;
        let fault = |why: String| fault(reference, namespace, &why);
        if let Some(path) = reference.target_path.as_deref().filter(|p| !p.is_empty()) {
            result = merge(&result, &inline);
            write_path(&result, &inline, path, data, reference.literal == Some(true)).map_err(fault)?;
        } else {
            let values = go_yaml::decode_map(data).map_err(|e| fault(e.to_string()))?;
            result = merge(&result, &values);
        }
    }
    Ok(merge(&result, &inline))
}

/// `b` over `a`, as Flux merges: a new map, in which only maps that both sides have are new too.
fn merge(a: &Map, b: &Map) -> Map {
    let merged = a.shallow_copy();
    for (key, over) in b.entries() {
        match (merged.get(&key), over) {
            (Some(Value::Map(below)), Value::Map(over)) => merged.insert(key, merge(&below, &over)),
            (_, over) => merged.insert(key, over),
        };
    }
    merged
}

/// Write one value under a path in the grammar of `--set`.
fn write_path(result: &Map, inline: &Map, path: &str, data: &[u8], literal: bool) -> Result<(), String> {
    let value = String::from_utf8_lossy(data);
    let before = lists_on_path(result, path);
    if literal {
        // The path's own escapes still hold; the value is taken as it is.
        let marker = "helmrel-literal-value";
        parse_into(&format!("{path}={marker}"), result, &SetKind::File(&|_| Ok(data.to_vec())))?;
    } else if let Some(quoted) = unquoted(&value) {
        parse_into(&format!("{path}={quoted}"), result, &SetKind::Text)?;
    } else {
        parse_into(&format!("{path}={value}"), result, &SetKind::Typed)?;
    }
    share_lists(result, inline, path, before.as_ref());
    Ok(())
}

/// The text without its quotes, if it stands in a pair of equal ones.
fn unquoted(value: &str) -> Option<&str> {
    ['\'', '"']
        .into_iter()
        .find(|q| value.len() > 1 && value.starts_with(*q) && value.ends_with(*q))
        .map(|q| value.trim_matches(q))
}

/// The keys of a path up to its first list, and whether there is one.
pub fn keys(path: &str) -> (Vec<String>, bool) {
    let mut keys = vec![String::new()];
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                if let (Some(next), Some(last)) = (chars.next(), keys.last_mut()) {
                    last.push(next);
                }
            }
            '.' => keys.push(String::new()),
            '[' => return (keys, true),
            c => {
                if let Some(last) = keys.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    (keys, false)
}

fn parent(root: &Map, keys: &[String]) -> Option<Map> {
    let (_, parents) = keys.split_last()?;
    let mut map = root.clone();
    for key in parents {
        match map.get(key) {
            Some(Value::Map(next)) => map = next,
            _ => return None,
        }
    }
    Some(map)
}

/// The list that a path with an index leads to.
fn lists_on_path(root: &Map, path: &str) -> Option<List> {
    let (keys, true) = keys(path) else { return None };
    parent(root, &keys)?.get(keys.last()?)?.as_list().cloned()
}

/// Go writes an element that exists into the list itself, which the inline values may hold too. Lists here are
/// immutable, so whoever held the old list of the same length gets the new one.
fn share_lists(result: &Map, inline: &Map, path: &str, before: Option<&List>) {
    let Some(before) = before else { return };
    let (keys, _) = keys(path);
    let Some(last) = keys.last() else { return };
    let (Some(written), Some(holder)) = (lists_on_path(result, path), parent(inline, &keys)) else { return };
    let Some(Value::List(held)) = holder.get(last) else { return };
    let same = held.len() == before.len() && held.as_ptr() == before.as_ptr();
    if same && written.len() == before.len() {
        holder.insert(last.as_str(), written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn target(path: &str, value: &str) -> Document {
        let reference = ValuesReference { target_path: Some(path.into()), ..ValuesReference::default() };
        Document { reference, data: Some(value.into()) }
    }

    fn root(yaml: &str) -> Document {
        Document { reference: ValuesReference::default(), data: Some(yaml.into()) }
    }

    fn composed(inline: &Json, documents: &[Document]) -> Json {
        helm::values::to_json(&Value::Map(compose(Some(inline), documents, "ns").unwrap()))
    }

    /// The table of what Flux does with inline values against targetPath.
    #[test]
    fn inline_against_target_path() {
        for (inline, documents, want) in [
            (json!({"a": "I"}), vec![target("a", "T")], json!({"a": "I"})),
            (json!({"a": {"b": "I"}}), vec![target("a.b", "T")], json!({"a": {"b": "T"}})),
            (json!({"a": {"b": "I"}}), vec![root("a: {c: 1}"), target("a.b", "T")], json!({"a": {"b": "I", "c": 1}})),
            (
                json!({"a": {"b": {"z": "I"}}}),
                vec![root("a: {c: 1}"), target("a.b.z", "T")],
                json!({"a": {"b": {"z": "T"}, "c": 1}}),
            ),
            (
                json!({"a": {"b": "I", "d": "I"}}),
                vec![target("a.b", "T1"), target("a.d", "T2")],
                json!({"a": {"b": "T1", "d": "I"}}),
            ),
            (json!({"l": ["x", "z"]}), vec![target("l[0]", "T")], json!({"l": ["T", "z"]})),
        ] {
            assert_eq!(composed(&inline, &documents), want, "{inline}");
        }
    }

    #[test]
    fn values_of_target_paths() {
        let one = |path: &str, value: &str| composed(&json!({}), &[target(path, value)]);
        assert_eq!(one("a", "1"), json!({"a": 1}));
        assert_eq!(one("a", "1.5"), json!({"a": "1.5"}));
        assert_eq!(one("a", "{a,b}"), json!({"a": ["a", "b"]}));
        assert_eq!(one("a", "'1'"), json!({"a": "1"}));
        assert_eq!(one("a", "\"true\""), json!({"a": "true"}));
        assert_eq!(one("a", r"C:\new\dir"), json!({"a": "C:newdir"}));
        let error = compose(None, &[target("x", "y,z")], "ns").unwrap_err();
        assert!(error.ends_with("key \"z\" has no value"), "{error}");
        let mut literal = target(r"a\.b", r"C:\new,{x}");
        literal.reference.literal = Some(true);
        assert_eq!(composed(&json!({}), &[literal]), json!({"a.b": r"C:\new,{x}"}));
    }

    #[test]
    fn later_references_win_and_inline_wins_over_all() {
        let documents = [root("a: 1\nb: {x: 1, z: 1}"), root("b: {z: 2}\nc: null")];
        assert_eq!(composed(&json!({"a": "I"}), &documents), json!({"a": "I", "b": {"x": 1, "z": 2}, "c": null}));
    }
}
