//! The digest by which Flux recognises a release as its own.
//!
//! Owns: the canonical JSON of a release and its hash (FLUX status `history[].digest`). The surprising things: the
//! object's key order is that of Go's struct, hooks of the event `test` are left out, and a byte that differs makes
//! every release count as foreign, so the text is Go's `encoding/json` to the letter.

use std::fmt::Write as _;

use go_value::Value;
use serde::Serialize;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::{Hook, HookEvent, Info, Release};
use crate::chart::Metadata;
use crate::error::Error;

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// A hash algorithm for digests, named as in `algo:hex`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The default.
    #[default]
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Algorithm {
    /// The algorithm of a digest `algo:hex`.
    pub fn of(digest: &str) -> Option<Self> {
        match digest.split_once(':')?.0 {
            "sha256" => Some(Self::Sha256),
            "sha384" => Some(Self::Sha384),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    /// The digest of `bytes` as `algo:hex`.
    pub fn digest(self, bytes: &[u8]) -> String {
        match self {
            Self::Sha256 => format!("sha256:{}", hex(&Sha256::digest(bytes))),
            Self::Sha384 => format!("sha384:{}", hex(&Sha384::digest(bytes))),
            Self::Sha512 => format!("sha512:{}", hex(&Sha512::digest(bytes))),
        }
    }
}

#[derive(Serialize)]
struct Canonical<'a> {
    name: &'a str,
    version: i64,
    info: &'a Info,
    #[serde(rename = "chartMetadata")]
    metadata: &'a Metadata,
    config: Option<Box<serde_json::value::RawValue>>,
    manifest: &'a str,
    hooks: Option<Vec<&'a Hook>>,
    namespace: &'a str,
    #[serde(rename = "ociDigest", skip_serializing_if = "str::is_empty")]
    oci_digest: &'a str,
}

/// The snapshot digest of a release; `oci_digest` is the one its snapshot carries, or empty.
///
/// # Errors
/// Values that JSON cannot hold.
pub fn snapshot_digest(release: &Release, oci_digest: &str, algorithm: Algorithm) -> Result<String, Error> {
    Ok(algorithm.digest(canonical_json(release, oci_digest)?.as_bytes()))
}

/// The text that [`snapshot_digest`] hashes.
///
/// # Errors
/// Values that JSON cannot hold.
pub fn canonical_json(release: &Release, oci_digest: &str) -> Result<String, Error> {
    let config = if release.config.is_empty() {
        None
    } else {
        let text = go_value::json::encode(&Value::Map(release.config.clone())).map_err(Error::Record)?;
        Some(serde_json::value::RawValue::from_string(text).map_err(|e| Error::Record(e.to_string()))?)
    };
    let hooks: Vec<&Hook> = release.hooks.iter().filter(|h| !h.runs_at(HookEvent::Test)).collect();
    let canonical = Canonical {
        name: &release.name,
        version: release.version,
        info: &release.info,
        metadata: &release.chart.metadata,
        config,
        manifest: &release.manifest,
        hooks: (!hooks.is_empty()).then_some(hooks),
        namespace: &release.namespace,
        oci_digest,
    };
    let text = serde_json::to_string(&canonical).map_err(|e| Error::Record(e.to_string()))?;
    Ok(format!("{}\n", go_escape(&text)))
}

/// Go's HTML-safe escapes. The characters occur in JSON only inside strings.
pub fn go_escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}
