//! Which kinds a cluster has.
//!
//! Owns: one cached answer of aggregated discovery per cluster and identity, renewed when a kind is unknown or someone
//! says that definitions changed. Does not own: OpenAPI documents, which nobody needs. The surprising thing: an unknown
//! kind asks the server again, but not more often than every few seconds, so that a release of a kind that is not
//! there costs no stream of requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, Request};
use kube::Client;
use kube_object::Gvk;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::client::Attempts;
use crate::error::{ApiError, Class, Error};

/// How old an answer must be before an unknown kind asks again.
const MIN_AGE: Duration = Duration::from_secs(2);
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// Where objects of a kind are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Group, version, kind.
    pub gvk: Gvk,
    /// The name in addresses.
    pub plural: String,
    /// Do its objects live in namespaces?
    pub namespaced: bool,
}

impl Resource {
    /// The address of all objects of a namespace, or of all there are.
    pub fn collection_path(&self, namespace: Option<&str>) -> String {
        let root = if self.gvk.group.is_empty() {
            format!("/api/{}", self.gvk.version)
        } else {
            format!("/apis/{}/{}", self.gvk.group, self.gvk.version)
        };
        match namespace {
            Some(namespace) if self.namespaced && !namespace.is_empty() => {
                format!("{root}/namespaces/{namespace}/{}", self.plural)
            }
            _ => format!("{root}/{}", self.plural),
        }
    }

    /// The address of one object.
    ///
    /// # Errors
    /// A name that is empty or none at all: with it the address would be that of all objects of the kind, and to delete
    /// it would be to delete them. In the words of Kubernetes' own client.
    pub fn path(&self, namespace: &str, name: &str) -> Result<String, ApiError> {
        let problem = match name {
            "" => "resource name may not be empty".to_owned(),
            "." | ".." => format!("invalid resource name {name:?}: [may not be '{name}']"),
            _ => return Ok(format!("{}/{}", self.collection_path(Some(namespace)), escape(name))),
        };
        Err(ApiError { class: Class::Invalid, code: 0, message: problem })
    }
}

/// A name as one element of an address: RBAC objects have names such as `system:node`.
fn escape(name: &str) -> String {
    name.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
            _ => format!("%{b:02X}"),
        })
        .collect()
}

/// All kinds of a cluster.
#[derive(Debug, Default)]
pub struct Kinds {
    by_gvk: HashMap<Gvk, Resource>,
    /// `group/version` and `group/version/Kind`, sorted: `.Capabilities.APIVersions`.
    pub api_versions: Arc<[String]>,
}

impl Kinds {
    /// The resource of a kind.
    pub fn get(&self, gvk: &Gvk) -> Option<&Resource> {
        self.by_gvk.get(gvk)
    }
}

#[derive(Deserialize)]
struct GroupList {
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    metadata: GroupMeta,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct GroupMeta {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<ResourceEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceEntry {
    resource: String,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    subresources: Vec<Subresource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subresource {
    #[serde(default)]
    response_kind: Option<ResponseKind>,
}

#[derive(Deserialize)]
struct ResponseKind {
    #[serde(default)]
    kind: String,
}

/// A server's version, as `/version` tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// `v1.36.3`
    pub git_version: String,
    /// `1`
    pub major: String,
    /// `36`
    pub minor: String,
}

#[derive(Default)]
struct State {
    kinds: Option<(Arc<Kinds>, Instant)>,
    version: Option<ServerVersion>,
}

/// The cached kinds of a cluster.
pub struct Discovery {
    client: Client,
    state: Mutex<State>,
}

impl Discovery {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, state: Mutex::default() }
    }

    /// Forget the kinds: a definition or an API service changed.
    pub async fn invalidate(&self) {
        self.state.lock().await.kinds = None;
    }

    /// All kinds; the cluster is asked the first time.
    ///
    /// # Errors
    /// The cluster cannot be asked.
    pub async fn kinds(&self) -> Result<Arc<Kinds>, Error> {
        let mut state = self.state.lock().await;
        if let Some((kinds, _)) = &state.kinds {
            return Ok(Arc::clone(kinds));
        }
        self.fetch(&mut state).await
    }

    /// The resource of a kind. A kind that is unknown makes the cluster be asked again, if that was some time ago.
    ///
    /// # Errors
    /// The cluster cannot be asked.
    pub async fn resolve(&self, gvk: &Gvk) -> Result<Option<Resource>, Error> {
        let mut state = self.state.lock().await;
        let cached = state.kinds.as_ref().map(|(kinds, at)| (Arc::clone(kinds), at.elapsed()));
        if let Some((kinds, age)) = cached {
            if let Some(found) = kinds.get(gvk) {
                return Ok(Some(found.clone()));
            }
            if age < MIN_AGE {
                return Ok(None);
            }
        }
        Ok(self.fetch(&mut state).await?.get(gvk).cloned())
    }

    /// The server's version, asked once.
    ///
    /// # Errors
    /// The cluster cannot be asked.
    pub async fn server_version(&self) -> Result<ServerVersion, Error> {
        let mut state = self.state.lock().await;
        if let Some(version) = &state.version {
            return Ok(version.clone());
        }
        let version: ServerVersion = self.get("/version", "application/json").await.map_err(Error::Discover)?;
        state.version = Some(version.clone());
        Ok(version)
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, path: &str, accept: &str) -> Result<T, ApiError> {
        let mut attempts = Attempts::of(&Method::GET);
        loop {
            let request = Request::builder()
                .uri(path)
                .header(http::header::ACCEPT, accept)
                .body(Vec::new())
                .map_err(|e| ApiError { class: Class::Other, code: 0, message: e.to_string() })?;
            match self.client.request(request).await.map_err(ApiError::from) {
                Err(e) if attempts.another(&e).await => {}
                answer => return answer,
            }
        }
    }

    async fn fetch(&self, state: &mut State) -> Result<Arc<Kinds>, Error> {
        let core: GroupList = self.get("/api", AGGREGATED).await.map_err(Error::Discover)?;
        let groups: GroupList = self.get("/apis", AGGREGATED).await.map_err(Error::Discover)?;
        let kinds = Arc::new(read(core.items.into_iter().chain(groups.items)));
        state.kinds = Some((Arc::clone(&kinds), Instant::now()));
        Ok(kinds)
    }
}

fn read(groups: impl Iterator<Item = Group>) -> Kinds {
    let mut by_gvk = HashMap::new();
    let mut versions = std::collections::BTreeSet::new();
    for group in groups {
        for v in group.versions {
            let gvk = |kind: &str| Gvk {
                group: group.metadata.name.clone(),
                version: v.version.clone(),
                kind: kind.to_string(),
            };
            versions.insert(gvk("").api_version());
            for entry in &v.resources {
                for sub in entry.subresources.iter().filter_map(|s| s.response_kind.as_ref()) {
                    versions.insert(format!("{}/{}", gvk("").api_version(), sub.kind));
                }
                let Some(kind) = entry.response_kind.as_ref().map(|k| &k.kind).filter(|k| !k.is_empty()) else {
                    continue;
                };
                versions.insert(format!("{}/{kind}", gvk("").api_version()));
                let resource = Resource {
                    gvk: gvk(kind),
                    plural: entry.resource.clone(),
                    namespaced: entry.scope == "Namespaced",
                };
                by_gvk.entry(gvk(kind)).or_insert(resource);
            }
        }
    }
    Kinds { by_gvk, api_versions: versions.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let r = Resource { gvk: Gvk::new("apps/v1", "Deployment"), plural: "deployments".into(), namespaced: true };
        assert_eq!(r.path("n", "x").unwrap(), "/apis/apps/v1/namespaces/n/deployments/x");
        assert_eq!(r.collection_path(None), "/apis/apps/v1/deployments");
        let r = Resource { gvk: Gvk::new("v1", "Namespace"), plural: "namespaces".into(), namespaced: false };
        assert_eq!(r.path("", "a:b").unwrap(), "/api/v1/namespaces/a%3Ab");
        for name in ["", ".", ".."] {
            assert_eq!(r.path("n", name).unwrap_err().class, Class::Invalid, "{name:?}");
        }
    }

    #[test]
    fn answers_are_read() {
        let list: GroupList = serde_json::from_value(serde_json::json!({"items": [{"metadata": {"name": "apps"},
            "versions": [{"version": "v1", "resources": [{"resource": "deployments", "scope": "Namespaced",
                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                "subresources": [{"subresource": "scale", "responseKind": {"kind": "Scale"}}]}]}]}]}))
        .unwrap();
        let kinds = read(list.items.into_iter());
        assert!(kinds.get(&Gvk::new("apps/v1", "Deployment")).is_some_and(|r| r.namespaced));
        assert_eq!(&*kinds.api_versions, ["apps/v1", "apps/v1/Deployment", "apps/v1/Scale"]);
    }
}
