//! Real public charts through the running controller: installed, upgraded, found without drift, and gone again.
//! `HELMREL_CORPUS` names the folder they are in; `HELMREL_CORPUS_CHART` picks one of them.
//!
//! Pods are simulated, so nothing answers behind a chart's webhooks and API services. Those that a chart leaves, and
//! its definitions, are removed before the next chart, which therefore finds an empty cluster.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::control_plane::run;
use testkit::{Archive, ChartRepo, ControlPlane, Options};

use crate::lab::{self, Controller, condition};

/// A release's own timeout.
const TIMEOUT: &str = "3m";
/// How long the test waits for one: a little longer, so that the release tells what went wrong.
const LIMIT: Duration = Duration::from_secs(200);
const DEFINITIONS: &str = "apiextensions.k8s.io/v1";
const RELEASES: &str = "helm.toolkit.fluxcd.io/v2";

/// A chart, values with which it can be installed at all, and what is laid over them for the upgrade.
struct Case {
    chart: &'static str,
    version: &'static str,
    values: &'static str,
    upgrade: &'static str,
}

const fn case(chart: &'static str, version: &'static str, values: &'static str, upgrade: &'static str) -> Case {
    Case { chart, version, values, upgrade }
}

const CASES: &[Case] = &[
    case("podinfo", "6.14.1", "{}", r#"{"replicaCount": 2}"#),
    case("ingress-nginx", "4.15.1", "{}", r#"{"controller": {"replicaCount": 2}}"#),
    case("external-dns", "1.21.1", r#"{"policy": "sync"}"#, r#"{"podAnnotations": {"corpus": "again"}}"#),
    case("external-secrets", "2.9.0", "{}", r#"{"replicaCount": 2}"#),
    case("grafana", "12.11.1", "{}", r#"{"podAnnotations": {"corpus": "again"}}"#),
    case("kube-prometheus-stack", "88.5.3", "{}", r#"{"prometheus": {"prometheusSpec": {"replicas": 2}}}"#),
    case("cert-manager", "v0.0.0", r#"{"crds": {"enabled": true}}"#, r#"{"replicaCount": 2}"#),
    case("argo-cd", "10.1.1", "{}", r#"{"server": {"replicas": 2}}"#),
    case("traefik", "41.3.0", "{}", r#"{"deployment": {"replicas": 2}}"#),
    case("vault", "0.34.1", r#"{"server": {"dev": {"enabled": true}}}"#, r#"{"injector": {"replicas": 2}}"#),
    case("oauth2-proxy", "10.7.0", "{}", r#"{"replicaCount": 2}"#),
    case(
        "loki",
        "18.11.0",
        r#"{"loki": {"useTestSchema": true, "storage": {"bucketNames": {"chunks": "c", "ruler": "r", "admin": "a"}}}}"#,
        r#"{"gateway": {"replicas": 2}}"#,
    ),
    case("kyverno", "v0.0.0", "{}", r#"{"backgroundController": {"replicas": 2}}"#),
    case("harbor", "1.4.0-dev", "{}", r#"{"portal": {"replicas": 2}}"#),
    case("cilium", "1.19.6", "{}", r#"{"podAnnotations": {"corpus": "again"}}"#),
    case("nats", "2.14.2", "{}", r#"{"config": {"cluster": {"enabled": true}}}"#),
    case("minio", "5.4.0", r#"{"replicas": 4}"#, r#"{"podAnnotations": {"corpus": "again"}}"#),
    case("argo-workflows", "1.0.18", "{}", r#"{"controller": {"replicas": 2}}"#),
    case("prometheus", "29.27.0", "{}", r#"{"server": {"podAnnotations": {"corpus": "again"}}}"#),
    case("kong", "3.4.1", "{}", r#"{"replicaCount": 2}"#),
    case("longhorn", "1.6.1-rc3", "{}", r#"{"longhornUI": {"replicas": 1}}"#),
    case("elasticsearch", "8.5.1", "{}", r#"{"podAnnotations": {"corpus": "again"}}"#),
    case("kafka", "32.4.4", "{}", r#"{"commonAnnotations": {"corpus": "again"}}"#),
    case("consul", "2.1.0-dev", "{}", r#"{"client": {"enabled": true}}"#),
    case("datadog", "3.240.0", "{}", r#"{"clusterAgent": {"replicas": 2}}"#),
    case("dapr", "0.0.0", "{}", r#"{"global": {"logAsJson": true}}"#),
    case("kueue", "0.19.2", "{}", r#"{"controllerManager": {"replicas": 2}}"#),
    case("kubernetes-dashboard", "7.13.0", "{}", r#"{"web": {"scaling": {"replicas": 2}}}"#),
    case("sentry", "25.20.0", "{}", r#"{"sentry": {"web": {"replicas": 2}}}"#),
    case("signoz", "0.131.0", "{}", r#"{"signoz": {"podAnnotations": {"corpus": "again"}}}"#),
    case("jenkins", "5.9.53", "{}", r#"{"controller": {"podAnnotations": {"corpus": "again"}}}"#),
];

/// Charts of the corpus that cannot come and go on this test bed, and what they lack.
const EXCLUDED: &[(&str, &str)] = &[
    ("application", "a sample of values that names a ServiceAccount of the user's"),
    ("aws-load-balancer-controller", "its certificates need the kinds of cert-manager"),
    ("cp-helm-charts", "it asks for policy/v1beta1, which Kubernetes 1.25 removed"),
    ("flux2", "it brings the kinds that this test itself uses, in other versions"),
    ("istiod", "it writes into the namespace istio-system, which has to be there"),
    ("kubescape-operator", "it writes into the namespace kubescape, which has to be there"),
    ("opentelemetry-kube-stack", "its certificates need the kinds of cert-manager"),
    ("pulsar", "its objects have to pass a webhook of its own operator, which is only simulated"),
    ("temporal", "its certificates need the kinds of cert-manager"),
];

#[tokio::test(flavor = "multi_thread")]
async fn public_charts_come_and_go() -> Result<()> {
    let Some(corpus) = std::env::var_os("HELMREL_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: HELMREL_CORPUS is not set, no public chart is installed");
        return Ok(());
    };
    let _quiet = crate::lab::QUIET.lock().await;
    let only = std::env::var("HELMREL_CORPUS_CHART").ok();
    let chosen: Vec<_> = CASES.iter().filter(|c| only.as_deref().is_none_or(|o| o == c.chart)).collect();
    ensure!(!chosen.is_empty(), "no chart of that name");

    let plane = lab::with_kinds(Options::default()).await?;
    let repo = ChartRepo::start()?;
    for case in &chosen {
        repo.add(&archive(&corpus, case)?);
    }
    for (chart, why) in EXCLUDED {
        println!("{chart:<29}left out: {why}");
    }
    let mut failed = Vec::new();
    for case in &chosen {
        let started = Instant::now();
        let mut bench = Bench::new(&plane, &repo, case).await?;
        let result = bench.play().await;
        println!("{:<29}{:>6.1} s  {}", case.chart, started.elapsed().as_secs_f64(), bench.steps.join(", "));
        if let Err(e) = result {
            println!("{:<29}FAILED: {e:#}\n{}", "", bench.log());
            failed.push(format!("{}: {e:#}", case.chart));
        }
        bench.sweep().await?;
        bench.stop().await?;
    }
    println!("{} of {} charts passed", chosen.len() - failed.len(), chosen.len());
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

async fn start(plane: &ControlPlane) -> Result<Controller> {
    Controller::start(plane.kubeconfig(), &["--requeue-dependency", "1s"]).await
}

fn archive(corpus: &Path, case: &Case) -> Result<Archive> {
    let (name, version) = (case.chart, case.version);
    let file = corpus.join("charts").join(format!("{name}-{version}.tgz"));
    Ok(Archive {
        name: name.into(),
        version: version.into(),
        bytes: std::fs::read(&file).with_context(|| format!("reading {}", file.display()))?,
        chart_yaml: format!("apiVersion: v2\nname: {name}\nversion: {version}\n"),
    })
}

/// One chart in a namespace of its own.
struct Bench<'a> {
    plane: &'a ControlPlane,
    client: kube::Client,
    /// Two at once would work against each other, so there is none while one takes over from another.
    controller: Option<Controller>,
    case: &'a Case,
    namespace: String,
    steps: Vec<String>,
}

impl<'a> Bench<'a> {
    async fn new(plane: &'a ControlPlane, repo: &ChartRepo, case: &'a Case) -> Result<Self> {
        let namespace = plane.namespace(case.chart).await?;
        let repository = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
            "metadata": {"name": "repo", "namespace": namespace}, "spec": {"interval": "1h", "url": repo.url()},
        });
        lab::kubectl_apply(plane, &[repository])?;
        let (client, controller) = (plane.client().await?, Some(start(plane).await?));
        Ok(Self { plane, client, controller, case, namespace, steps: Vec::new() })
    }

    async fn play(&mut self) -> Result<()> {
        let values: Value = serde_json::from_str(self.case.values)?;
        let mut changed = values.clone();
        lay_over(&mut changed, &serde_json::from_str(self.case.upgrade)?);

        let started = Instant::now();
        self.preview(&values)?;
        self.did("previewed", started);

        let started = Instant::now();
        self.apply(&values)?;
        self.until_ready("InstallSucceeded").await?;
        self.did("installed", started);

        self.preview(&changed)?;
        let started = Instant::now();
        self.apply(&changed)?;
        self.until_ready("UpgradeSucceeded").await?;
        self.did("upgraded", started);

        let started = Instant::now();
        self.ask("first").await?;
        // A new process knows nothing by heart: it compares every object by a dry run.
        self.stop().await?;
        self.controller = Some(start(self.plane).await?);
        self.ask("second").await?;
        let drift: Vec<String> = self.events().await?.into_iter().filter(|e| e.contains("Drift")).collect();
        ensure!(drift.is_empty(), "drift where nothing changed: {}", drift.join("\n"));
        let history = self.release().await?["status"]["history"].as_array().map_or(0, Vec::len);
        ensure!(history == 2, "{history} revisions instead of 2");
        self.did("two passes without drift", started);

        let started = Instant::now();
        self.kubectl(&["delete", "hr", self.case.chart, "--wait=false"])?;
        let kept = self.until_gone().await?;
        self.did("deleted", started);
        if !kept.is_empty() {
            let kept: Vec<String> = kept.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            self.steps.push(format!("left as Helm leaves it: {}", kept.join(" ")));
        }
        Ok(())
    }

    async fn stop(&mut self) -> Result<()> {
        match self.controller.take() {
            Some(controller) => controller.stop().await,
            None => Ok(()),
        }
    }

    fn log(&self) -> String {
        self.controller.as_ref().map(Controller::log).unwrap_or_default()
    }

    fn did(&mut self, what: &str, started: Instant) {
        self.steps.push(format!("{what} {:.1}", started.elapsed().as_secs_f64()));
    }

    /// What is about to be done is previewed as something that can be done.
    fn preview(&self, values: &Value) -> Result<()> {
        lab::diff(self.plane, "release.json", &self.wanted(values).to_string(), &[])?.ended(1)
    }

    fn apply(&self, values: &Value) -> Result<()> {
        lab::kubectl_apply(self.plane, &[self.wanted(values)])
    }

    fn wanted(&self, values: &Value) -> Value {
        let (chart, version) = (self.case.chart, self.case.version);
        json!({
            "apiVersion": RELEASES, "kind": "HelmRelease",
            "metadata": {"name": chart, "namespace": self.namespace},
            "spec": {
                "interval": "1h", "timeout": TIMEOUT, "driftDetection": {"mode": "enabled"}, "values": values,
                "chart": {"spec": {"chart": chart, "version": version,
                    "sourceRef": {"kind": "HelmRepository", "name": "repo"}}},
            },
        })
    }

    async fn release(&self) -> Result<Value> {
        let path = lab::path(RELEASES, "HelmRelease", &self.namespace, self.case.chart);
        lab::read(&self.client, &path).await?.context("no such HelmRelease")
    }

    async fn until_ready(&self, reason: &str) -> Result<()> {
        let started = Instant::now();
        loop {
            let release = self.release().await?;
            let ready =
                condition(&release, "Ready").filter(|c| c["observedGeneration"] == release["metadata"]["generation"]);
            if ready.is_some_and(|c| c["status"] == "True" && c["reason"] == reason) {
                return Ok(());
            }
            let over = ready.is_some_and(|c| c["status"] == "False") || started.elapsed() > LIMIT;
            ensure!(!over, "no {reason}: {}\n{}", release["status"], self.events().await?.join("\n"));
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Ask for a pass and wait until it is over and left the release ready.
    async fn ask(&self, token: &str) -> Result<()> {
        let asked = format!("reconcile.fluxcd.io/requestedAt={token}");
        self.kubectl(&["annotate", "--overwrite", "hr", self.case.chart, &asked])?;
        let release = lab::eventually(&format!("handles {token}"), LIMIT, || async {
            let release = self.release().await?;
            let handled = release["status"]["lastHandledReconcileAt"] == token;
            Ok(if handled { Ok(release) } else { Err(release["status"].to_string()) })
        })
        .await?;
        let ready = condition(&release, "Ready").is_some_and(|c| c["status"] == "True");
        ensure!(ready, "not ready after the {token} pass: {}", release["status"]);
        Ok(())
    }

    async fn events(&self) -> Result<Vec<String>> {
        let events = lab::list(&self.client, "v1", "Event", &self.namespace).await?;
        let about = events.iter().filter(|e| e["involvedObject"]["kind"] == "HelmRelease");
        Ok(about.map(|e| format!("{}: {}", text(&e["reason"]), text(&e["message"]))).collect())
    }

    /// Wait until the HelmRelease is gone and nothing of it is left but what Helm leaves too. The answer is how many of
    /// that, by kind.
    async fn until_gone(&self) -> Result<BTreeMap<String, usize>> {
        let path = lab::path(RELEASES, "HelmRelease", &self.namespace, self.case.chart);
        let touched = Cell::new(Instant::now());
        lab::eventually("the HelmRelease is gone", LIMIT, || async {
            let left = lab::read(&self.client, &path).await?;
            if left.is_some() && touched.get().elapsed() > Duration::from_secs(5) {
                touched.set(Instant::now());
                self.touch_definitions().await?;
            }
            Ok(left.map_or(Ok(()), |release| Err(release["status"].to_string())))
        })
        .await?;
        let records = lab::list(&self.client, "v1", "Secret", &self.namespace).await?;
        let records = records.iter().filter(|s| s["type"] == "helm.sh/release.v1").count();
        ensure!(records == 0, "{records} records of the release are left");
        // Objects without a finalizer are gone by now; what they own goes in the background.
        lab::eventually("nothing is left", lab::PATIENCE, || async {
            let left = match self.labelled().await {
                Ok(left) => left,
                // Kinds of the chart before this one may just be going.
                Err(e) => return Ok(Err(format!("{e:#}"))),
            };
            let (kept, stray): (Vec<&Value>, Vec<&Value>) = left.iter().partition(|o| helm_leaves(o));
            if !stray.is_empty() {
                return Ok(Err(stray.into_iter().map(name_of).collect::<Vec<_>>().join(" ")));
            }
            let mut counts = BTreeMap::new();
            for object in kept {
                *counts.entry(text(&object["kind"]).to_owned()).or_insert(0) += 1;
            }
            Ok(Ok(counts))
        })
        .await
    }

    /// The API server gives up on the finalizer of a definition whose storage it was just setting up when the deletion
    /// came ("storage is (re)initializing"), until something about the definition changes.
    async fn touch_definitions(&self) -> Result<()> {
        for definition in lab::list(&self.client, DEFINITIONS, "CustomResourceDefinition", "").await? {
            if !definition["metadata"]["deletionTimestamp"].is_null() {
                let token = format!("corpus/touched={:?}", std::time::SystemTime::now());
                let name = text(&definition["metadata"]["name"]);
                // It may be gone by now.
                let _ = self.kubectl(&["annotate", "--overwrite", "crd", name, &token]);
            }
        }
        Ok(())
    }

    /// Everything in the cluster that carries the release's label.
    async fn labelled(&self) -> Result<Vec<Value>> {
        let selector = format!(
            "labelSelector=helm.toolkit.fluxcd.io%2Fname%3D{},helm.toolkit.fluxcd.io%2Fnamespace%3D{}",
            self.case.chart, self.namespace
        );
        let mut found = Vec::new();
        for (path, kind) in listable(&self.client).await? {
            let list = lab::read(&self.client, &format!("{path}?{selector}")).await?.unwrap_or_default();
            for item in list["items"].as_array().into_iter().flatten() {
                let mut item = item.clone();
                item["kind"] = json!(kind);
                found.push(item);
            }
        }
        Ok(found)
    }

    fn kubectl(&self, args: &[&str]) -> Result<String> {
        run(self.plane.kubectl()?.args(["-n", &self.namespace]).args(args))
    }

    /// Leave an empty cluster for the next chart.
    async fn sweep(&self) -> Result<()> {
        for kind in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
            self.kubectl(&["delete", kind, "--all", "--ignore-not-found"])?;
        }
        for service in lab::list(&self.client, "apiregistration.k8s.io/v1", "APIService", "").await? {
            if service["spec"]["service"].is_object() {
                self.kubectl(&["delete", "apiservice", text(&service["metadata"]["name"])])?;
            }
        }
        let definitions = lab::list(&self.client, DEFINITIONS, "CustomResourceDefinition", "").await?;
        let foreign: Vec<&str> = definitions
            .iter()
            .map(|d| text(&d["metadata"]["name"]))
            .filter(|name| !name.ends_with(".fluxcd.io"))
            .collect();
        if !foreign.is_empty() {
            let mut args = vec!["delete", "crd", "--wait=false"];
            args.extend(&foreign);
            self.kubectl(&args)?;
            let touched = Cell::new(Instant::now());
            lab::eventually("the definitions are gone", lab::PATIENCE, || async {
                if touched.get().elapsed() > Duration::from_secs(5) {
                    touched.set(Instant::now());
                    self.touch_definitions().await?;
                }
                let left = lab::list(&self.client, DEFINITIONS, "CustomResourceDefinition", "").await?;
                let left = left.iter().map(|d| text(&d["metadata"]["name"])).filter(|name| foreign.contains(name));
                let left = left.collect::<Vec<_>>().join(" ");
                Ok(if left.is_empty() { Ok(()) } else { Err(left) })
            })
            .await?;
        }
        self.kubectl(&["delete", "namespace", &self.namespace, "--wait=false"])?;
        Ok(())
    }
}

/// What Helm leaves behind as well: what says so itself, hooks, and what is labelled without being owned, which are
/// definitions from `crds/` and the claims of a StatefulSet.
fn helm_leaves(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let annotations = &metadata["annotations"];
    let owned = !annotations["meta.helm.sh/release-name"].is_null();
    !annotations["helm.sh/resource-policy"].is_null()
        || !annotations["helm.sh/hook"].is_null()
        || (!owned && ["PersistentVolumeClaim", "CustomResourceDefinition"].contains(&text(&object["kind"])))
}

fn name_of(object: &Value) -> String {
    format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The collections that can be listed, with their kinds; of a group only the version it prefers.
async fn listable(client: &kube::Client) -> Result<Vec<(String, String)>> {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let mut found = Vec::new();
    for root in ["/api", "/apis"] {
        let request = http::Request::get(root).header(http::header::ACCEPT, accept).body(Vec::new())?;
        let groups: Value = client.request(request).await?;
        for group in groups["items"].as_array().into_iter().flatten() {
            let Some(version) = group["versions"].get(0) else { continue };
            let base = match group["metadata"]["name"].as_str() {
                Some(name) if !name.is_empty() => format!("{root}/{name}/{}", text(&version["version"])),
                _ => format!("{root}/{}", text(&version["version"])),
            };
            for resource in version["resources"].as_array().into_iter().flatten() {
                let listable = resource["verbs"].as_array().is_some_and(|v| v.iter().any(|v| v == "list"));
                if listable {
                    let kind = text(&resource["responseKind"]["kind"]).to_owned();
                    found.push((format!("{base}/{}", text(&resource["resource"])), kind));
                }
            }
        }
    }
    Ok(found)
}

/// Lay one tree of values over another.
fn lay_over(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}
