//! Our answer to a case: what `helmrel template r CHART -n demo --kube-version 1.35.0 --values -` prints.
//!
//! Owns: the way from files in memory to printed text or the text of the error, in process. Does not own: Helm's answer
//! (hack/fuzz-diff/main.go takes the same steps through Helm's packages). Used by the fuzzer and by tests/fuzz.rs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use helm::chart::File;
use helm::chart::files::load_files;
use helm::engine::{Capabilities, Environment, KubeVersion, ReleaseOptions};
use helm::render::{RenderOptions, execute, prepare, settle};
use helm::{HelmProfile, manifest, values};
use jiff::Timestamp;
use sprig::FixedHost;

/// What was printed, or the error.
pub type Answer = Result<Vec<u8>, String>;

/// The files of a chart, and the text of the user's values.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Render. A panic is an answer too, which Helm never gives.
pub fn answer(files: &Files, user: &[u8]) -> Answer {
    catch_unwind(AssertUnwindSafe(|| template(files, user))).unwrap_or_else(|_| Err("our engine panicked".into()))
}

fn template(files: &Files, user: &[u8]) -> Answer {
    let profile = HelmProfile::default();
    let user = values::load_values(user).map_err(|e| format!("failed to parse -: {e}"))?;
    let files = files
        .iter()
        .map(|(name, data)| File { name: name.as_str().into(), data: Bytes::from(data.clone()), modified: None })
        .collect();
    let chart = load_files(files).map_err(|e| e.to_string())?;
    let options = RenderOptions {
        release: ReleaseOptions { name: "r".into(), namespace: "demo".into(), revision: 1, is_upgrade: false },
        capabilities: Arc::new(Capabilities::offline(profile, Some(KubeVersion::parse("1.35.0")?), &[])),
        profile,
        environment: Environment::offline(Arc::new(FixedHost::new(Timestamp::now(), 1))),
        skip_schema_validation: false,
        remote_schemas: None,
        sub_notes: false,
    };
    let settled = settle(&chart, &user, profile).map_err(|e| e.to_string())?;
    let prepared = prepare(settled, &user, &options).map_err(|e| e.to_string())?;
    let rendered = execute(prepared, &options)
        .and_then(|executed| executed.sorted(profile).map_err(|(e, _)| e))
        .map_err(|e| format!("{e}\n\nUse --debug flag to render out invalid YAML"))?;
    let mut text = format!("{}\n", manifest::join(&rendered.manifests).trim());
    for hook in &rendered.hooks {
        text.push_str(&manifest::Sourced { path: &hook.path, content: &hook.manifest }.to_string());
    }
    Ok(text.into_bytes())
}
