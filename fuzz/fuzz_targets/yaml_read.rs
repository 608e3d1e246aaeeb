//! The YAML reader: whatever the text, no panic; and
//!
//! - the quick reader and the grammar read the same (a stream is always read by the grammar),
//! - reading only some entries gives those of the whole,
//! - what was read and written again reads back, and is written the same.

#![no_main]

use go_value::Value;
use go_yaml::Duplicates;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for duplicates in [Duplicates::LastWins, Duplicates::Refuse] {
        if let (Ok(first), Ok(stream)) =
            (go_yaml::decode_json(text, duplicates), go_yaml::decode_json_stream(text, duplicates))
        {
            assert_eq!(first, stream.into_iter().next().unwrap_or_default(), "quick reader and grammar");
        }
    }
    let whole = go_yaml::decode_json(text, Duplicates::LastWins);
    for wanted in [|_: &str| true, |key: &str| key.starts_with(|c: char| c < 'm')] {
        match (&whole, go_yaml::decode_json_entries(text, wanted)) {
            (Ok(whole), Ok(part)) => {
                let mut whole = whole.clone();
                if let Some(entries) = whole.as_object_mut() {
                    entries.retain(|key, _| wanted(key));
                }
                assert_eq!(whole, part, "some entries");
            }
            (Err(whole), Err(part)) => assert_eq!(whole.to_string(), part.to_string()),
            (whole, part) => panic!("all: {whole:?}, some entries: {part:?}"),
        }
    }
    let _ = go_yaml::located::locate(text);
    let Ok(value) = go_yaml::decode(text) else { return };
    read_back(&value, go_yaml::encode);
    read_back(&value, go_yaml::encode_sorted);
    let _ = go_yaml::encode_pretty(&value);
});

fn read_back(value: &Value, encode: fn(&Value) -> Result<String, go_yaml::Error>) {
    let Ok(text) = encode(value) else { return };
    // go-yaml writes this key without quotes, and reads it as a merge.
    if text.contains("<<") {
        return;
    }
    let again = go_yaml::decode(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(encode(&again).ok().as_deref(), Some(&*text), "written again");
}
