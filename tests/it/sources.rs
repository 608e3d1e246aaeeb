//! Charts from every kind of source, through the running controller.

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use serde_json::{Value, json};
use testkit::{ChartRepo, Registry};

use crate::lab::{self, Controller, condition};
use crate::release::{Lab, small, text};

fn secret(lab: &Lab, name: &str, kind: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "stringData": data,
        "metadata": {"name": name, "namespace": lab.namespace}})
}

fn oci(lab: &Lab, name: &str, spec: &Value) -> Value {
    let mut object = json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository",
        "metadata": {"name": name, "namespace": lab.namespace}, "spec": {"interval": "1h",
        "layerSelector": {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"}}});
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object
}

/// A release of the chart that a source of its own kind has.
fn by_reference(lab: &Lab, name: &str, kind: &str, source: &str) -> Value {
    let mut release = lab.release(name, "", "", &json!({"chartRef": {"kind": kind, "name": source}}));
    if let Some(spec) = release["spec"].as_object_mut() {
        spec.remove("chart");
    }
    release
}

fn from_repository(lab: &Lab, name: &str, version: &str) -> Value {
    let mut release = lab.release(name, "small", version, &json!({}));
    release["spec"]["chart"]["spec"]["sourceRef"]["name"] = json!(name);
    release
}

/// Wait until the live ConfigMap of a release is of a chart version, and the release ready.
async fn installed(lab: &Lab, name: &str, version: &str) -> Result<Value> {
    lab::eventually(&format!("{name} has {version}"), lab::PATIENCE, || async {
        let release = lab.status(name).await?;
        let ready = condition(&release, "Ready").is_some_and(|c| c["status"] == "True");
        let map = lab.read("v1", "ConfigMap", name).await?.unwrap_or_default();
        let there = text(&map["data"]["version"]).split('+').next() == Some(version);
        Ok(if ready && there { Ok(release) } else { Err(release["status"].to_string()) })
    })
    .await
    .map_err(|e| e.context(lab.controller.log()))
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_come_from_every_kind_of_source() -> Result<()> {
    let lab = Lab::new(&[]).await?;
    let user = || Some(("ann".to_owned(), "s3cret-word".to_owned()));
    let options = testkit::repo::Options { tls: true, basic_auth: user() };
    let https = ChartRepo::start_with(&options)?;
    let open = Registry::start().await?;
    let closed = Registry::start_with(&testkit::registry::Options { tls: true, basic_auth: user() }).await?;
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        https.add(&small(version)?);
        open.push_chart("charts/small", version, &small(version)?).await?;
        closed.push_chart("charts/small", version, &small(version)?).await?;
    }
    open.push_chart("charts/small", "stable", &small("1.0.0")?).await?;
    let login = base64::engine::general_purpose::STANDARD.encode("ann:s3cret-word");
    let docker = json!({"auths": {closed.host(): {"auth": login}}}).to_string();
    let with = |mut repository: Value, spec: Value| {
        for (key, value) in spec.as_object().into_iter().flatten() {
            repository["spec"][key] = value.clone();
        }
        repository
    };
    let credentials = json!({"secretRef": {"name": "login"}, "certSecretRef": {"name": "registry-ca"}, "type": "oci"});
    lab.apply(&[
        secret(&lab, "login", "Opaque", &json!({"username": "ann", "password": "s3cret-word"})),
        secret(&lab, "docker", "kubernetes.io/dockerconfigjson", &json!({".dockerconfigjson": docker})),
        secret(&lab, "repo-ca", "Opaque", &json!({"ca.crt": https.ca()})),
        secret(&lab, "registry-ca", "Opaque", &json!({"ca.crt": closed.ca()})),
        with(
            lab.repository("https", &https.url()),
            json!({"secretRef": {"name": "login"}, "certSecretRef": {"name": "repo-ca"}}),
        ),
        with(lab.repository("registry", &format!("{}/charts", open.url())), json!({"type": "oci", "insecure": true})),
        with(lab.repository("closed", &format!("{}/charts", closed.url())), credentials),
        oci(
            &lab,
            "tag",
            &json!({"url": format!("{}/charts/small", open.url()), "insecure": true,
            "ref": {"tag": "stable"}}),
        ),
        oci(
            &lab,
            "range",
            &json!({"url": format!("{}/charts/small", closed.url()), "ref": {"semver": "1.x"},
            "secretRef": {"name": "docker"}, "certSecretRef": {"name": "registry-ca"}}),
        ),
        from_repository(&lab, "https", ">=1.0.0 <2.0.0"),
        from_repository(&lab, "registry", "1.0.x"),
        from_repository(&lab, "closed", "*"),
        by_reference(&lab, "tag", "OCIRepository", "tag"),
        by_reference(&lab, "range", "OCIRepository", "range"),
    ])?;
    for (name, version) in
        [("https", "1.1.0"), ("registry", "1.0.0"), ("closed", "2.0.0"), ("tag", "1.0.0"), ("range", "1.1.0")]
    {
        let release = installed(&lab, name, version).await?;
        let newest = &release["status"]["history"][0];
        let digest = text(&newest["ociDigest"]);
        ensure!(digest.is_empty() != ["tag", "range"].contains(&name), "{name}: {newest}");
        // A tag that is no version stays in what is recorded.
        ensure!(digest.starts_with("stable@") == (name == "tag"), "{name}: {newest}");
        if let Some((_, hex)) = digest.split_once("sha256:") {
            let wanted = format!("{version}+{}", &hex[..12]);
            ensure!(newest["chartVersion"] == wanted, "{newest}");
        }
    }

    // Something new at each of them, and the sources are asked to look.
    https.add(&small("1.2.0")?);
    closed.push_chart("charts/small", "1.2.0", &small("1.2.0")?).await?;
    closed.push_chart("charts/small", "3.0.0", &small("3.0.0")?).await?;
    open.push_chart("charts/small", "stable", &small("1.5.0")?).await?;
    let ask = "reconcile.fluxcd.io/requestedAt=now";
    lab.kubectl(&["annotate", "helmrepository/https", "ocirepository/tag", "ocirepository/range", ask])?;
    lab.kubectl(&["annotate", "helmchart", &format!("{}-closed", lab.namespace), ask])?;
    for (name, version) in [("https", "1.2.0"), ("closed", "3.0.0"), ("tag", "1.5.0"), ("range", "1.2.0")] {
        installed(&lab, name, version).await?;
    }
    let told =
        format!("{}{}", lab.controller.log(), lab.kubectl(&["get", "hr,helmchart,ocirepository,event", "-o", "json"])?);
    ensure!(!told.contains("s3cret-word") && !told.contains(&login), "a password came to light");
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_of_a_source_controller_are_used_and_never_made() -> Result<()> {
    let lab = Lab::new(&[]).await?;
    let Lab { plane, client, repo, proxy, controller, namespace } = lab;
    controller.stop().await?;
    let controller =
        Controller::start(&proxy.kubeconfig(), &["--namespace", &namespace, "--sources", "external"]).await?;
    let lab = Lab { plane, client, repo, proxy, controller, namespace };
    lab.apply(&[lab.release("theirs", "small", "1.0.0", &json!({}))])?;
    let release = lab.until("theirs", "Ready", "False", "SourceNotReady").await?;
    let message = condition(&release, "Ready").map(|c| text(&c["message"]).to_owned()).unwrap_or_default();
    let chart = format!("{}-theirs", lab.namespace);
    ensure!(message.starts_with(&format!("HelmChart '{}/{chart}' is not ready: ", lab.namespace)), "{message}");

    // What source-controller would do now.
    for (version, reason) in [("1.0.0", "InstallSucceeded"), ("1.1.0", "UpgradeSucceeded")] {
        let archive = small(version)?;
        let file = format!("helmchart/{}/{chart}/small-{version}.tgz", lab.namespace);
        lab.repo.put(&format!("/{file}"), archive.bytes.clone());
        let generation = lab.read("source.toolkit.fluxcd.io/v1", "HelmChart", &chart).await?.context("no HelmChart")?
            ["metadata"]["generation"]
            .clone();
        let status = json!({"status": {"observedGeneration": generation, "artifact": {
            "path": file, "url": format!("{}/{file}", lab.repo.url()), "revision": version,
            "digest": format!("sha256:{}", archive.digest()), "lastUpdateTime": "2026-01-01T00:00:00Z", "size": archive.bytes.len()}}});
        lab.kubectl(&[
            "patch",
            "helmchart",
            &chart,
            "--subresource=status",
            "--type=merge",
            "-p",
            &status.to_string(),
        ])?;
        lab.until("theirs", "Ready", "True", reason).await?;
        installed(&lab, "theirs", version).await?;
    }
    // The artifact is gone: said, and waited for.
    let status = json!({"status": {"artifact": {
        "path": "gone", "url": format!("{}/gone.tgz", lab.repo.url()), "revision": "1.2.0",
        "digest": format!("sha256:{}", small("1.2.0")?.digest()), "lastUpdateTime": "2026-01-01T00:00:00Z"}}});
    lab.kubectl(&["patch", "helmchart", &chart, "--subresource=status", "--type=merge", "-p", &status.to_string()])?;
    let release = lab.until("theirs", "Ready", "False", "ArtifactFailed").await?;
    let message = condition(&release, "Ready").map(|c| text(&c["message"]).to_owned()).unwrap_or_default();
    ensure!(message.starts_with("Source not ready: artifact not found"), "{message}");
    lab.kubectl(&["delete", "hr", "theirs", "--timeout=30s"])?;
    lab.controller.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn references_to_other_namespaces_can_be_forbidden() -> Result<()> {
    let lab = Lab::new(&[small("1.0.0")?]).await?;
    let Lab { plane, client, repo, proxy, controller, namespace } = lab;
    controller.stop().await?;
    let controller = Controller::start(
        &proxy.kubeconfig(),
        &["--namespace", &namespace, "--no-cross-namespace-refs", "--default-service-account", "tenant"],
    )
    .await?;
    let lab = Lab { plane, client, repo, proxy, controller, namespace };
    let mut chart = lab.release("chart", "small", "1.0.0", &json!({}));
    chart["spec"]["chart"]["spec"]["sourceRef"]["namespace"] = json!("default");
    let mut reference = by_reference(&lab, "reference", "OCIRepository", "any");
    reference["spec"]["chartRef"]["namespace"] = json!("default");
    lab.apply(&[chart, reference])?;
    for name in ["chart", "reference"] {
        let release = lab.until(name, "Ready", "False", "AccessDenied").await?;
        ensure!(condition(&release, "Stalled").is_some_and(|c| c["status"] == "True"), "{}", release["status"]);
        let message = condition(&release, "Ready").map(|c| text(&c["message"]).to_owned()).unwrap_or_default();
        ensure!(message.contains("cross-namespace references are not allowed"), "{message}");
    }
    // Without an identity of its own a release acts as the default one, which may do nothing yet.
    lab.apply(&[lab.release("own", "small", "1.0.0", &json!({}))])?;
    lab::eventually("it is forbidden", lab::PATIENCE, || async {
        let release = lab.status("own").await?;
        let ready = condition(&release, "Ready").cloned().unwrap_or_default();
        let account = format!("system:serviceaccount:{}:tenant", lab.namespace);
        Ok(if text(&ready["message"]).contains(&account) { Ok(()) } else { Err(ready.to_string()) })
    })
    .await?;
    lab.apply(&[
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "tenant", "namespace": lab.namespace}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "tenant", "namespace": lab.namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": lab.namespace}]}),
    ])?;
    lab.until("own", "Ready", "True", "InstallSucceeded").await?;
    lab.controller.stop().await
}
