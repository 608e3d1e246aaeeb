//! The HTTP client: TLS, credentials, retries, limits in bytes.
//!
//! Owns: one GET from request to bytes. Does not own: what the bytes mean.
//! The surprising thing: without `pass_credentials` a user and password go only to the scheme, host and port they were
//! given for; redirects to another host lose them in any case.

use std::time::Duration;

use reqwest::{Certificate, Identity, Method, Url};

use crate::Error;
use crate::credentials::{BasicAuth, Tls};

/// How to talk.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bound for one request from connecting to the last byte.
    pub timeout: Duration,
    /// Certificates.
    pub tls: Tls,
    /// A proxy's address, with user and password in it if need be; beats the environment's.
    pub proxy: Option<ProxyAddress>,
    /// `User-Agent`.
    pub user_agent: String,
    /// How often a request is made at most, when connecting fails or the server answers 429 or 5xx. One that took too
    /// long is not made again.
    pub attempts: u32,
    /// The wait before the second attempt; doubles with each.
    pub retry_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(1),
            tls: Tls::default(),
            proxy: None,
            user_agent: concat!("helmrel/", env!("CARGO_PKG_VERSION")).to_owned(),
            attempts: 3,
            retry_wait: Duration::from_millis(250),
        }
    }
}

/// A proxy's address, which may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(pub String);

impl std::fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProxyAddress(redacted)")
    }
}

/// A client with a connection pool. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Http {
    client: reqwest::Client,
    attempts: u32,
    retry_wait: Duration,
}

impl Http {
    /// A client. A rustls crypto provider must have been installed for the process.
    ///
    /// # Errors
    /// [`Error::Auth`] for certificates, keys or proxy addresses that do not parse; [`Error::Client`].
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let mut builder = reqwest::Client::builder()
            .timeout(settings.timeout)
            .connect_timeout(settings.timeout.min(Duration::from_secs(15)))
            .user_agent(&settings.user_agent)
            .tls_danger_accept_invalid_certs(settings.tls.insecure);
        if let Some(ca) = &settings.tls.ca {
            let certificates = Certificate::from_pem_bundle(ca).unwrap_or_default();
            if certificates.is_empty() {
                return Err(Error::Auth("the CA holds no PEM certificate".to_owned()));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        if let Some((certificate, key)) = &settings.tls.client {
            let pem = [certificate.as_slice(), b"\n", key.as_slice()].concat();
            let identity = Identity::from_pem(&pem)
                .map_err(|_| Error::Auth("the client's certificate and key do not parse as PEM".to_owned()))?;
            builder = builder.identity(identity);
        }
        if let Some(ProxyAddress(address)) = &settings.proxy {
            let proxy = reqwest::Proxy::all(address)
                .map_err(|_| Error::Auth("the proxy's address does not parse".to_owned()))?;
            builder = builder.proxy(proxy);
        }
        let client = builder.build().map_err(Error::Client)?;
        Ok(Self { client, attempts: settings.attempts.max(1), retry_wait: settings.retry_wait })
    }

    /// GET, follow redirects, insist on success, and read at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Fetch`], [`Error::TooLarge`] (which names `what`).
    pub async fn get(
        &self,
        url: &Url,
        auth: Option<&BasicAuth>,
        what: &'static str,
        limit: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut attempt = 1;
        loop {
            let request = self.request(Method::GET, url.clone());
            let request = match auth {
                Some(auth) => request.basic_auth(&auth.username, Some(&auth.password)),
                None => request,
            };
            let outcome = match self.send_once(request, url).await {
                Ok(response) if response.status().is_success() => read(response, what, limit).await,
                Ok(response) => Err(Error::Fetch { url: shown(url), status: response.status() }),
                Err(error) => Err(error),
            };
            match outcome {
                Err(error) if error.is_transient() && !error.is_timeout() && attempt < self.attempts => {
                    tokio::time::sleep(self.retry_wait * 2u32.saturating_pow(attempt - 1)).await;
                    attempt += 1;
                }
                other => return other,
            }
        }
    }

    /// A request to be filled in by the caller.
    pub(crate) fn request(&self, method: Method, url: Url) -> reqwest::RequestBuilder {
        self.client.request(method, url)
    }

    /// Send without judging the status; connecting is tried again as often as the settings say.
    pub(crate) async fn send(&self, request: reqwest::RequestBuilder, url: &Url) -> Result<reqwest::Response, Error> {
        let mut attempt = 1;
        loop {
            let again = request.try_clone();
            let outcome = match again {
                Some(again) => self.send_once(again, url).await,
                None => return self.send_once(request, url).await,
            };
            let transient = match &outcome {
                Ok(response) => response.status().is_server_error() || response.status().as_u16() == 429,
                Err(error) => !error.is_timeout(),
            };
            if !transient || attempt >= self.attempts {
                return outcome;
            }
            tokio::time::sleep(self.retry_wait * 2u32.saturating_pow(attempt - 1)).await;
            attempt += 1;
        }
    }

    async fn send_once(&self, request: reqwest::RequestBuilder, url: &Url) -> Result<reqwest::Response, Error> {
        request.send().await.map_err(|source| connect(url, source))
    }
}

/// Read a body of at most `limit` bytes.
///
/// # Errors
/// [`Error::TooLarge`], at once when the header says so; [`Error::Connect`] when it breaks off.
pub(crate) async fn read(mut response: reqwest::Response, what: &'static str, limit: u64) -> Result<Vec<u8>, Error> {
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(Error::TooLarge { what, limit });
    }
    let url = response.url().clone();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|source| connect(&url, source))? {
        if (bytes.len() + chunk.len()) as u64 > limit {
            return Err(Error::TooLarge { what, limit });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn connect(url: &Url, source: reqwest::Error) -> Error {
    // The address is in our own text, without what may be secret in it.
    Error::Connect { url: shown(url), source: source.without_url() }
}

/// An address for messages: no user, no password; a query may hold a signature.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some() {
        url.set_query(Some("redacted"));
    }
    url.to_string()
}

/// Parse an address.
///
/// # Errors
/// [`Error::InvalidUrl`].
pub fn parse_url(text: &str) -> Result<Url, Error> {
    Url::parse(text).map_err(|e| Error::InvalidUrl { url: text.to_owned(), reason: format!("parse \"{text}\": {e}") })
}

/// Do both addresses have the same scheme, host and port?
pub fn same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme() && a.host_str() == b.host_str() && a.port_or_known_default() == b.port_or_known_default()
}
