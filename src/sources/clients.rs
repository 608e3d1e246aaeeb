//! From specs and Secrets to clients of repositories and registries.
//!
//! Owns: which key of which Secret means what. Follows Flux's `runtime/secrets`. The surprising thing: an OCIRepository
//! takes only docker configurations, a HelmRepository of type oci takes user and password too.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use chart_source::credentials::docker_config;
use chart_source::oci::OciOptions;
use chart_source::{BasicAuth, HelmRepository, Http, Limits, OciRepository, RegistryAuth, Settings, Tls};
use flux_api::source::{HelmRepositorySpec, OCIRepositorySpec};
use futures::future::BoxFuture;
use kube_object::Object;

use super::{Fault, Sources};
use flux_api::meta::reason;

/// A Secret's data. Never printed.
#[derive(Clone)]
pub struct SecretData {
    /// `namespace/name`
    pub id: String,
    kind: String,
    data: BTreeMap<String, Vec<u8>>,
}

impl std::fmt::Debug for SecretData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretData({}, keys {:?})", self.id, self.data.keys())
    }
}

impl SecretData {
    /// Decode an object's `data` and `stringData`.
    pub fn new(namespace: &str, name: &str, secret: &Object) -> Self {
        let mut data = BTreeMap::new();
        for (key, value) in secret.at(&["data"]).and_then(|d| d.as_object()).into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            if let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(text) {
                data.insert(key.clone(), bytes);
            }
        }
        for (key, value) in secret.at(&["stringData"]).and_then(|d| d.as_object()).into_iter().flatten() {
            data.insert(key.clone(), value.as_str().unwrap_or_default().as_bytes().to_vec());
        }
        Self { id: format!("{namespace}/{name}"), kind: secret.text_at(&["type"]).into(), data }
    }

    fn text(&self, key: &str) -> String {
        self.data.get(key).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default()
    }

    fn basic(&self) -> Result<Option<BasicAuth>, String> {
        let has = |key: &str| self.data.contains_key(key);
        for (one, other) in [("username", "password"), ("password", "username")] {
            if has(one) && !has(other) {
                return Err(format!("secret '{}': malformed basic auth - has '{one}' but missing '{other}'", self.id));
            }
        }
        Ok(BasicAuth::new(self.text("username"), self.text("password")))
    }

    fn tls(&self) -> Result<Option<Tls>, String> {
        let first = |keys: [&str; 2]| keys.iter().find_map(|k| self.data.get(*k).cloned());
        let ca = first(["ca.crt", "caFile"]);
        let client = match (first(["tls.crt", "certFile"]), first(["tls.key", "keyFile"])) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (Some(_), None) => return Err(format!("secret '{}' contains 'tls.crt' but missing 'tls.key'", self.id)),
            (None, Some(_)) => return Err(format!("secret '{}' contains 'tls.key' but missing 'tls.crt'", self.id)),
            (None, None) => None,
        };
        Ok((ca.is_some() || client.is_some()).then_some(Tls { ca, client, insecure: false }))
    }

    fn registry(&self, host: &str, repository: &str) -> Result<Option<RegistryAuth>, String> {
        let config = self.data.get(".dockerconfigjson").or_else(|| self.data.get(".dockercfg"));
        match config {
            Some(config) => docker_config(config, &[&format!("{host}/{repository}"), host]).map_err(|e| e.to_string()),
            None => Ok(None),
        }
    }
}

/// Reads Secrets: from the cluster, or from files in a preview.
pub trait Secrets: Send + Sync {
    /// The data of a Secret.
    fn secret<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<SecretData, String>>;
}

impl Secrets for Sources {
    fn secret<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<SecretData, String>> {
        Box::pin(Sources::secret(self, namespace, name))
    }
}

fn auth_fault(message: String) -> Fault {
    Fault::fetch(reason::AUTHENTICATION_FAILED, message)
}

async fn tls(
    secrets: &dyn Secrets,
    namespace: &str,
    reference: Option<&flux_api::meta::LocalReference>,
) -> Result<Tls, Fault> {
    let Some(reference) = reference else { return Ok(Tls::default()) };
    let fault = |why: String| {
        auth_fault(format!("failed to get TLS authentication secret '{namespace}/{}': {why}", reference.name))
    };
    let secret = secrets.secret(namespace, &reference.name).await.map_err(fault)?;
    secret.tls().map_err(auth_fault)?.ok_or_else(|| {
        auth_fault(format!("secret '{}' must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'", secret.id))
    })
}

async fn credentials(
    secrets: &dyn Secrets,
    namespace: &str,
    reference: Option<&flux_api::meta::LocalReference>,
) -> Result<Option<SecretData>, Fault> {
    let Some(reference) = reference else { return Ok(None) };
    let fault = |why: String| {
        auth_fault(format!("failed to get authentication secret '{namespace}/{}': {why}", reference.name))
    };
    Ok(Some(secrets.secret(namespace, &reference.name).await.map_err(fault)?))
}

fn http(timeout: Duration, tls: Tls) -> Result<Http, Fault> {
    Http::new(&Settings { timeout, tls, ..Settings::default() })
        .map_err(|e| Fault::fetch(reason::FAILED, format!("failed to construct Helm client: {e}")).stalled())
}

fn timeout(own: Option<&flux_api::meta::Duration>) -> Duration {
    own.map_or(Duration::from_mins(1), flux_api::meta::Duration::as_std)
}

/// The client of an HTTP repository.
///
/// # Errors
/// A Secret is missing or malformed, or the address cannot be used.
pub async fn repository(
    spec: &HelmRepositorySpec,
    namespace: &str,
    secrets: &dyn Secrets,
    limits: Limits,
) -> Result<HelmRepository, Fault> {
    let secret = credentials(secrets, namespace, spec.secret_ref.as_ref()).await?;
    let auth = secret.as_ref().map(SecretData::basic).transpose().map_err(auth_fault)?.flatten();
    let mut certificates = tls(secrets, namespace, spec.cert_secret_ref.as_ref()).await?;
    if spec.cert_secret_ref.is_none()
        && let Some(own) = secret.as_ref().and_then(|s| s.tls().ok().flatten())
    {
        certificates = own;
    }
    let http = http(timeout(spec.timeout.as_ref()), certificates)?;
    HelmRepository::new(&spec.url, http, auth, spec.pass_credentials.unwrap_or(false), limits)
        .map_err(|e| Fault::fetch(reason::URL_INVALID, format!("invalid Helm repository URL: {e}")).stalled())
}

/// The client of one chart in a repository of type oci.
///
/// # Errors
/// As [`repository`].
pub async fn oci_chart(
    spec: &HelmRepositorySpec,
    chart: &str,
    namespace: &str,
    secrets: &dyn Secrets,
    limits: Limits,
) -> Result<OciRepository, Fault> {
    let url = format!("{}/{chart}", spec.url.trim_end_matches('/'));
    let (host, repository) = chart_source::oci::split_url(&url).map_err(|e| {
        Fault::fetch(reason::URL_INVALID, format!("failed to construct Helm client: invalid OCI registry URL: {e}"))
            .stalled()
    })?;
    let secret = credentials(secrets, namespace, spec.secret_ref.as_ref()).await?;
    let auth = match &secret {
        None => RegistryAuth::Anonymous,
        Some(secret) if secret.kind == "kubernetes.io/dockerconfigjson" => {
            secret.registry(host, repository).map_err(auth_fault)?.ok_or_else(|| {
                auth_fault(format!("no auth config for '{host}' in the docker-registry Secret '{}'", secret.id))
            })?
        }
        Some(secret) => secret.basic().map_err(auth_fault)?.map_or(RegistryAuth::Anonymous, RegistryAuth::Basic),
    };
    let certificates = tls(secrets, namespace, spec.cert_secret_ref.as_ref()).await?;
    let http = http(timeout(spec.timeout.as_ref()), certificates)?;
    let options = OciOptions { plain_http: spec.insecure.unwrap_or(false), auth, limits };
    OciRepository::new(&url, http, options)
        .map_err(|e| Fault::fetch(reason::URL_INVALID, format!("failed to construct Helm client: {e}")).stalled())
}

/// The client of an OCIRepository.
///
/// # Errors
/// As [`repository`].
pub async fn oci_repository(
    spec: &OCIRepositorySpec,
    namespace: &str,
    secrets: &dyn Secrets,
    limits: Limits,
) -> Result<OciRepository, Fault> {
    let invalid = |e: chart_source::Error| {
        Fault::fetch(reason::URL_INVALID, format!("URL validation failed for '{}': {e}", spec.url)).stalled()
    };
    let (host, repository) = chart_source::oci::split_url(&spec.url).map_err(invalid)?;
    let secret = match credentials(secrets, namespace, spec.secret_ref.as_ref()).await {
        Ok(secret) => secret,
        Err(fault) => {
            let why = fault.message.split_once(": ").map_or(fault.message.clone(), |(_, why)| why.into());
            return Err(auth_fault(format!("failed to get credential: {why}")));
        }
    };
    let auth = match &secret {
        None => RegistryAuth::Anonymous,
        Some(secret) => secret.registry(host, repository).map_err(auth_fault)?.unwrap_or_default(),
    };
    let certificates = tls(secrets, namespace, spec.cert_secret_ref.as_ref()).await?;
    let http = http(timeout(spec.timeout.as_ref()), certificates)?;
    let options = OciOptions { plain_http: spec.insecure.unwrap_or(false), auth, limits };
    OciRepository::new(&spec.url, http, options).map_err(invalid)
}
