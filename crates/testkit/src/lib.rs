//! Real programs for tests: a control plane, a simulated kubelet, a chart repository, a registry, a counting proxy.
//!
//! Owns: starting and stopping what tests talk to, and builders for what they feed it. Does not own: any fake of the
//! API server; there is none, because a fake would hide defaulting, managed fields and garbage collection.
//! The surprising thing: everything that listens runs on one runtime of this crate, not on the test's, so that an
//! instance shared by many `#[tokio::test]` functions outlives the first of them.

use std::future::Future;
use std::sync::OnceLock;

pub mod charts;
pub mod control_plane;
pub mod kubelet_logs;
pub mod pods;
pub mod proxy;
pub mod registry;
pub mod repo;
mod serve;

pub use charts::{Archive, ChartBuilder};
pub use control_plane::{ControlPlane, Options};
pub use proxy::Proxy;
pub use registry::Registry;
pub use repo::ChartRepo;

/// The runtime on which this crate's servers and simulations run, for the whole life of the process.
fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        install_crypto();
        #[allow(clippy::expect_used)] // A process that cannot start a thread cannot run a test either.
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("testkit")
            .enable_all()
            .build()
            .expect("a runtime for the testkit")
    })
}

/// Run a future on the testkit's runtime and wait for it from whatever runtime the caller is on.
///
/// # Errors
/// The future's own error, or its panic.
async fn on_runtime<T: Send + 'static>(
    work: impl Future<Output = anyhow::Result<T>> + Send + 'static,
) -> anyhow::Result<T> {
    match runtime().spawn(work).await {
        Ok(result) => result,
        Err(join) => Err(anyhow::anyhow!("a testkit task ended: {join}")),
    }
}

/// A task on the testkit's runtime that ends when this is dropped.
pub(crate) struct Task(tokio::task::JoinHandle<()>);

impl Task {
    pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(runtime().spawn(work))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Make ring the process's crypto provider. Harmless when one is installed already.
pub fn install_crypto() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A loopback port that is free, and that nobody else gets meanwhile: it is below those that the kernel gives to outgoing
/// connections, and this process gives none twice before it has been through them all.
///
/// # Errors
/// None is free.
pub fn free_port() -> anyhow::Result<u16> {
    use std::sync::atomic::{AtomicU32, Ordering};
    const FIRST: u32 = 12_000;
    const COUNT: u32 = 20_000;
    // Processes that run at the same time begin at different places.
    static NEXT: std::sync::LazyLock<AtomicU32> =
        std::sync::LazyLock::new(|| AtomicU32::new(std::process::id().wrapping_mul(7_919)));
    for _ in 0..COUNT {
        let port = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = u16::try_from(port)?;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no port between {FIRST} and {} is free", FIRST + COUNT)
}
