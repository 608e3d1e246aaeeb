//! The template function `lookup` against a live cluster.
//!
//! The surprising thing: templates run on a thread of their own that has no event loop, so a lookup blocks that thread
//! while the request runs on the caller's runtime.

use go_value::{Map, Value};
use helm::engine::Lookup;
use kube_object::{Gvk, Object};
use kube_ops::Cluster;
use serde_json::json;
use tokio::runtime::Handle;

/// Lookups through a release's identity.
pub struct ClusterLookup {
    cluster: Cluster,
    runtime: Handle,
}

impl ClusterLookup {
    /// Must be made within a runtime, which will carry the requests.
    pub fn new(cluster: Cluster) -> Self {
        Self { cluster, runtime: Handle::current() }
    }
}

impl Lookup for ClusterLookup {
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Map, String> {
        let gvk = Gvk::new(api_version, kind);
        let work = async {
            let resource =
                self.cluster.discovery().resolve(&gvk).await.map_err(|e| e.to_string())?.ok_or_else(|| {
                    format!(
                        "failed to get an api resource: unable to find an api resource for kind {kind} in {api_version}"
                    )
                })?;
            if !name.is_empty() {
                let found = self.cluster.get(&resource, namespace, name).await.map_err(|e| e.to_string())?;
                return Ok(found.map(Object::into_json));
            }
            let namespace = (!namespace.is_empty()).then_some(namespace);
            let items = self.cluster.list(&resource, namespace, None).await.map_err(|e| e.to_string())?;
            let items: Vec<_> = items.into_iter().map(Object::into_json).collect();
            Ok::<_, String>(Some(json!({"apiVersion": api_version, "kind": format!("{kind}List"), "items": items})))
        };
        let found = self.runtime.block_on(work)?;
        match found.as_ref().map(live_value) {
            Some(Value::Map(map)) => Ok(map),
            _ => Ok(Map::new()),
        }
    }
}

/// A live object as templates see it: Go's client decodes whole numbers as `int64`, unlike values files.
fn live_value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Number(n) if n.is_i64() => Value::int64(n.as_i64().unwrap_or_default()),
        Json::Array(items) => Value::List(go_value::List::any(items.iter().map(live_value).collect())),
        Json::Object(entries) => Value::Map(entries.iter().map(|(k, v)| (k.as_str(), live_value(v))).collect()),
        other => helm::values::from_json(other),
    }
}
