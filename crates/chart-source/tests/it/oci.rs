//! A real registry: tags, charts, layers, credentials.

use std::sync::{Arc, Mutex};

use chart_source::oci::{LayerSelector, OciOptions};
use chart_source::{BasicAuth, Error, Http, Limits, OciRepository, RegistryAuth, Settings, Tls, digest, tags};
use testkit::Registry;
use testkit::registry::{CONTENT, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{chart, http, settings};

fn open(registry: &Registry, repository: &str) -> OciRepository {
    let options = OciOptions { plain_http: true, ..OciOptions::default() };
    OciRepository::new(&format!("{}/{repository}", registry.url()), http(), options).unwrap()
}

#[tokio::test]
async fn charts_are_chosen_by_version_and_fetched_by_tag() {
    let registry = Registry::start().await.unwrap();
    for (tag, version) in [("1.0.0", "1.0.0"), ("1.1.0_b.1", "1.1.0+b.1"), ("2.0.0-rc.1", "2.0.0-rc.1")] {
        registry.push_chart("charts/demo", tag, &chart("demo", version)).await.unwrap();
    }
    let source = open(&registry, "charts/demo");
    let version = source.choose_chart("1.x").await.unwrap();
    assert_eq!(version, "1.1.0+b.1");
    let (archive, manifest) = source.fetch_chart(&version).await.unwrap();
    assert_eq!(archive, chart("demo", "1.1.0+b.1").bytes);
    assert_eq!(source.resolve("1.1.0_b.1").await.unwrap(), manifest.digest);
    assert_eq!(source.manifest(&manifest.digest).await.unwrap(), manifest);
    let error = source.choose_chart("^3").await.unwrap_err();
    assert_eq!(error.to_string(), "could not locate a version matching provided version string ^3");
    let missing = source.fetch_chart("9.9.9").await.unwrap_err();
    assert_eq!(missing.status().map(|s| s.as_u16()), Some(404));
    assert!(open(&registry, "charts/none").tags().await.is_err());
}

#[tokio::test]
async fn the_highest_of_many_tags_wins() {
    let registry = Registry::start().await.unwrap();
    let archive = chart("demo", "1.0.0");
    for patch in 0..12 {
        registry.push_chart("charts/demo", &format!("1.0.{patch}"), &archive).await.unwrap();
    }
    let tags = open(&registry, "charts/demo").tags().await.unwrap();
    assert_eq!(tags.len(), 12);
    assert_eq!(tags::select(&tags, "*", None, true).unwrap(), "1.0.11");
}

#[tokio::test]
async fn layers_are_copied_or_packed_again() {
    let registry = Registry::start().await.unwrap();
    let archive = chart("demo", "1.0.0").bytes;
    let layers = [("text/plain", b"hello".to_vec()), (CONTENT, archive.clone())];
    let annotations = [("org.opencontainers.image.source", "https://a.test"), ("x", "y")];
    let pushed = registry.push("a/b", "latest", "{}", "application/json", &layers, &annotations).await.unwrap();
    let source = open(&registry, "a/b");
    let manifest = source.manifest("latest").await.unwrap();
    assert_eq!(manifest.digest, pushed);
    assert_eq!(manifest.annotations["x"], "y");

    let selector = |media: Option<&str>, copy| LayerSelector { media_type: media.map(str::to_owned), copy };
    assert_eq!(source.fetch_layer(&manifest, &selector(None, true)).await.unwrap(), b"hello");
    assert_eq!(source.fetch_layer(&manifest, &selector(Some(CONTENT), true)).await.unwrap(), archive);
    let packed = source.fetch_layer(&manifest, &selector(Some(CONTENT), false)).await.unwrap();
    assert_ne!(digest::sha256(&packed), digest::sha256(&archive));
    assert_eq!(packed, chart_source::repack::repack(&archive, 1 << 20).unwrap());

    let error = source.fetch_layer(&manifest, &selector(Some("no/such"), true)).await.unwrap_err();
    assert_eq!(error.to_string(), "failed to find layer with media type 'no/such' in artifact");
    assert!(matches!(source.fetch_layer(&manifest, &selector(None, false)).await, Err(Error::Layer(_))));
    let error = manifest.chart_layer().unwrap_err().to_string();
    assert_eq!(error, "could not load config with mediatype application/vnd.cncf.helm.config.v1+json");
}

#[tokio::test]
async fn what_is_too_large_is_not_read() {
    let registry = Registry::start().await.unwrap();
    registry.push_chart("charts/demo", "1.0.0", &chart("demo", "1.0.0")).await.unwrap();
    let limits = Limits { chart: 64, ..Limits::default() };
    let options = OciOptions { plain_http: true, limits, ..OciOptions::default() };
    let source = OciRepository::new(&format!("{}/charts/demo", registry.url()), http(), options).unwrap();
    assert!(matches!(source.fetch_chart("1.0.0").await, Err(Error::TooLarge { what: "chart", limit: 64 })));
}

#[tokio::test]
async fn a_protected_registry_wants_the_authority_and_the_password() {
    let auth = Some(("user".to_owned(), "secret".to_owned()));
    let registry = Registry::start_with(&Options { tls: true, basic_auth: auth }).await.unwrap();
    registry.push_chart("charts/demo", "1.0.0", &chart("demo", "1.0.0")).await.unwrap();
    let url = format!("{}/charts/demo", registry.url());
    let tls = Tls { ca: registry.ca().map(|c| c.as_bytes().to_vec()), ..Tls::default() };
    let trusting = Http::new(&Settings { tls, ..settings() }).unwrap();
    let basic = |password| RegistryAuth::Basic(BasicAuth::new("user", password).unwrap());
    let tags = async |http: &Http, auth: RegistryAuth| {
        let options = OciOptions { auth, ..OciOptions::default() };
        OciRepository::new(&url, http.clone(), options).unwrap().tags().await
    };
    assert_eq!(tags(&trusting, basic("secret")).await.unwrap(), ["1.0.0"]);
    let docker = format!(r#"{{"auths": {{"{}": {{"username": "user", "password": "secret"}}}}}}"#, registry.host());
    let docker = chart_source::credentials::docker_config(docker.as_bytes(), &[&registry.host()]).unwrap().unwrap();
    assert_eq!(tags(&trusting, docker).await.unwrap(), ["1.0.0"]);
    for wrong in [basic("wrong"), RegistryAuth::Anonymous] {
        assert_eq!(tags(&trusting, wrong).await.unwrap_err().status().map(|s| s.as_u16()), Some(401));
    }
    assert!(matches!(tags(&http(), basic("secret")).await, Err(Error::Connect { .. })));
}

/// A registry that wants a token and lists its tags on two pages, as answers to request lines. Real registries do
/// this only with a token server of their own. Gives the address and what was asked.
async fn token_registry() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let (asked, name) = (Arc::new(Mutex::new(Vec::new())), host.clone());
    let log = asked.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap().to_lowercase();
            let path = head.split(' ').nth(1).unwrap().to_owned();
            log.lock().unwrap().push(path.clone());
            let (status, header, body) = if path.starts_with("/token") {
                let known = head.contains("authorization: basic dxnlcjpzzwnyzxq=");
                (if known { 200 } else { 401 }, String::new(), r#"{"access_token": "t0ken"}"#)
            } else if !head.contains("authorization: bearer t0ken") {
                let challenge = format!(r#"www-authenticate: Bearer realm="http://{name}/token",service="s""#);
                (401, challenge, "")
            } else if path.contains("last=") {
                (200, String::new(), r#"{"tags": ["1.1.0"]}"#)
            } else {
                let link = r#"link: </v2/a/tags/list?last=1.0.0>; rel="next""#;
                (200, link.to_owned(), r#"{"tags": ["1.0.0"]}"#)
            };
            let header = if header.is_empty() { "x: y".to_owned() } else { header };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{header}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (host, asked)
}

#[tokio::test]
async fn tokens_are_fetched_once_and_tags_page_by_page() {
    let (host, asked) = token_registry().await;
    let open = |password: &str| {
        let auth = RegistryAuth::Basic(BasicAuth::new("user", password).unwrap());
        let options = OciOptions { plain_http: true, auth, ..OciOptions::default() };
        OciRepository::new(&format!("oci://{host}/a"), http(), options).unwrap()
    };
    let source = open("secret");
    assert_eq!(source.tags().await.unwrap(), ["1.0.0", "1.1.0"]);
    assert_eq!(source.tags().await.unwrap().len(), 2);
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked.iter().filter(|path| path.starts_with("/token")).count(), 1, "{asked:?}");
    assert!(asked.contains(&"/token?service=s&scope=repository%3aa%3apull".to_owned()), "{asked:?}");
    assert_eq!(open("wrong").tags().await.unwrap_err().status().map(|s| s.as_u16()), Some(401));
}
