//! The proxy passes everything on, counts it and breaks it when told to.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use serde_json::json;
use testkit::proxy::{Action, Fault};
use testkit::{ControlPlane, Proxy};

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"k": "v"}})).unwrap()
}

#[tokio::test]
async fn requests_are_counted_by_what_they_ask_for() {
    let plane = ControlPlane::shared().await;
    let proxy = Proxy::start(&plane).await.unwrap();
    let namespace = plane.namespace("proxy").await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(proxy.client().await.unwrap(), &namespace);
    api.create(&PostParams::default(), &map("a")).await.unwrap();
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "w"}});
    let params = PatchParams::apply("test").force().dry_run();
    api.patch("a", &params, &Patch::Apply(apply)).await.unwrap();
    api.get("a").await.unwrap();
    api.list(&ListParams::default()).await.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let counts: Vec<String> = proxy.counts().iter().map(|(kind, n)| format!("{kind}: {n}")).collect();
    assert_eq!(
        counts,
        [
            "apply configmaps (dry run): 1",
            "create configmaps: 1",
            "delete configmaps: 1",
            "get configmaps: 1",
            "list configmaps: 1",
        ]
    );
    let log = proxy.log();
    assert_eq!(log[0].to_string(), format!("POST /api/v1/namespaces/{namespace}/configmaps? 201"));
    assert!(String::from_utf8_lossy(&log[0].body).contains("\"k\":\"v\""));
    proxy.reset();
    assert!(proxy.counts().is_empty());
}

#[tokio::test]
async fn watches_stream_while_they_are_open() {
    let plane = ControlPlane::shared().await;
    let proxy = Proxy::start(&plane).await.unwrap();
    let namespace = plane.namespace("watch").await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(proxy.client().await.unwrap(), &namespace);
    let mut events = api.watch(&WatchParams::default().timeout(60), "0").await.unwrap().boxed();
    api.create(&PostParams::default(), &map("seen")).await.unwrap();
    let seen = async {
        while let Some(event) = events.try_next().await.unwrap() {
            if matches!(event, WatchEvent::Added(m) if m.metadata.name.as_deref() == Some("seen")) {
                return;
            }
        }
        panic!("the watch ended");
    };
    tokio::time::timeout(Duration::from_secs(10), seen).await.unwrap();
    assert!(proxy.counts().keys().any(|kind| kind.to_string() == "watch configmaps"));
}

#[tokio::test]
async fn impersonation_reaches_the_server() {
    let plane = ControlPlane::shared().await;
    let proxy = Proxy::start(&plane).await.unwrap();
    let mut config = proxy.config().await.unwrap();
    config.auth_info.impersonate = Some("nobody".to_owned());
    let api: Api<ConfigMap> = Api::namespaced(kube::Client::try_from(config).unwrap(), "default");
    let error = api.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 403), "{error}");
    assert_eq!(proxy.log()[0].impersonated.as_deref(), Some("nobody"));
}

#[tokio::test]
async fn faults_hit_what_they_are_told_to_and_no_more() {
    let plane = ControlPlane::shared().await;
    let proxy = Proxy::start(&plane).await.unwrap();
    let namespace = plane.namespace("faults").await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(proxy.client().await.unwrap(), &namespace);

    proxy.inject(Fault::status(429, "TooManyRequests").on_verb("create").after(1).times(1));
    api.create(&PostParams::default(), &map("one")).await.unwrap();
    let error = api.create(&PostParams::default(), &map("two")).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 429), "{error}");
    api.create(&PostParams::default(), &map("two")).await.unwrap();

    proxy.inject(Fault::new(Action::CutAfter).on_path("/configmaps/one").times(1));
    assert!(!matches!(api.get("one").await.unwrap_err(), kube::Error::Api(_)));
    proxy.inject(Fault::new(Action::Cut).on_path("/configmaps/one").times(1));
    assert!(!matches!(api.get("one").await.unwrap_err(), kube::Error::Api(_)));
    assert_eq!(proxy.log().last().unwrap().status, 0);

    proxy.inject(Fault::new(Action::Delay(Duration::from_millis(300))).on_verb("get"));
    let start = Instant::now();
    api.get("one").await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(300));
    proxy.heal();
    let start = Instant::now();
    api.get("one").await.unwrap();
    assert!(start.elapsed() < Duration::from_millis(300));
}
