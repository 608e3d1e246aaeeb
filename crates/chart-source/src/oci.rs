//! Charts and artifacts in OCI registries: tags, manifests, layers.
//!
//! Owns: the pull half of the distribution protocol, with limits. Does not own: which tag is wanted ([`crate::tags`]),
//! signatures. Upstream: Helm's `pkg/registry`, source-controller's ocirepository controller.
//! The surprising thing: it is our own client, because the general ones read bodies without a limit and take no client
//! certificates. Content is always checked against its digest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::{Method, Url};
use serde::Deserialize;

use crate::credentials::RegistryAuth;
use crate::http::{Http, parse_url, read, shown};
use crate::oci_auth::{Grant, challenge, meet};
use crate::tags::{CHART_LAYER, LEGACY_CHART_LAYER, is_version, select_chart, tag_of};
use crate::{Error, Limits, digest};

/// The most a manifest may have; registries refuse more.
const MAX_MANIFEST: u64 = 4 * 1024 * 1024;
/// The most one page of tags may have, and how many pages are read.
const MAX_TAGS: u64 = 8 * 1024 * 1024;
const MAX_TAG_PAGES: usize = 200;

const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const INDEX_TYPES: [&str; 2] =
    ["application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"];
const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";

/// A pointer to content.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Descriptor {
    /// What the content is.
    pub media_type: String,
    /// `sha256:HEX` of it.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
    /// For an image index: which machine it is for.
    platform: Option<Platform>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Platform {
    architecture: String,
    os: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    media_type: String,
    config: Descriptor,
    layers: Vec<Descriptor>,
    manifests: Vec<Descriptor>,
    annotations: Option<BTreeMap<String, String>>,
}

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// `sha256:HEX` of what was asked for; for an image index, of the index.
    pub digest: String,
    /// The config.
    pub config: Descriptor,
    /// The layers.
    pub layers: Vec<Descriptor>,
    /// The annotations; they become `status.artifact.metadata`.
    pub annotations: BTreeMap<String, String>,
}

impl Manifest {
    /// The first layer of a media type, or the first layer of all.
    ///
    /// # Errors
    /// [`Error::Layer`] with Flux's text.
    pub fn layer(&self, media_type: Option<&str>) -> Result<&Descriptor, Error> {
        let first = self.layers.first().ok_or_else(|| Error::Layer("no layers found in artifact".to_owned()))?;
        let Some(wanted) = media_type.filter(|m| !m.is_empty()) else { return Ok(first) };
        let found = self.layers.iter().find(|l| l.media_type == wanted);
        found.ok_or_else(|| Error::Layer(format!("failed to find layer with media type '{wanted}' in artifact")))
    }

    /// The layer with a chart's archive.
    ///
    /// # Errors
    /// [`Error::Layer`] with Helm's texts.
    pub fn chart_layer(&self) -> Result<&Descriptor, Error> {
        if self.config.media_type != CHART_CONFIG {
            return Err(Error::Layer(format!("could not load config with mediatype {CHART_CONFIG}")));
        }
        let found = self.layers.iter().find(|l| l.media_type == CHART_LAYER || l.media_type == LEGACY_CHART_LAYER);
        found.ok_or_else(|| Error::Layer(format!("manifest does not contain a layer with mediatype {CHART_LAYER}")))
    }
}

/// A repository of a registry with what is needed to talk to it. Cheap to clone; clones share the token.
#[derive(Clone, Debug)]
pub struct OciRepository {
    base: Url,
    repository: String,
    http: Http,
    auth: RegistryAuth,
    limits: Limits,
    grant: Arc<Mutex<Grant>>,
}

/// How to talk to a registry besides [`crate::Settings`].
#[derive(Clone, Debug, Default)]
pub struct OciOptions {
    /// Plain HTTP instead of TLS.
    pub plain_http: bool,
    /// Who we are.
    pub auth: RegistryAuth,
    /// How much may be read.
    pub limits: Limits,
}

/// Host and repository of `oci://HOST/REPOSITORY`.
///
/// # Errors
/// [`Error::InvalidUrl`] with Flux's texts for what has no repository, or has a tag or digest.
pub fn split_url(url: &str) -> Result<(&str, &str), Error> {
    let invalid = |reason: String| Error::InvalidUrl { url: url.to_owned(), reason };
    let format = || invalid("URL must be in format 'oci://<domain>/<org>/<repo>'".to_owned());
    let rest = url.strip_prefix("oci://").ok_or_else(format)?;
    let (host, repository) = rest.trim_end_matches('/').split_once('/').ok_or_else(format)?;
    if let Some((_, tag)) = repository.rsplit_once('/').map_or(repository, |(_, last)| last).split_once([':', '@']) {
        return Err(invalid(format!("URL must not contain a tag; remove ':{tag}'")));
    }
    let named = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-'))
            && part != "."
            && part != ".."
    };
    if host.is_empty() || host.contains('@') || !repository.split('/').all(named) {
        return Err(format());
    }
    Ok((host, repository))
}

impl OciRepository {
    /// A repository at `oci://HOST/REPOSITORY`.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn new(url: &str, http: Http, options: OciOptions) -> Result<Self, Error> {
        let (host, repository) = split_url(url)?;
        let host = if matches!(host, "docker.io" | "index.docker.io") { "registry-1.docker.io" } else { host };
        let scheme = if options.plain_http { "http" } else { "https" };
        let base = parse_url(&format!("{scheme}://{host}/v2/{repository}/"))?;
        let OciOptions { auth, limits, .. } = options;
        let grant = Arc::new(Mutex::new(Grant::None));
        Ok(Self { base, repository: repository.to_owned(), http, auth, limits, grant })
    }

    /// All tags, in the registry's order.
    ///
    /// # Errors
    /// [`Error::Fetch`], [`Error::Connect`], [`Error::TooLarge`].
    pub async fn tags(&self) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Page {
            tags: Option<Vec<String>>,
        }
        let mut tags = Vec::new();
        let mut url = self.join("tags/list?n=1000")?;
        for _ in 0..MAX_TAG_PAGES {
            let response = self.ask(Method::GET, &url, None).await?;
            let next = next_page(response.headers(), &url);
            let bytes = read(response, "list of tags", MAX_TAGS).await?;
            let page: Page = serde_json::from_slice(&bytes)
                .map_err(|_| Error::NoSuchTag(format!("{} is not a list of tags", shown(&url))))?;
            tags.extend(page.tags.unwrap_or_default());
            match next {
                Some(next) => url = next,
                None => return Ok(tags),
            }
        }
        Err(Error::TooLarge { what: "list of tags", limit: MAX_TAGS * MAX_TAG_PAGES as u64 })
    }

    /// The digest a tag stands for now: one HEAD, and a GET if that does not say.
    ///
    /// # Errors
    /// As [`OciRepository::tags`].
    pub async fn resolve(&self, tag: &str) -> Result<String, Error> {
        let url = self.manifest_url(tag)?;
        if let Ok(response) = self.ask(Method::HEAD, &url, Some(ACCEPT)).await {
            let digest = response.headers().get("docker-content-digest").and_then(|v| v.to_str().ok());
            if let Some(digest) = digest.filter(|d| d.starts_with("sha256:") || d.starts_with("sha512:")) {
                return Ok(digest.to_owned());
            }
        }
        let bytes = read(self.ask(Method::GET, &url, Some(ACCEPT)).await?, "manifest", MAX_MANIFEST).await?;
        Ok(digest::sha256(&bytes))
    }

    /// The manifest of a tag or digest. An image index gives its image for linux/amd64, or its first.
    ///
    /// # Errors
    /// [`Error::Layer`] for what is no manifest; [`Error::Integrity`]; as [`OciRepository::tags`].
    pub async fn manifest(&self, reference: &str) -> Result<Manifest, Error> {
        let (digest, mut document) = self.document(reference).await?;
        if INDEX_TYPES.contains(&document.media_type.as_str()) || !document.manifests.is_empty() {
            let wanted = Some(Platform { architecture: "amd64".to_owned(), os: "linux".to_owned() });
            let inner = document.manifests.iter().find(|m| m.platform == wanted).or(document.manifests.first());
            let inner = inner.ok_or_else(|| Error::Layer("no layers found in artifact".to_owned()))?.digest.clone();
            document = self.document(&inner).await?.1;
        }
        let Document { config, layers, annotations, .. } = document;
        Ok(Manifest { digest, config, layers, annotations: annotations.unwrap_or_default() })
    }

    async fn document(&self, reference: &str) -> Result<(String, Document), Error> {
        let url = self.manifest_url(reference)?;
        let bytes = read(self.ask(Method::GET, &url, Some(ACCEPT)).await?, "manifest", MAX_MANIFEST).await?;
        let digest = if reference.contains(':') {
            digest::verify(&bytes, reference)?;
            reference.to_owned()
        } else {
            digest::sha256(&bytes)
        };
        let document = serde_json::from_slice(&bytes)
            .map_err(|e| Error::Layer(format!("failed to parse artifact manifest: {e}")))?;
        Ok((digest, document))
    }

    /// A blob's bytes, checked against its digest; at most `limit` of them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] (naming `what`), [`Error::Integrity`]; as [`OciRepository::tags`].
    pub async fn blob(&self, blob: &Descriptor, what: &'static str, limit: u64) -> Result<Vec<u8>, Error> {
        if blob.size > limit {
            return Err(Error::TooLarge { what, limit });
        }
        checked_reference(&blob.digest)?;
        let url = self.join(&format!("blobs/{}", blob.digest))?;
        let bytes = read(self.ask(Method::GET, &url, None).await?, what, limit).await?;
        digest::verify(&bytes, &blob.digest)?;
        Ok(bytes)
    }

    /// The version that HelmChart's `spec.version` chooses: itself if it is one, else by the list of tags.
    ///
    /// # Errors
    /// As [`OciRepository::tags`] and [`select_chart`].
    pub async fn choose_chart(&self, version: &str) -> Result<String, Error> {
        if is_version(version) {
            return Ok(version.to_owned());
        }
        let tags = self.tags().await?;
        if tags.is_empty() {
            let text = format!("unable to locate any tags in provided repository: {}", self.shown());
            return Err(Error::NoSuchTag(text));
        }
        select_chart(&tags, version)
    }

    /// A chart's archive by version, with its manifest.
    ///
    /// # Errors
    /// As [`OciRepository::manifest`], [`Manifest::chart_layer`] and [`OciRepository::blob`].
    pub async fn fetch_chart(&self, version: &str) -> Result<(Vec<u8>, Manifest), Error> {
        let manifest = self.manifest(&tag_of(version)).await?;
        let archive = self.blob(manifest.chart_layer()?, "chart", self.limits.chart).await?;
        Ok((archive, manifest))
    }

    /// The artifact that an OCIRepository makes of a manifest: the layer as it is, or packed again.
    ///
    /// # Errors
    /// As [`Manifest::layer`], [`OciRepository::blob`] and [`crate::repack::repack`].
    pub async fn fetch_layer(&self, manifest: &Manifest, selector: &LayerSelector) -> Result<Vec<u8>, Error> {
        let layer = manifest.layer(selector.media_type.as_deref())?;
        let bytes = self.blob(layer, "artifact", self.limits.artifact).await?;
        if selector.copy {
            return Ok(bytes);
        }
        let limit = self.limits.unpacked;
        tokio::task::spawn_blocking(move || crate::repack::repack(&bytes, limit))
            .await
            .map_err(|_| Error::Layer("failed to extract layer contents from artifact".to_owned()))?
    }

    fn shown(&self) -> String {
        format!("{}/{}", self.base.authority(), self.repository)
    }

    fn manifest_url(&self, reference: &str) -> Result<Url, Error> {
        checked_reference(reference)?;
        self.join(&format!("manifests/{reference}"))
    }

    fn join(&self, path: &str) -> Result<Url, Error> {
        // `base` + path as text: a digest's colon would make a relative address ambiguous.
        parse_url(&format!("{}{path}", self.base))
    }

    /// Ask, meet the registry's challenge once, insist on success.
    async fn ask(&self, method: Method, url: &Url, accept: Option<&str>) -> Result<reqwest::Response, Error> {
        let mut grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut challenged = false;
        loop {
            let mut request = self.http.request(method.clone(), url.clone());
            if let Some(accept) = accept {
                request = request.header(http::header::ACCEPT, accept);
            }
            let response = self.http.send(grant.apply(request), url).await?;
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            let challenge = (status == http::StatusCode::UNAUTHORIZED && !challenged)
                .then(|| challenge(response.headers()))
                .flatten();
            let Some(challenge) = challenge else { return Err(Error::Fetch { url: shown(url), status }) };
            let plain = self.base.scheme() == "http";
            grant = meet(&self.http, challenge, &self.auth, &self.repository, plain).await?;
            *self.grant.lock().unwrap_or_else(PoisonError::into_inner) = grant.clone();
            challenged = true;
        }
    }
}

/// What an OCIRepository takes of an artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerSelector {
    /// The layer's media type; the first layer if there is none.
    pub media_type: Option<String>,
    /// Keep the layer's bytes instead of packing it again.
    pub copy: bool,
}

/// A tag or digest that stays inside its path segment.
fn checked_reference(reference: &str) -> Result<(), Error> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b':' | b'+' | b'=');
    let starts = reference.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    if starts && reference.len() <= 256 && reference.bytes().all(allowed) {
        return Ok(());
    }
    let reason = format!("could not parse reference: `{reference}` is neither tag nor digest");
    Err(Error::InvalidUrl { url: reference.to_owned(), reason })
}

/// `Link: </v2/…>; rel="next"`, on the same host only.
fn next_page(headers: &http::HeaderMap, url: &Url) -> Option<Url> {
    let link = headers.get(http::header::LINK)?.to_str().ok()?;
    let (target, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
    if !rest.contains("next") {
        return None;
    }
    let next = url.join(target).ok()?;
    crate::http::same_origin(&next, url).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split_and_refused_with_fluxs_texts() {
        assert_eq!(split_url("oci://ghcr.io/org/charts/demo/").unwrap(), ("ghcr.io", "org/charts/demo"));
        assert_eq!(split_url("oci://127.0.0.1:5000/demo").unwrap(), ("127.0.0.1:5000", "demo"));
        let error = |url: &str| split_url(url).unwrap_err().to_string();
        assert_eq!(error("oci://ghcr.io/org/demo:1.0"), "URL must not contain a tag; remove ':1.0'");
        for url in ["https://a/b", "oci://a", "oci:///a", "oci://a/../b", "oci://a/B", "oci://u@a/b", "oci://a/b?x"] {
            assert_eq!(error(url), "URL must be in format 'oci://<domain>/<org>/<repo>'", "{url}");
        }
    }

    #[test]
    fn references_stay_in_their_segment() {
        for good in ["1.0.0", "v1_x", "sha256:00ff", "latest"] {
            checked_reference(good).unwrap();
        }
        for bad in ["", "a/b", "../x", "a?b", "a b", "%2e"] {
            assert!(checked_reference(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_next_page_is_on_the_same_host() {
        let url = parse_url("https://a.test/v2/x/tags/list?n=1000").unwrap();
        let next = |link: &str| {
            let mut headers = http::HeaderMap::new();
            headers.insert(http::header::LINK, link.parse().unwrap());
            next_page(&headers, &url).map(|u| u.to_string())
        };
        let wanted = "https://a.test/v2/x/tags/list?last=b".to_owned();
        assert_eq!(next("</v2/x/tags/list?last=b>; rel=\"next\""), Some(wanted));
        assert_eq!(next("<https://b.test/>; rel=\"next\""), None);
        assert_eq!(next("nonsense"), None);
    }
}
