//! An API server that fails at the worst moment: what was asked for comes about all the same, and nothing is left over.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use testkit::control_plane::run;
use testkit::proxy::{Action, Fault};

use crate::lab::{self, condition};
use crate::release::{Lab, small};

/// A name, and what goes wrong while a release of that name is installed and upgraded. Some of it passes while the
/// request is made again, some only in another pass, and some makes the action fail, so that it is remediated.
fn faults() -> Vec<(&'static str, Fault)> {
    let internal = || Fault::status(500, "InternalError");
    let unavailable = || Fault::status(503, "ServiceUnavailable");
    let unknowing = || Fault::new(Action::CutAfter);
    vec![
        ("no-record", internal().on_verb("create").on_path("/secrets").times(2)),
        ("unknown-record", unknowing().on_verb("create").on_path("/secrets").times(1)),
        ("no-object", unavailable().on_verb("patch").on_path("/configmaps/").times(2)),
        ("never-an-object", unavailable().on_verb("patch").on_path("/configmaps/").times(5)),
        ("unknown-object", unknowing().on_verb("patch").on_path("/configmaps/").times(1)),
        ("no-end", unavailable().on_verb("update").on_path("/secrets/").times(1)),
        ("late-end", internal().on_verb("update").on_path("/secrets/").times(1)),
        ("never-an-end", internal().on_verb("update").on_path("/secrets/").times(3)),
        ("unknown-end", unknowing().on_verb("update").on_path("/secrets/").times(1)),
        ("busy", Fault::status(429, "TooManyRequests").on_path("/deployments").times(3)),
        ("no-status", unavailable().on_path("/status").times(3)),
        ("never-a-status", internal().on_path("/status").times(2)),
        ("unknown-status", unknowing().on_path("/status").times(2)),
        ("no-listing", internal().on_verb("list").on_path("/secrets").times(2)),
        ("outage", Fault::new(Action::Cut)),
    ]
}

/// Wait until a release is ready at a version of its chart, with its objects as they should be and nothing pending.
async fn settled(lab: &Lab, name: &str, version: &str) -> Result<()> {
    lab::eventually(&format!("{name} is ready at {version}"), lab::PATIENCE, || async {
        let release = lab.status(name).await?;
        let current = condition(&release, "Ready")
            .is_some_and(|c| c["status"] == "True" && c["observedGeneration"] == release["metadata"]["generation"]);
        let newest = &release["status"]["history"][0];
        let deployed = newest["chartVersion"] == version && newest["status"] == "deployed";
        Ok(if current && deployed { Ok(()) } else { Err(release["status"].to_string()) })
    })
    .await
    .map_err(|e| e.context(lab.controller.log()))?;
    let map = lab.read("v1", "ConfigMap", name).await?.context("no ConfigMap")?;
    ensure!(map["data"]["version"] == version, "{name}: {map}");
    let release = lab.status(name).await?;
    let newest = &release["status"]["history"][0];
    let stored = run(lab.plane.helm4()?.args(["-n", &lab.namespace, "history", name, "-o", "json"]))?;
    let stored: serde_json::Value = serde_json::from_str(&stored)?;
    let last = stored.as_array().and_then(|all| all.last()).context("no history")?;
    ensure!(last["status"] == "deployed" && last["revision"] == newest["version"], "{name}: {stored} {newest}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_fails_only_delays() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?, small("2.0.0")?]).await?;
    let again = json!({"remediation": {"retries": 2}});
    let again = json!({"install": again, "upgrade": again});
    for (name, fault) in faults() {
        for version in ["1.0.0", "2.0.0"] {
            let outage = name == "outage";
            lab.proxy.inject(fault.clone());
            lab.apply(&[lab.release(name, "small", version, &again)])?;
            if outage {
                tokio::time::sleep(Duration::from_secs(5)).await;
                lab.proxy.heal();
            }
            settled(&lab, name, version).await.with_context(|| format!("{name} {version}"))?;
            lab.proxy.heal();
        }
        println!("{name}: installed and upgraded");
    }
    // What is asked for once is done once, though not at once.
    for (n, path) in ["/secrets", "/secrets?labelSelector"].into_iter().enumerate() {
        let verb = if n == 0 { "create" } else { "list" };
        lab.proxy.inject(Fault::status(500, "InternalError").on_verb(verb).on_path(path).times(2));
        let token = format!("force-{n}");
        let ask = |key: &str| format!("reconcile.fluxcd.io/{key}={token}");
        lab.kubectl(&["annotate", "--overwrite", "hr", "busy", &ask("requestedAt"), &ask("forceAt")])?;
        lab::eventually("the forced upgrade", lab::PATIENCE, || async {
            let status = lab.status("busy").await?["status"].take();
            let forced = status["lastHandledForceAt"] == token && status["lastHandledReconcileAt"] == token;
            Ok(if forced { Ok(()) } else { Err(status.to_string()) })
        })
        .await?;
        let newest = lab.status("busy").await?["status"]["history"][0]["version"].take();
        ensure!(newest == n + 3, "{newest}");
        lab.proxy.heal();
    }
    let deleted = [
        ("no-record", Fault::status(500, "InternalError").on_verb("delete").times(2)),
        ("unknown-record", Fault::new(Action::CutAfter).on_verb("delete").times(2)),
        ("no-object", Fault::status(503, "ServiceUnavailable").on_path("helmreleases/no-object").times(2)),
    ];
    for (name, fault) in deleted {
        lab.proxy.inject(fault);
        lab.kubectl(&["delete", "hr", name, "--timeout=60s"])?;
        lab.proxy.heal();
        ensure!(lab.read("v1", "ConfigMap", name).await?.is_none(), "{name}: an object is left");
        let left = lab.kubectl(&["get", "secret", "-o", "name", "-l", &format!("owner=helm,name={name}")])?;
        ensure!(left.trim().is_empty(), "{name}: a record is left");
        let series = format!("name=\"{name}\"");
        lab::eventually("its metrics go", lab::PATIENCE, || async {
            let metrics = lab.controller.metrics().await?;
            Ok(if metrics.contains(&series) { Err(metrics) } else { Ok(()) })
        })
        .await?;
    }
    lab.controller.stop().await
}
