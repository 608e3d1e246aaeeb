//! Flux artifacts by URL and digest.

use chart_source::{Artifact, Error, Limits, artifact, digest};
use testkit::ChartRepo;

use crate::{chart, http};

#[tokio::test]
async fn an_artifact_is_what_its_digest_says_or_refused() {
    let server = ChartRepo::start().unwrap();
    let bytes = chart("demo", "1.0.0").bytes;
    server.put("/helmchart/a/b/demo-1.0.0.tgz", bytes.clone());
    let mut wanted =
        Artifact { url: format!("{}/helmchart/a/b/demo-1.0.0.tgz", server.url()), digest: digest::sha256(&bytes) };
    let limits = Limits::default();
    assert_eq!(artifact::fetch(&http(), &wanted, None, &limits).await.unwrap(), bytes);

    let small = Limits { artifact: 10, ..limits };
    assert!(matches!(artifact::fetch(&http(), &wanted, None, &small).await, Err(Error::TooLarge { .. })));

    let local = server.url().replace("http://", "");
    let inside = Artifact {
        url: "http://source-controller.flux-system.svc.cluster.local./helmchart/a/b/demo-1.0.0.tgz".to_owned(),
        ..wanted.clone()
    };
    assert_eq!(artifact::fetch(&http(), &inside, Some(&local), &limits).await.unwrap(), bytes);

    wanted.digest = format!("sha256:{}", "0".repeat(64));
    let error = artifact::fetch(&http(), &wanted, None, &limits).await.unwrap_err();
    assert_eq!(error.to_string(), format!("integrity failure: computed digest doesn't match '{}'", wanted.digest));

    server.remove("/helmchart/a/b/demo-1.0.0.tgz");
    assert!(matches!(artifact::fetch(&http(), &wanted, None, &limits).await, Err(Error::ArtifactNotFound)));
}
