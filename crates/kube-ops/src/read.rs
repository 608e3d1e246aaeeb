//! Reading objects.

use http::Method;
use kube_object::{Object, ObjectId};
use serde::Deserialize;

use crate::client::Cluster;
use crate::discovery::Resource;
use crate::error::{Class, Error};

const JSON: &str = "application/json";

#[derive(Deserialize)]
struct List {
    /// Of an empty list of metadata the API server says `null`.
    items: Option<Vec<Object>>,
}

impl Cluster {
    /// The live object of this kind and name, or nothing.
    ///
    /// # Errors
    /// Any answer but the object or that there is none.
    pub async fn get(&self, resource: &Resource, namespace: &str, name: &str) -> Result<Option<Object>, Error> {
        let answer = match resource.path(namespace, name) {
            Ok(path) => self.send::<Object>(Method::GET, &path, JSON, None).await,
            Err(e) => Err(e),
        };
        match answer {
            Ok(object) => Ok(Some(object)),
            Err(e) if e.class == Class::NotFound => Ok(None),
            Err(source) => {
                let id = ObjectId {
                    group: resource.gvk.group.clone(),
                    kind: resource.gvk.kind.clone(),
                    namespace: namespace.into(),
                    name: name.into(),
                };
                Err(Error::Read { id, source })
            }
        }
    }

    /// The live state of `object`, or nothing.
    ///
    /// # Errors
    /// As [`Cluster::get`], and a kind the cluster has not.
    pub async fn get_live(&self, object: &Object) -> Result<Option<Object>, Error> {
        let resource = self.resource_of(object).await?;
        self.get(&resource, object.namespace(), object.name()).await
    }

    /// All objects of a kind in a namespace (or everywhere) that match a label selector (or all).
    ///
    /// # Errors
    /// Any answer but a list.
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<Object>, Error> {
        self.list_as(resource, namespace, selector, JSON).await
    }

    /// As [`Cluster::list`], but only `metadata` of each object comes over the wire.
    ///
    /// # Errors
    /// As there.
    pub async fn list_metadata(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<Object>, Error> {
        let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        self.list_as(resource, namespace, selector, accept).await
    }

    async fn list_as(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: Option<&str>,
        accept: &str,
    ) -> Result<Vec<Object>, Error> {
        let mut path = resource.collection_path(namespace);
        if let Some(selector) = selector {
            path = format!("{path}?labelSelector={}", query_value(selector));
        }
        let list: List = self
            .send_accepting(Method::GET, &path, accept, JSON, None)
            .await
            .map_err(|source| Error::List { kind: resource.gvk.kind.clone(), source })?;
        let (api_version, kind) = (resource.gvk.api_version(), resource.gvk.kind.clone());
        Ok(list
            .items
            .unwrap_or_default()
            .into_iter()
            .map(|mut object| {
                // Items of typed lists come without their type.
                object.0.entry("apiVersion").or_insert_with(|| api_version.clone().into());
                object.0.entry("kind").or_insert_with(|| kind.clone().into());
                object
            })
            .collect())
    }
}

/// A text as the value of a query.
fn query_value(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(b).to_string(),
            _ => format!("%{b:02X}"),
        })
        .collect()
}
