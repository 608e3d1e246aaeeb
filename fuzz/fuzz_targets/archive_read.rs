//! The archive reader, given an archive (or, as a fuzzer knows nothing of checksums, the tar inside). No panic; and
//!
//! - a file's path stays below the chart: relative, without `..`, without a drive,
//! - all files together are not larger than the limit,
//! - an archive that is unpacked at one go and one that is unpacked piece by piece are read the same.

#![no_main]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use helm::chart::archive::{MAX_DECOMPRESSED_SIZE, read_archive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if input.starts_with(b"\x1f\x8b") {
        let _ = check(input);
        return;
    }
    let whole = check(&gzip(input));
    // Two members are a stream like one, but are never unpacked at one go.
    let (head, tail) = input.split_at(input.len() / 2);
    let pieces = check(&[gzip(head), gzip(tail)].concat());
    assert_eq!(whole, pieces, "unpacked at one go and piece by piece");
});

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(bytes).expect("a vector takes all");
    gzip.finish().expect("a vector takes all")
}

/// Names and contents; of an error only the text.
fn check(archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let _ = helm::chart::load_archive(archive);
    let files = read_archive(archive).map_err(|e| e.to_string())?;
    assert!(!files.is_empty());
    let mut size = 0;
    for file in &files {
        let name = &*file.name;
        assert!(!name.is_empty() && !name.starts_with("/"), "{name:?}");
        assert!(name.split('/').all(|part| part != ".." && part != "." && !part.is_empty()), "{name:?}");
        assert!(!name.as_bytes().get(1..3).is_some_and(|b| b == b":/"), "{name:?}");
        size += file.data.len() as u64;
    }
    assert!(size <= MAX_DECOMPRESSED_SIZE);
    Ok(files.into_iter().map(|f| (f.name.to_string(), f.data.to_vec())).collect())
}
