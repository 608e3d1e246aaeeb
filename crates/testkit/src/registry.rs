//! A real OCI registry (distribution) on loopback.
//!
//! Owns: its configuration, TLS and password file, pushing charts and other artifacts. Does not own: the protocol.
//! The surprising thing: it pushes with a client library and not with `helm push`, which refuses tags that are not the
//! chart's version; tests need such tags.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use oci_client::client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::manifest::OciImageManifest;
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};

use crate::Archive;
use crate::control_plane::binaries::tool;
use crate::control_plane::pki::Authority;
use crate::control_plane::process::Group;

/// The media type of a chart's config, Chart.yaml as JSON.
pub const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
/// The media type of a chart's archive.
pub const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// How a registry is protected.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Serve HTTPS with a certificate of an authority of its own ([`Registry::ca`]).
    pub tls: bool,
    /// User and password that every request must have.
    pub basic_auth: Option<(String, String)>,
}

/// A running registry; ends when dropped.
pub struct Registry {
    group: Group,
    port: u16,
    ca: Option<String>,
    auth: Option<(String, String)>,
}

impl Registry {
    /// An open registry over plain HTTP.
    ///
    /// # Errors
    /// The program is missing or does not start.
    pub async fn start() -> Result<Self> {
        Self::start_with(&Options::default()).await
    }

    /// A registry with protection.
    ///
    /// # Errors
    /// As [`Registry::start`].
    pub async fn start_with(options: &Options) -> Result<Self> {
        crate::install_crypto();
        let mut group = Group::new("helmrel-registry-")?;
        let port = crate::free_port()?;
        let storage = group.dir().join("storage").display().to_string();
        let mut config = serde_json::json!({
            "version": "0.1",
            "log": {"level": "error"},
            "storage": {"filesystem": {"rootdirectory": storage}, "delete": {"enabled": true}},
            "http": {"addr": format!("127.0.0.1:{port}")},
        });
        let mut ca = None;
        if options.tls {
            let authority = Authority::new("testkit registry")?;
            let identity = authority.server(&["127.0.0.1", "localhost"])?;
            ca = Some(authority.pem());
            config["http"]["tls"] = serde_json::json!({
                "certificate": group.write("server.crt", &identity.cert)?,
                "key": group.write("server.key", &identity.key)?,
            });
        }
        if let Some((user, password)) = &options.basic_auth {
            let line = format!("{user}:{}\n", bcrypt::hash(password, 4)?);
            let path = group.write("htpasswd", &line)?;
            config["auth"] = serde_json::json!({"htpasswd": {"realm": "testkit", "path": path}});
        }
        let path = group.write("config.yml", &config.to_string())?;
        group.spawn("registry", Command::new(tool("registry")?).arg("serve").arg(path))?;
        let mut registry = Self { group, port, ca, auth: options.basic_auth.clone() };
        let deadline = Instant::now() + Duration::from_secs(30);
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            registry.group.check()?;
            if Instant::now() > deadline {
                bail!("the registry does not listen after 30 s");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(registry)
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `oci://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("oci://{}", self.host())
    }

    /// The PEM certificate that clients have to trust, with TLS.
    pub fn ca(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// Push a chart under a tag, as Helm would, and give the manifest's digest, `sha256:…`.
    ///
    /// # Errors
    /// The registry refuses it.
    pub async fn push_chart(&self, repository: &str, tag: &str, chart: &Archive) -> Result<String> {
        let config = serde_json::json!({"apiVersion": "v2", "name": chart.name, "version": chart.version});
        self.push(repository, tag, &config.to_string(), CONFIG, &[(CONTENT, chart.bytes.clone())], &[]).await
    }

    /// Push an artifact of any layers (media type, bytes) with annotations, and give the manifest's digest.
    ///
    /// # Errors
    /// The registry refuses it.
    pub async fn push(
        &self,
        repository: &str,
        tag: &str,
        config: &str,
        config_type: &str,
        layers: &[(&str, Vec<u8>)],
        annotations: &[(&str, &str)],
    ) -> Result<String> {
        let certificates =
            self.ca.iter().map(|ca| Certificate { encoding: CertificateEncoding::Pem, data: ca.clone().into_bytes() });
        let client = Client::new(ClientConfig {
            protocol: if self.ca.is_some() { ClientProtocol::Https } else { ClientProtocol::Http },
            extra_root_certificates: certificates.collect(),
            ..ClientConfig::default()
        });
        let auth = self
            .auth
            .as_ref()
            .map_or(RegistryAuth::Anonymous, |(user, password)| RegistryAuth::Basic(user.clone(), password.clone()));
        let reference = Reference::with_tag(self.host(), repository.to_owned(), tag.to_owned());
        let layers: Vec<ImageLayer> =
            layers.iter().map(|(kind, data)| ImageLayer::new(data.clone(), (*kind).to_owned(), None)).collect();
        let config = Config::new(config.to_owned().into_bytes(), config_type.to_owned(), None);
        let annotations: BTreeMap<String, String> =
            annotations.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let manifest = OciImageManifest::build(&layers, &config, (!annotations.is_empty()).then_some(annotations));
        client.push(&reference, &layers, config, &auth, Some(manifest)).await.context("failed to push")?;
        client.fetch_manifest_digest(&reference, &auth).await.context("failed to ask for the digest")
    }
}
