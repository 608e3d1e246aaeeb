//! `helmrel template --dry-run=server` beside real Helm, on a real API server.

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use serde_json::json;
use testkit::{ChartBuilder, ControlPlane};

const SEEN: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: seen
data:
  version: {{ .Capabilities.KubeVersion.Version }}
  apps: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}
  extra: {{ .Capabilities.APIVersions.Has \"extra/v1\" | quote }}
  one: {{ (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"taken\").data | toJson | quote }}
  none: {{ lookup \"v1\" \"ConfigMap\" .Release.Namespace \"none\" | toJson | quote }}
  all: {{ range (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"\").items }}{{ with .data.k }}{{ . }}{{ end }}{{ end }}
  kind: {{ with .Values.lookup }}{{ lookup \"nope/v1\" . \"\" \"\" }}{{ end }}
{{- with .Values.name }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ . }}
{{- end }}
{{- range .Values.unknown }}
---
apiVersion: nope/v1
kind: {{ . }}
metadata:
  name: x
{{- end }}
";

fn output(program: &mut Command, folder: &Path, args: &str) -> Result<Output> {
    program.args(args.split(' ')).current_dir(folder).env("HOME", folder).output().context("failed to run")
}

/// The text of the error, with what the programs say differently about lookups left out.
fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.split_once("Error: ").map(|(_, e)| e.trim().to_owned()).unwrap_or_default()
}

#[tokio::test]
async fn a_server_is_asked_as_helm_asks_it() -> Result<()> {
    let plane = ControlPlane::shared().await;
    let namespace = plane.namespace("template").await?;
    let maps: Api<ConfigMap> = Api::namespaced(plane.client().await?, &namespace);
    let taken = json!({"metadata": {"name": "taken"}, "data": {"k": "v"}});
    maps.create(&PostParams::default(), &serde_json::from_value(taken)?).await?;

    let dir = tempfile::tempdir()?;
    let chart = ChartBuilder::new("asks", "1.0.0").template("seen.yaml", SEEN);
    let chart = chart.file("crds/x.yaml", "kind: CustomResourceDefinition\nmetadata: {name: x}\n").build()?;
    std::fs::write(dir.path().join("asks.tgz"), &chart.bytes)?;

    let rows = [
        ("--dry-run=server", true),
        ("--validate", true),
        ("--dry-run=server -a extra/v1 --kube-version 1.20 --skip-crds", true),
        ("--dry-run=server --set name=free", true),
        ("--dry-run=server --set name=taken", false),
        ("--dry-run=server --set name=taken --is-upgrade", true),
        ("--dry-run=server --set name=taken --take-ownership", true),
        ("--dry-run=server --set unknown={Nope}", false),
        ("--dry-run=server --set unknown={Nope} --disable-openapi-validation", false),
        ("--dry-run=server --set unknown={Nope,Never}", false),
        ("--dry-run=client --set unknown={Nope}", true),
        ("--dry-run=server --kube-context nope", false),
    ];
    for (row, good) in rows {
        let args = format!("template r asks.tgz -n {namespace} {row}");
        let mut ours = Command::new(env!("CARGO_BIN_EXE_helmrel"));
        ours.env("KUBECONFIG", plane.kubeconfig_path());
        let (got, want) = (output(&mut ours, dir.path(), &args)?, output(&mut plane.helm4()?, dir.path(), &args)?);
        let shown = format!("{row}:\n{}\n{}", error(&got), error(&want));
        ensure!(got.status.code() == want.status.code(), "other exit code: {shown}");
        ensure!(got.status.success() == good, "{shown}");
        ensure!(got.stdout == want.stdout, "other output: {shown}\n{}", String::from_utf8_lossy(&got.stdout));
        if row.contains("context") {
            continue; // Who reads kubeconfigs has words of his own.
        }
        ensure!(error(&got) == error(&want), "{shown}");
    }
    Ok(())
}
