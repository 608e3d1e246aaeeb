//! The decoder of release records, given a record (base64) or the JSON in it. No panic; and what decodes can be encoded,
//! and that decodes to the same.

#![no_main]

use helm::release::Release;
use helm::release::codec::{decode, encode, from_json_bytes, to_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(release) = from_json_bytes(input) {
        check(&release);
    }
    if let Ok(release) = decode(input) {
        check(&release);
    }
});

fn check(release: &Release) {
    let json = to_json(release).expect("what was JSON is JSON again");
    let packed = encode(release).expect("what was JSON is JSON again");
    let back = decode(&packed).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&json)));
    let again = to_json(&back).expect("what was JSON is JSON again");
    assert_eq!(String::from_utf8_lossy(&json), String::from_utf8_lossy(&again));
}
