//! Every template function beside Helm 4.3.1: the answers in `testdata/vectors`, which `make vectors` writes.
//!
//! Owns: reading the files (hack/vectors/main.go has their format), rendering each vector, the list of all differences.
//! `ONLY=text` takes the vectors that contain it. The surprising thing: the clock of the host is another than that of
//! the generator, so whatever depends on it would differ.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use go_template::FuncMap;
use helm::HelmProfile;
use helm::chart::files::load_files;
use helm::chart::{Chart, File, process_dependencies};
use helm::engine::{Capabilities, Environment, Grown, KubeVersion, ReleaseOptions, function_map, render};
use helm::values::Warnings;
use helm::values::coalesce::Coalesce;
use sprig::FixedHost;

const PLACE: &str = "c/templates/t";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors")
}

fn host() -> Arc<FixedHost> {
    Arc::new(FixedHost::new("2026-11-30T12:00:00Z".parse().unwrap(), 1))
}

/// The chart's files, by their paths in it.
fn read(folder: &Path, under: &str, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{under}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            read(&path, &format!("{name}/"), files);
        } else {
            files.push(File { name: name.into(), data: std::fs::read(&path).unwrap().into(), modified: None });
        }
    }
}

/// What our engine makes of a template: the output, or the text of the error.
fn ours(chart: &Chart, template: Vec<u8>) -> Result<Vec<u8>, Vec<u8>> {
    let profile = HelmProfile::default();
    let mut chart = chart.clone();
    chart.templates.push(File { name: "templates/t".into(), data: Bytes::from(template), modified: None });
    let values = Coalesce::new(profile, &mut Warnings::default()).coalesce_values(&chart, &go_value::Map::new());
    let release = ReleaseOptions { name: "r".into(), namespace: "demo".into(), revision: 1, is_upgrade: false };
    let capabilities = Arc::new(Capabilities::offline(profile, Some(KubeVersion::parse("1.35.0").unwrap()), &[]));
    let values = values.unwrap();
    let work = || {
        let environment = Environment::offline(host());
        render(&chart, &values, &release, &capabilities, profile, &environment, &mut Grown::default())
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(mut files)) => Ok(files.remove(PLACE).unwrap()),
        Ok(Err(e)) => Err(e.to_string().into_bytes()),
        Err(_) => Err("our engine panicked".into()),
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        match if b == b'\\' { bytes.next() } else { None } {
            None => out.push(b),
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'x') => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            Some(other) => out.push(other),
        }
    }
    out
}

/// What Helm answered, with its whole text.
fn theirs(answer: &str, expression: &str) -> Result<Vec<u8>, Vec<u8>> {
    let Some(error) = answer.strip_prefix('!') else { return Ok(unescape(answer.strip_prefix('=').unwrap())) };
    let digits = error.bytes().take_while(u8::is_ascii_digit).count();
    let Some((column, rest)) = (digits > 0).then(|| error.split_at(digits)) else { return Err(unescape(error)) };
    let (at, text) = rest.strip_prefix(" <").unwrap().split_once("> ").unwrap();
    let at = if at.is_empty() { expression } else { at };
    let head = format!("{PLACE}:1:{column}\n  executing \"{PLACE}\" at <");
    Err([head.into_bytes(), unescape(at), b">:\n    ".to_vec(), unescape(text)].concat())
}

fn shown(answer: &Result<Vec<u8>, Vec<u8>>) -> String {
    let (Ok(text) | Err(text)) = answer;
    format!("{} \"{}\"", if answer.is_ok() { "output" } else { "error " }, text.escape_ascii())
}

/// The template of a vector.
fn whole(expression: &str) -> Vec<u8> {
    let text = unescape(expression);
    if text.starts_with(b"{{") { text } else { [b"{{ ", &text[..], b" }}"].concat() }
}

#[test]
fn every_function_answers_as_helm_does() {
    let mut files = Vec::new();
    read(&folder().join("chart"), "", &mut files);
    let chart = load_files(files).unwrap();
    let none = go_value::Map::new();
    let chart = process_dependencies(&chart, &none, HelmProfile::default(), &mut Warnings::default()).unwrap();
    let only = std::env::var("ONLY").unwrap_or_default();
    // Each is a line of docs/compatibility.md, by its kind.
    let text = std::fs::read_to_string(folder().join("known-differences.txt")).unwrap();
    let known: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    let mut found = BTreeSet::new();
    let mut complaints = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for area in areas() {
        for line in std::fs::read_to_string(&area).unwrap().lines().filter(|line| line.contains(&only)) {
            *counts.entry(area.file_stem().unwrap().to_str().unwrap().to_owned()).or_default() += 1;
            let mut fields = line.split('\t');
            let (expression, answer, ty) = (fields.next().unwrap(), fields.next().unwrap(), fields.next());
            let mut compare = |template: Vec<u8>, want: Result<Vec<u8>, Vec<u8>>| {
                let got = ours(&chart, template);
                if known.contains(expression) {
                    if got != want {
                        found.insert(expression.to_owned());
                    }
                } else if got != want {
                    complaints.push(format!("{expression}\n  Helm: {}\n  ours: {}", shown(&want), shown(&got)));
                }
            };
            compare(whole(expression), theirs(answer, expression));
            if let Some(ty) = ty {
                let template = [b"{{ printf \"%T\" (", &unescape(expression)[..], b") }}"].concat();
                compare(template, Ok(ty.as_bytes().to_vec()));
            }
        }
    }
    println!("{counts:?}");
    assert!(!only.is_empty() || counts.values().sum::<usize>() > 15_000);
    assert!(complaints.is_empty(), "{}\n{} differences", complaints.join("\n"), complaints.len());
    let gone: Vec<&&str> = known.iter().filter(|line| line.contains(&only) && !found.contains(**line)).collect();
    assert!(gone.is_empty(), "no difference any more, take it from the list: {gone:#?}");
}

/// The files with vectors.
fn areas() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "tsv") && !p.ends_with("signatures.tsv"));
    paths.sort();
    paths
}

#[test]
fn all_functions_are_there_with_go_s_signatures() {
    let functions: FuncMap = function_map(HelmProfile::default(), &(host() as Arc<dyn sprig::Host>));
    let table = std::fs::read_to_string(folder().join("signatures.tsv")).unwrap();
    let mut want = BTreeSet::new();
    let mut got = BTreeSet::new();
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[1] == "builtin" {
            assert!(go_template::is_builtin(fields[0]), "there is no builtin function {}", fields[0]);
        } else {
            want.insert(format!("{}({}) {}", fields[0], fields[2], fields[3]));
        }
    }
    for name in functions.names() {
        let signature = functions.get(name).unwrap().signature();
        let last = signature.params.len().saturating_sub(1);
        let dots = |i: usize| if signature.variadic && i == last { "..." } else { "" };
        let params: Vec<String> =
            signature.params.iter().enumerate().map(|(i, ty)| format!("{}{}", dots(i), ty.name())).collect();
        got.insert(format!("{name}({}) {}", params.join(", "), signature.result.name()));
    }
    let missing: Vec<_> = want.difference(&got).collect();
    let added: Vec<_> = got.difference(&want).collect();
    assert!(missing.is_empty() && added.is_empty(), "only Helm: {missing:#?}\nonly ours: {added:#?}");
}

#[test]
fn every_function_has_vectors() {
    let mut asked = BTreeSet::new();
    for area in areas() {
        for line in std::fs::read_to_string(area).unwrap().lines() {
            let expression = line.split('\t').next().unwrap();
            asked.extend(expression.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
        }
    }
    let functions = function_map(HelmProfile::default(), &(host() as Arc<dyn sprig::Host>));
    let missing: Vec<&str> = functions.names().into_iter().filter(|name| !asked.contains(*name)).collect();
    assert!(missing.is_empty(), "no vectors: {missing:?}");
}
