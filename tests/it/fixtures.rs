//! What Flux's controllers left behind in named scenarios, left behind by us: the same status, events, Secrets and
//! objects. `HELMREL_FIXTURES` names the folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use serde_json::{Value, json};
use testkit::{ChartRepo, ControlPlane, Options};

use crate::lab::{self, Controller};

/// The scenarios this release must reproduce.
const SCENARIOS: &[&str] = &[
    "install",
    "values-from",
    "upgrade-version",
    "upgrade-values-thrice",
    "install-fails",
    "install-fails-remediated",
    "upgrade-fails",
    "template-error",
    "missing-chart",
    "missing-values",
    "dependency",
    "drift-warn",
    "drift-enabled",
    "suspend",
    "target-namespace",
    "force",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_scenarios_of_flux_end_the_same() -> Result<()> {
    let Some(root) = std::env::var_os("HELMREL_FIXTURES").map(PathBuf::from) else {
        eprintln!("SKIPPED: HELMREL_FIXTURES is not set, Flux's scenarios are not compared");
        return Ok(());
    };
    let _quiet = lab::QUIET.lock().await;
    let only = std::env::var("HELMREL_SCENARIO").ok();
    let plane = lab::with_kinds(Options { pods: false, ..Options::default() }).await?;
    let repo = ChartRepo::start()?;
    for file in ["index.yaml", "podinfo-6.13.0.tgz", "podinfo-6.14.1.tgz"] {
        repo.put(&format!("/{file}"), std::fs::read(root.join("repo").join(file))?);
    }
    for name in ["fx", "fx-target"] {
        lab::kubectl_apply(&plane, &[json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})])?;
    }
    let repository = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
        "metadata": {"name": "repo", "namespace": "fx"}, "spec": {"interval": "1h", "url": repo.url()},
    });
    lab::kubectl_apply(&plane, &[repository])?;
    // Whoever waits is woken by what it waits for; asking again sooner would only tell of waiting, on a slow machine.
    let controller =
        Controller::start(plane.kubeconfig(), &["--concurrent", "6", "--requeue-dependency", "30s"]).await?;

    let chosen: Vec<_> = SCENARIOS.iter().filter(|s| only.as_deref().is_none_or(|o| o == **s)).collect();
    ensure!(!chosen.is_empty(), "no scenario of that name");
    let controller = tokio::sync::Mutex::new(controller);
    let runs = chosen.iter().map(|name| replay(&plane, &controller, &root, name));
    let failed: Vec<String> =
        futures::future::join_all(runs).await.into_iter().filter_map(Result::err).map(|e| format!("{e:#}")).collect();
    let controller = controller.into_inner();
    ensure!(
        failed.is_empty(),
        "{} of {} scenarios differ:\n{}\n\nthe controller's log:\n{}",
        failed.len(),
        chosen.len(),
        failed.join("\n"),
        controller.log()
    );
    controller.stop().await
}

/// Play a scenario's steps, comparing after each.
async fn replay(
    plane: &ControlPlane,
    controller: &tokio::sync::Mutex<Controller>,
    root: &Path,
    scenario: &str,
) -> Result<()> {
    let client = plane.client().await?;
    for step in 1.. {
        let input = root.join(scenario).join(format!("{step}-input.json"));
        if !input.exists() {
            ensure!(step > 1, "{scenario}: no step in {}", root.display());
            return Ok(());
        }
        let input: Value = serde_json::from_slice(&std::fs::read(&input)?)?;
        for before in input["before"].as_array().into_iter().flatten() {
            let before = before.as_str().unwrap_or_default();
            let name = before.strip_prefix("edit:").with_context(|| format!("{scenario}: cannot play {before:?}"))?;
            edit(plane, name)?;
        }
        lab::kubectl_apply(plane, input["apply"].as_array().map_or(&[], Vec::as_slice))?;
        let expected: Value =
            serde_json::from_slice(&std::fs::read(root.join(scenario).join(format!("{step}-state.json")))?)?;
        // Some scenarios only pass through the state that is wanted: where the objects that tell it are there, the
        // controller is held while the rest is compared. What came nearest tells most.
        let started = Instant::now();
        let mut nearest: Option<Vec<String>> = None;
        while nearest.as_ref().is_none_or(|n| !n.is_empty()) && started.elapsed() < lab::PATIENCE {
            let mut differences = compare_told(&client, &expected).await?;
            if differences.is_empty() {
                let controller = controller.lock().await;
                let _held = controller.hold()?;
                differences = compare_told(&client, &expected).await?;
                differences.extend(compare_rest(&client, &expected).await?);
            }
            if nearest.as_ref().is_none_or(|n| differences.len() < n.len()) {
                nearest = Some(differences);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let nearest = nearest.unwrap_or_default();
        ensure!(nearest.is_empty(), "{scenario}, step {step}:\n  {}", nearest.join("\n  "));
    }
    Ok(())
}

/// The foreign edits of the drift scenarios.
fn edit(plane: &ControlPlane, release: &str) -> Result<()> {
    let object = format!("{release}-podinfo");
    let patch = json!([{"op": "replace", "path": "/spec/ports/0/targetPort", "value": "edited"},
        {"op": "add", "path": "/metadata/labels/extra", "value": "by-hand"}]);
    let run = |args: &[&str]| testkit::control_plane::run(plane.kubectl()?.args(["-n", "fx"]).args(args));
    run(&["patch", "service", &object, "--type=json", "-p", &patch.to_string()])?;
    run(&["delete", "serviceaccount", &object])?;
    Ok(())
}

/// The HelmReleases of a scenario, by name.
fn releases(expected: &Value) -> Vec<&str> {
    expected["helmReleases"].as_array().into_iter().flatten().map(|r| text(&r["metadata"]["name"])).collect()
}

/// All differences between the HelmReleases and HelmCharts that Flux left and those that are there.
async fn compare_told(client: &kube::Client, expected: &Value) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for kind in ["helmReleases", "helmCharts"] {
        for wanted in expected[kind].as_array().into_iter().flatten() {
            let name = text(&wanted["metadata"]["name"]);
            let path = lab::path(text(&wanted["apiVersion"]), text(&wanted["kind"]), "fx", name);
            match lab::read(client, &path).await? {
                None => found.push(format!("{kind} {name} is missing")),
                Some(actual) => differ(&format!("{kind}/{name}"), &cleaned(wanted), &cleaned(&actual), &mut found),
            }
        }
    }
    Ok(found)
}

/// All differences between what else Flux left and what is there: records, the releases' objects, events.
async fn compare_rest(client: &kube::Client, expected: &Value) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let releases = releases(expected);
    let secrets = lab::list(client, "v1", "Secret", "fx").await?;
    let is_ours =
        |s: &&Value| releases.iter().any(|r| s["metadata"]["labels"]["name"] == json!(stored_name(expected, r)));
    let actual: Vec<Value> = secrets.iter().filter(is_ours).map(record_of).collect::<Result<_>>()?;
    let wanted: Vec<Value> =
        expected["secrets"].as_array().into_iter().flatten().map(record_of).collect::<Result<_>>()?;
    differ_named("secrets", &wanted, &actual, &mut found);

    let mut objects = Vec::new();
    for namespace in ["fx", "fx-target"] {
        for (api, kind) in [("v1", "ServiceAccount"), ("v1", "Service"), ("apps/v1", "Deployment")] {
            objects.extend(lab::list(client, api, kind, namespace).await?);
        }
    }
    objects.retain(|o| releases.iter().any(|r| o["metadata"]["labels"]["helm.toolkit.fluxcd.io/name"] == json!(r)));
    let mut wanted = expected["objects"].as_array().cloned().unwrap_or_default();
    let repaired = expected["events"].as_array().into_iter().flatten().any(|e| e["reason"] == "DriftCorrected");
    if repaired {
        // We repair with the field manager that made the object, which leaves no second entry.
        for object in wanted.iter_mut().chain(&mut objects) {
            object["metadata"]["managedFields"] = Value::Null;
        }
    }
    differ_named("objects", &wanted, &objects, &mut found);

    let events = lab::list(client, "v1", "Event", "fx").await?;
    for release in &releases {
        let about = format!("HelmRelease/{release}");
        let mut wanted: Vec<Value> = expected["events"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|e| e["about"] == json!(about))
            .map(event_of)
            .collect();
        // Events of a deleted release of the same name come first.
        if let Some(last) = wanted.iter().rposition(|e| e["reason"] == "HelmChartDeleted") {
            wanted.drain(..=last);
        }
        let mut actual: Vec<Value> =
            events.iter().filter(|e| e["involvedObject"]["name"] == json!(release)).map(event_of).collect();
        for list in [&mut wanted, &mut actual] {
            list.sort_by_key(ToString::to_string);
            list.dedup();
        }
        differ(&format!("events of {release}"), &Value::Array(wanted), &Value::Array(actual), &mut found);
    }
    Ok(found)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The name in Helm storage of a HelmRelease of the scenario.
fn stored_name(expected: &Value, release: &str) -> String {
    let spec = expected["helmReleases"].as_array().into_iter().flatten().find(|r| r["metadata"]["name"] == *release);
    spec.and_then(|r| r["spec"]["releaseName"].as_str()).unwrap_or(release).to_owned()
}

fn event_of(event: &Value) -> Value {
    let annotations = match (&event["annotations"], &event["metadata"]["annotations"]) {
        (Value::Null, other) | (other, _) => other.clone(),
    };
    let message = text(&event["message"]).split("\n\n").next().unwrap_or_default();
    json!({"type": event["type"], "reason": event["reason"], "message": message, "annotations": annotations,
        "reportingComponent": event["reportingComponent"]})
}

/// A storage Secret with its record read, without what Flux's manifest text decides.
fn record_of(secret: &Value) -> Result<Value> {
    let mut out = json!({"metadata": secret["metadata"], "type": secret["type"], "kind": "Secret"});
    let stored = secret["data"]["release"].as_str().context("a Secret without a record")?;
    let base64 = base64::engine::general_purpose::STANDARD;
    let zipped = base64.decode(base64.decode(stored)?)?;
    let mut record: Value = serde_json::from_reader(flate2::read::GzDecoder::new(zipped.as_slice()))?;
    record["manifest"] = documents(text(&record["manifest"]))?;
    for hook in record["hooks"].as_array_mut().into_iter().flatten() {
        hook["manifest"] = documents(text(&hook["manifest"]))?;
        // The chart gives its test Pods random names.
        hook["name"] = json!(without_suffix(text(&hook["name"])));
        for object in hook["manifest"].as_array_mut().into_iter().flatten() {
            object["metadata"]["name"] = json!(without_suffix(text(&object["metadata"]["name"])));
        }
    }
    out["record"] = record;
    Ok(out)
}

fn without_suffix(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(stem, _)| stem)
}

/// The objects of a manifest, whatever their order and form.
fn documents(manifest: &str) -> Result<Value> {
    let mut all = Vec::new();
    for document in manifest.split("\n---\n").map(|d| d.trim_start_matches("---\n")) {
        let value: Value = go_yaml::decode_json(document.as_bytes(), go_yaml::Duplicates::Refuse)?;
        if !value.is_null() {
            all.push(value);
        }
    }
    all.sort_by_key(|v| format!("{}/{}", v["kind"], v["metadata"]["name"]));
    Ok(Value::Array(all))
}

/// A value without what differs between two runs of the same controller.
fn cleaned(value: &Value) -> Value {
    const LEFT_OUT: &[&str] = &[
        "creationTimestamp",
        "resourceVersion",
        "uid",
        "time",
        "lastTransitionTime",
        "lastUpdateTime",
        "deleted",
        "lastHandledReconcileAt",
        "firstDeployed",
        "lastDeployed",
        "first_deployed",
        "last_deployed",
        "modifiedAt",
        "digest",
        "lastAttemptedReleaseActionDuration",
        "clusterIP",
        "clusterIPs",
        "url",
        "nodePort",
        "lastUpdateTimestamp",
        "kubectl.kubernetes.io/last-applied-configuration",
    ];
    match value {
        Value::Object(entries) => entries
            .iter()
            .filter(|(k, _)| !LEFT_OUT.contains(&k.as_str()))
            .map(|(k, v)| {
                let v = match (k.as_str(), v) {
                    ("message", Value::String(m)) => json!(m.split("\n\n").next().unwrap_or_default()),
                    ("managedFields", Value::Array(fields)) => {
                        let mut fields: Vec<Value> = fields.iter().map(cleaned).collect();
                        fields.sort_by_key(|f| format!("{}{}{}", f["manager"], f["operation"], f["subresource"]));
                        Value::Array(fields)
                    }
                    _ => cleaned(v),
                };
                (k.clone(), v)
            })
            .collect(),
        Value::Array(items) => items.iter().map(cleaned).collect(),
        other => other.clone(),
    }
}

fn differ_named(place: &str, wanted: &[Value], actual: &[Value], found: &mut Vec<String>) {
    let by_name = |objects: &[Value]| -> Value {
        objects.iter().map(|o| (format!("{} {}", text(&o["kind"]), text(&o["metadata"]["name"])), cleaned(o))).collect()
    };
    differ(place, &by_name(wanted), &by_name(actual), found);
}

/// Every place where two values differ.
fn differ(place: &str, wanted: &Value, actual: &Value, found: &mut Vec<String>) {
    match (wanted, actual) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => differ(&format!("{place}.{key}"), value, other, found),
                    None => found.push(format!("{place}.{key}: missing, Flux has {}", short(value))),
                }
            }
            for (key, value) in b.iter().filter(|(k, _)| !a.contains_key(*k)) {
                found.push(format!("{place}.{key}: only here, {}", short(value)));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (value, other)) in a.iter().zip(b).enumerate() {
                differ(&format!("{place}[{i}]"), value, other, found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{place}: Flux has {}, here is {}", short(a), short(b))),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(600).collect()
}

/// What Flux had in sync stays as it is when we take its place: no new revision, no write to storage.
#[tokio::test(flavor = "multi_thread")]
async fn a_release_of_flux_is_taken_over_as_it_is() -> Result<()> {
    let Some(root) = std::env::var_os("HELMREL_FIXTURES").map(PathBuf::from) else {
        eprintln!("SKIPPED: HELMREL_FIXTURES is not set, no release of Flux is taken over");
        return Ok(());
    };
    let plane = ControlPlane::shared().await;
    lab::add_kinds(&plane).await?;
    let client = plane.client().await?;
    let repo = ChartRepo::start()?;
    for file in ["index.yaml", "podinfo-6.13.0.tgz"] {
        repo.put(&format!("/{file}"), std::fs::read(root.join("repo").join(file))?);
    }
    let state: Value = serde_json::from_slice(&std::fs::read(root.join("install").join("1-state.json"))?)?;
    let mut release = state["helmReleases"][0].clone();
    for key in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
        release["metadata"].as_object_mut().context("no metadata")?.remove(key);
    }
    let secret = &state["secrets"][0];
    lab::kubectl_apply(
        &plane,
        &[
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fx"}}),
            json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
                "metadata": {"name": "repo", "namespace": "fx"}, "spec": {"interval": "1h", "url": repo.url()}}),
            json!({"apiVersion": "v1", "kind": "Secret", "type": secret["type"], "data": secret["data"],
                "metadata": {"name": secret["metadata"]["name"], "namespace": "fx", "labels": secret["metadata"]["labels"]}}),
            release.clone(),
        ],
    )?;
    let path = lab::path("helm.toolkit.fluxcd.io/v2", "HelmRelease", "fx", "install");
    let patch = serde_json::to_vec(&json!({"status": release["status"]}))?;
    let request = http::Request::patch(format!("{path}/status"))
        .header("content-type", "application/merge-patch+json")
        .body(patch)?;
    let _: Value = client.request(request).await?;
    let record = lab::path("v1", "Secret", "fx", text(&secret["metadata"]["name"]));
    let before = lab::read(&client, &record).await?.context("no record")?;

    let controller = Controller::start(plane.kubeconfig(), &["--namespace", "fx"]).await?;
    let annotate = ["-n", "fx", "annotate", "hr", "install", "reconcile.fluxcd.io/requestedAt=now"];
    testkit::control_plane::run(plane.kubectl()?.args(annotate))?;
    let taken = lab::eventually("the pass is over", lab::PATIENCE, || async {
        let found = lab::read(&client, &path).await?.context("the release is gone")?;
        let handled = found["status"]["lastHandledReconcileAt"] == "now";
        Ok(if handled { Ok(found) } else { Err(found["status"].to_string()) })
    })
    .await
    .map_err(|e| e.context(controller.log()))?;
    let mut status = taken["status"].clone();
    status.as_object_mut().context("no status")?.remove("lastHandledReconcileAt");
    ensure!(status == release["status"], "the status changed:\n{status}\n{}", release["status"]);
    ensure!(lab::read(&client, &record).await?.as_ref() == Some(&before), "the record changed");
    let records = lab::list(&client, "v1", "Secret", "fx").await?;
    ensure!(records.len() == 1, "there are {} Secrets", records.len());
    controller.stop().await
}
