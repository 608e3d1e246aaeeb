//! Records near and above the limit of a Secret: what is left out, what is refused, and that Helm still reads the rest.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use testkit::ChartBuilder;

use crate::lab::{self, condition};
use crate::release::{Lab, text};

/// Hexadecimal digits that do not repeat: a record takes about two bytes for three of them.
fn noise(seed: u64, length: usize) -> String {
    let mut state = seed;
    let mut text = String::new();
    while text.len() < length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let _ = write!(text, "{:08x}", state >> 32);
    }
    text
}

fn definition(group: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: gadgets.{group}\nspec:\n  group: {group}\n  scope: Namespaced\n  names:\n    kind: Gadget\n    plural: gadgets\n    singular: gadget\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_chart_is_stored_without_its_files() -> Result<()> {
    let _quiet = lab::QUIET.lock().await;
    // As in case 33: the chart has a file that no template needs.
    let heavy = |version: &str| {
        ChartBuilder::new("heavy", version)
            .file("files/noise.txt", noise(7, 2_400_000))
            .file("crds/gadgets.yaml", definition("heavy.example.com"))
            .values("greeting: hello\n")
            .template(
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  greeting: {{ .Values.greeting }}\n  version: {{ .Chart.Version | quote }}\n",
            )
            .build()
    };
    let lab = Lab::new(&[heavy("1.0.0")?, heavy("1.1.0")?]).await?;
    for helm in ["helm4", "helm3"] {
        let first = lab.release(helm, "heavy", "1.0.0", &json!({}));
        let previewed = lab::diff(&lab.plane, "release.json", &first.to_string(), &[])?.all();
        ensure!(previewed.contains("is stored without the chart's templates and files"), "{previewed}");
        lab.apply(&[first])?;
        let release = lab.until(helm, "Ready", "True", "InstallSucceeded").await?;
        lab.told(
            helm,
            "InstallSucceeded",
            &["without the chart's templates and files", "files/noise.txt (9", "1048576"],
        )
        .await?;
        let inventory = release["status"]["inventory"]["entries"].to_string();
        ensure!(inventory.contains("_gadgets.heavy.example.com_apiextensions.k8s.io_"), "{inventory}");
        let record = lab.read("v1", "Secret", &format!("sh.helm.release.v1.{helm}.v1")).await?.context("no record")?;
        let size = text(&record["data"]["release"]).len();
        ensure!(size < 8 * 1024, "the record has {size} bytes");

        lab.apply(&[lab.release(helm, "heavy", "1.1.0", &json!({"values": {"greeting": "hi"}}))])?;
        lab.until(helm, "Ready", "True", "UpgradeSucceeded").await?;
        ensure!(lab.helm(helm, &["get", "manifest", helm])?.contains("greeting: hi"));
        ensure!(lab.helm(helm, &["get", "values", helm, "--all", "-o", "json"])?.contains(r#""greeting":"hi""#));
        lab.is_read_and_rolled_back(helm, "heavy").await?;
    }
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_just_below_the_limit_is_stored_whole() -> Result<()> {
    let _quiet = lab::QUIET.lock().await;
    // About 970,000 of the 1,048,576 bytes: what counts is the Secret's data, not its text.
    let full = ChartBuilder::new("full", "1.0.0").file("files/noise.txt", noise(3, 1_090_000)).build()?;
    let lab = Lab::new(&[full]).await?;
    lab.apply(&[lab.release("full", "full", "1.0.0", &json!({}))])?;
    lab.until("full", "Ready", "True", "InstallSucceeded").await?;
    let record = lab.read("v1", "Secret", "sh.helm.release.v1.full.v1").await?.context("no record")?;
    let size = text(&record["data"]["release"]).len() / 4 * 3;
    println!("the record has {size} bytes");
    ensure!((900_000..1_048_576).contains(&size), "the record has {size} bytes");
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_stored_changes_nothing() -> Result<()> {
    let _quiet = lab::QUIET.lock().await;
    let maps = "{{- range $i, $part := list \"a\" \"b\" \"c\" }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ $.Release.Name }}-{{ $part }}\ndata:\n  text: {{ $.Files.Get (printf \"files/%s\" $part) }}\n{{- end }}\n";
    let chart = |version: &str, length: usize| {
        let parts = ["a", "b", "c"].into_iter().zip(1..);
        let chart = ChartBuilder::new("wide", version).template("maps.yaml", maps);
        parts.fold(chart, |chart, (part, seed)| chart.file(&format!("files/{part}"), noise(seed, length))).build()
    };
    let values = |version: &str, length: usize| {
        ChartBuilder::new("fat", version)
            .values(&format!("blob: x{}\n", noise(5, length)))
            .file("crds/gadgets.yaml", definition("fat.example.com"))
            .build()
    };
    let charts =
        [chart("1.0.0", 700_000)?, chart("1.1.0", 1_000)?, values("1.0.0", 2_400_000)?, values("1.1.0", 1_000)?];
    let lab = Lab::new(&charts).await?;
    let target = format!("{}-target", lab.namespace);
    let wide = |version: &str| {
        lab.release(
            "wide",
            "wide",
            version,
            &json!({"targetNamespace": target, "install": {"createNamespace": true}, "storageNamespace": lab.namespace}),
        )
    };
    let fat = |version: &str| lab.release("fat", "fat", version, &json!({}));
    let previewed = lab::diff(&lab.plane, "release.json", &wide("1.0.0").to_string(), &[])?.all();
    ensure!(previewed.contains("what wide/templates/maps.yaml renders (9"), "{previewed}");
    lab.apply(&[wide("1.0.0"), fat("1.0.0")])?;
    for (name, part) in
        [("wide", "what wide/templates/maps.yaml renders (9"), ("fat", "`blob` in the chart's values (9")]
    {
        lab::eventually(&format!("{name} is refused"), lab::PATIENCE, || async {
            let release = lab.status(name).await?;
            let ready = condition(&release, "Ready").cloned().unwrap_or_default();
            let message = text(&ready["message"]);
            let parts = [part, "1048576 that a Secret may hold", "sh.helm.release.v1.", ".helmignore"];
            let told = ready["reason"] == "InstallFailed" && parts.iter().all(|p| message.contains(p));
            Ok(if told { Ok(()) } else { Err(release["status"]["conditions"].to_string()) })
        })
        .await?;
        println!("{}", condition(&lab.status(name).await?, "Ready").cloned().unwrap_or_default()["message"]);
    }
    ensure!(lab::read(&lab.client, &format!("/api/v1/namespaces/{target}")).await?.is_none(), "a namespace was made");
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.fat.example.com";
    ensure!(lab::read(&lab.client, crd).await?.is_none(), "a definition was made");
    let secrets = lab.kubectl(&["get", "secrets,configmaps", "-l", "owner=helm", "-o", "name"])?;
    ensure!(secrets.trim().is_empty(), "{secrets}");
    // A smaller chart heals it.
    lab.apply(&[wide("1.1.0"), fat("1.1.0")])?;
    lab.until("wide", "Ready", "True", "InstallSucceeded").await?;
    lab.until("fat", "Ready", "True", "InstallSucceeded").await?;
    ensure!(lab::read(&lab.client, crd).await?.is_some(), "the definition is missing");
    ensure!(lab::list(&lab.client, "v1", "ConfigMap", &target).await?.len() >= 3, "ConfigMaps are missing");
    lab.controller.stop().await
}
