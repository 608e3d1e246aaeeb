//! A Kubernetes object as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gvk {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl Gvk {
    /// From `apiVersion` and `kind`.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version(), self.kind)
    }
}

/// What makes two objects the same one whatever their version: group, kind, namespace, name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// `Kind/namespace/name`, as Flux and Helm write it; without the namespace where there is none.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{}/{}", self.kind, self.name)
        } else {
            write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// A Kubernetes object: JSON with an `apiVersion`, a `kind` and `metadata`.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(pub Map<String, Json>);

/// Only the identity: content may be secret.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.id(), self.gvk())
    }
}

impl Object {
    /// The object in `json`, if it is a JSON object at all.
    pub fn from_json(json: Json) -> Option<Self> {
        match json {
            Json::Object(map) => Some(Self(map)),
            _ => None,
        }
    }

    /// As a JSON value.
    pub fn into_json(self) -> Json {
        Json::Object(self.0)
    }

    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Json::as_str).unwrap_or_default()
    }

    /// The value at a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Json> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.0.get(*first)?, |value, key| value.get(*key))
    }

    /// The text at a path of keys; empty if there is none.
    pub fn text_at(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Json::as_str).unwrap_or_default()
    }

    /// The whole number at a path of keys.
    pub fn int_at(&self, path: &[&str]) -> Option<i64> {
        let n = self.at(path)?;
        n.as_i64().or_else(|| n.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i64))
    }

    /// `apiVersion`.
    pub fn api_version(&self) -> &str {
        self.text("apiVersion")
    }

    /// `kind`.
    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// Group, version and kind.
    pub fn gvk(&self) -> Gvk {
        Gvk::new(self.api_version(), self.kind())
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.text_at(&["metadata", "name"])
    }

    /// `metadata.namespace`.
    pub fn namespace(&self) -> &str {
        self.text_at(&["metadata", "namespace"])
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(&self) -> &str {
        self.text_at(&["metadata", "resourceVersion"])
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.text_at(&["metadata", "uid"])
    }

    /// `metadata.generation`.
    pub fn generation(&self) -> Option<i64> {
        self.int_at(&["metadata", "generation"])
    }

    /// Is the object being deleted?
    pub fn is_terminating(&self) -> bool {
        self.at(&["metadata", "deletionTimestamp"]).is_some_and(|t| !t.is_null())
    }

    /// The identity without the version.
    pub fn id(&self) -> ObjectId {
        let gvk = self.gvk();
        ObjectId { group: gvk.group, kind: gvk.kind, namespace: self.namespace().into(), name: self.name().into() }
    }

    /// A label's value.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.at(&["metadata", "labels", key]).and_then(Json::as_str)
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.at(&["metadata", "annotations", key]).and_then(Json::as_str)
    }

    /// All labels that are text.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.text_map(&["metadata", "labels"])
    }

    /// All annotations that are text.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        self.text_map(&["metadata", "annotations"])
    }

    fn text_map(&self, path: &[&str]) -> BTreeMap<String, String> {
        let entries = self.at(path).and_then(Json::as_object).into_iter().flatten();
        entries.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_string()))).collect()
    }

    /// The map under `metadata.<key>`, made if need be.
    fn metadata_map(&mut self, key: &str) -> &mut Map<String, Json> {
        let metadata = object_in(&mut self.0, "metadata");
        object_in(metadata, key)
    }

    /// Set a label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.metadata_map("labels").insert(key.into(), value.into());
    }

    /// Set an annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        self.metadata_map("annotations").insert(key.into(), value.into());
    }

    /// Set the namespace, or remove it when `None`.
    pub fn set_namespace(&mut self, namespace: Option<&str>) {
        let metadata = object_in(&mut self.0, "metadata");
        match namespace {
            Some(namespace) => metadata.insert("namespace".into(), namespace.into()),
            None => metadata.remove("namespace"),
        };
    }

    /// The condition of this type: its status, reason and message.
    pub fn condition(&self, kind: &str) -> Option<Condition<'_>> {
        let conditions = self.at(&["status", "conditions"])?.as_array()?;
        let found = conditions.iter().find(|c| c.get("type").and_then(Json::as_str) == Some(kind))?;
        let text = |key: &str| found.get(key).and_then(Json::as_str).unwrap_or_default();
        Some(Condition { status: text("status"), reason: text("reason"), message: text("message") })
    }
}

/// A condition of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition<'a> {
    /// `True`, `False` or `Unknown`.
    pub status: &'a str,
    /// One word.
    pub reason: &'a str,
    /// A sentence.
    pub message: &'a str,
}

/// The object under `key`; whatever else is there gives way.
fn object_in<'a>(map: &'a mut Map<String, Json>, key: &str) -> &'a mut Map<String, Json> {
    let slot = map.entry(key).or_insert_with(|| Json::Object(Map::new()));
    if !slot.is_object() {
        *slot = Json::Object(Map::new());
    }
    match slot {
        Json::Object(map) => map,
        // Made an object on the line above.
        _ => unreachable!("the slot was made an object"),
    }
}
