//! A Helm chart repository over HTTP or HTTPS, and a server for any other file a test needs (Flux artifacts).
//!
//! Owns: `index.yaml` generated from what was added, basic authentication, failures on demand, the log of requests.
//! Does not own: charts ([`crate::charts`]).
//! The surprising thing: `failures` come before authentication, and a path that was `put` wins over the generated one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use base64::Engine;

use crate::Archive;
use crate::control_plane::pki::Authority;
use crate::serve::{Cut, Request, Response, Server, plain};

/// How a repository is protected.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Serve HTTPS with a certificate of an authority of its own ([`ChartRepo::ca`]).
    pub tls: bool,
    /// User and password that every request must have.
    pub basic_auth: Option<(String, String)>,
}

/// A request that a repository got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The request had an `Authorization` header.
    pub authorized: bool,
    /// The status of the answer; 0 when the connection was cut.
    pub status: u16,
}

struct Failure {
    path: String,
    times: usize,
    /// `None` cuts the connection.
    status: Option<u16>,
}

#[derive(Default)]
struct State {
    basic_auth: Option<String>,
    charts: Vec<(Archive, String)>,
    files: BTreeMap<String, Vec<u8>>,
    failures: Vec<Failure>,
    asked: Vec<Asked>,
}

/// A running repository; ends when dropped.
pub struct ChartRepo {
    state: Arc<Mutex<State>>,
    server: Server,
    ca: Option<String>,
}

impl ChartRepo {
    /// An open repository over plain HTTP.
    ///
    /// # Errors
    /// No port.
    pub fn start() -> Result<Self> {
        Self::start_with(&Options::default())
    }

    /// A repository with protection.
    ///
    /// # Errors
    /// No port.
    pub fn start_with(options: &Options) -> Result<Self> {
        let state = Arc::new(Mutex::new(State {
            basic_auth: options.basic_auth.as_ref().map(|(user, password)| {
                let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
                format!("Basic {pair}")
            }),
            ..State::default()
        }));
        let (mut ca, mut identity) = (None, None);
        if options.tls {
            let authority = Authority::new("testkit repository")?;
            ca = Some(authority.pem());
            identity = Some(authority.server(&["127.0.0.1", "localhost"])?);
        }
        let shared = state.clone();
        let server = Server::start(identity.as_ref(), move |request| {
            let answer = answer(&shared, &request);
            async move { answer }
        })?;
        Ok(Self { state, server, ca })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address without a slash at the end.
    pub fn url(&self) -> String {
        let scheme = if self.ca.is_some() { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}", self.server.port)
    }

    /// The PEM certificate that clients have to trust, with TLS.
    pub fn ca(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// Serve a chart at `/charts/NAME-VERSION.tgz` and list it in the index.
    pub fn add(&self, chart: &Archive) {
        let digest = chart.digest();
        self.state().charts.push((chart.clone(), digest));
    }

    /// List a chart with a digest that is not its own.
    pub fn add_with_digest(&self, chart: &Archive, digest: &str) {
        self.state().charts.push((chart.clone(), digest.to_owned()));
    }

    /// Serve these bytes at a path that begins with a slash; `/index.yaml` replaces the generated index.
    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.state().files.insert(path.to_owned(), bytes.into());
    }

    /// Remove what was put at a path.
    pub fn remove(&self, path: &str) {
        self.state().files.remove(path);
    }

    /// Answer the next `times` requests whose path contains `path` with a status.
    pub fn fail(&self, path: &str, times: usize, status: u16) {
        self.state().failures.push(Failure { path: path.to_owned(), times, status: Some(status) });
    }

    /// Cut the connections of the next `times` requests whose path contains `path`.
    pub fn cut(&self, path: &str, times: usize) {
        self.state().failures.push(Failure { path: path.to_owned(), times, status: None });
    }

    /// What was asked so far, in order.
    pub fn requests(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    /// The index as it is generated now.
    pub fn index(&self) -> String {
        index(&self.state().charts)
    }
}

fn answer(state: &Mutex<State>, request: &Request) -> Result<Response, Cut> {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let authorization = request.headers().get(http::header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    let failure = state.failures.iter_mut().find(|f| f.times > 0 && path.contains(&f.path));
    let response = if let Some(failure) = failure {
        failure.times -= 1;
        failure.status.map(|status| plain(status, "failure injected by the testkit"))
    } else if state.basic_auth.is_some() && state.basic_auth.as_deref() != authorization {
        Some(plain(401, "authentication required"))
    } else {
        Some(content(&state, request.uri().path()))
    };
    state.asked.push(Asked {
        path,
        authorized: authorization.is_some(),
        status: response.as_ref().map_or(0, |r| r.status().as_u16()),
    });
    response.ok_or(Cut)
}

fn content(state: &State, path: &str) -> Response {
    if let Some(bytes) = state.files.get(path) {
        return plain(200, bytes.clone());
    }
    if path == "/index.yaml" {
        return plain(200, index(&state.charts));
    }
    let name = path.strip_prefix("/charts/").unwrap_or_default();
    let chart = state.charts.iter().find(|(c, _)| format!("{}-{}.tgz", c.name, c.version) == name);
    chart.map_or_else(|| plain(404, "404 page not found\n"), |(chart, _)| plain(200, chart.bytes.clone()))
}

fn index(charts: &[(Archive, String)]) -> String {
    let mut names: Vec<&str> = charts.iter().map(|(c, _)| c.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = String::from("apiVersion: v1\nentries:\n");
    for name in names {
        let _ = writeln!(text, "  {name}:");
        for (chart, digest) in charts.iter().filter(|(c, _)| c.name == name) {
            let file = format!("{}-{}.tgz", chart.name, chart.version);
            let _ = write!(
                text,
                "  - created: \"2024-01-02T03:04:05Z\"\n    digest: \"{digest}\"\n    urls:\n    - charts/{file}\n"
            );
            for line in chart.chart_yaml.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    text.push_str("generated: \"2024-01-02T03:04:05Z\"\n");
    text
}
