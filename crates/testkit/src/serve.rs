//! An HTTP server on a free loopback port, with or without TLS.
//!
//! Owns: listening, TLS, ending with its value. Does not own: what is answered.
//! The surprising thing: a handler's error cuts the connection, which is how faults are injected.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use anyhow::{Context, Result};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::Task;
use crate::control_plane::pki::Identity;

/// A response's body.
pub(crate) type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;
/// What a handler gets.
pub(crate) type Request = http::Request<Incoming>;
/// What a handler gives.
pub(crate) type Response = http::Response<Body>;

/// The handler gave no response: cut the connection.
#[derive(Debug)]
pub(crate) struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("connection cut by the testkit")
    }
}

impl std::error::Error for Cut {}

/// A body of these bytes.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A response of a status and a text.
pub(crate) fn plain(status: u16, text: impl Into<Bytes>) -> Response {
    let mut response = http::Response::new(full(text));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// A running server; ends, connections included, when dropped.
pub(crate) struct Server {
    /// The port it listens on.
    pub(crate) port: u16,
    _task: Task,
}

impl Server {
    /// Listen and answer with `handler`.
    pub(crate) fn start<H, F>(tls: Option<&Identity>, handler: H) -> Result<Self>
    where
        H: Fn(Request) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Response, Cut>> + Send + 'static,
    {
        crate::install_crypto();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let acceptor = tls.map(acceptor).transpose()?;
        let handler = Arc::new(handler);
        let task = Task::spawn(async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let Ok((stream, _)) = accepted else { continue };
                        let _ = stream.set_nodelay(true);
                        let (acceptor, handler) = (acceptor.clone(), handler.clone());
                        connections.spawn(async move {
                            let service = service_fn(move |request| handler(request));
                            let builder = auto::Builder::new(TokioExecutor::new());
                            // A connection that ends early is the other side's business.
                            let _ = match acceptor {
                                Some(acceptor) => match acceptor.accept(stream).await {
                                    Ok(stream) => builder.serve_connection(TokioIo::new(stream), service).await,
                                    Err(_) => return,
                                },
                                None => builder.serve_connection(TokioIo::new(stream), service).await,
                            };
                        });
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { port, _task: task })
    }
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor> {
    let cert = CertificateDer::from_pem_slice(identity.cert.as_bytes()).context("a server certificate")?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).context("a server key")?;
    let mut config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(vec![cert], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
