//! The repository's own rules: arrows point down, pure code stays pure, files say what they own and stay readable.
//!
//! The tables here are the law that docs/architecture.md describes. A new crate needs a row.

#![expect(clippy::unwrap_used)] // A file that cannot be read is a failure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate, and the crates of ours that it may depend on.
const CRATES: [(&str, &[&str]); 13] = [
    ("splitmix", &[]),
    ("go-value", &[]),
    ("go-semver", &[]),
    ("kube-object", &[]),
    ("go-yaml", &["go-value"]),
    ("go-template", &["go-value"]),
    ("sprig", &["go-semver", "go-template", "go-value", "splitmix"]),
    ("helm", &["go-semver", "go-template", "go-value", "go-yaml", "kube-object", "sprig"]),
    ("flux-api", &[]),
    ("chart-source", &["go-semver", "go-yaml", "helm"]),
    ("kube-ops", &["kube-object"]),
    ("helm-action", &["go-value", "go-yaml", "helm", "kube-object", "kube-ops", "sprig"]),
    ("testkit", &["go-yaml", "kube-object"]),
];

/// Layers 0 to 3: synchronous and deterministic.
const PURE: [&str; 8] = ["splitmix", "go-value", "go-semver", "kube-object", "go-yaml", "go-template", "sprig", "helm"];

/// What crates may not depend on: clients, async, TLS.
const FORBIDDEN: [(&str, &[&str]); 3] = [
    ("flux-api", &["tokio", "reqwest", "hyper", "rustls", "futures"]),
    ("chart-source", &["kube", "k8s-openapi"]),
    ("kube-ops", &["reqwest", "clap"]),
];
const IMPURE: [&str; 9] =
    ["kube", "k8s-openapi", "tokio", "futures", "reqwest", "hyper", "hyper-util", "rustls", "oci-client"];

/// What code without a world of its own may not say. Clock, randomness, DNS and environment are handed in.
const WORLD: [&str; 7] = [
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "std::env::",
    "std::process::",
    "std::net::ToSocketAddrs",
];

/// Folders of src/, and what of src/ they may use.
const MODULES: [(&str, &[&str]); 8] = [
    ("host", &[]),
    ("render_limits", &[]),
    ("slot", &[]),
    ("reconcile", &["host"]),
    ("sources", &["host", "slot"]),
    ("controller", &["host", "reconcile", "render_limits", "slot", "sources"]),
    ("preview", &["controller", "host", "reconcile", "sources"]),
    ("cli", &["controller", "host", "preview", "reconcile", "render_limits", "sources"]),
];

/// The files of src/reconcile/ that read and write nothing.
const PURE_FILES: [&str; 10] = [
    "decide.rs",
    "desired.rs",
    "expression.rs",
    "history.rs",
    "ignore.rs",
    "outcome.rs",
    "policy.rs",
    "record.rs",
    "redact.rs",
    "values.rs",
];

const MOST_LINES: usize = 800;
const FORBIDDEN_NAMES: [&str; 9] =
    ["utils", "util", "common", "helpers", "helper", "manager", "handler", "handlers", "misc"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names below a manifest's `[SECTION]`, also when a target or a version table stands before it.
fn dependencies(manifest: &Path, section: &str) -> Vec<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let mut names = Vec::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let of_target = header.starts_with("target.") && header.ends_with(&format!(".{section}"));
            inside = header == section || of_target;
            if let Some(name) = header.strip_prefix(&format!("{section}.")) {
                names.push(name.to_owned());
            }
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let end = line.find([' ', '.', '=']).unwrap_or(line.len());
            names.push(line[..end].to_owned());
        }
    }
    names
}

/// The Rust files below a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return files };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn is_test(path: &Path) -> bool {
    let path = path.strip_prefix(root()).unwrap();
    path.components().any(|c| c.as_os_str() == "tests") || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// The code before a file's inline tests, without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn arrows_between_crates_point_down() {
    let allowed: BTreeMap<&str, &[&str]> = CRATES.into_iter().collect();
    let mut complaints = Vec::new();
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let Some(may) = allowed.get(name.as_str()) else {
            complaints.push(format!("crates/{name} has no row in CRATES"));
            continue;
        };
        for dependency in dependencies(&folder.join("Cargo.toml"), "dependencies") {
            let ours = allowed.contains_key(dependency.as_str());
            if ours && !may.contains(&dependency.as_str()) {
                complaints.push(format!("{name} may not depend on {dependency}"));
            }
            let forbidden = FORBIDDEN.iter().any(|(c, list)| *c == name && list.contains(&dependency.as_str()));
            if forbidden || (PURE.contains(&name.as_str()) && IMPURE.contains(&dependency.as_str())) {
                complaints.push(format!("{name} may not depend on {dependency}: it would reach out of its layer"));
            }
        }
        for dependency in dependencies(&folder.join("Cargo.toml"), "dev-dependencies") {
            if dependency == "testkit" && PURE.contains(&name.as_str()) {
                complaints.push(format!("the tests of {name} may not need testkit, and with it the Kubernetes stack"));
            }
        }
        found.push(name);
    }
    for (name, _) in CRATES {
        assert!(found.iter().any(|f| f == name), "CRATES has a row for {name}, crates/ has no such folder");
    }
    let product = dependencies(&root().join("Cargo.toml"), "dependencies");
    assert!(product.len() > 10, "the parser of manifests finds nothing");
    assert!(!product.contains(&"testkit".to_owned()), "testkit is for tests only");
    none(&complaints);
}

#[test]
fn pure_crates_do_not_look_at_the_world() {
    let mut complaints = Vec::new();
    for name in PURE {
        for path in sources(&root().join("crates").join(name).join("src")).iter().filter(|path| !is_test(path)) {
            let code = code(path);
            complaints.extend(
                WORLD
                    .into_iter()
                    .filter(|word| code.contains(word))
                    .map(|word| format!("{}: `{word}` belongs to layer 4 and up; let it be handed in", shown(path))),
            );
        }
    }
    none(&complaints);
}

#[test]
fn arrows_inside_src_point_down() {
    let mut complaints = Vec::new();
    for (module, may) in MODULES {
        let mut files = sources(&root().join("src").join(module));
        files.extend(sources(&root().join("src")).into_iter().filter(|f| f.ends_with(format!("src/{module}.rs"))));
        for path in files {
            let code = code(&path);
            for used in code.split("crate::").skip(1) {
                let end = used.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(used.len());
                let used = &used[..end];
                if used != module && MODULES.iter().any(|(m, _)| *m == used) && !may.contains(&used) {
                    complaints.push(format!("{}: {module} may not use {used}", shown(&path)));
                }
            }
        }
    }
    none(&complaints);
}

#[test]
fn pure_files_of_a_pass_read_and_write_nothing() {
    let mut complaints = Vec::new();
    for name in PURE_FILES {
        let path = root().join("src/reconcile").join(name);
        let code = code(&path);
        for word in WORLD.into_iter().chain(["tokio::", ".await", "kube::Client", "kube_ops::Cluster"]) {
            if code.contains(word) {
                complaints.push(format!("{}: `{word}` in a pure file", shown(&path)));
            }
        }
    }
    none(&complaints);
}

#[test]
fn files_say_what_they_own_and_stay_readable() {
    let mut complaints = Vec::new();
    let mut files = sources(&root().join("src"));
    files.extend(sources(&root().join("crates")));
    files.extend(sources(&root().join("tests")));
    files.retain(|path| !path.components().any(|c| c.as_os_str() == "testdata"));
    assert!(files.len() > 100);
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        let name = shown(path);
        // The tests that belong to one file need no introduction.
        if !text.starts_with("//!") && path.file_name().is_some_and(|n| n != "tests.rs") {
            complaints.push(format!("{name} does not begin with a comment that says what it owns"));
        }
        let generated = text.lines().take(12).any(|line| line.starts_with("//!") && line.contains("enerated"));
        let lines = text.lines().count();
        if lines > MOST_LINES && !is_test(path) && !generated {
            complaints.push(format!("{name} has {lines} lines; split it (the ceiling is {MOST_LINES})"));
        }
        let module = path.file_stem().unwrap().to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        for bad in FORBIDDEN_NAMES {
            if module == bad || folder == bad {
                complaints.push(format!("{name}: `{bad}` says nothing about what is inside"));
            }
        }
    }
    none(&complaints);
}
