//! What the demo needs: a control plane, a chart repository, the controller as a process, a folder with programs.
//!
//! The surprising thing: everything ends with this process, however it ends; see `testkit::control_plane::process`.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use testkit::control_plane::{binaries, process, run};
use testkit::{Archive, ChartRepo, ControlPlane};

use crate::objects::{self, WebChart};
use crate::shell::{Shell, print_command};

/// The running parts.
pub struct Stage {
    // The order matters: the controller ends before what it talks to.
    controller: process::Group,
    plane: ControlPlane,
    repository: ChartRepo,
    charts: Vec<String>,
    web: WebChart,
}

impl Stage {
    /// Start everything but the controller.
    pub async fn set(chart: Option<&str>) -> Result<Self> {
        println!("Starting etcd, kube-apiserver and kube-controller-manager (about 10 seconds) ...");
        let started = Instant::now();
        let plane = ControlPlane::start().await?;
        println!("A Kubernetes control plane is ready after {:.0?}. Pods are simulated.", started.elapsed());
        let controller = process::Group::new("helmrel-demo-")?;
        link_programs(controller.dir())?;

        let repository = ChartRepo::start()?;
        let testdata = std::env::var_os("CHARTS").map_or_else(|| root().join("testdata/charts"), PathBuf::from);
        let store = package(&plane, controller.dir(), &testdata.join("store"))?;
        let mut offered = vec![store.clone()];
        let web = match chart {
            Some(chart) if chart.starts_with("oci://") => WebChart::of_registry(chart)?,
            Some(chart) if chart.contains("://") => bail!("CHART={chart}: give an oci:// address, a .tgz or a folder"),
            other => {
                let path = other.map_or_else(|| testdata.join("web"), PathBuf::from);
                let archive = package(&plane, controller.dir(), &path)?;
                let web = WebChart::Repository { name: archive.name.clone(), version: archive.version.clone() };
                offered.push(archive);
                web
            }
        };
        for archive in &offered {
            repository.add(archive);
        }
        let charts = offered.iter().map(|a| format!("{} {}", a.name, a.version)).collect();
        let stage = Self { controller, plane, repository, charts, web };
        let all = objects::all(&stage.repository.url(), (&store.name, &store.version), &stage.web);
        stage.write("demo.yaml", &all)?;
        Ok(stage)
    }

    /// The folder in which commands run.
    pub fn folder(&self) -> &Path {
        self.controller.dir()
    }

    /// The folder with kubectl, helm and helmrel.
    pub fn programs(&self) -> PathBuf {
        self.folder().join("bin")
    }

    /// The admin's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.plane.kubeconfig_path()
    }

    /// The repository's address.
    pub fn repository(&self) -> String {
        self.repository.url()
    }

    /// What it offers.
    pub fn charts(&self) -> String {
        self.charts.join(" and ")
    }

    /// The release `web` with this number of replicas in its own values.
    pub fn release_of_web(&self, replicas: u32) -> String {
        objects::release_of_web(&self.web, Some(replicas))
    }

    /// Write a file into the folder.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        self.controller.write(name, text).map(drop)
    }

    /// A shell in the folder.
    pub fn shell(&self) -> Shell {
        Shell { folder: self.folder().to_owned(), kubeconfig: self.kubeconfig(), programs: self.programs() }
    }

    /// Start the controller and wait until it is ready.
    pub async fn start_controller(&mut self) -> Result<()> {
        let (health, metrics, artifacts) = (testkit::free_port()?, testkit::free_port()?, testkit::free_port()?);
        let command = format!(
            "helmrel controller --sources=builtin --storage-path=artifacts --storage-addr=127.0.0.1:{artifacts} \
             --metrics-addr=127.0.0.1:{metrics} --health-addr=127.0.0.1:{health} --log-encoding=console"
        );
        print_command(&format!("{command} 2>controller.log &"));
        let shell = self.shell();
        let path = std::env::var("PATH").unwrap_or_default();
        self.controller.spawn(
            "controller",
            Command::new("bash")
                .args(["-c", &format!("echo $$ >controller.pid; exec {command}")])
                .current_dir(&shell.folder)
                .env("KUBECONFIG", &shell.kubeconfig)
                .env("NO_COLOR", "1")
                .env("PATH", format!("{}:{path}", shell.programs.display())),
        )?;
        let started = Instant::now();
        while !answers(health).await {
            self.controller.check()?;
            ensure!(started.elapsed() < Duration::from_mins(1), "the controller is not ready after a minute");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        println!("ready after {:.1?}", started.elapsed());
        Ok(())
    }

    /// Ask the controller to end and wait until it has.
    pub async fn stop_controller(&mut self) -> Result<()> {
        let (text, code) = self.shell().quietly("kill -TERM $(cat controller.pid)").await?;
        ensure!(code == 0, "the controller was not running any more: {text}");
        let started = Instant::now();
        while self.controller.check().is_ok() {
            ensure!(started.elapsed() < Duration::from_secs(30), "the controller does not end after SIGTERM");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// The end of the controller's log.
    pub fn controller_log(&self, lines: usize) -> String {
        let log = std::fs::read_to_string(self.folder().join("controller.log")).unwrap_or_default();
        let all: Vec<&str> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// The folder with the definitions.
pub fn crds() -> PathBuf {
    root().join("crds")
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}

/// `bin/` with the programs by the names that people know them by.
fn link_programs(folder: &Path) -> Result<()> {
    let helmrel = std::env::var_os("HELMREL").map_or_else(|| root().join("target/debug/helmrel"), PathBuf::from);
    ensure!(helmrel.is_file(), "there is no {}; run `make build`, or name the binary in HELMREL", helmrel.display());
    let bin = folder.join("bin");
    std::fs::create_dir(&bin)?;
    for (name, program) in
        [("helmrel", helmrel), ("kubectl", binaries::tool("kubectl")?), ("helm", binaries::tool("helm4")?)]
    {
        symlink(&program, bin.join(name)).with_context(|| format!("failed to link {name}"))?;
    }
    Ok(())
}

/// A chart as an archive: a folder is packaged by helm, an archive is taken as it is.
fn package(plane: &ControlPlane, folder: &Path, chart: &Path) -> Result<Archive> {
    ensure!(chart.exists(), "there is no chart {}", chart.display());
    let archive = if chart.is_dir() {
        let said = run(plane.helm4()?.arg("package").arg(chart).arg("--destination").arg(folder))?;
        let path = said.rsplit_once(": ").map(|(_, path)| path.trim());
        PathBuf::from(path.with_context(|| format!("helm package said {said:?}"))?)
    } else {
        chart.to_owned()
    };
    let chart_yaml = run(plane.helm4()?.args(["show", "chart"]).arg(&archive))?;
    let field = |name: &str| {
        let line = chart_yaml.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.map(|value| value.trim_matches(['"', '\'']).to_owned())
            .with_context(|| format!("no {name} in {chart_yaml}"))
    };
    let (name, version) = (field("name")?, field("version")?);
    Ok(Archive { bytes: std::fs::read(&archive)?, name, version, chart_yaml })
}

/// Does the controller say that it is ready?
async fn answers(port: u16) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else { return false };
    if stream.write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n").await.is_err() {
        return false;
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.is_ok() && answer.lines().next().is_some_and(|l| l.contains(" 200 "))
}
