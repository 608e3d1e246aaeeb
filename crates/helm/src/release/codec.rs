//! A release and the bytes in its Secret.
//!
//! Owns: JSON as Helm writes and reads it, gzip, base64, labels, the object's name. The surprising things: the record
//! is base64 inside a Secret whose API adds its own base64; Helm 3 writes unset times as `""`, which the times here
//! read as unset; a record may also be plain JSON without gzip.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use go_value::{Map, Value};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

pub(crate) use crate::chart::metadata::null_default;

use super::{ApplyMethod, Hook, Info, Release, Status, StoredChart};
use crate::chart::{File, Lock, Metadata};
use crate::error::Error;
use crate::values::from_json;

/// The type of the Secrets that hold records.
pub const SECRET_TYPE: &str = "helm.sh/release.v1";
/// The labels that are Helm's own.
pub const SYSTEM_LABELS: [&str; 6] = ["name", "owner", "status", "version", "createdAt", "modifiedAt"];
/// How large a record may be once unpacked. Helm has no limit; a hostile one could fill the memory.
pub const MAX_RECORD: u64 = 256 * 1024 * 1024;

/// How Go writes a time that is not set.
const GO_ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// The name of the Secret that holds a revision.
pub fn object_name(name: &str, version: i64) -> String {
    format!("sh.helm.release.v1.{name}.v{version}")
}

/// The labels of a record's object without its times: the release's own, then Helm's.
pub fn labels(release: &Release) -> BTreeMap<String, String> {
    let mut labels = release.labels.clone();
    labels.insert("name".into(), release.name.clone());
    labels.insert("owner".into(), "helm".into());
    labels.insert("status".into(), release.info.status.as_str().into());
    labels.insert("version".into(), release.version.to_string());
    labels
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) fn is_zero(n: &i64) -> bool {
    *n == 0
}

/// A time as stored; Go's zero time and null are unset.
pub(super) fn time_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    Ok(if text.starts_with("0001-01-01T00:00:00") { String::new() } else { text })
}

/// A time that is only kept; one that cannot be read is as good as none.
fn time_in<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    Ok(time_text(deserializer)?.parse().ok())
}

#[derive(Serialize, Deserialize)]
struct FileRecord {
    #[serde(default)]
    name: String,
    #[serde(default)]
    data: Option<String>,
    #[serde(default, deserialize_with = "time_in", skip_serializing_if = "Option::is_none")]
    modtime: Option<Timestamp>,
}

#[derive(Serialize)]
struct ChartOut<'a> {
    metadata: &'a Metadata,
    lock: Option<&'a Lock>,
    templates: Option<Vec<FileRecord>>,
    values: Box<serde_json::value::RawValue>,
    schema: Option<String>,
    schemamodtime: String,
    files: Option<Vec<FileRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modtime: Option<Timestamp>,
}

#[derive(Serialize)]
struct ReleaseOut<'a> {
    name: &'a str,
    info: &'a Info,
    chart: ChartOut<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Box<serde_json::value::RawValue>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    manifest: &'a str,
    #[serde(skip_serializing_if = "<[Hook]>::is_empty")]
    hooks: &'a [Hook],
    version: i64,
    namespace: &'a str,
    apply_method: &'static str,
}

fn files_out(files: &[File]) -> Option<Vec<FileRecord>> {
    let out =
        |f: &File| FileRecord { name: f.name.to_string(), data: Some(STANDARD.encode(&f.data)), modtime: f.modified };
    (!files.is_empty()).then(|| files.iter().map(out).collect())
}

fn raw_values(values: &Map) -> Result<Box<serde_json::value::RawValue>, Error> {
    let text = go_value::json::encode(&Value::Map(values.clone())).map_err(Error::Record)?;
    serde_json::value::RawValue::from_string(text).map_err(|e| Error::Record(e.to_string()))
}

/// The record's JSON, as Helm 4 writes it.
///
/// # Errors
/// Values that JSON cannot hold.
pub fn to_json(release: &Release) -> Result<Vec<u8>, Error> {
    let chart = &release.chart;
    let out = ReleaseOut {
        name: &release.name,
        info: &release.info,
        chart: ChartOut {
            metadata: &chart.metadata,
            lock: chart.lock.as_ref(),
            templates: files_out(&chart.templates),
            values: raw_values(&chart.values)?,
            schema: chart.schema.as_ref().map(|s| STANDARD.encode(s)),
            schemamodtime: chart.schema_modified.map_or_else(|| GO_ZERO_TIME.to_owned(), |t| t.to_string()),
            files: files_out(&chart.files),
            modtime: chart.modified,
        },
        config: if release.config.is_empty() { None } else { Some(raw_values(&release.config)?) },
        manifest: &release.manifest,
        hooks: &release.hooks,
        version: release.version,
        namespace: &release.namespace,
        apply_method: match release.apply_method {
            ApplyMethod::ServerSide => "ssa",
            ApplyMethod::ClientSide => "csa",
        },
    };
    serde_json::to_vec(&out).map_err(|e| Error::Record(e.to_string()))
}

/// The value of the key `release` in a record's Secret (before the API's own base64).
///
/// # Errors
/// As [`to_json`].
pub fn encode(release: &Release) -> Result<Vec<u8>, Error> {
    let packed = gzip(&to_json(release)?, Compression::best()).map_err(|e| Error::Record(e.to_string()))?;
    Ok(STANDARD.encode(packed).into_bytes())
}

pub(super) fn gzip(bytes: &[u8], level: Compression) -> std::io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    gzip.write_all(bytes)?;
    gzip.finish()
}

#[derive(Deserialize)]
struct ChartIn {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    lock: Option<Lock>,
    #[serde(default)]
    templates: Option<Vec<Option<FileRecord>>>,
    #[serde(default)]
    values: Option<Json>,
    #[serde(default)]
    schema: Option<String>,
    #[serde(default, deserialize_with = "time_in")]
    schemamodtime: Option<Timestamp>,
    #[serde(default)]
    files: Option<Vec<Option<FileRecord>>>,
    #[serde(default, deserialize_with = "time_in")]
    modtime: Option<Timestamp>,
}

#[derive(Deserialize)]
struct ReleaseIn {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    version: f64,
    info: Option<Info>,
    #[serde(default)]
    chart: Option<ChartIn>,
    #[serde(default)]
    config: Option<Json>,
    #[serde(default)]
    manifest: String,
    #[serde(default)]
    hooks: Option<Vec<Hook>>,
    #[serde(default)]
    apply_method: Option<String>,
}

fn record_error(text: impl std::fmt::Display) -> Error {
    Error::Record(format!("failed to decode release record: {text}"))
}

fn decode_base64(text: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(text.trim_ascii()).map_err(record_error)
}

fn files_in(files: Option<Vec<Option<FileRecord>>>) -> Result<Vec<File>, Error> {
    files
        .unwrap_or_default()
        .into_iter()
        .flatten()
        .map(|f| {
            let data = decode_base64(&f.data.unwrap_or_default())?.into();
            Ok(File { name: f.name.into(), data, modified: f.modtime })
        })
        .collect()
}

fn values_in(json: Option<&Json>) -> Result<Map, Error> {
    match json.map(from_json) {
        None | Some(Value::Nil) => Ok(Map::new()),
        Some(Value::Map(map)) => Ok(map),
        Some(_) => Err(record_error("values are not an object")),
    }
}

/// Decode a record from the value of its Secret's key `release`.
///
/// # Errors
/// Not base64, not gzip, not a release, more than [`MAX_RECORD`] bytes.
pub fn decode(data: &[u8]) -> Result<Release, Error> {
    let packed = STANDARD.decode(data.trim_ascii()).map_err(record_error)?;
    if packed.len() > 3 && packed.starts_with(b"\x1f\x8b\x08") {
        let mut json = Vec::new();
        GzDecoder::new(&packed[..]).take(MAX_RECORD + 1).read_to_end(&mut json).map_err(record_error)?;
        if json.len() as u64 > MAX_RECORD {
            return Err(record_error(format!("it is larger than {MAX_RECORD} bytes")));
        }
        from_json_bytes(&json)
    } else {
        from_json_bytes(&packed)
    }
}

/// Decode a record's JSON.
///
/// # Errors
/// Not a release.
pub fn from_json_bytes(json: &[u8]) -> Result<Release, Error> {
    let release: ReleaseIn = serde_json::from_slice(json).map_err(record_error)?;
    let info = release.info.ok_or_else(|| record_error("it has no info"))?;
    let chart = match release.chart {
        None => StoredChart::default(),
        Some(chart) => StoredChart {
            metadata: chart.metadata,
            lock: chart.lock,
            templates: files_in(chart.templates)?,
            values: values_in(chart.values.as_ref())?,
            schema: chart.schema.map(|s| decode_base64(&s)).transpose()?.map(Into::into),
            files: files_in(chart.files)?,
            modified: chart.modtime,
            schema_modified: chart.schemamodtime,
        },
    };
    Ok(Release {
        name: release.name,
        namespace: release.namespace,
        version: release.version as i64,
        info,
        chart,
        config: values_in(release.config.as_ref())?,
        manifest: release.manifest,
        hooks: release.hooks.unwrap_or_default(),
        apply_method: match release.apply_method.as_deref() {
            Some("ssa") => ApplyMethod::ServerSide,
            _ => ApplyMethod::ClientSide,
        },
        labels: BTreeMap::new(),
    })
}

/// Labels of a record's object that are the user's, not Helm's.
pub fn user_labels(labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    labels.iter().filter(|(k, _)| !SYSTEM_LABELS.contains(&k.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// The status that a record's label gives, for queries that need no decoding.
pub fn label_status(labels: &BTreeMap<String, String>) -> Status {
    labels.get("status").and_then(|s| serde_json::from_value(Json::String(s.clone())).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::load_values;

    fn sample() -> Release {
        Release {
            name: "r".into(),
            namespace: "n".into(),
            version: 2,
            info: Info {
                first_deployed: "2026-01-02T03:04:05.000000006Z".into(),
                status: Status::PendingUpgrade,
                ..Info::default()
            },
            config: load_values(b"a: 1\nb: <x>\nc: null\nd: 1.5").unwrap(),
            manifest: "---\n# Source: c/templates/a.yaml\nkind: A\n".into(),
            apply_method: ApplyMethod::ServerSide,
            ..Release::default()
        }
    }

    #[test]
    fn round_trip() {
        let release = sample();
        let back = decode(&encode(&release).unwrap()).unwrap();
        assert_eq!(back.info, release.info);
        assert_eq!(back.manifest, release.manifest);
        assert_eq!(to_json(&back).unwrap(), to_json(&release).unwrap());
        let text = String::from_utf8(to_json(&release).unwrap()).unwrap();
        assert!(text.contains(r#""config":{"a":1,"b":"\u003cx\u003e","c":null,"d":1.5}"#), "{text}");
        assert!(text.contains(r#""apply_method":"ssa""#), "{text}");
    }

    /// Not all readers of JSON do that with all floats.
    #[test]
    fn numbers_are_kept() {
        const NUMBER: &str = "44444444444440000000000000000000000000000000000000001602514338";
        let release = from_json_bytes(
            format!(r#"{{"name":"r","info":{{"status":"deployed"}},"config":{{"a":{NUMBER}}}}}"#).as_bytes(),
        )
        .unwrap();
        let Some(Value::Float(_, a)) = release.config.get("a") else { panic!("{:?}", release.config) };
        assert_eq!(a.to_bits(), NUMBER.parse::<f64>().unwrap().to_bits());
    }

    #[test]
    fn helm_3_records() {
        let json = br#"{"name":"r","info":{"first_deployed":"2020-01-01T00:00:00Z","last_deployed":"","deleted":"","status":"deployed"},
            "chart":{"metadata":{"name":"c","version":"1"},"lock":null,"templates":null,"values":null,"schema":null,"files":null},
            "hooks":[{"name":"h","events":["post-install"],"last_run":{"started_at":"","completed_at":"","phase":""}}],
            "version":1.0,"namespace":"n"}"#;
        let release = from_json_bytes(json).unwrap();
        assert_eq!(release.info.status, Status::Deployed);
        assert_eq!(release.info.deleted, "");
        assert_eq!(release.apply_method, ApplyMethod::ClientSide);
        let plain = STANDARD.encode(json);
        assert_eq!(decode(plain.as_bytes()).unwrap().version, 1);
    }

    #[test]
    fn broken_records_are_refused() {
        for bad in [&b"!"[..], b"", b"e30=", STANDARD.encode(b"\x1f\x8b\x08broken").as_bytes()] {
            assert!(decode(bad).is_err());
        }
    }
}
