//! The objects of the demo, as a person would write them.

use anyhow::{Result, bail};

/// The value that the Secret gives, as it shows in a release.
pub const FROM_SECRET: &str = "demo.helmrel.dev/from: a Secret";

/// Where the chart of the release `web` comes from.
pub enum WebChart {
    /// The demo's chart repository, under this name and version.
    Repository {
        /// The chart's name.
        name: String,
        /// Its version.
        version: String,
    },
    /// A registry.
    Oci {
        /// `oci://…` without tag and digest.
        url: String,
        /// The line below `ref:`.
        reference: String,
    },
}

impl WebChart {
    /// Read `oci://HOST/PATH[:TAG][@DIGEST]`.
    pub fn of_registry(text: &str) -> Result<Self> {
        let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
        let last = rest.rsplit('/').next().unwrap_or_default();
        let (url, tag) = match last.rsplit_once(':') {
            Some((_, tag)) => (rest[..rest.len() - tag.len() - 1].to_owned(), Some(tag)),
            None => (rest.to_owned(), None),
        };
        if url.trim_start_matches("oci://").split('/').any(str::is_empty) || !url.contains('/') {
            bail!("{text} is no chart in a registry; it should look like oci://ghcr.io/stefanprodan/charts/podinfo");
        }
        let reference = match (digest, tag) {
            (Some(digest), _) => format!("digest: {digest}"),
            (None, Some(tag)) => format!("tag: \"{tag}\""),
            (None, None) => "semver: \">=0.0.0\"".to_owned(),
        };
        Ok(Self::Oci { url, reference })
    }
}

/// Everything that is applied at first.
pub fn all(repository: &str, store: (&str, &str), web: &WebChart) -> String {
    let (store_name, store_version) = store;
    let source = match web {
        WebChart::Repository { .. } => String::new(),
        WebChart::Oci { url, reference } => {
            let local = url.contains("//127.0.0.1:") || url.contains("//localhost:");
            let insecure = if local { "\n  insecure: true" } else { "" };
            format!(
                r"apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: web
  namespace: demo
spec:
  interval: 10m
  url: {url}
  ref:
    {reference}
  layerSelector:
    mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip
    operation: copy{insecure}
---
"
            )
        }
    };
    format!(
        r"apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: charts
  namespace: demo
spec:
  interval: 10m
  url: {repository}
---
{source}apiVersion: v1
kind: ConfigMap
metadata:
  name: web-values
  namespace: demo
data:
  values.yaml: |
    replicaCount: 1
---
apiVersion: v1
kind: Secret
metadata:
  name: web-secret
  namespace: demo
stringData:
  values.yaml: |
    podAnnotations:
      {FROM_SECRET}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: store
  namespace: demo
spec:
  interval: 10m
  chart:
    spec:
      chart: {store_name}
      version: {store_version}
      sourceRef:
        kind: HelmRepository
        name: charts
---
{}",
        release_of_web(web, None)
    )
}

/// The release `web`; with a number of replicas in its own values or without.
pub fn release_of_web(chart: &WebChart, replicas: Option<u32>) -> String {
    let source = match chart {
        WebChart::Repository { name, version } => format!(
            r"chart:
    spec:
      chart: {name}
      version: {version}
      sourceRef:
        kind: HelmRepository
        name: charts"
        ),
        WebChart::Oci { .. } => r"chartRef:
    kind: OCIRepository
    name: web"
            .to_owned(),
    };
    let values = replicas.map_or_else(String::new, |n| format!("\n  values:\n    replicaCount: {n}"));
    format!(
        r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: web
  namespace: demo
spec:
  interval: 10m
  {source}
  dependsOn:
    - name: store
  driftDetection:
    mode: enabled
  valuesFrom:
    - kind: ConfigMap
      name: web-values
    - kind: Secret
      name: web-secret{values}
"
    )
}
