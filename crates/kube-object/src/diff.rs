//! Differences between a live object and what it should be.
//!
//! Owns: the operations Flux counts in its drift events (those of the Go library `wI2L/jsondiff` with rationalised
//! patches), over the fields Flux compares: labels and annotations that are missing or different, and everything
//! outside `metadata` and `status`. Follows `fluxcd/pkg/ssa/jsondiff`. The surprising thing: where one replacement is
//! shorter than many small changes, the changes are counted as one.

use serde_json::{Map, Value as Json};

use crate::fields::{self, Writer};
use crate::object::Object;
use crate::pointer;

/// What one operation does.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Something is missing in the live object.
    Add(Json),
    /// Something differs: the live value, then the one it should have.
    Replace(Json, Json),
    /// Something is there that should not be.
    Remove(Json),
}

/// One difference: where, and what.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// JSON pointer.
    pub path: String,
    /// What differs.
    pub change: Change,
}

impl Operation {
    /// The length of the operation as JSON, by which one replacement and many changes are weighed.
    fn json_length(&self) -> usize {
        let base = r#"{"op":"","path":""}"#.len() + self.path.len();
        let value = |v: &Json| r#","value":"#.len() + v.to_string().len();
        match &self.change {
            Change::Add(v) => base + "add".len() + value(v),
            Change::Replace(_, v) => base + "replace".len() + value(v),
            Change::Remove(_) => base + "remove".len(),
        }
    }
}

/// The live object and what it should be, both without the fields that do not count.
#[derive(Clone, Debug)]
pub struct Sides {
    live: Json,
    wanted: Json,
}

impl Sides {
    /// Both lose what the `ignored` pointers name. An index in a pointer means an element of the `rendered` object,
    /// wherever that element is on the two sides.
    pub fn new(rendered: &Object, live: &Object, wanted: &Object, ignored: &[String]) -> Self {
        let rendered = Json::Object(rendered.0.clone());
        let without = |side: &Object| {
            let mut side = Json::Object(side.0.clone());
            let found = ignored.iter().filter_map(|path| fields::counterpart(path, &rendered, &side));
            let mut paths: Vec<String> = found.map(|c| c.pointer).collect();
            fields::deepest_first(&mut paths);
            for path in paths {
                pointer::remove(&mut side, &path);
            }
            side
        };
        Self { live: without(live), wanted: without(wanted) }
    }

    /// The operations that turn the live object into the wanted one, over the fields that count for drift.
    pub fn operations(&self) -> Vec<Operation> {
        let (live, wanted) = (&self.live, &self.wanted);
        let mut operations: Vec<Operation> = compare(&labels_and_annotations(live), &labels_and_annotations(wanted))
            .into_iter()
            .filter(|op| !matches!(op.change, Change::Remove(_)))
            .collect();
        let rest = |side: &Json| without_metadata_and_status(side.clone());
        operations.extend(compare(&rest(live), &rest(wanted)));
        operations
    }

    /// Who wrote the field that an operation is about, if someone did; of several fields, who wrote last.
    pub fn writer(&self, operation: &Operation, except: &str) -> Option<Writer> {
        let mut changed = Vec::new();
        match &operation.change {
            // Nobody owns what is not there.
            Change::Add(_) => {}
            Change::Remove(_) => changed.push(operation.path.clone()),
            Change::Replace(old, new) => changed_paths(operation.path.clone(), old, new, &mut changed),
        }
        let writers = changed.iter().filter_map(|path| fields::writer(&self.live, path, except));
        writers.max_by(|a, b| a.time.cmp(&b.time))
    }
}

/// Where in the live value something is different or too much.
fn changed_paths(path: String, old: &Json, new: &Json, out: &mut Vec<String>) {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => {
            for (key, old) in old {
                let path = format!("{path}/{}", pointer::escape(key));
                match new.get(key) {
                    Some(new) => changed_paths(path, old, new, out),
                    None => out.push(path),
                }
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                changed_paths(format!("{path}/{i}"), old, new, out);
            }
        }
        _ if equal(old, new) => {}
        _ => out.push(path),
    }
}

/// Names stay, so that a missing map of labels is an addition below `metadata` and not of `metadata`.
fn labels_and_annotations(object: &Json) -> Json {
    let metadata: Map<String, Json> = ["name", "annotations", "labels"]
        .iter()
        .filter_map(|key| Some(((*key).to_string(), object.get("metadata")?.get(key)?.clone())))
        .collect();
    Json::Object([("metadata".to_string(), Json::Object(metadata))].into_iter().collect())
}

fn without_metadata_and_status(mut object: Json) -> Json {
    if let Json::Object(map) = &mut object {
        map.remove("metadata");
        map.remove("status");
    }
    object
}

/// The rationalised operations that turn `from` into `to`.
pub fn compare(from: &Json, to: &Json) -> Vec<Operation> {
    let mut operations = Vec::new();
    visit(String::new(), from, to, &mut operations);
    operations
}

fn same_kind(a: &Json, b: &Json) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Equal as JSON values, with `1` and `1.0` the same number.
fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Json::Array(x), Json::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| equal(v, w)))
        }
        _ => a == b,
    }
}

fn visit(path: String, from: &Json, to: &Json, out: &mut Vec<Operation>) {
    let replace = |path: String| Operation { path, change: Change::Replace(from.clone(), to.clone()) };
    if !same_kind(from, to) {
        out.push(replace(path));
        return;
    }
    if equal(from, to) {
        return;
    }
    let before = out.len();
    match (from, to) {
        (Json::Array(from), Json::Array(to)) => visit_arrays(&path, from, to, out),
        (Json::Object(from), Json::Object(to)) => visit_objects(&path, from, to, out),
        _ => {
            out.push(replace(path));
            return;
        }
    }
    let changes = &out[before..];
    let separators = changes.len().saturating_sub(1);
    let length = changes.iter().map(Operation::json_length).sum::<usize>() + separators;
    let one = replace(path);
    if !changes.is_empty() && length > one.json_length() {
        out.truncate(before);
        out.push(one);
    }
}

fn visit_objects(path: &str, from: &Map<String, Json>, to: &Map<String, Json>, out: &mut Vec<Operation>) {
    let mut keys: Vec<&String> = from.keys().chain(to.keys().filter(|k| !from.contains_key(*k))).collect();
    keys.sort();
    for key in keys {
        let path = format!("{path}/{}", pointer::escape(key));
        match (from.get(key), to.get(key)) {
            (Some(old), Some(new)) => visit(path, old, new, out),
            (Some(old), None) => out.push(Operation { path, change: Change::Remove(old.clone()) }),
            (None, Some(new)) => out.push(Operation { path, change: Change::Add(new.clone()) }),
            (None, None) => {}
        }
    }
}

fn visit_arrays(path: &str, from: &[Json], to: &[Json], out: &mut Vec<Operation>) {
    let common = from.len().min(to.len());
    for old in &from[common..] {
        out.push(Operation { path: format!("{path}/{common}"), change: Change::Remove(old.clone()) });
    }
    for (i, (old, new)) in from.iter().zip(to).enumerate() {
        visit(format!("{path}/{i}"), old, new, out);
    }
    for new in &to[common..] {
        out.push(Operation { path: format!("{path}/-"), change: Change::Add(new.clone()) });
    }
}

/// How many additions, changes and removals there are.
pub fn counts<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> (usize, usize, usize) {
    operations.into_iter().fold((0, 0, 0), |(a, c, r), op| match op.change {
        Change::Add(_) => (a + 1, c, r),
        Change::Replace(..) => (a, c + 1, r),
        Change::Remove(_) => (a, c, r + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Json) -> Object {
        Object::from_json(value).unwrap()
    }

    #[test]
    fn only_what_counts() {
        let live = object(json!({"metadata": {"name": "x", "labels": {"a": "1", "extra": "by-hand"}, "uid": "u"},
            "spec": {"replicas": 2, "ports": [{"port": 1, "targetPort": "edited"}]}, "status": {"x": 1}}));
        let wanted = object(json!({"metadata": {"name": "x", "labels": {"a": "2", "b": "3"}},
            "spec": {"replicas": 2.0, "ports": [{"port": 1, "targetPort": "http"}]}, "status": {"y": 1}}));
        let found = Sides::new(&wanted, &live, &wanted, &[]).operations();
        let paths: Vec<&str> = found.iter().map(|o| o.path.as_str()).collect();
        assert_eq!(paths, ["/metadata/labels", "/spec/ports/0/targetPort"]);
        assert_eq!(counts(&found), (0, 2, 0));
        let ignored = ["/metadata/labels".to_string(), "/spec/ports/0/targetPort".to_string()];
        assert!(Sides::new(&wanted, &live, &wanted, &ignored).operations().is_empty());
    }

    #[test]
    fn a_missing_map_is_an_addition() {
        let live = object(json!({"metadata": {"name": "x"}}));
        let wanted = object(json!({"metadata": {"name": "x", "labels": {"a": "1"}}}));
        let found = Sides::new(&wanted, &live, &wanted, &[]).operations();
        assert_eq!(found, [Operation { path: "/metadata/labels".into(), change: Change::Add(json!({"a": "1"})) }]);
    }

    #[test]
    fn many_changes_become_one() {
        let found = compare(&json!({"a": {"b": 1, "c": 2, "d": 3}}), &json!({"a": {"b": 2, "c": 3, "d": 4}}));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "/a");
        let long = "x".repeat(400);
        let found = compare(&json!({"a": {"b": 1, "keep": long}}), &json!({"a": {"b": 2, "keep": long}}));
        assert_eq!(found[0].path, "/a/b");
    }
}
