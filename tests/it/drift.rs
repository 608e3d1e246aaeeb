//! Drift where others own parts of an object: the case `25-drift-other-owners`, through the controller and `helmrel diff`.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use testkit::proxy::{Action, Fault};
use testkit::{Archive, ChartBuilder};

use crate::lab::{self, condition};
use crate::release::{Lab, text};

/// The rendered object of the case.
fn busy() -> Result<Archive> {
    ChartBuilder::new("busy", "1.0.0")
        .template(
            "object.yaml",
            r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 2
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      containers:
        - {name: main, image: "registry.example.test/busy:1"}
        - {name: aux, image: "registry.example.test/aux:1", resources: {requests: {cpu: 100m}}}
"#,
        )
        .build()
}

/// What others make of it: another number of replicas, a container in front, and a field that is really wrong.
fn edit(lab: &Lab, name: &str) -> Result<()> {
    lab.kubectl(&["scale", "deployment", name, "--replicas=7"])?;
    let inject = json!([
        {"op": "add", "path": "/spec/template/spec/containers/0",
            "value": {"name": "injected-proxy", "image": "registry.example.test/proxy:9"}},
        {"op": "add", "path": "/spec/template/metadata/annotations", "value": {"restarted": "now"}},
    ]);
    let inject = ["patch", "deployment", name, "--type=json", "--field-manager=injector", "-p", &inject.to_string()];
    lab.kubectl(&inject)?;
    let wrong = json!([{"op": "replace", "path": "/spec/template/spec/containers/2/resources/requests/cpu",
        "value": "250m"}]);
    lab.kubectl(&["patch", "deployment", name, "--type=json", "--field-manager=tuner", "-p", &wrong.to_string()])?;
    lab.kubectl(&["annotate", "deployment", name, "checker.example.test/validated=true"])?;
    Ok(())
}

fn diff(lab: &Lab, name: &str) -> Result<(Option<i32>, String)> {
    let shown = lab::diff(&lab.plane, "release.json", &lab.kubectl(&["get", "hr", name, "-o", "json"])?, &[])?;
    Ok((shown.code, shown.all()))
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_of_an_object_with_other_owners() -> Result<()> {
    let lab = Lab::new(&[busy()?]).await?;
    let replicas = "/spec/replicas";
    let containers = "/spec/template/spec/containers";
    let rules = [
        ("all", "warn", vec![]),
        ("some", "warn", vec![replicas.to_owned()]),
        // The second rendered container, which is the third one of the live object.
        ("aux", "warn", vec![replicas.to_owned(), format!("{containers}/1/resources")]),
        // The first rendered one, where the live object has the injected one.
        ("repaired", "enabled", vec![replicas.to_owned(), format!("{containers}/0/image")]),
    ];
    let detection = |mode: &str, paths: &[String]| {
        let ignore = if paths.is_empty() { json!([]) } else { json!([{"paths": paths}]) };
        json!({"driftDetection": {"mode": mode, "ignore": ignore}})
    };
    for (name, mode, paths) in &rules {
        lab.apply(&[lab.release(name, "busy", "1.0.0", &detection(mode, paths))])?;
    }
    for (name, ..) in &rules {
        lab.until(name, "Ready", "True", "InstallSucceeded").await?;
        edit(&lab, name)?;
    }
    lab.kubectl(&["set", "image", "deployment/repaired", "main=registry.example.test/busy:2"])?;
    let (code, shown) = diff(&lab, "repaired")?;
    ensure!(code == Some(1) && shown.contains("0 created, 1 changed, 0 deleted"), "{code:?} {shown}");
    ensure!(shown.contains("cpu: 250m") && !shown.contains("-        image"), "{shown}");

    for (name, ..) in &rules {
        lab.ask(name, "1").await?;
    }
    let all = lab.told("all", "DriftDetected", &[]).await?;
    let cpu =
        format!("{containers}/2/resources/requests/cpu is \"250m\", should be \"100m\"; last written by tuner at ");
    let scaled = "/spec/replicas is 7, should be 2; last written by kubectl";
    ensure!(all.contains("changed (0 additions, 2 changes, 0 removals)"), "{all}");
    ensure!(all.contains(&cpu) && all.contains(scaled), "{all}");
    let some = lab.told("some", "DriftDetected", &[]).await?;
    ensure!(some.contains("(0 additions, 1 changes, 0 removals)") && some.contains(&cpu), "{some}");
    let aux = lab.status("aux").await?;
    ensure!(condition(&aux, "Drifted").is_some_and(|c| c["status"] == "False"), "{}", aux["status"]);

    let corrected = lab.told("repaired", "DriftCorrected", &[]).await?;
    ensure!(corrected.contains("Deployment/"), "{corrected}");
    let release = lab.status("repaired").await?;
    ensure!(condition(&release, "Drifted").is_some_and(|c| c["status"] == "False"), "{}", release["status"]);
    let live = lab.read("apps/v1", "Deployment", "repaired").await?.context("no Deployment")?;
    ensure!(live["spec"]["replicas"] == 7, "an ignored field was repaired: {live}");
    let found = live["spec"]["template"]["spec"]["containers"].as_array().context("no containers")?;
    let mut images: Vec<(&str, &str)> = found.iter().map(|c| (text(&c["name"]), text(&c["image"]))).collect();
    images.sort_unstable();
    let wanted = [
        ("aux", "registry.example.test/aux:1"),
        ("injected-proxy", "registry.example.test/proxy:9"),
        ("main", "registry.example.test/busy:2"),
    ];
    ensure!(images == wanted, "{live}");
    let (code, shown) = diff(&lab, "repaired")?;
    ensure!(code == Some(0), "{code:?} {shown}");
    lab.controller.stop().await
}

/// Somebody writes to an object between the read and the dry run of a comparison: what they wrote is no drift.
#[tokio::test(flavor = "multi_thread")]
async fn writes_during_a_comparison_are_no_drift() -> Result<()> {
    let lab = Lab::new(&[busy()?]).await?;
    lab.apply(&[lab.release("moved", "busy", "1.0.0", &json!({"driftDetection": {"mode": "warn"}}))])?;
    lab.until("moved", "Ready", "True", "InstallSucceeded").await?;
    // What was found clean is not tried again until somebody writes to it.
    lab.kubectl(&["annotate", "deployment", "moved", "checker.example.test/seen=true"])?;
    let dry_run =
        Fault::new(Action::Delay(Duration::from_secs(5))).on_verb("apply").on_path("/deployments/moved").times(1);
    lab.proxy.reset();
    lab.proxy.inject(dry_run);
    lab.kubectl(&["annotate", "--overwrite", "hr", "moved", "reconcile.fluxcd.io/requestedAt=1"])?;
    lab::eventually("the read", lab::PATIENCE, || async {
        let read = lab.requests("moved").iter().any(|r| r.starts_with("get ") && r.contains("/deployments/moved"));
        Ok(if read { Ok(()) } else { Err("no read yet".to_owned()) })
    })
    .await?;
    lab.kubectl(&["annotate", "deployment", "moved", "checker.example.test/validated=true"])?;
    let release = lab.ask("moved", "1").await?;
    ensure!(condition(&release, "Drifted").is_some_and(|c| c["status"] == "False"), "{}", release["status"]);
    let requests = lab.requests("moved");
    let reads = requests.iter().filter(|r| r.starts_with("get ") && r.contains("/deployments/moved")).count();
    ensure!(reads == 2, "the write did not come between: {requests:?}");
    lab.controller.stop().await
}
