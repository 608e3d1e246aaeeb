//! What holds for any value, tried with random ones.

use go_value::json::{self, Style};
use go_value::{List, Map, Value, compare, quote};
use splitmix::Random;

const PIECES: [&str; 16] =
    ["", "a", "null", "1", "é", "\u{2028}", "\"", "\\", "\n", "\t", "<&>", "\u{1f600}", "\u{0}", "0x1f", " ", "true"];

fn text(random: &mut Random) -> String {
    (0..random.below(4)).map(|_| PIECES[random.below(PIECES.len())]).collect()
}

/// What JSON can hold: all numbers are `float64`.
fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => Value::Nil,
        1 => Value::Bool(random.below(2) == 0),
        2 => {
            // Any finite number: its bits.
            let number = f64::from_bits(random.number());
            Value::float(if number.is_finite() { number } else { random.below(1000) as f64 - 500.0 })
        }
        3 => Value::string(text(random)),
        4 => Value::List(List::any((0..random.below(4)).map(|_| value(random, depth - 1)).collect())),
        _ => {
            let entries: Vec<(String, Value)> =
                (0..random.below(5)).map(|_| (text(random), value(random, depth - 1))).collect();
            Value::Map(entries.into_iter().collect::<Map>())
        }
    }
}

#[test]
fn json_is_read_as_it_was_written() {
    let mut random = Random(11);
    for _ in 0..20_000 {
        let value = value(&mut random, 4);
        for style in [Style::COMPACT, Style::RAW, Style::PRETTY] {
            let text = json::encode_with(&value, style).unwrap();
            let again = json::decode(text.as_bytes()).unwrap();
            assert!(compare::deep_equal(&value, &again), "{text}");
            assert_eq!(json::encode_with(&again, style).unwrap(), text);
        }
    }
}

#[test]
fn a_copy_is_equal_and_shares_nothing() {
    let mut random = Random(12);
    for _ in 0..2000 {
        let original: Map = [("v", value(&mut random, 4))].into_iter().collect();
        let before = json::encode(&Value::Map(original.clone())).unwrap();
        let copy = original.deep_copy();
        assert!(compare::deep_equal(&Value::Map(original.clone()), &Value::Map(copy.clone())));
        spoil(&Value::Map(copy));
        assert_eq!(json::encode(&Value::Map(original)).unwrap(), before);
    }
}

/// Change every map that can be reached.
fn spoil(value: &Value) {
    match value {
        Value::Map(map) => {
            map.entries().iter().for_each(|(_, inner)| spoil(inner));
            map.insert("spoilt", true);
        }
        Value::List(list) => list.iter().for_each(spoil),
        _ => {}
    }
}

#[test]
fn quoted_texts_are_unquoted() {
    let mut random = Random(13);
    for _ in 0..50_000 {
        let mut bytes = text(&mut random).into_bytes();
        let quoted = quote::quote(&bytes);
        assert_eq!(&*quote::unquote(quoted.as_bytes()).unwrap(), &*bytes, "{quoted}");
        // Bytes that are no text survive as well.
        for _ in 0..random.below(3) {
            bytes.insert(random.below(bytes.len() + 1), random.number() as u8);
        }
        let quoted = quote::quote(&bytes);
        assert_eq!(&*quote::unquote(quoted.as_bytes()).unwrap(), &*bytes, "{quoted}");
    }
}
