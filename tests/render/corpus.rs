//! Public charts: every byte that Helm prints, every error.

use std::io::Read;
use std::path::Path;

use super::support::{all, first_difference, folder, helmrel, message};

struct Case {
    id: String,
    chart: String,
    values: String,
    fails: bool,
}

fn cases(golden: &Path) -> Vec<Case> {
    let table = std::fs::read_to_string(golden.join("cases.tsv")).unwrap();
    table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            Case { id: fields[0].into(), chart: fields[1].into(), values: fields[2].into(), fails: fields[3] != "0" }
        })
        .collect()
}

/// The text without the lines that vary from run to run in Helm itself.
fn masked(text: &str, mask: &serde_json::Value) -> Option<String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    for range in mask["lines"].as_array()? {
        let end = |i: usize| range[i].as_u64().and_then(|n| usize::try_from(n).ok());
        lines.get_mut(end(0)? - 1..end(1)?)?.fill("<masked>");
    }
    Some(lines.join("\n"))
}

/// The complaints of a message in any order: Helm's own order varies.
fn complaints(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(" - at ").collect();
    parts.sort_unstable();
    parts
}

fn check(corpus: &Path, golden: &Path, profile: &str, case: &Case) -> Result<(), String> {
    let mut args = vec!["template", "myrel", &case.chart, "-n", "myns", "--include-crds"];
    if case.values != "-" {
        args.extend(["-f", &case.values]);
    }
    args.extend(["--kube-version", "1.35.0", "--helm-profile", profile]);
    let run = helmrel(corpus, &args);
    let file = |end: &str| golden.join(format!("{}.{end}", case.id));
    if case.fails {
        let helm = message(&String::from_utf8_lossy(&std::fs::read(file("stderr")).unwrap()));
        let ours = message(&run.err);
        if run.ok || !(ours.contains(&helm) || complaints(&ours) == complaints(&helm)) {
            return Err(format!("{}: want the error {helm:.300}, got {ours:.300}", case.id));
        }
        return Ok(());
    }
    if !run.ok {
        return Err(format!("{}: {:.300}", case.id, message(&run.err)));
    }
    let mut want = Vec::new();
    flate2::read::GzDecoder::new(&std::fs::read(file("yaml.gz")).unwrap()[..]).read_to_end(&mut want).unwrap();
    if want == run.out {
        return Ok(());
    }
    let (want, got) = (String::from_utf8_lossy(&want).into_owned(), run.text());
    let Ok(mask) = std::fs::read(file("mask.json")) else {
        return Err(format!("{}: {}", case.id, first_difference(&want, &got)));
    };
    let mask = serde_json::from_slice(&mask).unwrap();
    match (masked(&want, &mask), masked(&got, &mask)) {
        (Some(want), Some(got)) if want == got => Ok(()),
        (Some(want), Some(got)) => Err(format!("{}: {}", case.id, first_difference(&want, &got))),
        _ => Err(format!("{}: lines are missing", case.id)),
    }
}

fn run(profile: &str) {
    let Some(corpus) = folder("HELMREL_CORPUS") else { return };
    let golden = corpus.join(format!("golden-{profile}"));
    let cases = cases(&golden);
    assert!(cases.len() > 300, "only {} cases", cases.len());
    all(&cases, |_, case| check(&corpus, &golden, profile, case));
}

#[test]
fn newest_helm() {
    run("4.3");
}

#[test]
fn helm_4_1() {
    run("4.1");
}
