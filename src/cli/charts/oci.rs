//! Charts from registries: `oci://HOST/REPOSITORY[:TAG][@DIGEST]`.
//!
//! Owns: what reference and `--version` mean together, and whose credentials are used. Follows `ValidateReference` in
//! Helm's `pkg/registry/client.go`. The surprising things: a digest wins over a version whose tag is not there; Helm's
//! own file of credentials is asked before Docker's.

use anyhow::{Result, anyhow, bail};
use chart_source::credentials::docker_config;
use chart_source::oci::OciOptions;
use chart_source::tags::{select_chart, tag_of};
use chart_source::{Error, Limits, OciRepository, RegistryAuth};
use go_semver::Version;

use super::super::Printer;
use super::transport::{self, in_gos_words};
use super::{ChartFlags, settings};

/// A reference in its parts; a tag with `_` for `+`.
#[derive(Debug, PartialEq, Eq)]
struct Reference {
    host: String,
    repository: String,
    tag: String,
    digest: String,
}

impl Reference {
    fn parse(text: &str) -> Result<Self> {
        let rest = text.strip_prefix("oci://").unwrap_or(text);
        let (rest, digest) = rest.rsplit_once('@').unwrap_or((rest, ""));
        let invalid = |what: &str| anyhow!("invalid reference: {what}");
        let (host, path) = rest.split_once('/').ok_or_else(|| invalid("missing registry or repository"))?;
        let (repository, tag) = path.rsplit_once(':').unwrap_or((path, ""));
        if host.is_empty() || repository.is_empty() {
            return Err(invalid("missing registry or repository"));
        }
        let sound = |part: &str| {
            let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
            part.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric()) && part.bytes().all(good)
        };
        if !repository.split('/').all(sound) {
            return Err(invalid(&format!("invalid repository {repository:?}")));
        }
        Ok(Self { host: host.into(), repository: repository.into(), tag: tag_of(tag), digest: digest.into() })
    }
}

/// Fetch a chart.
pub(super) async fn fetch(text: &str, flags: &ChartFlags, printer: &Printer) -> Result<Vec<u8>> {
    let reference = Reference::parse(text)?;
    let Reference { host, repository, tag, digest } = &reference;
    let wanted = flags.version();
    if !wanted.is_empty() && !tag.is_empty() && tag != wanted {
        bail!("chart reference and version mismatch: {wanted} is not {tag}");
    }
    let version = if wanted.is_empty() { tag.as_str() } else { wanted };
    let limits = Limits::default();
    // Helm forgets --plain-http where certificates are given.
    let plain_http = flags.plain_http && !flags.certificates.any();
    let auth = auth(host, flags, printer)?;
    let anonymous = auth == RegistryAuth::Anonymous;
    let options = OciOptions { plain_http, auth, limits };
    let client =
        OciRepository::new(&format!("oci://{host}/{repository}"), transport::http(&flags.certificates)?, options)?;
    let scheme = if plain_http { "http" } else { "https" };
    let target = if !digest.is_empty() {
        if !version.is_empty()
            && let Ok(found) = client.resolve(&tag_of(version)).await
            && found != *digest
        {
            bail!("chart reference digest mismatch: {found} is not {digest}");
        }
        digest.clone()
    } else if Version::parse(version).is_ok() {
        tag_of(version)
    } else {
        let list = format!("{scheme}://{host}/v2/{repository}/tags/list");
        let tags = client.tags().await.map_err(|e| match e {
            Error::Connect { source, .. } => in_gos_words("Get", Error::Connect { url: list, source }),
            Error::Fetch { status, .. } => anyhow!("GET {list:?}: {}", refusal(status, anonymous)),
            e => e.into(),
        })?;
        if !tags.iter().any(|t| Version::parse_strict(&chart_source::tags::version_of(t)).is_ok()) {
            bail!("unable to locate any tags in provided repository: {text}");
        }
        tag_of(&select_chart(&tags, version)?)
    };
    let shown = format!("{host}/{repository}{}{target}", if digest.is_empty() { ":" } else { "@" });
    let failed = |e: Error| pull_error(&shown, scheme, &reference, &target, anonymous, e);
    let manifest = client.manifest(&target).await.map_err(failed)?;
    client.blob(manifest.chart_layer()?, "chart", limits.chart).await.map_err(failed)
}

/// What a registry's status means, in the words of Helm's client.
fn refusal(status: http::StatusCode, anonymous: bool) -> String {
    if status == http::StatusCode::UNAUTHORIZED && anonymous {
        return "basic credential not found".to_owned();
    }
    format!("response status code {}: {}", status.as_u16(), status.canonical_reason().unwrap_or_default())
}

fn pull_error(
    shown: &str,
    scheme: &str,
    reference: &Reference,
    target: &str,
    anonymous: bool,
    error: Error,
) -> anyhow::Error {
    let step = "failed to perform \"FetchReference\" on source";
    let Reference { host, repository, .. } = reference;
    match error {
        Error::Connect { source, .. } => {
            let url = format!("{scheme}://{host}/v2/{repository}/manifests/{target}");
            anyhow!("{step}: {}", in_gos_words("Get", Error::Connect { url, source }))
        }
        Error::Fetch { status, .. } if status.as_u16() == 404 => anyhow!("{step}: {shown}: not found"),
        Error::Fetch { status, url } => anyhow!("{step}: GET {url:?}: {}", refusal(status, anonymous)),
        e => e.into(),
    }
}

/// Who we are for a registry: the flags, else Helm's file, else Docker's.
fn auth(host: &str, flags: &ChartFlags, printer: &Printer) -> Result<RegistryAuth> {
    if let Some(basic) = flags.auth() {
        return Ok(RegistryAuth::Basic(basic));
    }
    let keys: &[&str] =
        if host == "docker.io" { &["index.docker.io", "docker.io", "registry-1.docker.io"] } else { &[host] };
    for path in [flags.files.registry_config(), settings::docker_config()] {
        let Ok(text) = std::fs::read(&path) else { continue };
        let found = docker_config(&text, keys).map_err(|e| anyhow!("{}: {e}", path.display()))?;
        // Docker writes an empty entry where a helper has the password.
        if let Some(found) = found.filter(|auth| *auth != RegistryAuth::Anonymous) {
            return Ok(found);
        }
        if let Some(helper) = helper(&text, keys) {
            printer.note(&format!(
                "level=WARN msg=\"{} leaves the credentials for {host} to docker-credential-{helper}, which is not run \
                 here; give --username and --password\"",
                path.display()
            ));
        }
    }
    Ok(RegistryAuth::Anonymous)
}

/// The program a Docker configuration names for one of these hosts.
fn helper(config: &[u8], keys: &[&str]) -> Option<String> {
    let config: serde_json::Value = serde_json::from_slice(config).ok()?;
    let named = keys.iter().find_map(|key| config.get("credHelpers")?.get(*key)?.as_str());
    named.or_else(|| config.get("credsStore")?.as_str()).filter(|h| !h.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let parts = |text: &str| {
            let r = Reference::parse(text).unwrap();
            (r.host, r.repository, r.tag, r.digest)
        };
        let of = |h: &str, r: &str, t: &str, d: &str| (h.to_owned(), r.to_owned(), t.to_owned(), d.to_owned());
        assert_eq!(parts("oci://a.test:5000/x/y"), of("a.test:5000", "x/y", "", ""));
        assert_eq!(parts("oci://a.test/x:1.0.0+b"), of("a.test", "x", "1.0.0_b", ""));
        assert_eq!(parts("oci://a.test/x:1@sha256:00"), of("a.test", "x", "1", "sha256:00"));
        for bad in ["oci://a.test", "oci:///x", "oci://a.test/../x", "oci://a.test/X"] {
            assert!(Reference::parse(bad).is_err(), "{bad}");
        }
    }
}
