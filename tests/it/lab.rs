//! What the tests of the running controller share: the controller as a process, and small ways to talk to the cluster.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use testkit::ControlPlane;

/// Held by tests that keep the machine busy or look at states that soon pass: one of them at a time.
pub static QUIET: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// `helmrel controller` as a process of its own. Dropping it kills it.
pub struct Controller {
    child: Child,
    dir: tempfile::TempDir,
    health: u16,
    metrics: u16,
}

impl Controller {
    /// Start it against the API server of a kubeconfig and wait until it is ready.
    ///
    /// # Errors
    /// It ends, or is not ready within half a minute; the error carries its log.
    pub async fn start(kubeconfig: &str, extra: &[&str]) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let config = dir.path().join("kubeconfig");
        std::fs::write(&config, kubeconfig)?;
        let (storage, health, metrics) = (testkit::free_port()?, testkit::free_port()?, testkit::free_port()?);
        let log = std::fs::File::create(dir.path().join("log"))?;
        let child = Command::new(env!("CARGO_BIN_EXE_helmrel"))
            .arg("controller")
            .arg("--kubeconfig")
            .arg(&config)
            .arg("--storage-path")
            .arg(dir.path().join("data"))
            .args(["--storage-addr", &format!("127.0.0.1:{storage}")])
            .args(["--health-addr", &format!("127.0.0.1:{health}")])
            .args(["--metrics-addr", &format!("127.0.0.1:{metrics}")])
            .args(extra)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let mut this = Self { child, dir, health, metrics };
        let started = Instant::now();
        loop {
            if let Some(status) = this.child.try_wait()? {
                bail!("the controller ended with {status}:\n{}", this.log());
            }
            if http_get(this.health, "/readyz").await.is_ok_and(|(code, _)| code == 200) {
                return Ok(this);
            }
            ensure!(started.elapsed() < PATIENCE, "the controller is not ready:\n{}", this.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Where its log is.
    pub fn log_path(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    /// Its metrics as text.
    ///
    /// # Errors
    /// They are not served.
    pub async fn metrics(&self) -> Result<String> {
        Ok(http_get(self.metrics, "/metrics").await?.1)
    }

    /// Ask it to end, as a kubelet does, and wait until it has.
    ///
    /// # Errors
    /// It does not end within half a minute, or not with success.
    pub async fn stop(mut self) -> Result<()> {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        ensure!(status.success(), "could not signal the controller");
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the controller ended with {status}:\n{}", self.log());
                return Ok(());
            }
            ensure!(started.elapsed() < PATIENCE, "the controller does not end:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Controller {
    /// Let it do nothing until what this gives is dropped.
    ///
    /// # Errors
    /// It cannot be signalled.
    pub fn hold(&self) -> Result<Held> {
        let held = Held(self.child.id());
        held.signal("-STOP")?;
        Ok(held)
    }
}

/// A process that stands still.
pub struct Held(u32);

impl Held {
    fn signal(&self, signal: &str) -> Result<()> {
        let status = Command::new("kill").args([signal, &self.0.to_string()]).status()?;
        ensure!(status.success(), "could not signal the controller");
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.signal("-CONT");
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn http_get(port: u16, path: &str) -> Result<(u16, String)> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    let code = head.split(' ').nth(1).and_then(|c| c.parse().ok()).context("no HTTP status")?;
    Ok((code, body.to_owned()))
}

/// A control plane that knows our kinds.
///
/// # Errors
/// It does not start.
pub async fn with_kinds(options: testkit::Options) -> Result<ControlPlane> {
    let plane = ControlPlane::start_with(options).await?;
    add_kinds(&plane).await?;
    Ok(plane)
}

/// Teach a control plane our kinds.
///
/// # Errors
/// They are refused.
pub async fn add_kinds(plane: &ControlPlane) -> Result<()> {
    let crds = flux_api::crd::all().into_iter().map(|c| c.json).collect();
    testkit::control_plane::apply_crds(&plane.client().await?, crds).await
}

/// The REST path of an object. The plural is guessed by the rules that hold for the kinds of these tests.
pub fn path(api_version: &str, kind: &str, namespace: &str, name: &str) -> String {
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let lower = kind.to_lowercase();
    let plural = match lower.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if lower.ends_with('s') => format!("{lower}es"),
        None => format!("{lower}s"),
    };
    let name = if name.is_empty() { String::new() } else { format!("/{name}") };
    if namespace.is_empty() {
        format!("/{root}/{api_version}/{plural}{name}")
    } else {
        format!("/{root}/{api_version}/namespaces/{namespace}/{plural}{name}")
    }
}

/// Read a path.
///
/// # Errors
/// Any answer but success or "not found", which is `None`.
pub async fn read(client: &kube::Client, path: &str) -> Result<Option<Value>> {
    match client.request(http::Request::get(path).body(Vec::new())?).await {
        Ok(value) => Ok(Some(value)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(e) => Err(e).with_context(|| format!("reading {path}")),
    }
}

/// The items of a list.
///
/// # Errors
/// The list cannot be read.
pub async fn list(client: &kube::Client, api_version: &str, kind: &str, namespace: &str) -> Result<Vec<Value>> {
    let mut list = read(client, &path(api_version, kind, namespace, "")).await?.unwrap_or_default();
    let mut items = match list["items"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    for item in &mut items {
        item["apiVersion"] = json!(api_version);
        item["kind"] = json!(kind);
    }
    Ok(items)
}

/// Apply objects as a user does, with kubectl.
///
/// # Errors
/// kubectl's, with what it said.
pub fn kubectl_apply(plane: &ControlPlane, objects: &[Value]) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("objects.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    std::fs::write(&file, serde_json::to_vec(&list)?)?;
    testkit::control_plane::run(plane.kubectl()?.arg("apply").arg("-f").arg(&file))?;
    Ok(())
}

/// A HelmRepository at an address.
pub fn repository(namespace: &str, name: &str, url: &str) -> Value {
    json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
        "metadata": {"name": name, "namespace": namespace}, "spec": {"interval": "1h", "url": url}})
}

/// A HelmRelease of a chart in the repository `repo`; `spec` is laid over the usual one.
pub fn release(namespace: &str, name: &str, chart: &str, version: &str, spec: &Value) -> Value {
    let mut release = json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "interval": "1h", "timeout": "30s",
            "chart": {"spec": {"chart": chart, "version": version,
                "sourceRef": {"kind": "HelmRepository", "name": "repo"}}},
        },
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        release["spec"][key] = value.clone();
    }
    release
}

/// How a preview ended.
pub struct Shown {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Shown {
    /// Everything that was printed, and the exit code.
    pub fn all(&self) -> String {
        format!("exit code {:?}\n{}\n{}", self.code, self.out, self.err)
    }

    /// # Errors
    /// It ended with another exit code.
    pub fn ended(&self, code: i32) -> Result<()> {
        ensure!(self.code == Some(code), "not exit code {code}: {}", self.all());
        Ok(())
    }

    /// # Errors
    /// One of these is not on standard output.
    pub fn has(&self, parts: &[&str]) -> Result<()> {
        for part in parts {
            ensure!(self.out.contains(part), "{part:?} is not shown: {}", self.all());
        }
        Ok(())
    }

    /// # Errors
    /// One of these was printed.
    pub fn hides(&self, parts: &[&str]) -> Result<()> {
        for part in parts {
            ensure!(!self.all().contains(part), "{part:?} is shown: {}", self.all());
        }
        Ok(())
    }
}

/// `helmrel diff` of a file of this name and text, with everything logged that can be.
///
/// # Errors
/// It cannot be run.
pub fn diff(plane: &ControlPlane, file: &str, text: &str, flags: &[&str]) -> Result<Shown> {
    let dir = tempfile::tempdir()?;
    let (config, path) = (dir.path().join("kubeconfig"), dir.path().join(file));
    std::fs::write(&config, plane.kubeconfig())?;
    std::fs::write(&path, text)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmrel"));
    command.arg("diff").arg("-f").arg(&path).arg("--kubeconfig").arg(&config).args(flags);
    let output = command.env("RUST_LOG", "trace").output()?;
    Ok(Shown {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// How long is waited for what must come. Much longer than it takes, so that a busy machine is no failure.
pub const PATIENCE: Duration = Duration::from_mins(3);

/// Ask until the answer is there.
///
/// # Errors
/// It is not there in time; the error has what was seen last.
pub async fn eventually<T, F>(what: &str, limit: Duration, mut ask: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Result<T, String>>>,
{
    let started = Instant::now();
    loop {
        match ask().await? {
            Ok(value) => return Ok(value),
            Err(seen) if started.elapsed() > limit => bail!("{what}: not within {limit:?}; last seen: {seen}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// The condition of a type.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|c| c["type"] == kind)
}
