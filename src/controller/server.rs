//! What the controller serves: artifacts, metrics, health.
//!
//! Owns: three small HTTP/1 servers. The surprising thing: artifacts are served to whoever asks, as source-controller
//! does; the network policy of the install set is what keeps strangers out.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::metrics::Metrics;
use crate::sources::Storage;

/// What a server answers.
#[derive(Clone)]
pub enum Site {
    /// Files of artifacts.
    Artifacts(Storage),
    /// `/metrics`
    Metrics(Arc<Metrics>),
    /// `/healthz`, and `/readyz` once the caches are filled.
    Health(Arc<AtomicBool>),
}

/// Bind and serve until the process ends. Gives the address that was bound.
///
/// # Errors
/// The address is taken.
pub async fn serve(address: SocketAddr, site: Site) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let site = site.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let site = site.clone();
                    async move { Ok::<_, Infallible>(answer(&request, &site).await) }
                });
                if let Err(e) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
                    tracing::debug!(error = %e, "a connection broke");
                }
            });
        }
    });
    Ok(bound)
}

async fn answer(request: &Request<Incoming>, site: &Site) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
    }
    let path = request.uri().path();
    match (site, path) {
        (Site::Health(_), "/healthz") => plain(StatusCode::OK, "ok\n"),
        (Site::Health(ready), "/readyz") if ready.load(Ordering::Acquire) => plain(StatusCode::OK, "ok\n"),
        (Site::Health(_), "/readyz") => plain(StatusCode::SERVICE_UNAVAILABLE, "the caches are being filled\n"),
        (Site::Metrics(metrics), "/metrics") => {
            let mut response = plain(StatusCode::OK, metrics.text());
            let kind = http::HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
            response
        }
        (Site::Artifacts(_), "/") => plain(StatusCode::OK, "artifacts\n"),
        (Site::Artifacts(storage), path) => match storage.read(path.trim_start_matches('/')).await {
            Ok(bytes) => Response::new(Full::new(bytes.into())),
            Err(_) => plain(StatusCode::NOT_FOUND, "not found\n"),
        },
        _ => plain(StatusCode::NOT_FOUND, "not found\n"),
    }
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response
}
