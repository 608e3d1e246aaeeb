//! A proxy before the API server that counts what the process under test asks, and can make it fail.
//!
//! Owns: passing every request on as the admin (impersonation headers included), the counts, the log, the faults.
//! Does not own: judging requests ([`classify()`] only names them).
//! The surprising thing: the client's side is plain HTTP without authentication, so the caller is always the admin;
//! who needs another identity impersonates it, as the product does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use serde_json::Value;

use crate::ControlPlane;
use crate::serve::{Cut, Request, Response, Server, full, plain};

mod classify;

pub use classify::{Kind, classify};

/// One request that came through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The status that the client got; 0 when the connection was cut.
    pub status: u16,
    /// What it asks for.
    pub kind: Kind,
    /// The namespace in the path.
    pub namespace: Option<String>,
    /// The object's name in the path.
    pub name: Option<String>,
    /// The user in `Impersonate-User`.
    pub impersonated: Option<String>,
    /// The request's body.
    pub body: Bytes,
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.method, self.path, self.status)
    }
}

/// What happens to a request that a [`Fault`] hits.
#[derive(Clone, Debug)]
pub enum Action {
    /// Answer with this status and body; the API server never sees the request.
    Status(u16, Value),
    /// Cut the connection before the API server sees the request.
    Cut,
    /// Let the API server act, then cut the connection: the client does not learn what happened.
    CutAfter,
    /// Wait, then pass the request on.
    Delay(Duration),
}

/// A rule: which requests, which of them, and what happens.
#[derive(Clone, Debug)]
pub struct Fault {
    verb: Option<String>,
    path: Option<String>,
    skip: usize,
    times: usize,
    action: Action,
}

impl Fault {
    /// Hits every request until narrowed down.
    pub fn new(action: Action) -> Self {
        Self { verb: None, path: None, skip: 0, times: usize::MAX, action }
    }

    /// An answer as the API server words it: a `Status` object with this code and reason, e.g. `TooManyRequests`.
    pub fn status(code: u16, reason: &str) -> Self {
        Self::new(Action::Status(
            code,
            serde_json::json!({
                "apiVersion": "v1", "kind": "Status", "status": "Failure", "metadata": {},
                "reason": reason, "code": code, "message": format!("{reason}: fault injected by the testkit"),
            }),
        ))
    }

    /// Only requests of this verb, as [`Kind::verb`] has it.
    pub fn on_verb(mut self, verb: &str) -> Self {
        self.verb = Some(verb.to_owned());
        self
    }

    /// Only requests whose path and query contain this.
    pub fn on_path(mut self, part: &str) -> Self {
        self.path = Some(part.to_owned());
        self
    }

    /// Let the first `n` of them through.
    pub fn after(mut self, n: usize) -> Self {
        self.skip = n;
        self
    }

    /// Hit `n` of them, then no more.
    pub fn times(mut self, n: usize) -> Self {
        self.times = n;
        self
    }
}

#[derive(Default)]
struct State {
    log: Vec<Entry>,
    faults: Vec<Fault>,
}

/// A running proxy; ends when dropped.
pub struct Proxy {
    state: Arc<Mutex<State>>,
    server: Server,
}

impl Proxy {
    /// Start a proxy before `plane`.
    ///
    /// # Errors
    /// No port, or no client for the API server.
    pub async fn start(plane: &ControlPlane) -> Result<Self> {
        let mut config = plane.config().await?;
        // What the server sends is passed on as it is.
        config.disable_compression = true;
        // The client's tasks must live on our runtime, not on the calling test's.
        let upstream = crate::on_runtime(async move { Ok(kube::Client::try_from(config)?) }).await?;
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        let server = Server::start(None, move |request| {
            let (upstream, state) = (upstream.clone(), shared.clone());
            async move { pass(&upstream, &state, request).await }
        })?;
        Ok(Self { state, server })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The address, `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port)
    }

    /// A kubeconfig for the process under test.
    pub fn kubeconfig(&self) -> String {
        crate::control_plane::kubeconfig(&self.url(), None, None)
    }

    /// A client configuration for the process under test, without retries.
    ///
    /// # Errors
    /// None that a test can cause.
    pub async fn config(&self) -> Result<kube::Config> {
        crate::control_plane::config_of(&self.kubeconfig()).await
    }

    /// A client for the calling test's runtime.
    ///
    /// # Errors
    /// None that a test can cause.
    pub async fn client(&self) -> Result<kube::Client> {
        Ok(kube::Client::try_from(self.config().await?)?)
    }

    /// How many requests of each kind came since the start or the last [`Proxy::reset`].
    pub fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for entry in &self.state().log {
            *counts.entry(entry.kind.clone()).or_default() += 1;
        }
        counts
    }

    /// All requests, in the order in which they were answered.
    pub fn log(&self) -> Vec<Entry> {
        self.state().log.clone()
    }

    /// Forget requests; faults stay.
    pub fn reset(&self) {
        self.state().log.clear();
    }

    /// Add a rule. The first that hits a request decides.
    pub fn inject(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// Remove all rules.
    pub fn heal(&self) {
        self.state().faults.clear();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The action of the first rule that hits, with its counters moved on.
fn fault(state: &Mutex<State>, kind: &Kind, path: &str) -> Option<Action> {
    for fault in &mut lock(state).faults {
        let hits = fault.verb.as_ref().is_none_or(|v| *v == kind.verb)
            && fault.path.as_ref().is_none_or(|p| path.contains(p.as_str()));
        if !hits || fault.times == 0 {
            continue;
        }
        if fault.skip > 0 {
            fault.skip -= 1;
            continue;
        }
        fault.times -= 1;
        return Some(fault.action.clone());
    }
    None
}

async fn pass(upstream: &kube::Client, state: &Mutex<State>, request: Request) -> Result<Response, Cut> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let header = |name: &str| parts.headers.get(name).and_then(|v| v.to_str().ok());
    let (kind, namespace, name) = classify(parts.method.as_str(), &path, header("content-type").unwrap_or_default());
    let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    let mut entry = Entry {
        method: parts.method.to_string(),
        path: path.clone(),
        status: 0,
        kind,
        namespace,
        name,
        impersonated: header("impersonate-user").map(str::to_owned),
        body: body.clone(),
    };
    let action = fault(state, &entry.kind, &path);
    match &action {
        Some(Action::Status(code, value)) => {
            entry.status = *code;
            lock(state).log.push(entry);
            let mut response = plain(*code, value.to_string());
            response
                .headers_mut()
                .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
            return Ok(response);
        }
        Some(Action::Cut) => {
            lock(state).log.push(entry);
            return Err(Cut);
        }
        Some(Action::Delay(time)) => tokio::time::sleep(*time).await,
        Some(Action::CutAfter) | None => {}
    }
    parts.headers.remove(http::header::HOST);
    parts.headers.remove(http::header::CONNECTION);
    parts.uri = path.parse().map_err(|_| Cut)?;
    let mut outgoing = http::Request::new(kube::client::Body::from(body));
    *outgoing.method_mut() = parts.method;
    *outgoing.uri_mut() = parts.uri;
    *outgoing.headers_mut() = parts.headers;
    let answer = match upstream.send(outgoing).await {
        Ok(answer) => answer.map(|b| b.map_err(Into::into).boxed_unsync()),
        Err(error) => {
            let mut answer = http::Response::new(full(format!("the API server does not answer: {error}")));
            *answer.status_mut() = http::StatusCode::BAD_GATEWAY;
            answer
        }
    };
    let cut = matches!(action, Some(Action::CutAfter));
    entry.status = if cut { 0 } else { answer.status().as_u16() };
    lock(state).log.push(entry);
    if cut { Err(Cut) } else { Ok(answer) }
}
