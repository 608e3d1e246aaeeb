//! Objects from files that have not been applied yet.
//!
//! Owns: reading manifests, with the place of each for messages, and reading what a release refers to from them first and then from the cluster. The
//! surprising thing: a HelmRelease that others depend on comes from the cluster first, because only there it has a status.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use kube_object::{Gvk, Object};
use kube_ops::{ApiError, Cluster, Resource};
use serde_json::Value as Json;

use super::schema;
use crate::controller::references::read;
use crate::reconcile::context::{RefKind, References};
use crate::sources::clients::{SecretData, Secrets};

/// The most that is read from one file, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// Objects by kind, namespace and name, and the cluster behind them.
pub struct Files {
    objects: Vec<Object>,
    cluster: Cluster,
}

/// All objects of some files, in order; `-` is standard input. Namespaced or not, an object without a namespace gets
/// `namespace`.
///
/// # Errors
/// A file that cannot be read, a document that is no object, or objects of our kinds that the API server would not take:
/// all of them, each with its place.
pub fn load(paths: &[std::path::PathBuf], namespace: &str) -> Result<Vec<Object>> {
    let (mut objects, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        let documents = go_yaml::decode_json_stream(&content(path)?, go_yaml::Duplicates::Refuse)
            .with_context(|| format!("failed to parse {}", path.display()))?;
        let many = documents.len() > 1;
        for (i, document) in documents.into_iter().enumerate() {
            let document_place =
                if many { format!("{}, document {}", path.display(), i + 1) } else { path.display().to_string() };
            for (place, item) in items(document, &document_place) {
                let Some(mut object) = Object::from_json(item) else {
                    bail!("{place}: this is no Kubernetes object");
                };
                if object.namespace().is_empty() && object.0.get("metadata").is_none_or(Json::is_object) {
                    object.set_namespace(Some(namespace));
                }
                faults.extend(schema::faults(&object).iter().map(|fault| format!("{place}: {}: {fault}", object.id())));
                objects.push(object);
            }
        }
    }
    if faults.is_empty() { Ok(objects) } else { bail!("{}", faults.join("\n")) }
}

fn content(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|f| f.take(MAX_FILE + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("failed to read {}", path.display()))?;
    if bytes.len() as u64 > MAX_FILE {
        bail!("{} is larger than {MAX_FILE} bytes", path.display());
    }
    Ok(bytes)
}

/// The objects of a document, each with its place: none in an empty one, several in a list.
fn items(document: Json, place: &str) -> Vec<(String, Json)> {
    match document {
        Json::Null => Vec::new(),
        Json::Object(mut list) if list.get("kind").and_then(Json::as_str) == Some("List") => {
            let items = match list.remove("items") {
                Some(Json::Array(items)) => items,
                _ => Vec::new(),
            };
            items.into_iter().enumerate().map(|(i, item)| (format!("{place}, item {}", i + 1), item)).collect()
        }
        other => vec![(place.to_owned(), other)],
    }
}

impl Files {
    /// Objects before those of a cluster.
    pub fn new(objects: Vec<Object>, cluster: Cluster) -> Self {
        Self { objects, cluster }
    }

    fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Object> {
        let in_group = |o: &Object| o.api_version().rsplit_once('/').map_or("", |(group, _)| group) == group;
        self.objects.iter().find(|o| o.kind() == kind && in_group(o) && o.namespace() == namespace && o.name() == name)
    }

    /// A source, from the files or else from the cluster.
    ///
    /// # Errors
    /// The cluster's answer, or an object that is no such source.
    pub async fn source<T: serde::de::DeserializeOwned>(
        &self,
        kind: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<T>, String> {
        const GROUP: &str = "source.toolkit.fluxcd.io";
        let found = if let Some(object) = self.find(GROUP, kind, namespace, name) {
            Some(object.clone())
        } else {
            let resource =
                Resource { gvk: Gvk::new(&format!("{GROUP}/v1"), kind), plural: plural.into(), namespaced: true };
            self.cluster.get(&resource, namespace, name).await.map_err(|e| e.to_string())?
        };
        found
            .map(|object| {
                serde_json::from_value(object.into_json()).map_err(|e| format!("{kind} {namespace}/{name}: {e}"))
            })
            .transpose()
    }
}

impl References for Files {
    fn get<'a>(
        &'a self,
        kind: RefKind,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Json>, ApiError>> {
        Box::pin(async move {
            let (group, kind_name) = match kind {
                RefKind::HelmRelease => ("helm.toolkit.fluxcd.io", "HelmRelease"),
                RefKind::ConfigMap => ("", "ConfigMap"),
                RefKind::Secret => ("", "Secret"),
            };
            let own = || self.find(group, kind_name, namespace, name).map(|o| o.clone().into_json());
            if kind == RefKind::HelmRelease {
                return Ok(read(&self.cluster, kind, namespace, name).await?.or_else(own));
            }
            match own() {
                Some(found) => Ok(Some(found)),
                None => read(&self.cluster, kind, namespace, name).await,
            }
        })
    }
}

impl Secrets for Files {
    fn secret<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<SecretData, String>> {
        Box::pin(async move {
            match self.get(RefKind::Secret, namespace, name).await {
                Ok(Some(json)) => {
                    let secret =
                        Object::from_json(json).ok_or_else(|| format!("secret '{namespace}/{name}' is no object"))?;
                    Ok(SecretData::new(namespace, name, &secret))
                }
                Ok(None) => Err(format!("secrets {name:?} not found")),
                Err(e) => Err(e.to_string()),
            }
        })
    }
}
