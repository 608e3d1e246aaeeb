//! Writing objects.
//!
//! Owns: server-side apply (for real or as a dry run), creation, patches, and the hand-over of fields that an earlier
//! client-side apply owns. Follows Helm's `pkg/kube/client.go`. The surprising thing: a dry run costs the server as
//! much as five reads, so callers read first.

use http::Method;
use kube_object::Object;
use serde_json::{Value as Json, json};

use crate::client::Cluster;
use crate::discovery::Resource;
use crate::error::{ApiError, Class, Error};

const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const JSON: &str = "application/json";
/// How often a write that lost a race is tried again.
const TRIES: usize = 5;

/// How an object is applied.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    /// Take fields over from other managers.
    pub force: bool,
    /// Change nothing, tell what would be.
    pub dry_run: bool,
    /// Let unknown fields pass.
    pub ignore_unknown_fields: bool,
}

impl Cluster {
    fn apply_path(&self, resource: &Resource, object: &Object, options: ApplyOptions) -> Result<String, ApiError> {
        let mut path = format!(
            "{}?fieldManager={}&force={}",
            resource.path(object.namespace(), object.name())?,
            self.field_manager(),
            options.force
        );
        if options.dry_run {
            path.push_str("&dryRun=All");
        }
        path.push_str(if options.ignore_unknown_fields {
            "&fieldValidation=Ignore"
        } else {
            "&fieldValidation=Strict"
        });
        Ok(path)
    }

    /// Apply the object by server-side apply; the answer is what the server made of it.
    ///
    /// # Errors
    /// The kind is unknown, fields belong to others, the server refuses the object.
    pub async fn apply(&self, object: &Object, options: ApplyOptions) -> Result<Object, Error> {
        let resource = self.resource_of(object).await?;
        self.apply_to(&resource, object, options).await
    }

    /// As [`Cluster::apply`] where the resource is known.
    ///
    /// # Errors
    /// As there.
    pub async fn apply_to(&self, resource: &Resource, object: &Object, options: ApplyOptions) -> Result<Object, Error> {
        let path = self.apply_path(resource, object, options).map_err(|e| Error::apply(object, e))?;
        let body = Json::Object(object.0.clone());
        for _ in 1..TRIES {
            match self.send(Method::PATCH, &path, APPLY, Some(&body)).await {
                // The quota's status was changed meanwhile: nothing wrong with the object.
                Err(e) if e.message.contains("Operation cannot be fulfilled on resourcequotas") => {}
                answer => return answer.map_err(|e| Error::apply(object, e)),
            }
        }
        self.send(Method::PATCH, &path, APPLY, Some(&body)).await.map_err(|e| Error::apply(object, e))
    }

    /// Create the object as client-side apply does.
    ///
    /// # Errors
    /// The kind is unknown, the object exists, the server refuses it.
    pub async fn create(&self, object: &Object) -> Result<Object, Error> {
        let resource = self.resource_of(object).await?;
        self.create_at(&resource, object).await
    }

    /// As [`Cluster::create`] where the resource is known.
    ///
    /// # Errors
    /// The object exists, or the server refuses it.
    pub async fn create_at(&self, resource: &Resource, object: &Object) -> Result<Object, Error> {
        let path =
            format!("{}?fieldManager={}", resource.collection_path(Some(object.namespace())), self.field_manager());
        self.send(Method::POST, &path, JSON, Some(&Json::Object(object.0.clone())))
            .await
            .map_err(|source| Error::Create { id: object.id(), source })
    }

    /// Would the server create this object? Everything but the name being free is checked, in a dry run.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn try_create_at(&self, resource: &Resource, object: &Object) -> Result<(), Error> {
        let path = format!(
            "{}?fieldManager={}&fieldValidation=Strict&dryRun=All",
            resource.collection_path(Some(object.namespace())),
            self.field_manager()
        );
        let answer: Result<Object, ApiError> =
            self.send(Method::POST, &path, JSON, Some(&Json::Object(object.0.clone()))).await;
        match answer {
            // The name is looked at last.
            Ok(_) | Err(ApiError { class: Class::AlreadyExists, .. }) => Ok(()),
            Err(source) => Err(Error::Create { id: object.id(), source }),
        }
    }

    /// Replace the live object whole; whoever writes last wins unless the object carries a resourceVersion.
    ///
    /// # Errors
    /// There is no such object, or the server refuses it.
    pub async fn replace_at(&self, resource: &Resource, object: &Object) -> Result<Object, Error> {
        self.change(Method::PUT, resource, object, "", JSON, &Json::Object(object.0.clone())).await
    }

    /// Change the live object by a merge patch.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn merge_patch(&self, resource: &Resource, object: &Object, patch: &Json) -> Result<Object, Error> {
        self.change(Method::PATCH, resource, object, "", MERGE, patch).await
    }

    /// What would a merge patch make of the live object?
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn try_merge_patch(&self, resource: &Resource, object: &Object, patch: &Json) -> Result<Object, Error> {
        self.change(Method::PATCH, resource, object, "&dryRun=All", MERGE, patch).await
    }

    /// Change the live object that has this one's name. `query` comes behind the field manager.
    async fn change(
        &self,
        method: Method,
        resource: &Resource,
        object: &Object,
        query: &str,
        content_type: &str,
        body: &Json,
    ) -> Result<Object, Error> {
        let answer = match resource.path(object.namespace(), object.name()) {
            Ok(path) => {
                let path = format!("{path}?fieldManager={}{query}", self.field_manager());
                self.send(method, &path, content_type, Some(body)).await
            }
            Err(e) => Err(e),
        };
        answer.map_err(|source| Error::Patch { id: object.id(), source })
    }

    /// Change an object's status by a merge patch.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn patch_status<T: serde::de::DeserializeOwned>(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Json,
    ) -> Result<T, ApiError> {
        let path = format!("{}/status?fieldManager={}", resource.path(namespace, name)?, self.field_manager());
        self.send(Method::PATCH, &path, MERGE, Some(patch)).await
    }

    /// Change an object by a merge patch, whatever its type.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn patch_metadata<T: serde::de::DeserializeOwned>(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Json,
    ) -> Result<T, ApiError> {
        let path = format!("{}?fieldManager={}", resource.path(namespace, name)?, self.field_manager());
        self.send(Method::PATCH, &path, MERGE, Some(patch)).await
    }

    /// Make fields that an earlier client-side apply of ours owns belong to our server-side apply, so that what a new
    /// manifest drops really goes. Nothing happens, and nothing is sent, where there are none.
    ///
    /// # Errors
    /// The server's answer, after some lost races.
    pub async fn migrate_managed_fields(&self, resource: &Resource, live: &Object) -> Result<(), Error> {
        let mut live = live.clone();
        for round in 0.. {
            let Some(entries) = migrated(&live, self.field_manager()) else { return Ok(()) };
            let patch = json!([
                {"op": "replace", "path": "/metadata/managedFields", "value": entries},
                {"op": "replace", "path": "/metadata/resourceVersion", "value": live.resource_version()},
            ]);
            let path = resource
                .path(live.namespace(), live.name())
                .map_err(|source| Error::Patch { id: live.id(), source })?;
            match self.send::<Object>(Method::PATCH, &path, JSON_PATCH, Some(&patch)).await {
                Ok(_) => return Ok(()),
                Err(ApiError { class: Class::Conflict, .. }) if round < TRIES => {
                    match self.get(resource, live.namespace(), live.name()).await? {
                        Some(fresh) => live = fresh,
                        None => return Ok(()),
                    }
                }
                Err(source) => return Err(Error::Patch { id: live.id(), source }),
            }
        }
        Ok(())
    }
}

/// The managed fields after the hand-over, or nothing if there is nothing to hand over.
fn migrated(live: &Object, manager: &str) -> Option<Json> {
    let entries = live.at(&["metadata", "managedFields"])?.as_array()?;
    let own = |entry: &Json, operation: &str| {
        entry["manager"] == manager
            && entry["operation"] == operation
            && entry.get("subresource").is_none_or(|s| s == "")
    };
    let updates: Vec<&Json> = entries.iter().filter(|e| own(e, "Update")).collect();
    let newest = updates.iter().max_by_key(|e| e["time"].as_str().unwrap_or_default().to_string())?;
    let mut kept: Vec<Json> = entries.iter().filter(|e| !own(e, "Update")).cloned().collect();
    if let Some(apply) = kept.iter_mut().find(|e| own(e, "Apply")) {
        for update in &updates {
            union(&mut apply["fieldsV1"], &update["fieldsV1"]);
        }
    } else {
        let mut apply = (*newest).clone();
        apply["operation"] = "Apply".into();
        for update in &updates {
            union(&mut apply["fieldsV1"], &update["fieldsV1"]);
        }
        kept.push(apply);
    }
    Some(Json::Array(kept))
}

/// All fields of both sets.
fn union(into: &mut Json, from: &Json) {
    let Json::Object(from) = from else { return };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in from {
        union_entry(into, key, value);
    }
}

fn union_entry(into: &mut Json, key: &str, value: &Json) {
    match into.get_mut(key) {
        Some(slot) => union(slot, value),
        None => into[key] = value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_side_fields_are_handed_over() {
        let live = Object::from_json(json!({"metadata": {"managedFields": [
            {"manager": "helm-controller", "operation": "Update", "time": "1", "fieldsV1": {"f:spec": {"f:a": {}}}},
            {"manager": "helm-controller", "operation": "Update", "subresource": "status", "time": "2", "fieldsV1": {"f:status": {}}},
            {"manager": "kubectl", "operation": "Update", "time": "3", "fieldsV1": {"f:spec": {"f:b": {}}}}]}}))
        .unwrap();
        let entries = migrated(&live, "helm-controller").unwrap();
        let kept = entries.as_array().unwrap();
        assert_eq!(kept.len(), 3);
        assert_eq!(kept[2]["operation"], "Apply");
        assert_eq!(kept[2]["fieldsV1"], json!({"f:spec": {"f:a": {}}}));
        assert!(migrated(&live, "other").is_none());
    }
}
