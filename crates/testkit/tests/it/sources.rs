//! Charts are served by the repository and by the registry, and the real Helm takes them.

use testkit::control_plane::run;
use testkit::registry::Options as RegistryOptions;
use testkit::repo::Options as RepoOptions;
use testkit::{Archive, ChartBuilder, ChartRepo, ControlPlane, Registry};

fn chart(version: &str) -> Archive {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  k: {{ .Values.k }}\n";
    ChartBuilder::new("demo", version).values("k: v\n").template("map.yaml", map).build().unwrap()
}

#[tokio::test]
async fn helm_installs_from_the_repository() {
    let plane = ControlPlane::shared().await;
    let namespace = plane.namespace("repo").await.unwrap();
    let repo = ChartRepo::start().unwrap();
    repo.add(&chart("1.0.0"));
    repo.add(&chart("1.1.0"));
    let mut helm = plane.helm4().unwrap();
    run(helm.args(["install", "a", "demo", "--version", "1.x", "--repo", &repo.url(), "-n", &namespace])).unwrap();
    let asked: Vec<String> = repo.requests().into_iter().map(|r| r.path).collect();
    assert_eq!(asked, ["/index.yaml", "/charts/demo-1.1.0.tgz"]);
}

#[tokio::test]
async fn a_protected_repository_refuses_and_accepts() {
    let auth = Some(("user".to_owned(), "secret".to_owned()));
    let repo = ChartRepo::start_with(&RepoOptions { tls: true, basic_auth: auth }).unwrap();
    repo.add(&chart("1.0.0"));
    let ca = reqwest::Certificate::from_pem(repo.ca().unwrap().as_bytes()).unwrap();
    let client = reqwest::Client::builder().tls_certs_merge([ca]).build().unwrap();
    let url = format!("{}/index.yaml", repo.url());
    assert_eq!(client.get(&url).send().await.unwrap().status(), 401);
    let index = client.get(&url).basic_auth("user", Some("secret")).send().await.unwrap().text().await.unwrap();
    assert_eq!(index, repo.index());
    repo.fail("/index.yaml", 1, 503);
    assert_eq!(client.get(&url).send().await.unwrap().status(), 503);
    repo.cut("/index.yaml", 1);
    assert!(client.get(&url).send().await.is_err());
    assert_eq!(repo.requests().iter().map(|r| r.status).collect::<Vec<_>>(), [401, 200, 503, 0]);
}

#[tokio::test]
async fn helm_pulls_from_the_registry() {
    let plane = ControlPlane::shared().await;
    let registry = Registry::start().await.unwrap();
    let chart = chart("1.0.0+build.1");
    let digest = registry.push_chart("charts/demo", "1.0.0_build.1", &chart).await.unwrap();
    assert!(digest.starts_with("sha256:"), "{digest}");
    let text = run(plane.helm4().unwrap().args([
        "show",
        "values",
        &format!("{}/charts/demo", registry.url()),
        "--version",
        "1.0.0+build.1",
        "--plain-http",
    ]))
    .unwrap();
    assert_eq!(text.trim(), "k: v");
}

#[tokio::test]
async fn a_protected_registry_takes_pushes_with_the_password_only() {
    let auth = Some(("user".to_owned(), "secret".to_owned()));
    let registry = Registry::start_with(&RegistryOptions { tls: true, basic_auth: auth }).await.unwrap();
    registry.push_chart("charts/demo", "1.0.0", &chart("1.0.0")).await.unwrap();
    let ca = reqwest::Certificate::from_pem(registry.ca().unwrap().as_bytes()).unwrap();
    let client = reqwest::Client::builder().tls_certs_merge([ca]).build().unwrap();
    let url = format!("https://{}/v2/charts/demo/tags/list", registry.host());
    assert_eq!(client.get(&url).send().await.unwrap().status(), 401);
    let list = client.get(&url).basic_auth("user", Some("secret")).send().await.unwrap().text().await.unwrap();
    assert!(list.contains("1.0.0"), "{list}");
}

#[tokio::test]
async fn helm_waits_for_what_the_simulated_kubelet_runs() {
    let plane = ControlPlane::shared().await;
    let namespace = plane.namespace("wait").await.unwrap();
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 2\n  \
        selector: {matchLabels: {app: a}}\n  template:\n    metadata:\n      labels: {app: a}\n      annotations:\n        \
        testkit.helmrel.dev/delay: 300ms\n    spec: {containers: [{name: main, image: example.test/a}]}\n";
    let hook = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: post-install}\n\
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.test/a}]}}}\n";
    let test = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: check\n  annotations:\n    helm.sh/hook: test\n    \
        testkit.helmrel.dev/logs: all is well\nspec: {restartPolicy: Never, containers: [{name: main, image: example.test/a}]}\n";
    let chart = ChartBuilder::new("demo", "1.0.0")
        .template("deployment.yaml", deployment)
        .template("hook.yaml", hook)
        .template("test.yaml", test)
        .build()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("demo.tgz");
    std::fs::write(&file, &chart.bytes).unwrap();
    let flags = ["-n", namespace.as_str(), "--timeout", "60s"];
    run(plane.helm4().unwrap().args(["install", "a"]).arg(&file).arg("--wait").args(flags)).unwrap();
    let text = run(plane.helm4().unwrap().args(["test", "a", "--logs"]).args(flags)).unwrap();
    assert!(text.contains("all is well"), "{text}");
    run(plane.helm4().unwrap().args(["uninstall", "a", "--wait"]).args(flags)).unwrap();
}
