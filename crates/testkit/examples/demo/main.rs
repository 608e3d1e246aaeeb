//! `make demo`: the controller at work, on a control plane of its own.
//!
//! Owns: the story, and what each step has to show; a step that does not show it ends the demo with an error. Does not
//! own: what is started for it (`stage`), how commands are shown (`shell`), the objects (`objects`).
//! The surprising thing: every command is run as it is printed, by bash, so that a reader can type it (KEEP=1 leaves all
//! running). Variables: HELMREL (the binary), CHARTS (a folder with the charts `web` and `store`), CHART (another chart
//! for the release `web`), KEEP.

#![allow(clippy::print_stdout)] // Its purpose.

mod objects;
mod shell;
mod stage;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use shell::{Shell, title};
use stage::Stage;

const MINUTES: Duration = Duration::from_mins(5);

#[tokio::main]
async fn main() -> ExitCode {
    match demo().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("\nThe demo ended early: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn demo() -> Result<()> {
    let keep = std::env::var("KEEP").is_ok_and(|v| !v.is_empty() && v != "0");
    let chart = std::env::var("CHART").ok().filter(|chart| !chart.is_empty());
    let mut stage = Stage::set(chart.as_deref()).await?;
    let shell = stage.shell();
    let done = tokio::select! {
        done = play(&mut stage, &shell, keep) => done,
        stop = stopped() => stop.and_then(|()| anyhow::bail!("interrupted")),
    };
    if let Err(error) = done {
        println!("\nThe controller's last words:\n{}", stage.controller_log(25));
        return Err(error);
    }
    if keep {
        title("Left running");
        println!("Until Ctrl-C. In another terminal:\n");
        println!("  export KUBECONFIG={}", stage.kubeconfig().display());
        println!("  export PATH={}:$PATH", stage.programs().display());
        println!("  cd {}    # the files of the demo, and the controller's log", stage.folder().display());
        stopped().await?;
    }
    title("The end: everything is stopped");
    stage.stop_controller().await?;
    println!("The controller ended by itself after SIGTERM; etcd, the API server and all files go now.");
    Ok(())
}

async fn play(stage: &mut Stage, shell: &Shell, keep: bool) -> Result<()> {
    install(stage, shell).await?;
    upgrade(shell).await?;
    drift(shell).await?;
    diff(stage, shell).await?;
    if !keep {
        delete(shell).await?;
    }
    Ok(())
}

async fn install(stage: &mut Stage, shell: &Shell) -> Result<()> {
    title("A control plane, the definitions, the controller");
    shell.run("kubectl get nodes").await?;
    shell.run(&format!("kubectl apply --server-side -k {}", stage::crds().display())).await?;
    shell.run("kubectl wait --for=condition=Established crd --all --timeout=60s").await?;
    stage.start_controller().await?;

    title("Two releases: web needs store, and takes values from a ConfigMap and a Secret");
    println!("A chart repository runs at {}; it has {}.", stage.repository(), stage.charts());
    shell.run("kubectl create namespace demo").await?;
    shell.run("cat demo.yaml").await?;
    shell.run("kubectl apply -f demo.yaml").await?;
    shell.run("kubectl get hr -n demo").await?;
    shell.run("kubectl wait hr/store hr/web -n demo --for=condition=Ready --timeout=300s").await?;
    let shown = shell.run("kubectl get hr -n demo").await?;
    ensure!(shown.matches(" True ").count() == 2, "both releases should be ready");
    let listed = shell.run("helm list -n demo").await?;
    ensure!(listed.matches("deployed").count() == 2, "helm should list both releases as deployed");
    shell.run("kubectl get all -n demo").await?;
    println!("\nWhere the values of web came from:");
    let values = shell.run("helm get values web -n demo").await?;
    ensure!(values.contains("replicaCount: 1"), "the values of the ConfigMap should be in the release");
    ensure!(values.contains(objects::FROM_SECRET), "the value of the Secret should be in the release");
    println!("\nWhat the controller told about web (it waited for store):");
    let events = shell.run(&events("web", "")).await?;
    ensure!(events.contains("InstallSucceeded"), "there should be an event about the install");
    Ok(())
}

async fn upgrade(shell: &Shell) -> Result<()> {
    title("An upgrade: two replicas");
    shell.run(r#"kubectl patch hr web -n demo --type=merge -p '{"spec":{"values":{"replicaCount":2}}}'"#).await?;
    shell.run("kubectl wait hr/web -n demo --for=jsonpath='{.status.history[0].version}'=2 --timeout=300s").await?;
    shell.run("kubectl wait hr/web -n demo --for=condition=Ready --timeout=300s").await?;
    shell.run("kubectl get hr web -n demo").await?;
    let history = shell.run("helm history web -n demo").await?;
    ensure!(history.contains("superseded") && history.contains("deployed"), "helm should know both revisions");
    Ok(())
}

async fn drift(shell: &Shell) -> Result<()> {
    title("Drift: someone changes a live object by hand");
    let find = "kubectl get deploy,sts,svc,cm -n demo -l helm.toolkit.fluxcd.io/name=web -o name | sed -n 1p";
    let object = shell.run(find).await?.trim().to_owned();
    ensure!(!object.is_empty(), "the release web should have an object");
    let scales = object.starts_with("deployment") || object.starts_with("statefulset");
    let (change, look) = if scales {
        let patch = r#"'{"spec":{"replicas":5}}'"#;
        (format!("kubectl patch {object} -n demo -p {patch}"), "'{.spec.replicas}'")
    } else {
        let label = "'{.metadata.labels.app\\.kubernetes\\.io/managed-by}'";
        (format!("kubectl label {object} -n demo --overwrite app.kubernetes.io/managed-by=hand"), label)
    };
    let look = format!("kubectl get {object} -n demo -o jsonpath={look}");
    let before = shell.run(&look).await?;
    shell.run(&change).await?;
    println!("\nThe next pass comes with the interval; asked for, it comes now:");
    let ask = r#"kubectl annotate hr/web -n demo --overwrite reconcile.fluxcd.io/requestedAt="$(date +%s.%N)""#;
    shell.run(ask).await?;
    let found = shell.until(&events("web", "DriftDetected"), MINUTES, |text| text.contains("DriftDetected")).await?;
    ensure!(found.contains("drifted"), "the event should say what drifted");
    shell.until(&events("web", "DriftCorrected"), MINUTES, |text| text.contains("DriftCorrected")).await?;
    println!("\nAnd it is as it was:");
    shell.until(&look, MINUTES, |text| text == before).await?;
    Ok(())
}

async fn diff(stage: &Stage, shell: &Shell) -> Result<()> {
    title("A preview: what would the controller do with this change?");
    stage.write("web-next.yaml", &stage.release_of_web(3))?;
    shell.run("grep -n -A1 'values:' web-next.yaml").await?;
    let shown = shell.run_expecting("helmrel diff -f web-next.yaml", 1).await?;
    ensure!(shown.contains("HelmRelease demo/web: upgrade"), "the preview should say that it is an upgrade");
    println!("\n(Exit code 1 says that something differs; the cluster was not touched:)");
    let history = shell.run("helm history web -n demo --max 1").await?;
    ensure!(history.lines().any(|line| line.starts_with('2')), "the newest revision should still be 2");
    Ok(())
}

async fn delete(shell: &Shell) -> Result<()> {
    title("Deleting the releases takes everything of them away");
    shell.run("kubectl delete hr web store -n demo --timeout=300s").await?;
    let listed = shell.run("helm list -n demo").await?;
    ensure!(listed.lines().count() == 1, "no release should be left");
    let left = "kubectl get deploy,sts,svc,secret -n demo -l helm.toolkit.fluxcd.io/namespace=demo";
    shell.until(left, MINUTES, |text| text.trim().is_empty() || text.contains("No resources found")).await?;
    Ok(())
}

/// The command that shows the events of a release, in short.
fn events(release: &str, reason: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(",reason={reason}") };
    format!(
        "kubectl get events -n demo --field-selector involvedObject.kind=HelmRelease,involvedObject.name={release}{reason} \
         -o custom-columns=TYPE:.type,REASON:.reason,MESSAGE:.message"
    )
}

/// Ctrl-C, or SIGTERM.
async fn stopped() -> Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context("failed to wait for signals")?;
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => interrupt?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
