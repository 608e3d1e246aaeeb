//! The vectors in `testdata/functions.tsv`, made with sprig itself by `testdata/oracle`, and what cannot have vectors.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;

use go_template::{FuncMap, Options, Set};
use go_value::{Value, json};
use sprig::{FixedHost, Host};

fn host() -> Arc<dyn Host> {
    Arc::new(FixedHost::new("2026-11-30T12:00:00Z".parse().unwrap(), 1))
}

/// What the oracle's program has as data.
fn data() -> Value {
    let program =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/oracle/main.go")).unwrap();
    let start = program.find("const data = `").unwrap() + "const data = `".len();
    let end = start + program[start..].find('`').unwrap();
    json::decode(program[start..end].as_bytes()).unwrap()
}

fn run(template: &str) -> String {
    let mut functions = FuncMap::new();
    sprig::register(&mut functions, &host());
    let mut set = Set::new("t", functions);
    if let Err(e) = set.parse("t", template) {
        return format!("! {e}");
    }
    match set.execute("t", &data(), &Options::default(), &mut ()) {
        Err(e) => format!("! {e}"),
        Ok(out) => {
            // As the oracle's JSON shows bytes that are not UTF-8.
            let mut text = String::new();
            for chunk in out.utf8_chunks() {
                text.push_str(chunk.valid());
                chunk.invalid().iter().for_each(|_| text.push('\u{fffd}'));
            }
            text
        }
    }
}

#[test]
fn vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/functions.tsv");
    let only = std::env::var("ONLY").unwrap_or_default();
    let (mut all, mut wrong) = (0, 0);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let fields: Vec<Value> = line.split('\t').map(|f| json::decode(f.as_bytes()).unwrap()).collect();
        let (template, want) = (fields[0].as_str().unwrap().to_string(), fields[1].as_str().unwrap().to_string());
        if !template.contains(&only) {
            continue;
        }
        all += 1;
        let got = run(&template);
        if got != want {
            wrong += 1;
            if wrong < 80 {
                println!("{template}\n  want {want:?}\n  got  {got:?}");
            }
        }
    }
    println!("{} of {all} equal", all - wrong);
    assert_eq!(wrong, 0);
}
