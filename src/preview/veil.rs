//! Two states of an object as texts that may be shown.
//!
//! Owns: masking Secrets, and values of Secrets wherever else a template wrote them. Pure. The surprising thing: each
//! text is made twice, once with all masks alike and once with masks that tell values apart; a line that is the same in
//! the first form and not in the second differs only in what is masked, and is marked on both sides.

use helm_action::plan::comparable;
use kube_object::Object;
use kube_object::mask::{MASK, MASK_AFTER, MASK_BEFORE, mask_pair};
use serde_json::{Map, Value as Json};
use similar::{ChangeTag, TextDiff};

use crate::reconcile::redact::Secrets;

/// YAML of the states before and after, empty for one that is not; what differs, differs in the texts.
pub fn texts(before: Option<&Object>, after: Option<&Object>, secrets: &Secrets) -> (String, String) {
    let (mut before, mut after) = (before.map(comparable), after.map(comparable));
    mask_pair(before.as_mut(), after.as_mut());
    let (before, after) = (before.map(Object::into_json), after.map(Object::into_json));
    let shown = |json: &Option<Json>| yaml(json.as_ref(), &|text| secrets.redact(text));
    let tagged = |json: &Option<Json>| yaml(json.as_ref(), &|text| secrets.tag(text));
    let (old, new) = (shown(&before), shown(&after));
    let (old_tagged, new_tagged) = (tagged(&before), tagged(&after));
    mark(&old, &new, &old_tagged, &new_tagged)
}

/// Mark the lines that differ only below the masks.
fn mark(old: &str, new: &str, old_tagged: &str, new_tagged: &str) -> (String, String) {
    let tags = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    let (old_tags, new_tags) = (tags(old_tagged), tags(new_tagged));
    let (mut before, mut after) = (String::new(), String::new());
    for change in TextDiff::from_lines(old, new).iter_all_changes() {
        let line = change.value();
        match change.tag() {
            ChangeTag::Delete => before.push_str(line),
            ChangeTag::Insert => after.push_str(line),
            ChangeTag::Equal => {
                let tag = |tags: &[String], i: Option<usize>| i.and_then(|i| tags.get(i).cloned()).unwrap_or_default();
                let (old, new) = (tag(&old_tags, change.old_index()), tag(&new_tags, change.new_index()));
                before.push_str(&marked(line, &old, &new, MASK_BEFORE));
                after.push_str(&marked(line, &old, &new, MASK_AFTER));
            }
        }
    }
    (before, after)
}

/// A line with another mask in place of each that hides a difference.
fn marked(line: &str, old: &str, new: &str, mask: &str) -> String {
    let tags = |tagged: &str| -> Vec<String> {
        let of_tag = |c: &char| c.is_ascii_digit() || *c == '-';
        tagged.split(MASK).skip(1).map(|rest| rest.chars().take_while(of_tag).collect()).collect()
    };
    let (old, new) = (tags(old), tags(new));
    let mut pieces = line.split(MASK);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (i, piece) in pieces.enumerate() {
        text.push_str(if old.get(i) == new.get(i) { MASK } else { mask });
        text.push_str(piece);
    }
    text
}

fn yaml(object: Option<&Json>, hide: &dyn Fn(&str) -> String) -> String {
    let Some(object) = object else { return String::new() };
    let mut object = object.clone();
    if let Json::Object(map) = &mut object {
        for (key, value) in map.iter_mut().filter(|(key, _)| *key != "apiVersion" && *key != "kind") {
            if key == "metadata"
                && let Json::Object(metadata) = value
            {
                // What an object is called is no value.
                metadata.iter_mut().filter(|(k, _)| *k != "name" && *k != "namespace").for_each(|(_, v)| veil(v, hide));
            } else {
                veil(value, hide);
            }
        }
    }
    go_yaml::encode_json(&object).unwrap_or_default()
}

fn veil(value: &mut Json, hide: &dyn Fn(&str) -> String) {
    match value {
        Json::String(text) => *text = hide(text),
        Json::Number(number) => {
            let (text, hidden) = (number.to_string(), hide(&number.to_string()));
            if hidden != text {
                *value = Json::String(hidden);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| veil(item, hide)),
        Json::Object(entries) => {
            entries.iter_mut().for_each(|(_, v)| veil(v, hide));
            if entries.keys().any(|key| hide(key) != *key) {
                *entries = keys(std::mem::take(entries), hide);
            }
        }
        Json::Bool(_) | Json::Null => {}
    }
}

/// The entries under keys that may be shown; those that would coincide are numbered.
fn keys(entries: Map<String, Json>, hide: &dyn Fn(&str) -> String) -> Map<String, Json> {
    let mut shown = Map::new();
    for (i, (key, value)) in entries.into_iter().enumerate() {
        let hidden = if hide(&key) == key { key } else { format!("{MASK} (key {})", i + 1) };
        shown.insert(hidden, value);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconcile::values::Document;
    use serde_json::json;

    fn secrets(data: &str) -> Secrets {
        let release: flux_api::HelmRelease =
            serde_json::from_value(json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "apps"},
            "spec": {"interval": "1m", "valuesFrom": [{"kind": "Secret", "name": "s"}]}}))
            .unwrap();
        let reference = release.spec.values_from[0].clone();
        Secrets::of(&release, &[Document { reference, data: Some(data.into()) }])
    }

    fn map(data: &Json) -> Object {
        Object::from_json(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "m", "namespace": "apps"}, "data": data}))
        .unwrap()
    }

    #[test]
    fn values_outside_of_secrets_are_masked_and_their_changes_show() {
        let secrets = secrets("a: old-password\nb: new-password\nc: same-password\npin: 88997766\n");
        let before = map(
            &json!({"url": "postgres://same-password:old-password@db", "same": "same-password", "port": 88_997_766,
            "file": "user: me\npassword: old-password\nsame: same-password\n", "old-password": "x"}),
        );
        let after = map(
            &json!({"url": "postgres://same-password:new-password@db", "same": "same-password", "port": 88_997_766,
            "file": "user: you\npassword: new-password\nsame: same-password\n", "old-password": "x"}),
        );
        let (old, new) = texts(Some(&before), Some(&after), &secrets);
        for text in [&old, &new] {
            assert!(!text.contains("-password@") && !text.contains("88997766"), "{text}");
            assert!(!text.contains("old-password") && !text.contains("new-password"), "{text}");
            assert!(text.contains("same: '***'") && text.contains("    same: ***\n"), "{text}");
        }
        assert!(old.contains("url: postgres://***:*** (before)@db"), "{old}");
        assert!(new.contains("url: postgres://***:*** (after)@db"), "{new}");
        assert!(old.contains("    user: me\n    password: *** (before)\n"), "{old}");
        assert!(new.contains("    user: you\n    password: *** (after)\n"), "{new}");
    }

    #[test]
    fn what_is_only_on_one_side_is_masked() {
        let secrets = secrets("a: old-password\n");
        let (old, new) = texts(None, Some(&map(&json!({"a": "old-password"}))), &secrets);
        assert!(old.is_empty() && new.contains("a: '***'\n"), "{new}");
        let (old, _) = texts(Some(&map(&json!({"a": "b2xkLXBhc3N3b3Jk"}))), None, &secrets);
        assert!(old.contains("a: '***'\n"), "{old}");
    }
}
