//! Helm repositories: versions, addresses, credentials, certificates, limits, retries.

use chart_source::{BasicAuth, Error, HelmRepository, Http, Limits, Settings, Tls, parse_chart};
use testkit::ChartRepo;
use testkit::repo::Options;

use crate::{chart, http, settings};

fn open(repo: &ChartRepo) -> HelmRepository {
    HelmRepository::new(&repo.url(), http(), None, false, Limits::default()).unwrap()
}

#[tokio::test]
async fn a_chart_is_chosen_fetched_and_parsed() {
    let repo = ChartRepo::start().unwrap();
    repo.add(&chart("demo", "1.0.0"));
    repo.add(&chart("demo", "1.1.0"));
    repo.add(&chart("demo", "2.0.0-rc.1"));
    let source = open(&repo);
    let index = source.index().await.unwrap();
    let entry = index.choose("demo", "1.x").unwrap();
    assert_eq!(entry.version, "1.1.0");
    let bytes = source.fetch_chart_checked("demo", entry).await.unwrap();
    let parsed = parse_chart(bytes).await.unwrap();
    assert_eq!((parsed.name(), parsed.metadata.version.as_str()), ("demo", "1.1.0"));
    let error = index.choose("demo", ">5").unwrap_err();
    assert_eq!(error.to_string(), "no 'demo' chart with version matching '>5' found");
}

#[tokio::test]
async fn a_wrong_digest_is_refused_where_it_is_checked() {
    let repo = ChartRepo::start().unwrap();
    repo.add_with_digest(&chart("demo", "1.0.0"), &"0".repeat(64));
    let source = open(&repo);
    let index = source.index().await.unwrap();
    let entry = index.choose("demo", "").unwrap();
    source.fetch_chart("demo", entry).await.unwrap();
    assert!(matches!(source.fetch_chart_checked("demo", entry).await, Err(Error::Integrity(_))));
}

#[tokio::test]
async fn credentials_go_to_their_own_origin_only() {
    let auth = Some(("user".to_owned(), "secret".to_owned()));
    let repo = ChartRepo::start_with(&Options { basic_auth: auth, ..Options::default() }).unwrap();
    let elsewhere = ChartRepo::start().unwrap();
    let archive = chart("demo", "1.0.0");
    elsewhere.add(&archive);
    let url = format!("{}/charts/demo-1.0.0.tgz", elsewhere.url());
    let index =
        format!("apiVersion: v1\nentries:\n  demo:\n  - name: demo\n    version: 1.0.0\n    urls: [\"{url}\"]\n");
    repo.put("/index.yaml", index);

    let refused = open(&repo).index().await.unwrap_err();
    assert_eq!(refused.to_string(), format!("failed to fetch {}/index.yaml : 401 Unauthorized", repo.url()));
    for pass in [false, true] {
        let credentials = BasicAuth::new("user", "secret");
        let source = HelmRepository::new(&repo.url(), http(), credentials, pass, Limits::default()).unwrap();
        let index = source.index().await.unwrap();
        let bytes = source.fetch_chart("demo", index.choose("demo", "").unwrap()).await.unwrap();
        assert_eq!(bytes, archive.bytes);
        assert_eq!(elsewhere.requests().last().unwrap().authorized, pass);
    }
}

#[tokio::test]
async fn certificates_are_checked_against_the_given_authority() {
    let repo = ChartRepo::start_with(&Options { tls: true, ..Options::default() }).unwrap();
    repo.add(&chart("demo", "1.0.0"));
    let fetch = async |tls: Tls| {
        let http = Http::new(&Settings { tls, attempts: 1, ..settings() }).unwrap();
        HelmRepository::new(&repo.url(), http, None, false, Limits::default()).unwrap().index().await
    };
    assert!(matches!(fetch(Tls::default()).await, Err(Error::Connect { .. })));
    fetch(Tls { ca: repo.ca().map(|c| c.as_bytes().to_vec()), ..Tls::default() }).await.unwrap();
    fetch(Tls { insecure: true, ..Tls::default() }).await.unwrap();
    let broken = Tls { ca: Some(b"no certificate".to_vec()), ..Tls::default() };
    assert!(matches!(Http::new(&Settings { tls: broken, ..settings() }), Err(Error::Auth(_))));
}

#[tokio::test]
async fn failures_are_tried_again_and_refusals_are_not() {
    let repo = ChartRepo::start().unwrap();
    repo.add(&chart("demo", "1.0.0"));
    repo.fail("/index.yaml", 1, 503);
    repo.cut("/index.yaml", 1);
    open(&repo).index().await.unwrap();
    assert_eq!(repo.requests().iter().map(|r| r.status).collect::<Vec<_>>(), [503, 0, 200]);
    repo.fail("/index.yaml", 1, 404);
    let error = open(&repo).index().await.unwrap_err();
    assert_eq!(error.to_string(), format!("failed to fetch {}/index.yaml : 404 Not Found", repo.url()));
    assert!(!error.is_transient());
}

#[tokio::test]
async fn what_is_too_large_is_not_read() {
    let repo = ChartRepo::start().unwrap();
    repo.add(&chart("demo", "1.0.0"));
    let limits = Limits { index: 64, chart: 64, ..Limits::default() };
    let source = HelmRepository::new(&repo.url(), http(), None, false, limits).unwrap();
    let error = source.index().await.unwrap_err();
    assert_eq!(error.to_string(), "index exceeds the maximum index file size of 64 bytes");
    let index = open(&repo).index().await.unwrap();
    let error = source.fetch_chart("demo", index.choose("demo", "").unwrap()).await.unwrap_err();
    assert_eq!(error.to_string(), "chart exceeds the maximum size of 64 bytes");
}

#[test]
fn chart_addresses_inherit_the_repositorys_query() {
    let source = |url: &str| HelmRepository::new(url, http(), None, false, Limits::default()).unwrap();
    let entry = |url: &str| chart_source::Entry { urls: vec![url.to_owned()], ..chart_source::Entry::default() };
    let at = |base: &str, url: &str| source(base).chart_url("demo", &entry(url)).unwrap().to_string();
    assert_eq!(at("https://a.test/charts?t=1", "demo.tgz"), "https://a.test/charts/demo.tgz?t=1");
    assert_eq!(at("https://a.test/charts/", "/x/demo.tgz"), "https://a.test/x/demo.tgz");
    assert_eq!(at("https://a.test/charts?t=1", "http://b.test/demo.tgz"), "http://b.test/demo.tgz");
    let none = source("https://a.test").chart_url("demo", &chart_source::Entry::default());
    assert_eq!(none.unwrap_err().to_string(), "chart 'demo' has no downloadable URLs");
    let error = HelmRepository::new("oci://a.test/b", http(), None, false, Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "'oci' URL scheme cannot be used with 'default' HelmRepository type");
}
