//! Objects without a name: their address would be that of all objects of the kind.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use testkit::ChartBuilder;
use testkit::control_plane::run;

use crate::lab::{self, condition};
use crate::release::{Lab, chart_of, text};

#[tokio::test(flavor = "multi_thread")]
async fn objects_without_a_name_are_refused_and_others_stay() -> Result<()> {
    let hook = |event: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  generateName: made-\n  annotations:\n    helm.sh/hook: {event}\nstringData:\n  a: b\n"
        )
    };
    let lab = Lab::new(&[
        chart_of("hooked", &hook("pre-install,pre-upgrade"))?,
        chart_of("tested", &hook("test"))?,
        chart_of("ended", &hook("pre-delete"))?,
        chart_of("empty", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Values.nope }}\nstringData:\n  a: b\n")?,
        chart_of("made", "apiVersion: v1\nkind: Secret\nmetadata:\n  generateName: made-\nstringData:\n  a: b\n")?,
        chart_of("wide", "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata:\n  name: {{ .Values.nope }}\nspec:\n  controller: a.b/c\n")?,
        ChartBuilder::new("wide", "2.0.0").template("map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: wide\n").build()?,
    ])
    .await?;
    let foreign = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "foreign", "namespace": lab.namespace},
        "stringData": {"password": "f0reign-w0rd"}});
    let class = json!({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass",
        "metadata": {"name": lab.namespace}, "spec": {"controller": "a.b/c"}});
    lab.apply(&[foreign, class])?;

    // A preview is refused too, and shows nothing of what is there.
    for chart in ["hooked", "empty", "made", "wide"] {
        let release = lab.release(chart, chart, "1.0.0", &json!({})).to_string();
        let shown = lab::diff(&lab.plane, "release.json", &release, &[])?;
        shown.ended(2)?;
        shown.hides(&["foreign", "ZjByZWlnbi13MHJk"])?;
        ensure!(shown.all().contains("resource name may not be empty"), "{chart}: {}", shown.all());
    }

    let tested = json!({"test": {"enable": true}});
    for (name, spec) in [
        ("hooked", json!({})),
        ("tested", tested),
        ("ended", json!({})),
        ("empty", json!({})),
        ("made", json!({})),
        ("wide", json!({})),
    ] {
        lab.apply(&[lab.release(name, name, "1.0.0", &spec)])?;
    }
    for name in ["hooked", "tested", "empty", "made", "wide"] {
        lab::eventually(&format!("{name} is refused"), lab::PATIENCE, || async {
            let release = lab.status(name).await?;
            let ready = condition(&release, "Ready").cloned().unwrap_or_default();
            let told = ready["status"] == "False" && text(&ready["message"]).contains("resource name may not be empty");
            Ok(if told { Ok(()) } else { Err(release["status"].to_string()) })
        })
        .await?;
    }
    lab.until("ended", "Ready", "True", "InstallSucceeded").await?;
    lab.kubectl(&["delete", "hr", "ended", "--wait=false"])?;
    lab.apply(&[lab.release("wide", "wide", "2.0.0", &json!({}))])?;
    lab.until("wide", "Ready", "True", "InstallSucceeded").await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    ensure!(lab.read("v1", "Secret", "foreign").await?.is_some(), "a foreign Secret was deleted");
    run(lab.plane.kubectl()?.args(["get", "ingressclass", &lab.namespace]))
        .context("a foreign IngressClass was deleted")?;
    run(lab.plane.kubectl()?.args(["delete", "ingressclass", &lab.namespace]))?;
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_records_do_not_count() -> Result<()> {
    let lab = Lab::new(&[crate::release::small("1.0.0")?, crate::release::small("1.1.0")?]).await?;
    lab.apply(&[lab.release("r", "small", "1.0.0", &json!({}))])?;
    lab.until("r", "Ready", "True", "InstallSucceeded").await?;
    lab.apply(&[json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
        "metadata": {"name": "sh.helm.release.v1.r.v9", "namespace": lab.namespace,
            "labels": {"owner": "helm", "name": "r", "version": "9", "status": "deployed"}},
        "stringData": {"release": "garbage"}})])?;
    lab.apply(&[lab.release("r", "small", "1.1.0", &json!({}))])?;
    let release = lab.until("r", "Ready", "True", "UpgradeSucceeded").await?;
    ensure!(release["status"]["history"][0]["version"] == 2, "{}", release["status"]);

    // Where none can be read there is nothing to go by, and nothing is done.
    lab.kubectl(&[
        "patch",
        "secret",
        "sh.helm.release.v1.r.v1",
        "sh.helm.release.v1.r.v2",
        "-p",
        r#"{"stringData":{"release":"garbage"}}"#,
    ])?;
    let release = lab.ask("r", "damaged").await?;
    let message = condition(&release, "Ready").map(|c| text(&c["message"]).to_owned()).unwrap_or_default();
    ensure!(message.contains("no revision for release \"r\""), "{}", release["status"]);
    lab.controller.stop().await
}
