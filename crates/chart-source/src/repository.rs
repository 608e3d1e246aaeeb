//! A Helm repository over HTTP: its index and its charts.
//!
//! Owns: addresses and who gets the credentials. Does not own: the index's content ([`crate::repo_index`]).
//! Upstream: source-controller's `internal/helm/repository/chart_repository.go`.
//! The surprising thing: the digest in the index is not compared with the bytes unless asked for; Helm does not do it
//! either, and repositories with wrong digests exist.

use reqwest::Url;

use crate::credentials::BasicAuth;
use crate::http::{Http, parse_url, same_origin};
use crate::{Entry, Error, Index, Limits, digest};

/// A repository with what is needed to talk to it.
#[derive(Clone, Debug)]
pub struct HelmRepository {
    url: Url,
    http: Http,
    auth: Option<BasicAuth>,
    pass_credentials: bool,
    limits: Limits,
}

impl HelmRepository {
    /// A repository at `url` (`http` or `https`).
    ///
    /// # Errors
    /// [`Error::InvalidUrl`] for another scheme or what does not parse.
    pub fn new(
        url: &str,
        http: Http,
        auth: Option<BasicAuth>,
        pass_credentials: bool,
        limits: Limits,
    ) -> Result<Self, Error> {
        let parsed = parse_url(url)?;
        match parsed.scheme() {
            "http" | "https" => Ok(Self { url: parsed, http, auth, pass_credentials, limits }),
            "oci" => Err(Error::InvalidUrl {
                url: url.to_owned(),
                reason: "'oci' URL scheme cannot be used with 'default' HelmRepository type".to_owned(),
            }),
            other => {
                let reason = format!("scheme \"{other}\" not supported");
                Err(Error::InvalidUrl { url: url.to_owned(), reason })
            }
        }
    }

    /// The bytes of `index.yaml`. Their SHA-256 is the repository's revision.
    ///
    /// # Errors
    /// As [`Http::get`].
    pub async fn fetch_index(&self) -> Result<Vec<u8>, Error> {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/index.yaml", self.url.path().trim_end_matches('/')));
        self.http.get(&url, self.auth.as_ref(), "index", self.limits.index).await
    }

    /// Fetch and parse the index.
    ///
    /// # Errors
    /// As [`HelmRepository::fetch_index`], and [`Error::IndexLoad`].
    pub async fn index(&self) -> Result<Index, Error> {
        let bytes = self.fetch_index().await?;
        tokio::task::spawn_blocking(move || Index::parse(&bytes))
            .await
            .map_err(|_| Error::IndexLoad("the parser stopped".to_owned()))?
    }

    /// Where a chart's archive is: its first address, relative to the repository's, whose query it inherits.
    ///
    /// # Errors
    /// [`Error::NoUrl`], [`Error::InvalidUrl`].
    pub fn chart_url(&self, chart: &str, entry: &Entry) -> Result<Url, Error> {
        let reference = entry.urls.first().ok_or_else(|| Error::NoUrl(chart.to_owned()))?;
        if let Ok(absolute) = Url::parse(reference) {
            return Ok(absolute);
        }
        let mut base = self.url.clone();
        base.set_path(&format!("{}/", self.url.path().trim_end_matches('/')));
        let invalid = |e| Error::InvalidUrl {
            url: reference.clone(),
            reason: format!("invalid chart URL format '{reference}': {e}"),
        };
        let mut url = base.join(reference).map_err(invalid)?;
        url.set_query(self.url.query());
        Ok(url)
    }

    /// The bytes of a chart's archive.
    ///
    /// # Errors
    /// As [`HelmRepository::chart_url`] and [`Http::get`].
    pub async fn fetch_chart(&self, chart: &str, entry: &Entry) -> Result<Vec<u8>, Error> {
        let url = self.chart_url(chart, entry)?;
        if !matches!(url.scheme(), "http" | "https") {
            let reason = format!("scheme \"{}\" not supported", url.scheme());
            return Err(Error::InvalidUrl { url: crate::http::shown(&url), reason });
        }
        let auth = self.auth.as_ref().filter(|_| self.pass_credentials || same_origin(&self.url, &url));
        self.http.get(&url, auth, "chart", self.limits.chart).await
    }

    /// As [`HelmRepository::fetch_chart`], and refuses bytes that the index's digest does not name.
    ///
    /// # Errors
    /// [`Error::Integrity`] besides.
    pub async fn fetch_chart_checked(&self, chart: &str, entry: &Entry) -> Result<Vec<u8>, Error> {
        let bytes = self.fetch_chart(chart, entry).await?;
        if let Some(wanted) = &entry.digest {
            let wanted = if wanted.contains(':') { wanted.clone() } else { format!("sha256:{wanted}") };
            digest::verify(&bytes, &wanted)?;
        }
        Ok(bytes)
    }
}
