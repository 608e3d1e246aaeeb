//! A cluster as one identity sees it.
//!
//! Owns: the connection, impersonation, the discovery cache. The surprising thing: impersonated clients share the
//! controller's connection settings but not its cache of kinds: what a tenant may discover is the tenant's.

use std::sync::Arc;

use http::{Method, Request};
use kube::{Client, Config};
use kube_object::Object;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::discovery::{Discovery, Resource};
use crate::error::{ApiError, Error};

/// Who a client acts as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// The credentials of the configuration.
    Own,
    /// A ServiceAccount, by impersonation.
    ServiceAccount {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// A cluster, the identity one acts as there, and the name under which one's fields are managed. Cheap to clone.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    discovery: Arc<Discovery>,
    field_manager: Arc<str>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("field_manager", &self.field_manager).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Connect. Nothing is sent yet.
    ///
    /// # Errors
    /// Credentials that cannot be read.
    pub fn connect(mut config: Config, identity: &Identity, field_manager: &str) -> Result<Self, Error> {
        if let Identity::ServiceAccount { namespace, name } = identity {
            config.auth_info.impersonate = Some(format!("system:serviceaccount:{namespace}:{name}"));
            config.auth_info.impersonate_groups = Some(vec![
                "system:serviceaccounts".into(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".into(),
            ]);
        }
        let client = Client::try_from(config).map_err(|e| Error::Connect(e.to_string()))?;
        Ok(Self::new(client, field_manager))
    }

    /// Over an existing client.
    pub fn new(client: Client, field_manager: &str) -> Self {
        Self { discovery: Arc::new(Discovery::new(client.clone())), client, field_manager: field_manager.into() }
    }

    /// The client below, for typed kinds.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The kinds of the cluster.
    pub fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// The name under which this identity's fields are managed.
    pub fn field_manager(&self) -> &str {
        &self.field_manager
    }

    /// The resource of an object, looked up by its kind.
    ///
    /// # Errors
    /// The cluster has no such kind, or cannot be asked.
    pub async fn resource_of(&self, object: &Object) -> Result<Resource, Error> {
        self.discovery.resolve(&object.gvk()).await?.ok_or_else(|| Error::UnknownKind {
            gvk: object.gvk(),
            name: object.name().into(),
            namespace: object.namespace().into(),
        })
    }

    /// Send a request with a JSON body, or none, and read a JSON answer.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Json>,
    ) -> Result<T, ApiError> {
        self.send_accepting(method, path, "application/json", content_type, body).await
    }

    /// As [`Cluster::send`], asking for another form of the answer.
    pub(crate) async fn send_accepting<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        content_type: &str,
        body: Option<&Json>,
    ) -> Result<T, ApiError> {
        let body = match body {
            Some(json) => serde_json::to_vec(json).map_err(|e| invalid(&e))?,
            None => Vec::new(),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, content_type)
            .header(http::header::ACCEPT, accept)
            .body(body)
            .map_err(|e| invalid(&e))?;
        Ok(self.client.request(request).await?)
    }

    /// Read plain text, such as a Pod's log.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn text(&self, path: &str) -> Result<String, ApiError> {
        let request = Request::builder().uri(path).body(Vec::new()).map_err(|e| invalid(&e))?;
        Ok(self.client.request_text(request).await?)
    }
}

fn invalid(e: &dyn std::error::Error) -> ApiError {
    ApiError { class: crate::error::Class::Invalid, code: 0, message: e.to_string() }
}
