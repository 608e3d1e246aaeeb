//! Objects that no revision renders any more: what failed revisions left goes, what belongs to others stays.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use testkit::{Archive, ChartBuilder};

use crate::lab;
use crate::release::Lab;

/// A ConfigMap that is called otherwise for each `id`, and one that the API server refuses when `fail` is set.
fn renamed() -> Result<Archive> {
    ChartBuilder::new("renamed", "1.0.0")
        .values("id: one\nfail: false\n")
        .template(
            "maps.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Values.id }}\n{{- if .Values.fail }}\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\nspec: {}\n{{- end }}\n",
        )
        .build()
}

impl Lab {
    /// Wait until the ConfigMaps whose names begin so are these.
    async fn maps(&self, prefix: &str, want: &[&str]) -> Result<()> {
        lab::eventually(&format!("{prefix}: {want:?}"), lab::PATIENCE, || async {
            let maps = lab::list(&self.client, "v1", "ConfigMap", &self.namespace).await?;
            let names: Vec<&str> =
                maps.iter().filter_map(|m| m["metadata"]["name"].as_str()?.strip_prefix(prefix)).collect();
            Ok(if names == want { Ok(()) } else { Err(format!("{names:?}")) })
        })
        .await
    }

    async fn gone(&self, name: &str) -> Result<()> {
        lab::eventually(&format!("{name} is gone"), lab::PATIENCE, || async {
            let found = self.read("helm.toolkit.fluxcd.io/v2", "HelmRelease", name).await?;
            Ok(found.map_or(Ok(()), |r| Err(r["status"].to_string())))
        })
        .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_upgrades_leave_nothing_behind() -> Result<()> {
    let _quiet = lab::QUIET.lock().await;
    let lab = Lab::new(&[renamed()?]).await?;
    let release = |id: &str, fail: bool, rollback: bool| {
        let mut spec = json!({"values": {"id": id, "fail": fail}});
        if rollback {
            spec["upgrade"] = json!({"remediation": {"strategy": "rollback", "remediateLastFailure": true}});
        }
        lab.release("r", "renamed", "1.0.0", &spec)
    };
    let step = async |id: &str, fail: bool, rollback: bool, reason: &str| -> Result<Value> {
        lab.apply(&[release(id, fail, rollback)])?;
        lab.until("r", "Released", if fail { "False" } else { "True" }, reason).await
    };
    step("a", false, false, "InstallSucceeded").await?;
    step("b", true, false, "UpgradeFailed").await?;
    step("c", true, false, "UpgradeFailed").await?;
    lab.maps("r-", &["a", "b", "c"]).await?;
    // Another object of such a name, which is no one's, stays as it is.
    lab.kubectl(&["delete", "configmap", "r-b"])?;
    lab.kubectl(&["create", "configmap", "r-b"])?;
    step("d", false, false, "UpgradeSucceeded").await?;
    lab.maps("r-", &["b", "d"]).await?;
    lab.kubectl(&["delete", "configmap", "r-b"])?;

    // The same when a rollback ends a row of failures.
    step("e", true, false, "UpgradeFailed").await?;
    step("f", true, false, "UpgradeFailed").await?;
    lab.maps("r-", &["d", "e", "f"]).await?;
    lab.apply(&[release("g", true, true)])?;
    lab.until("r", "Remediated", "True", "RollbackSucceeded").await?;
    lab.maps("r-", &["d"]).await?;

    // And when the release goes.
    step("h", true, false, "UpgradeFailed").await?;
    step("i", true, false, "UpgradeFailed").await?;
    lab.maps("r-", &["d", "h", "i"]).await?;
    lab.kubectl(&["delete", "hr", "r", "--wait=false"])?;
    lab.gone("r").await?;
    lab.maps("r-", &[]).await?;
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_other_releases_are_kept() -> Result<()> {
    let _quiet = lab::QUIET.lock().await;
    let shared = |version: &str, names: &[&str]| {
        let chart = ChartBuilder::new("shared", version);
        let map = |name: &str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared-{name}\n");
        chart.template("maps.yaml", &names.iter().map(|n| map(n)).collect::<String>()).build()
    };
    let lab =
        Lab::new(&[shared("1.0.0", &["x", "y", "z"])?, shared("2.0.0", &["y"])?, shared("3.0.0", &["x"])?]).await?;
    lab.apply(&[lab.release("old", "shared", "1.0.0", &json!({}))])?;
    lab.until("old", "Ready", "True", "InstallSucceeded").await?;
    // Another release takes one of the objects over.
    lab.apply(&[lab.release("new", "shared", "3.0.0", &json!({}))])?;
    lab.until("new", "Ready", "True", "InstallSucceeded").await?;
    lab.apply(&[lab.release("old", "shared", "2.0.0", &json!({}))])?;
    lab.until("old", "Ready", "True", "UpgradeSucceeded").await?;
    lab.maps("shared-", &["x", "y"]).await?;
    let kept = format!("ConfigMap/{}/shared-x is kept: it belongs to the release {}/new", lab.namespace, lab.namespace);
    lab.told("old", "", &[&kept]).await?;
    // An uninstall leaves what is no longer its own, whoever's it is.
    lab.kubectl(&["annotate", "--overwrite", "configmap", "shared-y", "meta.helm.sh/release-name=another"])?;
    lab.kubectl(&["label", "configmap", "shared-x", "app.kubernetes.io/managed-by-"])?;
    lab.kubectl(&["delete", "hr", "old", "new", "--wait=false"])?;
    lab.gone("old").await?;
    lab.gone("new").await?;
    lab.maps("shared-", &["x", "y"]).await?;
    lab.told("old", "", &[&format!("shared-y is kept: it belongs to the release {}/another", lab.namespace)]).await?;
    lab.told("new", "", &["shared-x is kept: it is not owned by this release: invalid ownership metadata"]).await?;
    let record = lab.kubectl(&["get", "secrets", "-l", "owner=helm", "-o", "name"])?;
    ensure!(record.trim().is_empty(), "{record}");
    lab.controller.stop().await
}
