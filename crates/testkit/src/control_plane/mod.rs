//! A real control plane on loopback: etcd, kube-apiserver and kube-controller-manager.
//!
//! Owns: starting, readiness, identities, namespaces for tests, CRDs. Does not own: pods ([`crate::pods`]).
//! The surprising thing: [`ControlPlane::shared`] is one instance for all tests of a binary and is never dropped; the
//! watchdog of [`process`] ends it with the test process.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::json;

use crate::pods::Kubelet;

mod apiserver;
pub mod binaries;
mod controller_manager;
mod crds;
mod etcd;
pub mod pki;
pub mod process;

pub use crds::apply_crds;

/// How to start a control plane.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Play the kubelet and the scheduler, so that pods run.
    pub pods: bool,
    /// Give Services of type LoadBalancer an address (only with `pods`).
    pub load_balancers: bool,
    /// How long the whole start may take.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { pods: true, load_balancers: true, timeout: Duration::from_mins(2) }
    }
}

/// A running control plane. Dropping it stops it and removes its files.
pub struct ControlPlane {
    // The order matters: what talks to the servers ends before them.
    kubelet: Option<Kubelet>,
    group: process::Group,
    kubeconfig: String,
    authority: pki::Authority,
    server: String,
}

static SHARED: tokio::sync::OnceCell<Arc<ControlPlane>> = tokio::sync::OnceCell::const_new();
static NAMESPACES: AtomicU32 = AtomicU32::new(0);

impl ControlPlane {
    /// The instance that the tests of this binary share; started by the first that asks.
    ///
    /// # Panics
    /// It does not start; the error says why.
    pub async fn shared() -> Arc<Self> {
        #[allow(clippy::expect_used)] // Every test would have to expect it.
        SHARED
            .get_or_try_init(|| async { Self::start().await.map(Arc::new) })
            .await
            .expect("the shared control plane starts")
            .clone()
    }

    /// An instance of one's own, with the default options.
    ///
    /// # Errors
    /// A program is missing or does not become ready; the end of its log is in the error.
    pub async fn start() -> Result<Self> {
        Self::start_with(Options::default()).await
    }

    /// An instance of one's own.
    ///
    /// # Errors
    /// As [`ControlPlane::start`].
    pub async fn start_with(options: Options) -> Result<Self> {
        crate::install_crypto();
        // Another process may take a port between our choosing it and the program's binding it.
        let mut last = None;
        for _ in 0..3 {
            match crate::on_runtime(Self::try_start(options)).await {
                Ok(plane) => return Ok(plane),
                Err(error) if format!("{error:#}").contains("address already in use") => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.context("no attempt was made")?)
    }

    async fn try_start(options: Options) -> Result<Self> {
        let deadline = Instant::now() + options.timeout;
        let mut group = process::Group::new("helmrel-control-plane-")?;
        let (etcd_client, etcd_peer, port) = (crate::free_port()?, crate::free_port()?, crate::free_port()?);
        let server = format!("https://127.0.0.1:{port}");
        let authority = pki::Authority::new("testkit")?;
        let identity =
            authority.server(&["127.0.0.1", "10.0.0.1", "localhost", "kubernetes", "kubernetes.default.svc"])?;
        let admin = authority.client("testkit-admin", Some("system:masters"))?;
        let (private, public) = pki::service_account_keys()?;
        let kubeconfig = kubeconfig(&server, Some(&authority.pem()), Some(&admin));
        for (name, text) in [
            ("ca.crt", &authority.pem()),
            ("server.crt", &identity.cert),
            ("server.key", &identity.key),
            ("admin.crt", &admin.cert),
            ("admin.key", &admin.key),
            ("sa.key", &private),
            ("sa.pub", &public),
            ("kubeconfig", &kubeconfig),
        ] {
            group.write(name, text)?;
        }
        let dir = group.dir().to_owned();
        group.spawn("etcd", &mut etcd::command(&dir, etcd_client, etcd_peer)?)?;
        group.spawn("kube-apiserver", &mut apiserver::command(&dir, etcd_client, port)?)?;
        let mut plane = Self { kubelet: None, group, kubeconfig, authority, server };
        plane.wait_ready(deadline).await?;
        plane.group.spawn("kube-controller-manager", &mut controller_manager::command(&dir)?)?;
        let client = plane.client().await?;
        if options.pods {
            plane.kubelet = Some(Kubelet::start(&client, &plane.authority, options.load_balancers).await?);
        }
        while !has_default_account(&client, "default").await {
            plane.group.check()?;
            if Instant::now() > deadline {
                bail!("there is no ServiceAccount default/default after {:?}", options.timeout);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(plane)
    }

    async fn wait_ready(&mut self, deadline: Instant) -> Result<()> {
        let client = self.client().await?;
        loop {
            let asked = tokio::time::timeout(
                Duration::from_secs(5),
                client.request_text(http::Request::get("/readyz").body(Vec::new())?),
            );
            let why = match asked.await {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer within 5 s".to_owned(),
            };
            self.group.check()?;
            if Instant::now() > deadline {
                bail!("the API server is not ready: {why}");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The admin's kubeconfig.
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// The admin's kubeconfig as a file.
    pub fn kubeconfig_path(&self) -> PathBuf {
        self.group.dir().join("kubeconfig")
    }

    /// The API server's address, `https://127.0.0.1:PORT`.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The PEM certificate that the API server's is signed by.
    pub fn ca(&self) -> String {
        self.authority.pem()
    }

    /// A kubeconfig for a user without any rights but those that RBAC gives the name or the group.
    ///
    /// # Errors
    /// No randomness.
    pub fn kubeconfig_for(&self, user: &str, group: Option<&str>) -> Result<String> {
        let identity = self.authority.client(user, group)?;
        Ok(kubeconfig(&self.server, Some(&self.ca()), Some(&identity)))
    }

    /// The admin's client configuration. Retries are off, so that a test sees what the server said.
    ///
    /// # Errors
    /// The kubeconfig is refused.
    pub async fn config(&self) -> Result<kube::Config> {
        config_of(&self.kubeconfig).await
    }

    /// A client of the admin for the calling test's runtime. Do not keep it for another test.
    ///
    /// # Errors
    /// The TLS set-up fails.
    pub async fn client(&self) -> Result<kube::Client> {
        Ok(kube::Client::try_from(self.config().await?)?)
    }

    /// Make a namespace nobody else uses, `PREFIX-…`, and wait until pods can be made in it.
    ///
    /// # Errors
    /// The API server refuses it, or its default ServiceAccount does not come within 30 s.
    pub async fn namespace(&self, prefix: &str) -> Result<String> {
        let number = NAMESPACES.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{}-{number}", std::process::id());
        let client = self.client().await?;
        let object: Namespace = serde_json::from_value(json!({"metadata": {"name": name}}))?;
        Api::all(client.clone()).create(&PostParams::default(), &object).await?;
        for _ in 0..600 {
            if has_default_account(&client, &name).await {
                return Ok(name);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("namespace {name} has no default ServiceAccount after 30 s")
    }

    /// `helm` of the newest Helm 4, as the admin, with homes of its own.
    ///
    /// # Errors
    /// The program cannot be obtained.
    pub fn helm4(&self) -> Result<Command> {
        self.command("helm4")
    }

    /// `helm` of the newest Helm 3, as the admin, with homes of its own.
    ///
    /// # Errors
    /// The program cannot be obtained.
    pub fn helm3(&self) -> Result<Command> {
        self.command("helm3")
    }

    /// `kubectl` as the admin.
    ///
    /// # Errors
    /// The program cannot be obtained.
    pub fn kubectl(&self) -> Result<Command> {
        self.command("kubectl")
    }

    fn command(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(binaries::tool(name)?);
        let home = self.group.dir().join(format!("{name}-home"));
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("HELM_") {
                command.env_remove(variable);
            }
        }
        command
            .env("KUBECONFIG", self.kubeconfig_path())
            .env("HOME", &home)
            .env("HELM_CACHE_HOME", home.join("cache"))
            .env("HELM_CONFIG_HOME", home.join("config"))
            .env("HELM_DATA_HOME", home.join("data"));
        Ok(command)
    }
}

/// Run a command to its end and give its standard output.
///
/// # Errors
/// It does not start or fails; its standard error is in the error.
pub fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("failed to run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A kubeconfig's text.
pub(crate) fn kubeconfig(server: &str, ca: Option<&str>, identity: Option<&pki::Identity>) -> String {
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let mut cluster = json!({"server": server});
    if let Some(ca) = ca {
        cluster["certificate-authority-data"] = encode(ca).into();
    }
    let user = identity.map_or_else(
        || json!({}),
        |i| json!({"client-certificate-data": encode(&i.cert), "client-key-data": encode(&i.key)}),
    );
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testkit", "cluster": cluster}],
        "users": [{"name": "testkit", "user": user}],
        "contexts": [{"name": "testkit", "context": {"cluster": "testkit", "user": "testkit"}}],
        "current-context": "testkit",
    })
    .to_string()
}

/// A client configuration from a kubeconfig's text, without retries.
///
/// # Errors
/// The text is no kubeconfig.
pub async fn config_of(kubeconfig: &str) -> Result<kube::Config> {
    crate::install_crypto();
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig)?;
    let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    Ok(config)
}

async fn has_default_account(client: &kube::Client, namespace: &str) -> bool {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    matches!(accounts.get_opt("default").await, Ok(Some(_)))
}
