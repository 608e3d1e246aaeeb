//! What holds for any value, tried with random ones.

use go_value::{List, Map, Value, compare};
use splitmix::Random;

/// What YAML could take for something else, and what needs quotes, blocks or escapes.
const PIECES: [&str; 40] = [
    "",
    "a",
    "b c",
    "null",
    "~",
    "Null",
    "true",
    "yes",
    "on",
    "n",
    "1",
    "-1",
    "0x1f",
    "0o7",
    "1_000",
    "1e3",
    ".5",
    ".inf",
    ".NaN",
    "1:30",
    "2001-12-14",
    "=",
    "-",
    "- a",
    ": ",
    ": b",
    "#",
    " #",
    "'",
    "\"",
    "\\",
    "\n",
    "\n\n",
    " ",
    "\t",
    "é",
    "\u{1f600}",
    "\u{2028}",
    "{",
    "%",
];

fn text(random: &mut Random) -> String {
    let text: String = (0..random.below(5)).map(|_| PIECES[random.below(PIECES.len())]).collect();
    // go-yaml's third version writes a block that begins with a tab, which it cannot read.
    text.trim_start_matches('\t').to_owned()
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 => Value::Nil,
        1 => Value::Bool(random.below(2) == 0),
        2 => {
            let number = f64::from_bits(random.number());
            Value::float(if number.is_finite() && random.below(2) == 0 {
                number
            } else {
                random.below(3000) as f64 / 2.0
            })
        }
        3 | 4 => Value::string(text(random)),
        5 => Value::List(List::any((0..random.below(4)).map(|_| value(random, depth - 1)).collect())),
        _ => {
            let entries: Vec<(String, Value)> =
                (0..random.below(5)).map(|_| (text(random), value(random, depth - 1))).collect();
            Value::Map(entries.into_iter().collect::<Map>())
        }
    }
}

#[test]
fn yaml_is_read_as_it_was_written() {
    let mut random = Random(21);
    for _ in 0..20_000 {
        let value = value(&mut random, 4);
        for encode in [go_yaml::encode, go_yaml::encode_sorted, go_yaml::encode_pretty] {
            let text = encode(&value).unwrap();
            let again = go_yaml::decode(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert!(compare::deep_equal(&value, &again), "{text}\n{}", encode(&again).unwrap());
        }
    }
}

#[test]
fn json_is_yaml() {
    let mut random = Random(22);
    for _ in 0..20_000 {
        let value = value(&mut random, 4);
        let text = go_value::json::encode(&value).unwrap();
        // Keys beyond 1,024 characters would be none; there are none here.
        let again = go_yaml::decode(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(compare::deep_equal(&value, &again), "{text}");
    }
}
