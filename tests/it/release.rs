//! Releases through the running controller: what they cost, how drift ends, what Helm reads, what goes wrong.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::control_plane::run;
use testkit::{Archive, ChartBuilder, ChartRepo, ControlPlane, Proxy};

use crate::lab::{self, Controller, condition};

/// A namespace with a chart repository, and a controller that sees nothing else.
pub struct Lab {
    pub plane: std::sync::Arc<ControlPlane>,
    pub client: kube::Client,
    pub repo: ChartRepo,
    pub proxy: Proxy,
    pub controller: Controller,
    pub namespace: String,
}

impl Lab {
    pub async fn new(charts: &[Archive]) -> Result<Self> {
        let plane = ControlPlane::shared().await;
        lab::add_kinds(&plane).await?;
        let namespace = plane.namespace("rel").await?;
        let repo = ChartRepo::start()?;
        for chart in charts {
            repo.add(chart);
        }
        let proxy = Proxy::start(&plane).await?;
        let controller =
            Controller::start(&proxy.kubeconfig(), &["--namespace", &namespace, "--requeue-dependency", "1s"]).await?;
        let client = plane.client().await?;
        let lab = Self { plane, client, repo, proxy, controller, namespace };
        lab.apply(&[lab.repository("repo", &lab.repo.url())])?;
        Ok(lab)
    }

    pub fn repository(&self, name: &str, url: &str) -> Value {
        lab::repository(&self.namespace, name, url)
    }

    /// A HelmRelease of a chart in the repository; `spec` is laid over the usual one.
    pub fn release(&self, name: &str, chart: &str, version: &str, spec: &Value) -> Value {
        lab::release(&self.namespace, name, chart, version, spec)
    }

    pub fn apply(&self, objects: &[Value]) -> Result<()> {
        lab::kubectl_apply(&self.plane, objects)
    }

    pub async fn read(&self, api_version: &str, kind: &str, name: &str) -> Result<Option<Value>> {
        lab::read(&self.client, &lab::path(api_version, kind, &self.namespace, name)).await
    }

    pub async fn status(&self, name: &str) -> Result<Value> {
        self.read("helm.toolkit.fluxcd.io/v2", "HelmRelease", name).await?.context("no such HelmRelease")
    }

    /// Wait until a condition of a release has this status and reason for its current generation.
    pub async fn until(&self, name: &str, kind: &str, status: &str, reason: &str) -> Result<Value> {
        let found = lab::eventually(&format!("{name} {kind}={status} {reason}"), lab::PATIENCE, || async {
            let release = self.status(name).await?;
            let current = condition(&release, kind).is_some_and(|c| {
                c["status"] == status
                    && c["reason"] == reason
                    && c["observedGeneration"] == release["metadata"]["generation"]
            });
            Ok(if current { Ok(release) } else { Err(release["status"].to_string()) })
        })
        .await;
        found.map_err(|e| e.context(self.controller.log()))
    }

    /// Ask for a pass and wait until it is over.
    pub async fn ask(&self, name: &str, token: &str) -> Result<Value> {
        self.kubectl(&["annotate", "--overwrite", "hr", name, &format!("reconcile.fluxcd.io/requestedAt={token}")])?;
        lab::eventually(&format!("{name} handles {token}"), lab::PATIENCE, || async {
            let release = self.status(name).await?;
            let handled = release["status"]["lastHandledReconcileAt"] == token;
            Ok(if handled { Ok(release) } else { Err(release["status"].to_string()) })
        })
        .await
    }

    pub fn kubectl(&self, args: &[&str]) -> Result<String> {
        run(self.plane.kubectl()?.args(["-n", &self.namespace]).args(args))
    }

    /// Call `helm4` or `helm3` in the namespace.
    pub fn helm(&self, which: &str, args: &[&str]) -> Result<String> {
        let mut command = if which == "helm4" { self.plane.helm4()? } else { self.plane.helm3()? };
        run(command.args(["-n", &self.namespace]).args(args))
    }

    /// A release that has the name of a Helm and was upgraded from 1.0.0 and `hello` to 1.1.0 and `hi`: that Helm lists it
    /// and rolls it back, and what it did the controller undoes.
    pub async fn is_read_and_rolled_back(&self, helm: &str, chart: &str) -> Result<()> {
        let listed: Value = serde_json::from_str(&self.helm(helm, &["list", "-o", "json"])?)?;
        let own = listed.as_array().into_iter().flatten().find(|r| r["name"] == helm).context("not listed")?;
        ensure!(
            own["status"] == "deployed" && own["revision"] == "2" && own["chart"] == format!("{chart}-1.1.0"),
            "{own}"
        );
        let history: Value = serde_json::from_str(&self.helm(helm, &["history", helm, "-o", "json"])?)?;
        let statuses: Vec<&str> = history.as_array().into_iter().flatten().map(|r| text(&r["status"])).collect();
        ensure!(statuses == ["superseded", "deployed"], "{statuses:?}");
        // Helm 4 applies on the server's side, where our fields are not its own.
        let flags: &[&str] = if helm == "helm4" { &["--force-conflicts"] } else { &[] };
        self.helm(helm, &[&["rollback", helm, "1"], flags].concat())?;
        self.greets(helm, "hello", "1.0.0").await?;
        self.ask(helm, "after-rollback").await?;
        self.greets(helm, "hi", "1.1.0").await
    }

    async fn greets(&self, name: &str, greeting: &str, version: &str) -> Result<()> {
        let map = self.read("v1", "ConfigMap", name).await?.context("no ConfigMap")?;
        ensure!(map["data"]["greeting"] == greeting && map["data"]["version"] == version, "{map}");
        Ok(())
    }

    /// The events about a release, as `reason: message`.
    pub async fn events(&self, name: &str) -> Result<Vec<String>> {
        let events = lab::list(&self.client, "v1", "Event", &self.namespace).await?;
        let about = events.iter().filter(|e| e["involvedObject"]["name"] == name);
        Ok(about.map(|e| format!("{}: {}", text(&e["reason"]), text(&e["message"]))).collect())
    }

    /// Wait for an event about a release that has this reason and all these parts; gives it as `reason: message`. Events
    /// follow the status.
    pub async fn told(&self, name: &str, reason: &str, parts: &[&str]) -> Result<String> {
        lab::eventually(&format!("an event {reason} of {name} with {parts:?}"), lab::PATIENCE, || async {
            let mut events = self.events(name).await?;
            let found = events.iter().position(|e| e.starts_with(reason) && parts.iter().all(|p| e.contains(p)));
            Ok(found.map(|at| events.swap_remove(at)).ok_or_else(|| events.join("\n")))
        })
        .await
    }

    /// What the controller asked for since the last reset because of this release, watches left out, as `verb path` and,
    /// for an event, its reason. Events about others may still be on their way and do not count.
    pub fn requests(&self, name: &str) -> Vec<String> {
        let log = self.proxy.log();
        let asked = log.iter().filter(|e| e.kind.verb != "watch").filter_map(|entry| {
            let line = format!("{} {}", entry.kind.verb, entry.path);
            if entry.kind.resource != "events" {
                return Some(line);
            }
            let event: Value = serde_json::from_slice(&entry.body).unwrap_or_default();
            let about = &event["involvedObject"]["name"];
            (*about == name || about.is_null()).then(|| format!("{line} {}", text(&event["reason"])))
        });
        asked.collect()
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A chart with a ConfigMap, a Secret and a Deployment.
pub fn small(version: &str) -> Result<Archive> {
    ChartBuilder::new("small", version)
        .values("greeting: hello\npassword: s3cret\nreplicas: 1\n")
        .template(
            "objects.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  greeting: {{ .Values.greeting | quote }}\n  version: {{ .Chart.Version | quote }}\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}\nstringData:\n  password: {{ .Values.password | quote }}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  replicas: {{ .Values.replicas }}\n  selector:\n    matchLabels:\n      app: {{ .Release.Name }}\n  template:\n    metadata:\n      labels:\n        app: {{ .Release.Name }}\n    spec:\n      containers:\n      - name: main\n        image: example.test/main:1\n",
        )
        .build()
}

/// A chart whose only template is this text.
pub fn chart_of(name: &str, template: &str) -> Result<Archive> {
    ChartBuilder::new(name, "1.0.0").template("object.yaml", template).build()
}

#[tokio::test(flavor = "multi_thread")]
async fn passes_cost_few_requests() -> Result<()> {
    let Some(fixtures) = std::env::var_os("HELMREL_FIXTURES").map(std::path::PathBuf::from) else {
        eprintln!("SKIPPED: HELMREL_FIXTURES is not set, the cost of podinfo is not counted");
        return Ok(());
    };
    let lab = Lab::new(&[]).await?;
    for file in ["index.yaml", "podinfo-6.13.0.tgz"] {
        lab.repo.put(&format!("/{file}"), std::fs::read(fixtures.join("repo").join(file))?);
    }
    // The index was fetched when it was still empty.
    lab.kubectl(&["annotate", "helmrepository", "repo", "reconcile.fluxcd.io/requestedAt=now"])?;
    lab::eventually("the index", lab::PATIENCE, || async {
        let repository = lab.read("source.toolkit.fluxcd.io/v1", "HelmRepository", "repo").await?.unwrap_or_default();
        let fetched = repository["status"]["lastHandledReconcileAt"] == "now";
        Ok(if fetched { Ok(()) } else { Err(repository["status"].to_string()) })
    })
    .await?;
    lab.proxy.reset();
    let podinfo = |interval: &str| {
        let spec = json!({"interval": interval, "driftDetection": {"mode": "enabled"},
            "values": {"serviceAccount": {"enabled": true}}});
        lab.release("podinfo", "podinfo", "6.13.0", &spec)
    };
    lab.apply(&[podinfo("1h")])?;
    lab.until("podinfo", "Ready", "True", "InstallSucceeded").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let install = lab.requests("podinfo");
    println!("install: {} requests\n  {}", install.len(), install.join("\n  "));
    ensure!(install.len() <= 25, "an install of podinfo took {} requests", install.len());

    // The first pass after it may read what it has not seen yet.
    lab.ask("podinfo", "first").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    lab.proxy.reset();
    lab.ask("podinfo", "second").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = lab.requests("podinfo");
    println!("asked for: {} requests\n  {}", asked.len(), asked.join("\n  "));
    ensure!(asked.len() <= 10, "a pass that changes nothing took {} requests", asked.len());

    lab.apply(&[podinfo("5s")])?;
    lab.until("podinfo", "Ready", "True", "InstallSucceeded").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    lab.proxy.reset();
    tokio::time::sleep(Duration::from_secs(8)).await;
    let timed = lab.requests("podinfo");
    println!("by timer: {} requests\n  {}", timed.len(), timed.join("\n  "));
    let passes = timed.iter().filter(|r| r.starts_with("list /api/v1/namespaces")).count();
    ensure!(passes > 0 && timed.len() <= 6 * passes, "{passes} passes by timer took {} requests", timed.len());
    let metrics = lab.controller.metrics().await?;
    ensure!(metrics.contains("gotk_reconcile_duration_seconds"), "{metrics}");
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_is_repaired_or_only_told() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?]).await?;
    for mode in ["enabled", "warn"] {
        let ignore = json!([{"paths": ["/spec/replicas"], "target": {"kind": "Deployment"}}]);
        let detection = json!({"driftDetection": {"mode": mode, "ignore": ignore}});
        lab.apply(&[lab.release(mode, "small", "1.0.0", &detection)])?;
    }
    for mode in ["enabled", "warn"] {
        lab.until(mode, "Ready", "True", "InstallSucceeded").await?;
        lab.kubectl(&["patch", "configmap", mode, "-p", r#"{"data":{"greeting":"bye"}}"#])?;
        lab.kubectl(&["patch", "secret", mode, "-p", r#"{"stringData":{"password":"0ther-s3cret"}}"#])?;
    }

    // A field that does not count stays as it is, also where the object is repaired.
    lab.kubectl(&["scale", "deployment", "enabled", "--replicas=3"])?;
    lab.kubectl(&["set", "image", "deployment/enabled", "main=example.test/other:1"])?;

    lab.proxy.reset();
    let release = lab.ask("enabled", "1").await?;
    let repair = lab.requests("enabled");
    println!("a pass that repairs three objects: {} requests\n  {}", repair.len(), repair.join("\n  "));
    // A repair is followed by another comparison, a read and a dry run for each object.
    // Where the Deployment's controller writes between a read and its dry run, both are made again.
    let reads = repair.iter().filter(|r| r.starts_with("get ") && r.contains("/deployments/")).count();
    ensure!(
        repair.len() <= 20 + 2 * reads.saturating_sub(2) && reads <= 5,
        "a repair took {} requests, {reads} of them reads of the Deployment",
        repair.len()
    );
    ensure!(condition(&release, "Ready").is_some_and(|c| c["status"] == "True"), "{}", release["status"]);
    let map = lab.read("v1", "ConfigMap", "enabled").await?.context("no ConfigMap")?;
    ensure!(map["data"]["greeting"] == "hello", "the repair did not come: {map}");
    let secret = lab.read("v1", "Secret", "enabled").await?.context("no Secret")?;
    ensure!(secret["data"]["password"] == "czNjcmV0", "the Secret was not repaired");
    let deployment = lab.read("apps/v1", "Deployment", "enabled").await?.context("no Deployment")?;
    ensure!(deployment["spec"]["replicas"] == 3, "an ignored field was repaired: {deployment}");
    let image = &deployment["spec"]["template"]["spec"]["containers"][0]["image"];
    ensure!(*image == "example.test/main:1", "the repair did not come: {image}");
    let managers: Vec<&str> =
        map["metadata"]["managedFields"].as_array().into_iter().flatten().map(|f| text(&f["manager"])).collect();
    ensure!(managers.iter().filter(|m| **m == "helm-controller").count() == 1, "{managers:?}");

    lab.proxy.reset();
    lab.ask("warn", "1").await?;
    let told = lab.requests("warn");
    let writes = told.iter().filter(|r| !r.starts_with("get ") && !r.starts_with("list "));
    println!("a pass that tells: {} requests\n  {}", told.len(), told.join("\n  "));
    ensure!(
        writes.clone().all(|r| r.contains("dryRun") || r.contains("/events") || r.contains("/status")),
        "warn must not write to objects: {:?}",
        writes.collect::<Vec<_>>()
    );
    let map = lab.read("v1", "ConfigMap", "warn").await?.context("no ConfigMap")?;
    ensure!(map["data"]["greeting"] == "bye", "warn must not repair: {map}");
    let release = lab.status("warn").await?;
    ensure!(condition(&release, "Drifted").is_some_and(|c| c["status"] == "True"), "{}", release["status"]);

    for mode in ["enabled", "warn"] {
        let counts = format!("ConfigMap/{}/{mode} changed (0 additions, 1 changes, 0 removals)", lab.namespace);
        lab.told(mode, "DriftDetected", &[&counts, "bye", "hello"]).await?;
        let events = lab.events(mode).await?.join("\n");
        let all = format!("{events}{}{}", lab.status(mode).await?, lab.controller.log());
        for hidden in ["s3cret", "czNjcmV0", "MHRoZXItczNjcmV0"] {
            ensure!(!all.contains(hidden), "{hidden} came to light");
        }
    }
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn helm_reads_and_rolls_back_what_we_wrote() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?, small("1.1.0")?]).await?;
    for helm in ["helm4", "helm3"] {
        lab.apply(&[lab.release(helm, "small", "1.0.0", &json!({}))])?;
        lab.until(helm, "Ready", "True", "InstallSucceeded").await?;
        lab.apply(&[lab.release(helm, "small", "1.1.0", &json!({"values": {"greeting": "hi"}}))])?;
        lab.until(helm, "Ready", "True", "UpgradeSucceeded").await?;

        ensure!(lab.helm(helm, &["get", "values", helm, "-o", "json"])?.contains(r#""greeting":"hi""#));
        ensure!(lab.helm(helm, &["get", "manifest", helm])?.contains("greeting: \"hi\""));
        lab.is_read_and_rolled_back(helm, "small").await?;
        let history: Value = serde_json::from_str(&lab.helm(helm, &["history", helm, "-o", "json"])?)?;
        ensure!(history.as_array().map(Vec::len) == Some(4), "{history}");
    }
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_of_helm_are_taken_over() -> Result<()> {
    let chart = small("1.0.0")?;
    let lab = Lab::new(&[chart.clone(), small("1.1.0")?]).await?;
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("small.tgz");
    std::fs::write(&file, &chart.bytes)?;
    for helm in ["helm4", "helm3"] {
        let mut command = if helm == "helm4" { lab.plane.helm4()? } else { lab.plane.helm3()? };
        run(command.args(["-n", &lab.namespace, "install", helm]).arg(&file).args(["--set", "greeting=theirs"]))?;
        lab.apply(&[lab.release(helm, "small", "1.1.0", &json!({"values": {"greeting": "ours"}}))])?;
        let release = lab.until(helm, "Ready", "True", "UpgradeSucceeded").await?;
        ensure!(release["status"]["history"][0]["version"] == 2, "{}", release["status"]);
        let map = lab.read("v1", "ConfigMap", helm).await?.context("no ConfigMap")?;
        ensure!(map["data"]["greeting"] == "ours" && map["data"]["version"] == "1.1.0", "{map}");
    }
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_told_and_loses_nothing() -> Result<()> {
    let lab = Lab::new(&[
        small("1.0.0")?,
        chart_of("fails", "{{ fail \"not like this\" }}")?,
        ChartBuilder::new("small", "2.0.0").template("objects.yaml", "{{ fail \"not like this\" }}").build()?,
        chart_of("invalid", "kind: ConfigMap\nmetadata: [\n")?,
        chart_of(
            "quoted",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: quoted\nstringData:\n  pin: {{ .Values.pin }}\n",
        )?,
        chart_of("refused", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Not_A_Name\n")?,
    ])
    .await?;
    let wrong = ChartBuilder::new("wrong", "1.0.0").build()?;
    lab.repo.add_with_digest(&wrong, &testkit::charts::sha256(b"another one"));
    let broken = Archive { bytes: b"no archive".to_vec(), ..ChartBuilder::new("broken", "1.0.0").build()? };
    lab.repo.add(&broken);
    lab.apply(&[
        lab.repository("nowhere", "http://127.0.0.1:1"),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pin", "namespace": lab.namespace},
            "stringData": {"values.yaml": "pin: 88997766\n"}}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "powerless", "namespace": lab.namespace}}),
    ])?;

    // A release that runs, and stays as it is whatever comes after.
    lab.apply(&[lab.release("good", "small", "1.0.0", &json!({}))])?;
    lab.until("good", "Ready", "True", "InstallSucceeded").await?;
    let before = lab.read("v1", "Secret", "sh.helm.release.v1.good.v1").await?.context("no record")?;

    let chart = |name: &str, repository: &str| {
        json!({"chart": {"spec": {"chart": name, "version": "1.0.0",
            "sourceRef": {"kind": "HelmRepository", "name": repository}}}})
    };
    let mut quoted = chart("quoted", "repo");
    quoted["valuesFrom"] = json!([{"kind": "Secret", "name": "pin"}]);
    let cases: &[(&str, Value, &str, &[&str])] = &[
        ("unreachable", chart("small", "nowhere"), "SourceNotReady", &["HelmChart", "127.0.0.1:1"]),
        ("unknown", chart("unheard-of", "repo"), "SourceNotReady", &["no chart name found"]),
        ("digest", chart("wrong", "repo"), "SourceNotReady", &["digest"]),
        ("archive", chart("broken", "repo"), "SourceNotReady", &["chart"]),
        ("template", chart("fails", "repo"), "InstallFailed", &["fails/templates/object.yaml", "not like this"]),
        ("manifest", chart("invalid", "repo"), "InstallFailed", &["templates/object.yaml"]),
        ("refused", chart("refused", "repo"), "InstallFailed", &["Not_A_Name"]),
        (
            "values",
            json!({"valuesFrom": [{"kind": "Secret", "name": "missing"}]}),
            "ValuesError",
            &["could not resolve Secret chart values reference", "missing", "not found"],
        ),
        ("quoted", quoted, "InstallFailed", &["quoted", "pin"]),
        ("powerless", json!({"serviceAccountName": "powerless"}), "", &["powerless", "forbidden"]),
    ];
    let releases: Vec<Value> = cases.iter().map(|(name, spec, ..)| lab.release(name, "small", "1.0.0", spec)).collect();
    lab.apply(&releases)?;
    for (name, _, reason, parts) in cases {
        lab::eventually(&format!("{name} {reason}"), lab::PATIENCE, || async {
            let release = lab.status(name).await?;
            let ready = condition(&release, "Ready").cloned().unwrap_or_default();
            let message = text(&ready["message"]);
            let told = ready["status"] == "False"
                && (reason.is_empty() || ready["reason"] == *reason)
                && parts.iter().all(|p| message.contains(p))
                // What to do about it comes after an empty line.
                && message.contains("\n\n");
            Ok(if told { Ok(()) } else { Err(release["status"]["conditions"].to_string()) })
        })
        .await?;
        println!("{name}: {}", condition(&lab.status(name).await?, "Ready").cloned().unwrap_or_default());
    }

    // The API server quotes the value that it refuses; nobody else does.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let all = format!(
        "{}{}{}",
        lab.status("quoted").await?["status"],
        lab.events("quoted").await?.join("\n"),
        lab.controller.log()
    );
    ensure!(!all.contains("88997766"), "a value of a Secret came to light: {all}");

    // The one that runs is given a chart that does not render: nothing is stored, nothing changes.
    lab.apply(&[lab.release("good", "small", "2.0.0", &json!({}))])?;
    lab.until("good", "Ready", "False", "UpgradeFailed").await?;
    let after = lab.read("v1", "Secret", "sh.helm.release.v1.good.v1").await?.context("the record is gone")?;
    ensure!(after["data"] == before["data"], "the record changed");
    ensure!(lab.read("v1", "ConfigMap", "good").await?.is_some(), "an object is gone");
    // And with the old chart all is well again.
    lab.apply(&[lab.release("good", "small", "1.0.0", &json!({}))])?;
    lab::eventually("good is ready again", lab::PATIENCE, || async {
        let release = lab.status("good").await?;
        let ready = condition(&release, "Ready").is_some_and(|c| c["status"] == "True");
        Ok(if ready { Ok(()) } else { Err(release["status"].to_string()) })
    })
    .await?;
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_the_middle_leaves_nothing_stuck() -> Result<()> {
    let slow = ChartBuilder::new("slow", "1.0.0")
        .template(
            "pod.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n  annotations:\n    testkit.helmrel.dev/delay: 8s\nspec:\n  containers:\n  - name: main\n    image: example.test/main:1\n",
        )
        .build()?;
    let lab = Lab::new(&[slow]).await?;
    lab.apply(&[lab.release("slow", "slow", "1.0.0", &json!({}))])?;
    lab::eventually("the record is there", lab::PATIENCE, || async {
        let record = lab.read("v1", "Secret", "sh.helm.release.v1.slow.v1").await?;
        Ok(record.ok_or_else(|| "no record".to_owned()))
    })
    .await?;
    let Lab { plane, client, repo: _repo, proxy, controller, namespace } = lab;
    // The time a Pod has to end is over before the action is.
    drop(controller);
    let controller = Controller::start(&proxy.kubeconfig(), &["--namespace", &namespace]).await?;
    let path = lab::path("helm.toolkit.fluxcd.io/v2", "HelmRelease", &namespace, "slow");
    lab::eventually("slow is ready", lab::PATIENCE, || async {
        let release = lab::read(&client, &path).await?.context("the release is gone")?;
        let ready = condition(&release, "Ready").is_some_and(|c| c["status"] == "True");
        Ok(if ready { Ok(()) } else { Err(release["status"].to_string()) })
    })
    .await
    .map_err(|e| e.context(controller.log()))?;
    let listed = run(plane.helm4()?.args(["-n", &namespace, "list", "--pending", "-q"]))?;
    ensure!(listed.trim().is_empty(), "something is pending: {listed}");
    controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_in_use_are_kept() -> Result<()> {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: gadgets.kept.example.com\nspec:\n  group: kept.example.com\n  scope: Namespaced\n  names:\n    kind: Gadget\n    plural: gadgets\n    singular: gadget\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n";
    let lab = Lab::new(&[
        ChartBuilder::new("kinds", "1.0.0").template("crd.yaml", definition).build()?,
        ChartBuilder::new("kinds", "2.0.0").build()?,
    ])
    .await?;
    lab.apply(&[lab.release("kinds", "kinds", "1.0.0", &json!({}))])?;
    lab.until("kinds", "Ready", "True", "InstallSucceeded").await?;
    lab.apply(&[json!({"apiVersion": "kept.example.com/v1", "kind": "Gadget",
        "metadata": {"name": "one", "namespace": lab.namespace}})])?;
    lab.apply(&[lab.release("kinds", "kinds", "2.0.0", &json!({}))])?;
    lab.until("kinds", "Ready", "True", "UpgradeSucceeded").await?;
    ensure!(lab.read("kept.example.com/v1", "Gadget", "one").await?.is_some(), "an object was deleted with its kind");
    let kept = "CustomResourceDefinition/gadgets.kept.example.com is kept: 1 object of kind Gadget";
    lab.told("kinds", "", &[kept]).await?;
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_hang_hold_up_nobody() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?]).await?;
    // More of them than passes run at once. They take connections and never answer.
    let mut servers = Vec::new();
    for n in 0..6 {
        let server = std::net::TcpListener::bind("127.0.0.1:0")?;
        let name = format!("hangs-{n}");
        let mut release = lab.release(&name, "small", "1.0.0", &json!({}));
        release["spec"]["chart"]["spec"]["sourceRef"]["name"] = json!(name);
        lab.apply(&[lab.repository(&name, &format!("http://{}", server.local_addr()?)), release])?;
        servers.push(server);
    }
    for n in 0..6 {
        let release = lab.until(&format!("hangs-{n}"), "Reconciling", "True", "Progressing").await?;
        let told = condition(&release, "Reconciling").map(|c| text(&c["message"]).to_owned()).unwrap_or_default();
        ensure!(told.starts_with("Fulfilling prerequisites\n\n"), "{told}");
        ensure!(condition(&release, "Ready").is_some_and(|c| c["status"] == "Unknown"), "{}", release["status"]);
    }
    // All of this long before the minute is over after which a fetch is given up.
    let started = std::time::Instant::now();
    lab.apply(&[lab.release("quick", "small", "1.0.0", &json!({}))])?;
    lab.until("quick", "Ready", "True", "InstallSucceeded").await?;
    lab.kubectl(&["delete", "hr,helmrepository", "hangs-0", "--timeout=20s"])?;
    lab.controller.stop().await?;
    ensure!(started.elapsed() < Duration::from_secs(40), "it took {:?}", started.elapsed());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_that_wait_for_each_other_are_named() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?]).await?;
    let depends_on = |name: &str| json!({"dependsOn": [{"name": name}]});
    let chain = [("a", "b"), ("b", "c"), ("c", "b")];
    lab.apply(&chain.map(|(name, on)| lab.release(name, "small", "1.0.0", &depends_on(on))))?;
    let namespace = &lab.namespace;
    let circle = format!("{namespace}/b -> {namespace}/c -> {namespace}/b.");
    for (name, on) in chain {
        lab::eventually("the circle is named", lab::PATIENCE, || async {
            let release = lab.status(name).await?;
            let ready = condition(&release, "Ready").cloned().unwrap_or_default();
            let message = text(&ready["message"]);
            let own = match name {
                "a" => !message.contains("wait for each other"),
                "b" => message.contains(&circle),
                _ => message.contains(&format!("{namespace}/c -> {namespace}/b -> {namespace}/c.")),
            };
            let told = own && message.starts_with(&format!("dependency '{namespace}/{on}' is not ready"));
            Ok(if told && ready["reason"] == "DependencyNotReady" { Ok(()) } else { Err(ready.to_string()) })
        })
        .await?;
    }
    // Taking one of them out lets all go on.
    lab.kubectl(&["patch", "hr", "c", "--type=merge", "-p", r#"{"spec":{"dependsOn":null}}"#])?;
    for (name, _) in chain {
        lab.until(name, "Ready", "True", "InstallSucceeded").await?;
    }
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_rights_are_no_attempt() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?]).await?;
    let bind = |name: &str, resources: &Value| {
        let meta = json!({"name": name, "namespace": lab.namespace});
        let group = "rbac.authorization.k8s.io";
        [
            json!({"apiVersion": format!("{group}/v1"), "kind": "Role", "metadata": meta,
                "rules": [{"apiGroups": ["", "apps"], "resources": resources, "verbs": ["*"]}]}),
            json!({"apiVersion": format!("{group}/v1"), "kind": "RoleBinding", "metadata": meta,
                "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": "weak", "namespace": lab.namespace}]}),
        ]
    };
    // It may keep records, and nothing else. Secrets of charts come after ConfigMaps only by kind order.
    lab.apply(&bind("records", &json!(["secrets"])))?;
    let chart = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: weak\n";
    lab.repo.add(&chart_of("plain", chart)?);
    lab.kubectl(&["annotate", "helmrepository", "repo", "reconcile.fluxcd.io/requestedAt=now"])?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "weak", "namespace": lab.namespace}});
    lab.apply(&[account, lab.release("weak", "plain", "1.0.0", &json!({"serviceAccountName": "weak"}))])?;
    lab::eventually("it is forbidden", lab::PATIENCE, || async {
        let release = lab.status("weak").await?;
        let ready = condition(&release, "Ready").cloned().unwrap_or_default();
        let told = text(&ready["message"]).contains("forbidden") && ready["reason"] == "InstallFailed";
        let none = release["status"]["installFailures"].is_null() && condition(&release, "Stalled").is_none();
        Ok(if told && none { Ok(()) } else { Err(release["status"].to_string()) })
    })
    .await?;
    ensure!(lab.read("v1", "Secret", "sh.helm.release.v1.weak.v1").await?.is_none(), "a record of nothing");
    lab.apply(&bind("objects", &json!(["configmaps"])))?;
    let release = lab.until("weak", "Ready", "True", "InstallSucceeded").await?;
    ensure!(release["status"]["history"][0]["version"] == 1, "{}", release["status"]);
    lab.controller.stop().await
}
