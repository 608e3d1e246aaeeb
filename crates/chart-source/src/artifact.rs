//! Flux artifacts: the files a source-controller serves.
//!
//! Owns: fetching one by URL and digest. Does not own: choosing it, or where in it the chart is.
//! Upstream: helm-controller's `internal/loader/artifact_url.go`.
//! The surprising thing: a missing artifact is [`Error::ArtifactNotFound`], because a new one is on its way.

use reqwest::Url;

use crate::http::{Http, parse_url};
use crate::{Error, Limits, digest};

/// What `status.artifact` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Where it is.
    pub url: String,
    /// `ALGORITHM:HEX` of the file.
    pub digest: String,
}

/// Fetch an artifact's bytes and check their digest. `host` replaces host and port of the address (the environment's
/// `SOURCE_CONTROLLER_LOCALHOST`, read by the caller).
///
/// # Errors
/// [`Error::ArtifactNotFound`] for 404; [`Error::Integrity`] if the digest is another; as [`Http::get`].
pub async fn fetch(http: &Http, artifact: &Artifact, host: Option<&str>, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut url = parse_url(&artifact.url)?;
    if let Some(host) = host.filter(|h| !h.is_empty()) {
        replace_host(&mut url, host)?;
    }
    let bytes = match http.get(&url, None, "artifact", limits.artifact).await {
        Err(Error::Fetch { status, .. }) if status == reqwest::StatusCode::NOT_FOUND => {
            return Err(Error::ArtifactNotFound);
        }
        other => other?,
    };
    digest::verify(&bytes, &artifact.digest)?;
    Ok(bytes)
}

fn replace_host(url: &mut Url, host: &str) -> Result<(), Error> {
    let wrong = || Error::InvalidUrl { url: host.to_owned(), reason: format!("`{host}` is not HOST or HOST:PORT") };
    let with = parse_url(&format!("http://{host}/")).map_err(|_| wrong())?;
    url.set_host(with.host_str()).map_err(|_| wrong())?;
    // `http://HOST:80` has no port of its own: Go, too, drops the old one together with the host.
    url.set_port(with.port()).map_err(|()| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_replaced_with_its_port() {
        let mut url = parse_url("http://source-controller.flux-system.svc.cluster.local.:8080/a/b.tgz").unwrap();
        replace_host(&mut url, "localhost:9090").unwrap();
        assert_eq!(url.as_str(), "http://localhost:9090/a/b.tgz");
        replace_host(&mut url, "127.0.0.1").unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1/a/b.tgz");
        assert!(replace_host(&mut url, "a b").is_err());
    }
}
