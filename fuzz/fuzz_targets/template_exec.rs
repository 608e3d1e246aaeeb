//! The executor with all of Helm's functions: a template and, behind a NUL, its values. No panic, no overflow; and
//!
//! - within small limits of steps and memory a render ends, whatever the template,
//! - the same chart with the same clock and randomness renders to the same bytes, or fails with the same error,
//! - an error is about the chart.

#![no_main]

use std::sync::Arc;

use bytes::Bytes;
use go_template::Limits;
use helm::HelmProfile;
use helm::chart::File;
use helm::chart::files::load_files;
use helm::engine::{Capabilities, Environment, ReleaseOptions};
use helm::render::{RenderOptions, render};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use sprig::FixedHost;

const HELPERS: &str = r#"{{ define "echo" }}{{ . }}{{ end }}{{ define "again" }}{{ include "again" . }}{{ end }}"#;
const VALUES: &str = "a: 1\nb: text\nc: {d: [1, x, {e: null}], f: 1.5}\ng: true\nh: '{{ .Values.a }}'\n";

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&b| b == 0);
    let template = parts.next().unwrap_or_default();
    let values = parts.next().unwrap_or(VALUES.as_bytes());
    // Keys and hashes are slow on purpose, and slower here: they would be all that is found.
    const SLOW: [&[u8]; 6] = [b"gen", b"bcrypt", b"htpasswd", b"derivePassword", b"buildCustomCert", b"shuffle"];
    if SLOW.iter().any(|word| input.windows(word.len()).any(|w| w == *word)) {
        return;
    }
    assert_eq!(answer(template, values), answer(template, values), "the same render");
});

fn answer(template: &[u8], values: &[u8]) -> Result<Vec<String>, String> {
    let file = |name: &str, data: &[u8]| File { name: name.into(), data: Bytes::copy_from_slice(data), modified: None };
    let chart = load_files(vec![
        file("Chart.yaml", b"apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        file("values.yaml", values),
        file("templates/_helpers.tpl", HELPERS.as_bytes()),
        file("templates/t.yaml", template),
        file("data.txt", b"{{ .Values.b }}"),
    ])
    .map_err(|e| e.to_string())?;
    let profile = HelmProfile::default();
    let mut environment = Environment::offline(Arc::new(FixedHost::new(Timestamp::UNIX_EPOCH, 1)));
    environment.limits = Limits { steps: 100_000, output: 1 << 20, ..Limits::default() };
    let options = RenderOptions {
        release: ReleaseOptions { name: "r".into(), namespace: "n".into(), revision: 1, is_upgrade: false },
        capabilities: Arc::new(Capabilities::offline(profile, None, &[])),
        profile,
        environment,
        skip_schema_validation: false,
        remote_schemas: None,
        sub_notes: false,
    };
    let rendered = render(&chart, &go_value::Map::new(), &options).map_err(|e| {
        let text = e.to_string();
        assert!(!text.is_empty() && text.contains('c'), "{text}");
        text
    })?;
    let hooks = rendered.hooks.into_iter().map(|h| h.manifest);
    Ok(rendered.manifests.into_iter().map(|m| m.content).chain(hooks).collect())
}
