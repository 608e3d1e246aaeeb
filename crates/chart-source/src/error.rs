//! What can go wrong between a reference and a chart.
//!
//! Owns: one variant per failed step, so that a caller can choose a condition's reason. Does not own: the reasons.
//! The surprising thing: a variant's text is Flux's or Helm's own where they have one; what a condition puts before it
//! (`chart pull error: `) is the caller's.

/// A failed step on the way from a reference to a chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of a repository, chart or artifact cannot be used.
    #[error("{reason}")]
    InvalidUrl {
        /// The address without credentials in it.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Credentials or certificates that were handed in are malformed. A server's refusal is [`Error::Fetch`].
    #[error("{0}")]
    Auth(String),
    /// A client with these settings cannot be made.
    #[error("failed to construct an HTTP client")]
    Client(#[source] reqwest::Error),
    /// The server answered with another status than success.
    #[error("failed to fetch {url} : {status}")]
    Fetch {
        /// What was asked for.
        url: String,
        /// Code and name, as in `404 Not Found`.
        status: http::StatusCode,
    },
    /// There was no answer, or it broke off.
    #[error("failed to fetch {url}")]
    Connect {
        /// What was asked for.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// What came is larger than allowed.
    #[error("{what} exceeds the maximum {} of {limit} bytes", if *what == "index" { "index file size" } else { "size" })]
    TooLarge {
        /// `index`, `chart`, `artifact`, …
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// `index.yaml` is not an index.
    #[error("failed to load index: {0}")]
    IndexLoad(String),
    /// The index has no chart of this name.
    #[error("no chart name found")]
    NoSuchChart,
    /// No version of the chart is wanted.
    #[error("no '{chart}' chart with version matching '{version}' found")]
    NoSuchVersion {
        /// The chart's name.
        chart: String,
        /// The version or constraint asked for.
        version: String,
    },
    /// A version constraint does not parse.
    #[error("{0}")]
    Constraint(String),
    /// No tag of an OCI repository is wanted; Flux's or Helm's text.
    #[error("{0}")]
    NoSuchTag(String),
    /// An OCI manifest is not what it should be, or lacks the layer.
    #[error("{0}")]
    Layer(String),
    /// The bytes are not those that the digest names.
    #[error("integrity failure: computed digest doesn't match '{0}'")]
    Integrity(String),
    /// An artifact is gone: its server says 404.
    #[error("artifact not found")]
    ArtifactNotFound,
    /// The index lists the chart without an address.
    #[error("chart '{0}' has no downloadable URLs")]
    NoUrl(String),
    /// The archive is no chart.
    #[error(transparent)]
    Chart(#[from] helm::error::Error),
    /// The cache's directory cannot be written.
    #[error("failed to store an archive in the cache")]
    Store(#[source] std::io::Error),
}

impl Error {
    /// A fixed word for metrics.
    pub fn category(&self) -> &'static str {
        match self {
            Self::InvalidUrl { .. } => "invalid-url",
            Self::Auth(_) => "auth",
            Self::Client(_) => "client",
            Self::Fetch { .. } | Self::Connect { .. } => "fetch",
            Self::TooLarge { .. } => "too-large",
            Self::IndexLoad(_) => "index",
            Self::NoSuchChart | Self::NoSuchVersion { .. } | Self::Constraint(_) | Self::NoSuchTag(_) => "version",
            Self::Layer(_) => "layer",
            Self::Integrity(_) => "integrity",
            Self::ArtifactNotFound => "not-found",
            Self::NoUrl(_) => "no-url",
            Self::Chart(_) => "chart",
            Self::Store(_) => "store",
        }
    }

    /// The HTTP status, where a server gave one.
    pub fn status(&self) -> Option<http::StatusCode> {
        match self {
            Self::Fetch { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Did the server take longer than the settings allow? Then asking again at once only doubles the wait.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Connect { source, .. } if source.is_timeout())
    }

    /// Might the same request succeed later without anyone changing anything?
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::ArtifactNotFound => true,
            Self::Fetch { status, .. } => status.is_server_error() || status.as_u16() == 429,
            _ => false,
        }
    }
}
