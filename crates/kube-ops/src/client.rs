//! A cluster as one identity sees it.
//!
//! Owns: the connection, impersonation, the discovery cache. The surprising thing: impersonated clients share the
//! controller's connection settings but not its cache of kinds: what a tenant may discover is the tenant's.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request};
use kube::{Client, Config};
use kube_object::Object;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::discovery::{Discovery, Resource};
use crate::error::{ApiError, Class, Error};

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
        let mut attempts = Attempts::of(&method);
        loop {
            let request = Request::builder()
                .method(method.clone())
                .uri(path)
                .header(http::header::CONTENT_TYPE, content_type)
                .header(http::header::ACCEPT, accept)
                .body(body.clone())
                .map_err(|e| invalid(&e))?;
            match self.client.request(request).await.map_err(ApiError::from) {
                Err(e) if attempts.another(&e).await => {}
                answer => return answer,
            }
        }
    }

    /// Read plain text, such as a Pod's log.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn text(&self, path: &str) -> Result<String, ApiError> {
        let mut attempts = Attempts::of(&Method::GET);
        loop {
            let request = Request::builder().uri(path).body(Vec::new()).map_err(|e| invalid(&e))?;
            match self.client.request_text(request).await.map_err(ApiError::from) {
                Err(e) if attempts.another(&e).await => {}
                answer => return answer,
            }
        }
    }
}

/// The pauses before a request is made again.
const PAUSES: [Duration; 3] = [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(3)];

/// The attempts at one request. It is made again after a pause where the server could not take it or the connection
/// broke: all of ours but creations come to the same when they are made twice.
pub(crate) struct Attempts<'a> {
    method: &'a Method,
    pauses: std::slice::Iter<'static, Duration>,
}

impl<'a> Attempts<'a> {
    pub(crate) fn of(method: &'a Method) -> Self {
        Self { method, pauses: PAUSES.iter() }
    }

    /// After a failure: wait, and tell whether to try again.
    pub(crate) async fn another(&mut self, failure: &ApiError) -> bool {
        if !is_passing(self.method, failure) {
            return false;
        }
        let Some(pause) = self.pauses.next() else { return false };
        tracing::debug!(error = %failure, method = %self.method, "a request is made again");
        tokio::time::sleep(*pause).await;
        true
    }
}

/// Is a failure worth another attempt at once? After a creation without an answer nobody knows whether there is an
/// object; and a webhook that fails, or fields of a wrong type, are a 500 too, which waiting does not heal.
fn is_passing(method: &Method, e: &ApiError) -> bool {
    match e.code {
        429 => true,
        0 => e.class == Class::Transient && *method != Method::POST,
        502..=504 => *method != Method::POST,
        500 => e.message.contains("etcdserver: "),
        _ => false,
    }
}

fn invalid(e: &dyn std::error::Error) -> ApiError {
    ApiError { class: Class::Invalid, code: 0, message: e.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (method, code, message, want) in [
            (Method::GET, 0, "connection refused", true),
            (Method::PATCH, 503, "", true),
            (Method::POST, 429, "", true),
            (Method::POST, 500, "etcdserver: leader changed", true),
            (Method::POST, 0, "connection closed", false),
            (Method::POST, 503, "", false),
            (Method::PATCH, 500, "failed calling webhook", false),
            (Method::PATCH, 422, "", false),
        ] {
            let failure = ApiError { class: Class::Transient, code, message: message.into() };
            assert_eq!(is_passing(&method, &failure), want, "{method} {code} {message}");
        }
    }

    #[tokio::test]
    async fn attempts_come_to_an_end() {
        let failure = ApiError { class: Class::Transient, code: 429, message: String::new() };
        let mut attempts = Attempts { method: &Method::GET, pauses: const { &[Duration::ZERO; 3] }.iter() };
        let mut made = 1;
        while attempts.another(&failure).await {
            made += 1;
        }
        assert_eq!(made, 4);
    }
}
