//! The controller's flags. Those that helm-controller and source-controller have keep their names and defaults.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use helm::HelmProfile;

use crate::render_limits::LimitsArgs;

/// Where charts come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SourcesMode {
    /// External while a source-controller holds its lease, else built in.
    #[default]
    Auto,
    /// Reconcile sources ourselves; refuses to start beside a source-controller.
    Builtin,
    /// Use the artifacts of a source-controller.
    External,
}

/// Run the controller.
#[derive(Clone, Debug, clap::Args)]
pub struct ControllerArgs {
    /// A kubeconfig file; in a cluster the Pod's own credentials are used
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// How many releases are worked on at once
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub concurrent: usize,
    /// Only watch this namespace
    #[arg(long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Where charts come from
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub sources: SourcesMode,
    /// The folder of artifacts
    #[arg(long, env = "STORAGE_PATH", default_value = "/data", value_name = "FOLDER")]
    pub storage_path: PathBuf,
    /// Where artifacts are served
    #[arg(long, env = "STORAGE_ADDRESS", default_value = "0.0.0.0:9090", value_name = "ADDRESS")]
    pub storage_addr: SocketAddr,
    /// The address of artifacts as others see it; that of storage-addr when not given
    #[arg(long, env = "STORAGE_ADV_ADDR", value_name = "ADDRESS")]
    pub storage_adv_addr: Option<String>,
    /// Where /metrics is served
    #[arg(long, env = "METRICS_ADDR", default_value = "0.0.0.0:8080", value_name = "ADDRESS")]
    pub metrics_addr: SocketAddr,
    /// Where /healthz and /readyz are served
    #[arg(long, env = "HEALTH_ADDR", default_value = "0.0.0.0:9440", value_name = "ADDRESS")]
    pub health_addr: SocketAddr,
    /// The pause before a dependency or source that is not ready is asked again
    #[arg(long, default_value = "30s", value_parser = duration, value_name = "DURATION")]
    pub requeue_dependency: Duration,
    /// The pause after a first failure; doubles with each
    #[arg(long, default_value = "750ms", value_parser = duration, value_name = "DURATION")]
    pub min_retry_delay: Duration,
    /// The longest pause after failures
    #[arg(long, default_value = "15m", value_parser = duration, value_name = "DURATION")]
    pub max_retry_delay: Duration,
    /// How long running actions may go on after a signal to stop
    #[arg(long, default_value = "10m", value_parser = duration, value_name = "DURATION")]
    pub graceful_shutdown_timeout: Duration,
    /// The ServiceAccount of releases that name none
    #[arg(long, value_name = "NAME")]
    pub default_service_account: Option<String>,
    /// Forbid references to other namespaces
    #[arg(long)]
    pub no_cross_namespace_refs: bool,
    /// Let templates ask DNS
    #[arg(long)]
    pub allow_dns_lookups: bool,
    /// How far templates may go.
    #[command(flatten)]
    pub limits: LimitsArgs,
    /// Whose Helm's rules hold where a release says nothing: 4.3 or 4.1
    #[arg(long, default_value_t = HelmProfile::default(), value_name = "VERSION")]
    pub helm_profile: HelmProfile,
    /// The host and port that artifacts of a source-controller are fetched from, in place of their own
    #[arg(long, env = "SOURCE_CONTROLLER_LOCALHOST", value_name = "HOST")]
    pub source_controller_localhost: Option<String>,
    /// The least severe log lines: trace, debug, info, warn or error
    #[arg(long, env = "LOG_LEVEL", default_value = "info", value_name = "LEVEL")]
    pub log_level: String,
    /// How log lines look
    #[arg(long, value_enum, default_value_t = LogEncoding::Json, value_name = "FORM")]
    pub log_encoding: LogEncoding,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogEncoding {
    /// One JSON object a line.
    #[default]
    Json,
    /// For people.
    Console,
}

fn duration(text: &str) -> Result<Duration, String> {
    flux_api::meta::Duration::parse(text).map(|d| d.as_std())
}
