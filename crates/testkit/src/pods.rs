//! The simulated kubelet and scheduler.
//!
//! Owns: one Node, what becomes of pods, the binding of PersistentVolumeClaims, addresses of load balancers. Does not
//! own: anything a real controller manager does (Deployments, Jobs, endpoints, garbage collection are real).
//! The surprising thing: nothing runs. A pod's annotations decide: [`OUTCOME`] and [`DELAY`]; without them a pod of a
//! Job, or one that is not restarted always, succeeds, and any other becomes ready, both at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use futures::StreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::{Value, json};

use crate::Task;
use crate::control_plane::pki::Authority;
use crate::serve::Server;

mod volumes;

/// What becomes of a pod: `ready`, `succeed`, `fail`, `pending` (never scheduled) or `crashloop`.
pub const OUTCOME: &str = "testkit.helmrel.dev/outcome";
/// How long a pod runs before that, e.g. `2s` or `500ms`.
pub const DELAY: &str = "testkit.helmrel.dev/delay";
/// The name of the only node.
pub const NODE: &str = "testkit";

/// The simulation; ends when dropped.
pub(crate) struct Kubelet {
    _tasks: Vec<Task>,
    _logs: Server,
}

impl Kubelet {
    /// Register the node and begin to play.
    pub(crate) async fn start(client: &kube::Client, authority: &Authority, load_balancers: bool) -> Result<Self> {
        let logs = crate::kubelet_logs::start(client.clone(), &authority.server(&["127.0.0.1"])?)?;
        register(client, logs.port).await.context("failed to register the node")?;
        let mut tasks = vec![
            Task::spawn(renew(client.clone(), logs.port)),
            Task::spawn(run(client.clone())),
            Task::spawn(volumes::bind(client.clone())),
            Task::spawn(volumes::sweep(client.clone())),
        ];
        if load_balancers {
            tasks.push(Task::spawn(volumes::balance(client.clone())));
        }
        Ok(Self { _tasks: tasks, _logs: logs })
    }
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

async fn register(client: &kube::Client, port: u16) -> kube::Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": NODE, "labels": {
            "kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        }},
    });
    nodes.patch(NODE, &PatchParams::apply("testkit").force(), &Patch::Apply(node)).await?;
    let mut conditions = vec![json!({
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "simulated",
        "lastHeartbeatTime": now(), "lastTransitionTime": now(),
    })];
    for kind in ["MemoryPressure", "DiskPressure", "PIDPressure"] {
        conditions.push(json!({
            "type": kind, "status": "False", "reason": "Simulated", "message": "simulated",
            "lastHeartbeatTime": now(), "lastTransitionTime": now(),
        }));
    }
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "10000", "ephemeral-storage": "1Ti"});
    let version = "v1.36.3";
    let status = json!({"status": {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": NODE}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "capacity": room, "allocatable": room, "conditions": conditions,
        "nodeInfo": {
            "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "testkit://1", "kernelVersion": "",
            "kubeProxyVersion": version, "kubeletVersion": version, "machineID": "", "operatingSystem": "linux",
            "osImage": "", "systemUUID": "",
        },
    }});
    nodes.patch_status(NODE, &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(())
}

/// Keep the node alive for the node lifecycle controller: its lease, and its status if someone deleted it.
async fn renew(client: kube::Client, port: u16) {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "kube-node-lease");
    loop {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": NODE},
            "spec": {"holderIdentity": NODE, "leaseDurationSeconds": 40, "renewTime": time},
        });
        let renewed = leases.patch(NODE, &PatchParams::apply("testkit").force(), &Patch::Apply(lease)).await;
        let nodes: Api<Node> = Api::all(client.clone());
        if matches!(nodes.get_opt(NODE).await, Ok(None)) {
            let _ = register(&client, port).await;
        }
        // The namespace for leases is made a moment after the API server's start.
        tokio::time::sleep(Duration::from_secs(if renewed.is_ok() { 10 } else { 1 })).await;
    }
}

/// What is being played for a pod.
struct Play {
    script: Script,
    ending: bool,
    _task: Task,
}

async fn run(client: kube::Client) {
    let mut plays: HashMap<String, Play> = HashMap::new();
    let addresses = Arc::new(AtomicU32::new(1));
    let mut events = watcher(Api::<Pod>::all(client.clone()), watcher::Config::default()).boxed();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(pod) | Event::InitApply(pod)) => {
                let Some(uid) = pod.metadata.uid.clone() else { continue };
                let ending = pod.metadata.deletion_timestamp.is_some();
                let script = Script::of(&pod);
                if plays.get(&uid).is_some_and(|p| p.script == script && p.ending == ending) {
                    continue;
                }
                if let Some(previous) = plays.remove(&uid) {
                    drop(previous);
                }
                let (client, addresses) = (client.clone(), addresses.clone());
                let played = script.clone();
                let task = Task::spawn(async move {
                    let mut tries = 0;
                    while let Err(error) = act(&client, &pod, &played, ending, &addresses).await {
                        let gone = matches!(&error, kube::Error::Api(status) if status.code == 404);
                        tries += 1;
                        if gone || tries > 20 {
                            break;
                        }
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                });
                plays.insert(uid, Play { script, ending, _task: task });
            }
            Ok(Event::Delete(pod)) => {
                pod.metadata.uid.and_then(|uid| plays.remove(&uid));
            }
            Ok(Event::Init | Event::InitDone) => {}
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// What a pod's annotations and owner ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Script {
    outcome: String,
    delay: Duration,
}

impl Script {
    fn of(pod: &Pod) -> Self {
        let annotations = pod.metadata.annotations.as_ref();
        let get = |name: &str| annotations.and_then(|a| a.get(name)).map(String::as_str);
        let of_job = pod.metadata.owner_references.iter().flatten().any(|owner| owner.kind == "Job");
        let restarts = pod.spec.as_ref().and_then(|s| s.restart_policy.as_deref()).unwrap_or("Always");
        let default = if of_job || restarts != "Always" { "succeed" } else { "ready" };
        Self {
            outcome: get(OUTCOME).unwrap_or(default).to_owned(),
            delay: get(DELAY).and_then(parse_delay).unwrap_or_default(),
        }
    }
}

/// `2s`, `500ms` or `1m`.
fn parse_delay(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: u64 = text[..unit].parse().ok()?;
    match &text[unit..] {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number * 60)),
        _ => None,
    }
}

async fn act(
    client: &kube::Client,
    pod: &Pod,
    script: &Script,
    ending: bool,
    addresses: &AtomicU32,
) -> kube::Result<()> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let phase = pod.status.as_ref().and_then(|s| s.phase.as_deref()).unwrap_or("Pending");
    let finished = matches!(phase, "Succeeded" | "Failed");
    if ending {
        // The Job controller lets go of its pods only when they have finished.
        if !finished && pod.metadata.finalizers.as_ref().is_some_and(|f| !f.is_empty()) {
            patch(&pods, name, status(pod, "fail", "10.244.0.1")).await?;
        }
        let params = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions { uid: pod.metadata.uid.clone(), resource_version: None }),
            ..DeleteParams::default()
        };
        pods.delete(name, &params).await?;
        return Ok(());
    }
    if finished {
        return Ok(());
    }
    if script.outcome == "pending" {
        return patch(
            &pods,
            name,
            json!({"status": {"conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available: the testkit keeps this pod pending.", "lastTransitionTime": now(),
            }]}}),
        )
        .await;
    }
    if pod.spec.as_ref().and_then(|s| s.node_name.as_ref()).is_none() {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": NODE},
        });
        match pods.create_subresource::<Value, Value>("binding", name, &PostParams::default(), &binding).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            other => drop(other?),
        }
    }
    let number = addresses.fetch_add(1, Ordering::Relaxed);
    let address = format!("10.244.{}.{}", number / 250 % 250, number % 250 + 1);
    if !script.delay.is_zero() {
        patch(&pods, name, status(pod, "running", &address)).await?;
        tokio::time::sleep(script.delay).await;
    }
    patch(&pods, name, status(pod, &script.outcome, &address)).await
}

async fn patch(pods: &Api<Pod>, name: &str, status: Value) -> kube::Result<()> {
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.map(drop)
}

/// The status of a pod that is `running` (not ready yet) or has come to an outcome.
fn status(pod: &Pod, state: &str, address: &str) -> Value {
    let time = now();
    let (phase, ready, container) = match state {
        "succeed" => ("Succeeded", false, terminated(0, "Completed", &time)),
        "fail" => ("Failed", false, terminated(1, "Error", &time)),
        "crashloop" => {
            let waiting = json!({"waiting": {
                "reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container",
            }});
            ("Running", false, waiting)
        }
        "running" => ("Running", false, json!({"running": {"startedAt": time}})),
        _ => ("Running", true, json!({"running": {"startedAt": time}})),
    };
    let spec = pod.spec.clone().unwrap_or_default();
    let statuses = |list: &[k8s_openapi::api::core::v1::Container], state: &Value, ready: bool| -> Vec<Value> {
        list.iter()
            .map(|c| {
                let image = c.image.clone().unwrap_or_default();
                json!({
                    "name": c.name, "image": image, "imageID": format!("testkit://{image}"),
                    "containerID": format!("testkit://{}", c.name), "ready": ready, "started": ready,
                    "restartCount": if state.get("waiting").is_some() { 3 } else { 0 }, "state": state,
                })
            })
            .collect()
    };
    let condition = |kind: &str, is: bool| {
        let mut condition =
            json!({"type": kind, "status": if is { "True" } else { "False" }, "lastTransitionTime": time});
        if !is {
            condition["reason"] = if phase == "Succeeded" { "PodCompleted" } else { "ContainersNotReady" }.into();
        }
        condition
    };
    json!({"status": {
        "phase": phase,
        "startTime": time,
        "hostIP": "127.0.0.1",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [
            condition("PodScheduled", true), condition("Initialized", true),
            condition("ContainersReady", ready), condition("Ready", ready),
        ],
        "containerStatuses": statuses(&spec.containers, &container, ready),
        "initContainerStatuses":
            statuses(spec.init_containers.as_deref().unwrap_or_default(), &terminated(0, "Completed", &time), true),
    }})
}

fn terminated(code: i32, reason: &str, time: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": time, "finishedAt": time}})
}
