//! The Secrets that hold releases.
//!
//! Follows Helm's `pkg/storage/driver/secrets.go`. The surprising thing: an update is a whole replacement without a
//! resourceVersion, in which the label `createdAt` gives way to `modifiedAt`, as Helm does.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use helm::release::{Release, codec};
use kube_object::{Gvk, Object};
use kube_ops::{Class, Cluster, Error, Resource};
use serde_json::{Value as Json, json};

use super::RecordHead;

/// The pauses before an update is tried again. A revision whose end is not recorded passes for one that was interrupted,
/// so that this is worth more than one attempt.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

fn resource() -> Resource {
    Resource { gvk: Gvk::new("v1", "Secret"), plural: "secrets".into(), namespaced: true }
}

/// Name and version of a Secret that was written.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) resource_version: String,
}

impl From<Object> for Written {
    fn from(object: Object) -> Self {
        Self { name: object.name().into(), resource_version: object.resource_version().into() }
    }
}

pub(super) async fn heads(cluster: &Cluster, namespace: &str, name: &str) -> Result<Vec<RecordHead>, Error> {
    let selector = format!("name={name},owner=helm");
    let found = cluster.list_metadata(&resource(), Some(namespace), Some(&selector)).await?;
    Ok(found
        .iter()
        .filter_map(|object| {
            let labels: BTreeMap<String, String> = object.labels();
            Some(RecordHead {
                version: labels.get("version")?.parse().ok()?,
                status: codec::label_status(&labels),
                object: object.name().into(),
                resource_version: object.resource_version().into(),
                labels,
            })
        })
        .collect())
}

/// The decoded record and the Secret's version; nothing if there is no such Secret.
pub(super) async fn read(
    cluster: &Cluster,
    namespace: &str,
    object: &str,
) -> Result<Option<(Result<Release, helm::Error>, String)>, Error> {
    let Some(secret) = cluster.get(&resource(), namespace, object).await? else { return Ok(None) };
    let data = secret.text_at(&["data", "release"]);
    let release = STANDARD
        .decode(data)
        .map_err(|e| helm::Error::Record(format!("get: failed to decode data {object:?}: {e}")))
        .and_then(|packed| codec::decode(&packed))
        .map_err(|e| helm::Error::Record(format!("get: failed to decode data {object:?}: {e}")));
    Ok(Some((release, secret.resource_version().into())))
}

fn secret(namespace: &str, release: &Release, data: &[u8], stamp: &str) -> Object {
    let mut labels = codec::labels(release);
    labels.insert(stamp.into(), jiff::Timestamp::now().as_second().to_string());
    let json = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": codec::object_name(&release.name, release.version),
            "namespace": namespace,
            "labels": labels,
        },
        "type": codec::SECRET_TYPE,
        "data": {"release": STANDARD.encode(data)},
    });
    match json {
        Json::Object(map) => Object(map),
        _ => Object(serde_json::Map::new()),
    }
}

pub(super) async fn create(
    cluster: &Cluster,
    namespace: &str,
    release: &Release,
    data: &[u8],
) -> Result<Written, Error> {
    Ok(cluster.create_at(&resource(), &secret(namespace, release, data, "createdAt")).await?.into())
}

pub(super) async fn update(
    cluster: &Cluster,
    namespace: &str,
    release: &Release,
    data: &[u8],
) -> Result<Written, Error> {
    let record = secret(namespace, release, data, "modifiedAt");
    for pause in PAUSES {
        match cluster.replace_at(&resource(), &record).await {
            Err(e) if e.class() == Class::Transient => tokio::time::sleep(pause).await,
            answer => return Ok(answer?.into()),
        }
    }
    Ok(cluster.replace_at(&resource(), &record).await?.into())
}

pub(super) async fn delete(cluster: &Cluster, namespace: &str, object: &str) -> Result<(), Error> {
    let json = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": object, "namespace": namespace}});
    if let Some(secret) = Object::from_json(json) {
        cluster.delete_from(&resource(), &secret, kube_ops::delete::Propagation::Background).await?;
    }
    Ok(())
}
