//! Custom resource definitions for tests.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams};
use serde_json::Value;

/// Apply definitions and wait until the API server serves every version they say it serves.
///
/// # Errors
/// A definition is refused, or is not served within 30 s.
pub async fn apply_crds(client: &kube::Client, crds: Vec<Value>) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in &crds {
        let name = crd["metadata"]["name"].as_str().context("a definition has no name")?;
        api.patch(name, &PatchParams::apply("testkit").force(), &Patch::Apply(crd))
            .await
            .with_context(|| format!("failed to apply {name}"))?;
    }
    for crd in &crds {
        let (group, plural) = (&crd["spec"]["group"], &crd["spec"]["names"]["plural"]);
        let (group, plural) = (group.as_str().unwrap_or_default(), plural.as_str().unwrap_or_default());
        for version in crd["spec"]["versions"].as_array().into_iter().flatten().filter(|v| v["served"] == true) {
            let version = version["name"].as_str().unwrap_or_default();
            wait_served(client, &format!("/apis/{group}/{version}/{plural}?limit=1")).await?;
        }
    }
    Ok(())
}

/// Five answers in a row: the first ones may be followed by `storage is (re)initializing`.
async fn wait_served(client: &kube::Client, path: &str) -> Result<()> {
    let mut answers = 0;
    for _ in 0..600 {
        let answered = client.request_text(http::Request::get(path).body(Vec::new())?).await.is_ok();
        answers = if answered { answers + 1 } else { 0 };
        if answers == 5 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("{path} is not served after 30 s")
}
