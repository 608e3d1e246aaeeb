//! The grammars of `--set` and its kin. No panic; and
//!
//! - what was set can be written as JSON, and setting it again changes nothing,
//! - any text comes through `--set-string` when each character is escaped, and through `--set-literal` as it is.

#![no_main]

use go_value::{Map, Value};
use helm::values::set::{SetKind, parse_into};
use helm::values::set_literal::parse_literal_into;
use helm::values::{load_values, to_json};
use libfuzzer_sys::fuzz_target;

const BASE: &[u8] = b"a: {b: {c: 1}, d: [1, {e: x}, [2]]}\nf: text\ng: null\nh: []\n";

fuzz_target!(|text: &str| {
    let read = |path: &str| if path.contains('x') { Ok(path.as_bytes().to_vec()) } else { Err("no such file".into()) };
    for kind in [SetKind::Typed, SetKind::Text, SetKind::File(&read), SetKind::Json] {
        for base in [&b""[..], BASE] {
            again(base, |values| parse_into(text, values, &kind));
        }
    }
    again(BASE, |values| parse_literal_into(text, values));

    let escaped: String = text.chars().flat_map(|c| ['\\', c]).collect();
    let values = Map::new();
    parse_into(&format!("k={escaped}"), &values, &SetKind::Text).expect("escaped");
    assert_eq!(string(&values), text);
    let values = Map::new();
    parse_literal_into(&format!("k={text}"), &values).expect("literal");
    assert_eq!(string(&values), text);
});

fn string(values: &Map) -> String {
    match values.get("k") {
        Some(Value::String(s)) => s.to_string(),
        other => panic!("{other:?}"),
    }
}

fn again(base: &[u8], set: impl Fn(&Map) -> Result<(), String>) {
    let values = load_values(base).expect("the base is YAML");
    if set(&values).is_err() {
        return;
    }
    let once = to_json(&Value::Map(values.clone()));
    // A later part of the same text may have put something else in the way of an earlier one.
    if set(&values).is_ok() {
        assert_eq!(once, to_json(&Value::Map(values)), "set twice");
    }
}
