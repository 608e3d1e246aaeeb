//! Records and statuses that real Helm and Flux wrote: every digest is computed again, every record packed again.
//!
//! Needs HELMREL_FIXTURES, the folder with `*/N-state.json`.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::io::Read;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use helm::release::digest::{Algorithm, snapshot_digest};
use helm::release::{Release, codec};
use helm::values::digest::config_digest;
use serde_json::Value as Json;

struct Record {
    file: String,
    raw: Vec<u8>,
    release: Release,
}

/// Every state with its records, or nothing (said aloud) when the fixtures are not there.
fn states() -> Option<Vec<(Json, Vec<Record>)>> {
    let Some(folder) = std::env::var_os("HELMREL_FIXTURES").map(PathBuf::from) else {
        eprintln!("SKIPPED: HELMREL_FIXTURES is not set");
        return None;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| std::fs::read_dir(entry.unwrap().path()).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with("-state.json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no states in {}", folder.display());
    Some(files.iter().map(|file| state(file)).collect())
}

fn state(file: &std::path::Path) -> (Json, Vec<Record>) {
    let state: Json = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut records = Vec::new();
    for secret in state["secrets"].as_array().into_iter().flatten() {
        let Some(data) = secret["data"]["release"].as_str().filter(|d| d.len() >= 100) else { continue };
        let raw = STANDARD.decode(data).unwrap();
        let release = codec::decode(&raw).unwrap();
        records.push(Record { file: file.display().to_string(), raw, release });
    }
    (state, records)
}

fn unpacked(raw: &[u8]) -> Vec<u8> {
    let mut json = Vec::new();
    flate2::read::GzDecoder::new(&STANDARD.decode(raw).unwrap()[..]).read_to_end(&mut json).unwrap();
    json
}

#[test]
fn digests_are_those_of_flux() {
    let Some(states) = states() else { return };
    let mut checked = 0;
    for (state, records) in &states {
        let statuses = state["helmReleases"].as_array().into_iter().flatten().map(|h| &h["status"]);
        let snapshots: Vec<&Json> = statuses.filter_map(|s| s["history"].as_array()).flatten().collect();
        for record in records {
            let release = &record.release;
            let is_this = |s: &&&Json| s["name"] == release.name.as_str() && s["version"] == release.version;
            let Some(snapshot) = snapshots.iter().find(is_this) else { continue };
            let place = format!("{} {}.v{}", record.file, release.name, release.version);
            let oci = snapshot["ociDigest"].as_str().unwrap_or_default();
            let digest = snapshot_digest(release, oci, Algorithm::Sha256).unwrap();
            assert_eq!(digest, snapshot["digest"].as_str().unwrap(), "snapshot digest of {place}");
            let config = config_digest(&release.config, Algorithm::Sha256);
            assert_eq!(config, snapshot["configDigest"].as_str().unwrap(), "config digest of {place}");
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} records have a snapshot");
}

/// Where two texts differ, without their values: those may be secret.
fn difference(a: &Json, b: &Json) -> Option<String> {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            // When a file was packed is of no use to anyone, so we do not keep it.
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).filter(|k| !k.ends_with("modtime")).collect();
            keys.sort();
            let nothing = Json::String("(missing)".into());
            keys.iter().find_map(|key| {
                let side = |m: &serde_json::Map<String, Json>| m.get(*key).cloned().unwrap_or(nothing.clone());
                Some(format!("{key}.{}", difference(&side(a), &side(b))?))
            })
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| Some(format!("{i}.{}", difference(a, b)?)))
        }
        (Json::Number(a), Json::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if a == b => None,
        _ => Some(String::new()),
    }
}

#[test]
fn records_of_helm_survive_packing() {
    let Some(states) = states() else { return };
    for record in states.iter().flat_map(|(_, records)| records) {
        let place = format!("{} {}.v{}", record.file, record.release.name, record.release.version);
        let packed = codec::encode(&record.release).unwrap();
        let again = codec::decode(&packed).unwrap();
        let text = |r: &Release| String::from_utf8(codec::to_json(r).unwrap()).unwrap();
        assert_eq!(text(&again), text(&record.release), "{place}");
        let helms: Json = serde_json::from_slice(&unpacked(&record.raw)).unwrap();
        let ours: Json = serde_json::from_str(&text(&record.release)).unwrap();
        let found = difference(&ours, &helms);
        assert!(found.is_none(), "{place} differs at {found:?}");
    }
}
