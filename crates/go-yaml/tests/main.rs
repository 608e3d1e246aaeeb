//! The vectors: Helm's `fromYaml`, `fromYamlArray`, `toYaml`, `toYamlPretty`.
//!
//! `testdata/read.tsv` and `testdata/write.tsv` were made by the program in `testdata/oracle` with the Go libraries
//! themselves. More of the same form are taken from the directory that `HELMREL_ORACLE` names.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::format_collect
)]

use std::fs;
use std::path::Path;

use go_value::{List, Map, Value, json};

fn from_yaml(text: &str) -> Value {
    let map = go_yaml::decode_map(text.as_bytes()).unwrap_or_else(|e| [("Error", e.to_string())].into_iter().collect());
    Value::Map(map)
}

fn from_yaml_array(text: &str) -> Value {
    Value::List(go_yaml::decode_list(text.as_bytes()).unwrap_or_else(|e| List::any(vec![Value::string(e.to_string())])))
}

fn trimmed(result: Result<String, go_yaml::Error>) -> String {
    let text = result.unwrap_or_default();
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

fn to_json(value: &Value) -> String {
    json::encode(value).unwrap_or_default()
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'))
        .map(|l| l.split('\t').map(|f| serde_json::from_str(f).unwrap()).collect())
        .collect()
}

fn check(path: &Path, got: impl Fn(&str) -> Vec<String>) {
    let rows = rows(path);
    let mut wrong = 0;
    for row in &rows {
        let got = got(&row[0]);
        if got != row[1..] {
            wrong += 1;
            if wrong <= 20 {
                println!("document {:?}\n  want {:?}\n  got  {got:?}", row[0], &row[1..]);
            }
        }
    }
    println!("{}: {} of {} rows equal", path.display(), rows.len() - wrong, rows.len());
    assert_eq!(wrong, 0, "{}", path.display());
}

fn read(text: &str) -> Vec<String> {
    let value = from_yaml(text);
    vec![
        to_json(&value),
        trimmed(go_yaml::encode(&value)),
        trimmed(go_yaml::encode_pretty(&value)),
        to_json(&from_yaml_array(text)),
    ]
}

fn write(text: &str) -> Vec<String> {
    let value = match json::decode_map(text.as_bytes()) {
        Ok(map) => map.map_or(Value::Nil, Value::Map),
        Err(e) => Value::Map([("Error", e)].into_iter().collect::<Map>()),
    };
    let yaml = trimmed(go_yaml::encode(&value));
    vec![to_json(&value), yaml.clone(), trimmed(go_yaml::encode_pretty(&value)), to_json(&from_yaml(&yaml))]
}

#[test]
fn own_vectors() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    check(&here.join("read.tsv"), read);
    check(&here.join("write.tsv"), write);
}

#[test]
fn helm_vectors() {
    let Some(dir) = std::env::var_os("HELMREL_ORACLE") else {
        eprintln!("SKIPPED: helm_vectors needs HELMREL_ORACLE, a directory with yaml-oracle.tsv");
        return;
    };
    check(&Path::new(&dir).join("yaml-oracle.tsv"), read);
    check(&Path::new(&dir).join("yaml-emit-oracle.tsv"), write);
}

#[test]
fn hostile_documents_are_errors() {
    let cause = |text: &str| go_yaml::decode(text.as_bytes()).unwrap_err().cause().to_owned();
    assert_eq!(cause(&"[".repeat(100_000)), "yaml: exceeded max depth of 1000; it is fixed");
    assert_eq!(cause(&"- ".repeat(100_000)), "yaml: exceeded max depth of 1000; it is fixed");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..10 {
        let previous = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{previous}]\n"));
    }
    assert_eq!(cause(&bomb), "yaml: document contains excessive aliasing");
    assert_eq!(cause("a: &a [*a]"), "yaml: anchor 'a' value contains itself");
    let deep: String = (0..900).map(|i| format!("a{i}: &a{i} {{x: *a{}}}\n", if i == 0 { 0 } else { i - 1 })).collect();
    assert!(go_yaml::decode(deep.as_bytes()).is_err());
}

#[test]
fn manifests_keep_integers() {
    let read = |t: &str| go_yaml::decode_json(t.as_bytes(), go_yaml::Duplicates::LastWins).unwrap().to_string();
    assert_eq!(
        read("a: 9007199254740993\nb: 1.0\nc: 1.5\nd: 1e3\ne: 18446744073709551615"),
        r#"{"a":9007199254740993,"b":1,"c":1.5,"d":1000,"e":18446744073709551615}"#
    );
    let strict = |t: &str| go_yaml::decode_json(t.as_bytes(), go_yaml::Duplicates::Refuse).unwrap_err().to_string();
    assert_eq!(
        strict("a: 1\nb: 2\na: 3"),
        "error converting YAML to JSON: yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"
    );
    let all = go_yaml::decode_json_stream(b"a: 1\n---\n---\nb: 2\n", go_yaml::Duplicates::LastWins).unwrap();
    assert_eq!(serde_json::to_string(&all).unwrap(), r#"[{"a":1},null,{"b":2}]"#);
    assert_eq!(go_yaml::split("a: 1\n---\n---\nb: 2\n"), ["a: 1\n", "b: 2\n"]);
}

#[test]
fn digest_text_sorts_by_bytes() {
    let value = json::decode(br#"{"a10":1,"a2":[{"b":12345678901234567890},{}],"B":1.5,"c":1e21,"d":{}}"#).unwrap();
    assert_eq!(
        go_yaml::encode_sorted(&value).unwrap(),
        "B: 1.5\na10: 1\na2:\n- b: 12345678901234567168\n- {}\nc: 1e+21\nd: {}\n"
    );
}

/// Bytes of all kinds must give a value or an error, and both in time.
#[test]
fn no_text_brings_it_down() {
    let pieces: &[&[u8]] = &[
        b"a",
        b":",
        b" ",
        b"\n",
        b"- ",
        b"? ",
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b"'",
        b"\"",
        b"|",
        b">",
        b"&a",
        b"*a",
        b"!",
        b"%",
        b"\\",
        b"\t",
        b"\r",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\x00",
        b"#",
        b"---",
        b"...",
        b"<<",
        b"%YAML 1.1\n",
        b"%TAG ! x:\n",
        b"!<x>",
        b"%41",
        b"\\x4",
        b"\\u",
        b"0",
        b"2",
        b"+",
        b"-",
        b"\xff\xfe",
        b"\xf0\x9f",
    ];
    let mut state = 7u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for _ in 0..60_000 {
        let mut text = Vec::new();
        for _ in 0..next(12) {
            text.extend_from_slice(pieces[next(pieces.len())]);
        }
        let _ = go_yaml::decode(&text);
        let _ = go_yaml::decode_json_stream(&text, go_yaml::Duplicates::Refuse);
    }
    let start = std::time::Instant::now();
    let deep = format!("{}1{}", "[".repeat(999), ",1".repeat(200_000));
    assert!(go_yaml::decode(deep.as_bytes()).is_err());
    let many = format!("{}\n", "[a, b]: c\n? d\n".repeat(20_000));
    let _ = go_yaml::decode(many.as_bytes());
    assert!(go_yaml::decode("a: ".repeat(100_000).as_bytes()).is_err());
    let wide = "x".repeat(2_000_000);
    assert!(go_yaml::decode(wide.as_bytes()).is_ok());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
