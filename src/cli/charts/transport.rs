//! HTTP for the command line.
//!
//! Owns: certificates from flags, and errors in the words of Go's HTTP client. Does not own: the client
//! (`chart_source::Http`), which has limits in bytes and sends credentials nowhere else. Follows Helm's
//! `internal/tlsutil` and `pkg/getter`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use chart_source::Url;
use chart_source::http::parse_url;
use chart_source::{BasicAuth, Error, Http, Settings, Tls};

use super::super::values_args::go_io_error;

/// Certificates for TLS.
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct Certificates {
    /// Certificates (PEM) of authorities to trust
    #[arg(long, value_name = "FILE")]
    pub(super) ca_file: Option<PathBuf>,
    /// A certificate (PEM) to introduce oneself with
    #[arg(long, value_name = "FILE")]
    pub(super) cert_file: Option<PathBuf>,
    /// The key (PEM) of --cert-file
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// Do not check the server's certificate
    #[arg(long)]
    pub(super) insecure_skip_tls_verify: bool,
}

fn set(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path).filter(|p| !p.as_os_str().is_empty())
}

impl Certificates {
    /// Is anything set that makes Helm talk TLS in another way than by default?
    pub(super) fn any(&self) -> bool {
        let pair = set(self.cert_file.as_ref()).is_some() && set(self.key_file.as_ref()).is_some();
        pair || set(self.ca_file.as_ref()).is_some() || self.insecure_skip_tls_verify
    }

    fn tls(&self) -> Result<Tls> {
        if !self.any() {
            return Ok(Tls::default());
        }
        let read = |what: &str, path: &Path| {
            std::fs::read(path).map_err(|e| {
                let shown = path.display().to_string();
                anyhow!("{what}: {shown:?}: open {shown}: {}", go_io_error(&e))
            })
        };
        let (cert, key) = (set(self.cert_file.as_ref()), set(self.key_file.as_ref()));
        let client = match (cert, key) {
            (None, None) => None,
            (cert, key) => {
                let nothing = Path::new("");
                let cert = read("unable to read cert file", cert.unwrap_or(nothing))?;
                Some((cert, read("unable to read key file", key.unwrap_or(nothing))?))
            }
        };
        let ca = set(self.ca_file.as_ref()).map(|path| read("can't read CA file", path)).transpose()?;
        Ok(Tls { ca, client, insecure: self.insecure_skip_tls_verify })
    }

    /// Can the files be used?
    ///
    /// # Errors
    /// Helm's text.
    pub(super) fn check(&self) -> Result<()> {
        let named =
            [&self.ca_file, &self.cert_file, &self.key_file].into_iter().any(|file| set(file.as_ref()).is_some());
        // A client loads all certificates of the machine, which takes as long as rendering a small chart.
        if named { http(self).map(drop) } else { Ok(()) }
    }
}

/// A client. Helm asks once and waits two minutes at most.
///
/// # Errors
/// Files that cannot be read, or hold no certificate.
pub(super) fn http(certificates: &Certificates) -> Result<Http> {
    let failed = |e: String| anyhow!("can't create TLS config for client: {e}");
    let tls = certificates.tls().map_err(|e| failed(e.to_string()))?;
    let settings = Settings { tls, timeout: Duration::from_mins(2), attempts: 1, ..Settings::default() };
    Http::new(&settings).map_err(|e| match e {
        Error::Auth(text) if text.starts_with("the CA") => {
            failed("failed to append certificates from pem block".into())
        }
        Error::Auth(text) => failed(format!("unable to load cert from key pair: {text}")),
        e => anyhow!(e),
    })
}

/// GET.
///
/// # Errors
/// Helm's text.
pub(super) async fn get(
    http: &Http,
    url: &Url,
    auth: Option<&BasicAuth>,
    what: &'static str,
    limit: u64,
) -> Result<Vec<u8>> {
    if !matches!(url.scheme(), "http" | "https") {
        bail!("scheme {:?} not supported", url.scheme());
    }
    http.get(url, auth, what, limit).await.map_err(|e| in_gos_words("Get", e))
}

/// A file of values, with neither credentials nor certificates, as Helm does it.
///
/// # Errors
/// As [`get`].
pub(in crate::cli) async fn plain_get(address: &str) -> Result<Vec<u8>> {
    /// As large as a chart may be: values are a part of one.
    const LIMIT: u64 = 10 << 20;
    let http = http(&Certificates::default())?;
    get(&http, &parse_url(address)?, None, "file of values", LIMIT).await
}

/// An error of the client as Go's prints it: `Get "http://…": dial tcp …: connect: connection refused`.
pub(super) fn in_gos_words(verb: &str, error: Error) -> anyhow::Error {
    let Error::Connect { url, source } = &error else { return anyhow!(error) };
    let mut texts = Vec::new();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(source);
    while let Some(e) = cause {
        if e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused) {
            let address = parse_url(url).ok();
            let host = address.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
            let port = address.and_then(|u| u.port_or_known_default()).unwrap_or_default();
            return anyhow!("{verb} {url:?}: dial tcp {host}:{port}: connect: connection refused");
        }
        texts.push(e.to_string());
        cause = e.source();
    }
    let last = texts.pop().unwrap_or_default();
    if last.contains("UnknownIssuer") {
        return anyhow!(
            "{verb} {url:?}: tls: failed to verify certificate: x509: certificate signed by unknown authority"
        );
    }
    anyhow!("{verb} {url:?}: {last}")
}
