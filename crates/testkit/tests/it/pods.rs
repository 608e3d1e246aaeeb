//! The simulated kubelet: workloads come to the ends that their annotations ask for.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use kube::api::{Api, DeleteParams, ListParams, LogParams, PostParams};
use serde_json::{Value, json};
use testkit::ControlPlane;

async fn setup(prefix: &str) -> (kube::Client, String) {
    let plane = ControlPlane::shared().await;
    (plane.client().await.unwrap(), plane.namespace(prefix).await.unwrap())
}

async fn create<K>(api: &Api<K>, value: Value)
where
    K: Clone + serde::de::DeserializeOwned + serde::Serialize + Debug,
{
    api.create(&PostParams::default(), &serde_json::from_value(value).unwrap()).await.unwrap();
}

async fn until<K>(api: &Api<K>, name: &str, what: impl Fn(&K) -> bool) -> K
where
    K: Clone + serde::de::DeserializeOwned + Debug,
{
    let mut last = None;
    for _ in 0..400 {
        if let Some(object) = api.get_opt(name).await.unwrap() {
            if what(&object) {
                return object;
            }
            last = Some(object);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{name} is still {last:?}");
}

fn pod(name: &str, annotations: &Value) -> Value {
    json!({
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]},
    })
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|s| s.phase.as_deref()).unwrap_or_default()
}

fn condition(pod: &Pod, kind: &str) -> String {
    let conditions = pod.status.iter().flat_map(|s| s.conditions.iter().flatten());
    conditions.filter(|c| c.type_ == kind).map(|c| c.status.clone()).collect()
}

#[tokio::test]
async fn a_deployment_becomes_available_and_goes_with_its_pods() {
    let (client, namespace) = setup("deploy").await;
    let api: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    let template = json!({
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]},
    });
    let spec = json!({"replicas": 3, "selector": {"matchLabels": {"app": "a"}}, "template": template});
    create(&api, json!({"metadata": {"name": "a"}, "spec": spec})).await;
    until(&api, "a", |d| d.status.as_ref().and_then(|s| s.available_replicas) == Some(3)).await;
    api.delete("a", &DeleteParams::foreground()).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(client, &namespace);
    for _ in 0..400 {
        if api.get_opt("a").await.unwrap().is_none() {
            assert!(pods.list(&ListParams::default()).await.unwrap().items.is_empty());
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the deployment is not gone");
}

#[tokio::test]
async fn a_job_completes_and_one_told_to_fail_fails() {
    let (client, namespace) = setup("job").await;
    let api: Api<Job> = Api::namespaced(client, &namespace);
    let job = |name: &str, annotations: Value| {
        json!({"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": {
            "metadata": {"annotations": annotations},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.test/app:1"}]},
        }}})
    };
    create(&api, job("good", json!({"testkit.helmrel.dev/delay": "200ms"}))).await;
    create(&api, job("bad", json!({"testkit.helmrel.dev/outcome": "fail"}))).await;
    let has = |job: &Job, kind: &str| {
        job.status.iter().flat_map(|s| s.conditions.iter().flatten()).any(|c| c.type_ == kind && c.status == "True")
    };
    until(&api, "good", |j| has(j, "Complete")).await;
    until(&api, "bad", |j| has(j, "Failed")).await;
}

#[tokio::test]
async fn annotations_decide_what_becomes_of_a_pod() {
    let (client, namespace) = setup("pods").await;
    let api: Api<Pod> = Api::namespaced(client, &namespace);
    for outcome in ["ready", "succeed", "fail", "pending", "crashloop"] {
        create(&api, pod(outcome, &json!({"testkit.helmrel.dev/outcome": outcome}))).await;
    }
    until(&api, "ready", |p| condition(p, "Ready") == "True").await;
    until(&api, "succeed", |p| phase(p) == "Succeeded").await;
    until(&api, "fail", |p| phase(p) == "Failed").await;
    let pending = until(&api, "pending", |p| condition(p, "PodScheduled") == "False").await;
    assert_eq!(phase(&pending), "Pending");
    until(&api, "crashloop", |p| {
        let statuses = p.status.iter().flat_map(|s| s.container_statuses.iter().flatten());
        let mut waiting = statuses.filter_map(|c| c.state.as_ref()?.waiting.as_ref()?.reason.as_deref());
        waiting.any(|reason| reason == "CrashLoopBackOff")
    })
    .await;
}

#[tokio::test]
async fn logs_are_what_the_annotation_says() {
    let (client, namespace) = setup("logs").await;
    let api: Api<Pod> = Api::namespaced(client, &namespace);
    create(&api, pod("talker", &json!({"testkit.helmrel.dev/logs": "one\ntwo\nthree"}))).await;
    until(&api, "talker", |p| condition(p, "Ready") == "True").await;
    assert_eq!(api.logs("talker", &LogParams::default()).await.unwrap(), "one\ntwo\nthree\n");
    let tail = LogParams { tail_lines: Some(1), ..LogParams::default() };
    assert_eq!(api.logs("talker", &tail).await.unwrap(), "three\n");
}

#[tokio::test]
async fn claims_are_bound_and_load_balancers_get_an_address() {
    let (client, namespace) = setup("volumes").await;
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), &namespace);
    create(
        &claims,
        json!({"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }}),
    )
    .await;
    let services: Api<Service> = Api::namespaced(client, &namespace);
    let spec = json!({"type": "LoadBalancer", "selector": {"app": "a"}, "ports": [{"port": 80}]});
    create(&services, json!({"metadata": {"name": "front"}, "spec": spec})).await;
    until(&claims, "data", |c| c.status.as_ref().and_then(|s| s.phase.as_deref()) == Some("Bound")).await;
    until(&services, "front", |s| {
        s.status.iter().filter_map(|s| s.load_balancer.as_ref()?.ingress.as_ref()).any(|i| !i.is_empty())
    })
    .await;
}
