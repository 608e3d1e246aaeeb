//! Which elements of two lists are the same one, and who wrote a field.
//!
//! Owns: following a JSON pointer through two forms of an object, and through the `managedFields` of a live one. The
//! surprising thing: lists are told apart by what the server notes in `managedFields` (`k:{"name":"main"}` is an element
//! with a key), so that the lists of custom resources have their keys too; the usual names of built-in kinds are a
//! fallback for objects without that.

use serde_json::{Map, Value as Json};

/// What a pointer into the rendered object names in another form of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterpart {
    /// The pointer into the other form.
    pub pointer: String,
    /// Is it surely the same thing? Elements of two lists without keys are not, where the lists are of different lengths.
    pub certain: bool,
}

/// Who wrote a field, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// The field manager.
    pub manager: String,
    /// The time of its last write, if known.
    pub time: String,
}

/// The entries of `managedFields`: who, and the fields.
fn entries(object: &Json) -> impl Iterator<Item = (Writer, &Json)> {
    let entries = object.pointer("/metadata/managedFields").and_then(Json::as_array);
    entries.into_iter().flatten().filter_map(|entry| {
        let text = |key: &str| entry.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let writer = Writer { manager: text("manager"), time: text("time") };
        Some((writer, entry.get("fieldsV1")?))
    })
}

fn key_of(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Go one step down in a tree of fields, to what `token` names in `value`.
fn descend<'a>(fields: &'a Json, value: &Json, token: &str) -> Option<&'a Json> {
    let Json::Array(items) = value else { return fields.get(format!("f:{}", key_of(token))) };
    let item = items.get(token.parse::<usize>().ok()?)?;
    fields.as_object()?.iter().find(|(name, _)| is_element(name, item, token)).map(|(_, below)| below)
}

/// Does a name in a tree of fields mean this element of a list?
fn is_element(name: &str, item: &Json, index: &str) -> bool {
    match name.split_at_checked(2) {
        Some(("k:", text)) => serde_json::from_str::<Map<String, Json>>(text)
            .is_ok_and(|keys| keys.iter().all(|(key, value)| item.get(key) == Some(value))),
        Some(("v:", text)) => serde_json::from_str::<Json>(text).is_ok_and(|value| value == *item),
        Some(("i:", text)) => text == index,
        _ => false,
    }
}

/// The keys of a list's elements, by its trees of fields or else by its usual name.
fn list_keys(trees: &[&Json], field: &str) -> Vec<String> {
    let names = trees.iter().filter_map(|tree| tree.as_object()).flat_map(Map::keys);
    let mut keyed = names.filter_map(|name| name.strip_prefix("k:"));
    if let Some(keys) = keyed.find_map(|text| serde_json::from_str::<Map<String, Json>>(text).ok()) {
        return keys.into_iter().map(|(key, _)| key).collect();
    }
    if !trees.is_empty() {
        return Vec::new();
    }
    let usual: &[&str] = match field {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "webhooks"
        | "resourceClaims" => &["name"],
        "ports" => &["containerPort", "port", "protocol"],
        "volumeMounts" => &["mountPath"],
        "volumeDevices" => &["devicePath"],
        "hostAliases" => &["ip"],
        "topologySpreadConstraints" => &["topologyKey", "whenUnsatisfiable"],
        _ => &[],
    };
    usual.iter().map(|key| (*key).to_owned()).collect()
}

/// Where the one element with the keys of `own` is among `items`.
fn position(own: &Json, items: &[Json], keys: &[String]) -> Option<usize> {
    let known: Vec<&String> = keys.iter().filter(|key| own.get(key.as_str()).is_some()).collect();
    if known.is_empty() {
        return None;
    }
    let same = |item: &Json| {
        let equal = known.iter().all(|key| own.get(key.as_str()) == item.get(key.as_str()));
        // The one key that the server defaults.
        let protocol = |v: &Json| v.get("protocol").cloned().unwrap_or_else(|| "TCP".into());
        equal && (!keys.iter().any(|key| key == "protocol") || protocol(own) == protocol(item))
    };
    let mut found = items.iter().enumerate().filter(|(_, item)| same(item)).map(|(i, _)| i);
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// What a pointer into the rendered object names in another form of it, such as the live one: elements of lists with
/// keys are found by their keys, wherever they are. `None` if there is nothing.
pub fn counterpart(pointer: &str, rendered: &Json, other: &Json) -> Option<Counterpart> {
    let mut found = Counterpart { pointer: String::new(), certain: true };
    let (mut own, mut theirs, mut field) = (Some(rendered), other, "");
    let mut trees: Vec<&Json> = entries(other).map(|(_, fields)| fields).collect();
    for token in pointer.split('/').skip(1) {
        let mut place = token.to_owned();
        if let Json::Array(items) = theirs {
            let index: usize = token.parse().ok()?;
            if let Some(Json::Array(list)) = own {
                let keys = list_keys(&trees, field);
                if keys.is_empty() {
                    found.certain &= list.len() == items.len();
                } else {
                    place = position(list.get(index)?, items, &keys)?.to_string();
                }
            }
            own = own.and_then(|own| own.get(index));
            trees = trees.into_iter().filter_map(|tree| descend(tree, theirs, &place)).collect();
            theirs = items.get(place.parse::<usize>().ok()?)?;
        } else {
            let key = key_of(token);
            own = own.and_then(|own| own.get(&key));
            trees = trees.into_iter().filter_map(|tree| descend(tree, theirs, token)).collect();
            theirs = theirs.get(&key)?;
        }
        field = token;
        found.pointer.push('/');
        found.pointer.push_str(&place);
    }
    Some(found)
}

/// Does a tree of fields cover what the pointer names, or something below it?
fn covers(fields: &Json, object: &Json, pointer: &str) -> bool {
    let (mut fields, mut value) = (fields, object);
    for token in pointer.split('/').skip(1) {
        // What has no fields of its own is owned whole.
        if !std::ptr::eq(value, object) && fields.as_object().is_some_and(Map::is_empty) {
            return true;
        }
        let Some(below) = descend(fields, value, token) else { return false };
        let next = match value {
            Json::Array(items) => token.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => value.get(key_of(token)),
        };
        let Some(next) = next else { return false };
        (fields, value) = (below, next);
    }
    true
}

/// Who last wrote what the pointer names in a live object, by whatever way (`kubectl scale` too). `except` does not count.
pub fn writer(live: &Json, pointer: &str, except: &str) -> Option<Writer> {
    entries(live)
        .filter(|(writer, fields)| writer.manager != except && covers(fields, live, pointer))
        .map(|(writer, _)| writer)
        .max_by(|a, b| a.time.cmp(&b.time))
}

/// Who last wrote to a live object, its status aside. `except` does not count.
pub fn newest_writer(live: &Json, except: &str) -> Option<Writer> {
    entries(live)
        .filter(|(writer, fields)| {
            let beyond_status = fields.as_object().is_some_and(|f| f.keys().any(|key| key != "f:status"));
            writer.manager != except && beyond_status
        })
        .map(|(writer, _)| writer)
        .max_by(|a, b| a.time.cmp(&b.time))
}

/// Pointers so that what is done by one does not move what a later one names: deeper ones first, later elements first.
pub fn deepest_first(pointers: &mut Vec<String>) {
    let tokens = |pointer: &str| -> Vec<(usize, String)> {
        pointer.split('/').map(|t| (t.parse().unwrap_or_default(), t.to_owned())).collect()
    };
    pointers.sort_by_cached_key(|pointer| std::cmp::Reverse(tokens(pointer)));
    pointers.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_with_keys_are_found_wherever_they_are() {
        let rendered = json!({"spec": {"containers": [
            {"name": "main", "ports": [{"containerPort": 80}], "args": ["a", "b"]},
            {"name": "aux", "env": [{"name": "A", "value": "1"}]},
            {"name": "late", "image": "x"},
        ], "rules": [{"id": 1, "to": "a"}]}});
        let live = json!({"spec": {"containers": [
            {"name": "proxy"},
            {"name": "main", "ports": [{"containerPort": 80, "protocol": "UDP"},
                {"containerPort": 80, "protocol": "TCP"}], "args": ["x", "a", "b"]},
            {"name": "aux", "env": [{"name": "Z"}, {"name": "A", "value": "2"}]},
        ], "rules": [{"id": 2, "to": "b"}, {"id": 1, "to": "c"}]},
            "metadata": {"managedFields": []}});
        let mut noted = live.clone();
        noted["metadata"]["managedFields"] = json!([{"manager": "m", "fieldsV1": {"f:spec": {
            "f:containers": {"k:{\"name\":\"main\"}": {"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {}},
                "f:args": {}}, "k:{\"name\":\"aux\"}": {"f:env": {"k:{\"name\":\"A\"}": {"f:value": {}}}}},
            "f:rules": {"k:{\"id\":1}": {"f:to": {}}}}}}]);
        let cases = [
            ("/spec/containers/0", Some(("/spec/containers/1", true))),
            ("/spec/containers/0/ports/0", Some(("/spec/containers/1/ports/1", true))),
            ("/spec/containers/1/env/0/value", Some(("/spec/containers/2/env/1/value", true))),
            ("/spec/containers/2/image", None),
            ("/spec/containers/7", None),
            ("/spec/containers/0/args/0", Some(("/spec/containers/1/args/0", false))),
            ("/spec/containers/0/image", None),
        ];
        for (pointer, wanted) in cases {
            for live in [&live, &noted] {
                let found = counterpart(pointer, &rendered, live);
                let found = found.as_ref().map(|c| (c.pointer.as_str(), c.certain));
                assert_eq!(found, wanted, "{pointer}");
            }
        }
        // The keys of a custom resource are known from its managed fields only.
        let found = counterpart("/spec/rules/0/to", &rendered, &noted).unwrap();
        assert_eq!((found.pointer.as_str(), found.certain), ("/spec/rules/1/to", true));
        assert!(!counterpart("/spec/rules/0/to", &rendered, &live).unwrap().certain);
    }

    #[test]
    fn the_writer_of_a_field_is_who_owns_it() {
        let live = json!({"spec": {"replicas": 7, "args": ["x"], "containers": [
            {"name": "proxy", "image": "p"}, {"name": "main", "image": "m", "env": [{"name": "A", "value": "1"}]}]},
            "metadata": {"finalizers": ["a/b"], "managedFields": [
            {"manager": "helm-controller", "time": "2024-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:containers":
                {"k:{\"name\":\"main\"}": {".": {}, "f:name": {}, "f:image": {}}}}}},
            {"manager": "kubectl", "subresource": "scale", "time": "2024-01-02T00:00:00Z",
                "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            {"manager": "editor", "time": "2024-01-03T00:00:00Z", "fieldsV1": {"f:metadata": {"f:finalizers":
                {"v:\"a/b\"": {}}}, "f:spec": {"f:args": {}, "f:containers": {"k:{\"name\":\"main\"}": {"f:env":
                {"k:{\"name\":\"A\"}": {"f:value": {}}}}}}}},
            {"manager": "injector", "time": "2024-01-04T00:00:00Z", "fieldsV1": {"f:spec": {"f:containers":
                {"k:{\"name\":\"proxy\"}": {"f:image": {}}}}}},
            {"manager": "status", "subresource": "status", "time": "2024-01-05T00:00:00Z",
                "fieldsV1": {"f:status": {"f:x": {}}}},
        ]}});
        let cases = [
            ("/spec/replicas", Some("kubectl")),
            ("/spec/containers/0/image", Some("injector")),
            ("/spec/containers/1/image", None),
            ("/spec/containers/1/env/0/value", Some("editor")),
            ("/spec/args/0", Some("editor")),
            ("/metadata/finalizers/0", Some("editor")),
            ("/spec/gone", None),
        ];
        for (pointer, wanted) in cases {
            let found = writer(&live, pointer, "helm-controller");
            assert_eq!(found.as_ref().map(|w| w.manager.as_str()), wanted, "{pointer}");
        }
        assert_eq!(newest_writer(&live, "helm-controller").unwrap().manager, "injector");
    }

    #[test]
    fn deeper_and_later_pointers_come_first() {
        let mut pointers: Vec<String> = ["/a/2", "/a/10", "/a", "/a/10/b", "/a/2"].map(Into::into).to_vec();
        deepest_first(&mut pointers);
        assert_eq!(pointers, ["/a/10/b", "/a/10", "/a/2", "/a"]);
    }
}
