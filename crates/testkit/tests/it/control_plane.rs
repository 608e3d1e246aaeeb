//! The control plane answers, keeps identities apart, serves CRDs and leaves nothing behind.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, PostParams};
use serde_json::json;
use testkit::ControlPlane;
use testkit::control_plane::{apply_crds, config_of, run};

#[tokio::test]
async fn answers_as_the_version_it_is() {
    let plane = ControlPlane::shared().await;
    let version = plane.client().await.unwrap().apiserver_version().await.unwrap();
    assert_eq!((version.major.as_str(), version.minor.trim_end_matches('+')), ("1", "36"));
}

#[tokio::test]
async fn serves_every_test_a_namespace_of_its_own() {
    let plane = ControlPlane::shared().await;
    let (one, two) = (plane.namespace("own").await.unwrap(), plane.namespace("own").await.unwrap());
    assert_ne!(one, two);
    let client = plane.client().await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client, &one);
    let map = serde_json::from_value(json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
    assert!(maps.get("a").await.unwrap().data.unwrap().contains_key("k"));
}

#[tokio::test]
async fn a_user_without_rights_has_none() {
    let plane = ControlPlane::shared().await;
    let kubeconfig = plane.kubeconfig_for("nobody", None).unwrap();
    let client = kube::Client::try_from(config_of(&kubeconfig).await.unwrap()).unwrap();
    let error = Api::<ConfigMap>::namespaced(client, "default").list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 403), "{error}");
}

#[tokio::test]
async fn the_real_clients_talk_to_it() {
    let plane = ControlPlane::shared().await;
    let namespaces = run(plane.kubectl().unwrap().args(["get", "namespaces", "-o", "name"])).unwrap();
    assert!(namespaces.contains("namespace/kube-system"), "{namespaces}");
    for mut helm in [plane.helm4().unwrap(), plane.helm3().unwrap()] {
        assert_eq!(run(helm.args(["list", "--all-namespaces", "-q"])).unwrap(), "");
    }
}

#[tokio::test]
async fn crds_are_served_once_applied() {
    let plane = ControlPlane::shared().await;
    let client = plane.client().await.unwrap();
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.testkit.example"},
        "spec": {
            "group": "testkit.example", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    });
    apply_crds(&client, vec![crd]).await.unwrap();
    let request = http::Request::get("/apis/testkit.example/v1/things").body(Vec::new()).unwrap();
    assert!(client.request_text(request).await.unwrap().contains("ThingList"));
}

/// Set by [`a_killed_process_leaves_no_orphans`] for the copy of this test binary that it kills.
const VICTIM: &str = "TESTKIT_VICTIM";

#[tokio::test]
async fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let plane = ControlPlane::start().await.unwrap();
    println!("DIR {}", plane.kubeconfig_path().parent().unwrap().display());
    tokio::time::sleep(std::time::Duration::from_mins(5)).await;
}

#[tokio::test]
async fn a_killed_process_leaves_no_orphans() {
    use std::io::BufRead;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "control_plane::victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let dir = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("DIR ")?.1.to_owned()))
        .expect("the victim starts a control plane");
    let running = || {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|e| std::fs::read(e.path().join("cmdline")).ok())
            .filter(|command| String::from_utf8_lossy(command).contains(&dir))
            .count()
    };
    assert!(running() >= 3, "{}", running());
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..100 {
        if running() == 0 && !std::path::Path::new(&dir).exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{} processes are left, {dir} exists: {}", running(), std::path::Path::new(&dir).exists());
}
