//! A tar.gz made again, so that equal content has equal bytes: `layerSelector.operation: extract`.
//!
//! Owns: order, headers, what is dropped and what is refused. Does not own: ignore rules.
//! Upstream: fluxcd/pkg `artifact/storage` and `tar`.
//! The surprising thing: links and special files vanish silently; names that leave the root are an error.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use crate::Error;

/// How many files and directories an archive may have.
const MAX_ENTRIES: usize = 100_000;

/// A file's mode and content; `None` is a directory.
type Node = Option<(u32, Vec<u8>)>;

/// Unpack at most `limit` bytes in memory and pack them again: depth-first, sorted, without times, owners and links.
///
/// # Errors
/// [`Error::Layer`] for what is no gzipped tar or has hostile names; [`Error::TooLarge`].
pub fn repack(bytes: &[u8], limit: u64) -> Result<Vec<u8>, Error> {
    pack(&unpack(bytes, limit)?).map_err(|e| failed(&e))
}

fn failed(reason: impl std::fmt::Display) -> Error {
    Error::Layer(format!("failed to extract layer contents from artifact: {reason}"))
}

fn unpack(bytes: &[u8], limit: u64) -> Result<BTreeMap<Vec<String>, Node>, Error> {
    let too_large = || Error::TooLarge { what: "unpacked artifact", limit };
    // Extended headers are kept in memory by the reader: what it reads at all is bounded, with room for padding.
    let mut archive =
        tar::Archive::new(MultiGzDecoder::new(bytes).take(limit.saturating_mul(2).saturating_add(1024 * 1024)));
    let mut nodes = BTreeMap::new();
    let mut left = limit;
    for (count, entry) in archive.entries().map_err(failed)?.enumerate() {
        let mut entry = entry.map_err(failed)?;
        if count > MAX_ENTRIES {
            return Err(failed(format!("more than {MAX_ENTRIES} entries")));
        }
        let kind = entry.header().entry_type();
        if !kind.is_file() && !kind.is_dir() {
            continue;
        }
        let path = checked(&entry.path_bytes())?;
        if path.is_empty() {
            continue;
        }
        let conflict = || failed(format!("{:?} is both a file and a directory", path.join("/")));
        for depth in 1..path.len() {
            if nodes.entry(path[..depth].to_vec()).or_insert(None).is_some() {
                return Err(conflict());
            }
        }
        if nodes.get(&path).is_some_and(|known: &Node| known.is_none() != kind.is_dir()) {
            return Err(conflict());
        }
        if kind.is_dir() {
            nodes.entry(path).or_insert(None);
            continue;
        }
        if entry.size() > left {
            return Err(too_large());
        }
        let executable = entry.header().mode().unwrap_or_default() & 0o111 != 0;
        let mut data = Vec::new();
        (&mut entry).take(left).read_to_end(&mut data).map_err(failed)?;
        left -= data.len() as u64;
        nodes.insert(path, Some((if executable { 0o700 } else { 0o600 }, data)));
    }
    Ok(nodes)
}

/// A path's parts; empty for the root itself.
fn checked(path: &[u8]) -> Result<Vec<String>, Error> {
    let text = std::str::from_utf8(path).map_err(|_| failed("a name is not UTF-8"))?;
    let refused = || failed(format!("tar contained invalid name error {text:?}"));
    if text.starts_with('/') || text.contains('\\') || text.contains('\0') {
        return Err(refused());
    }
    let mut parts = Vec::new();
    for part in text.split('/').filter(|p| !p.is_empty() && *p != ".") {
        if part == ".." || parts.len() > 100 {
            return Err(refused());
        }
        parts.push(part.to_owned());
    }
    Ok(parts)
}

fn pack(nodes: &BTreeMap<Vec<String>, Node>) -> std::io::Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let mut root = header(None);
    // The tar crate has no name for the root itself.
    root.as_mut_bytes()[0] = b'.';
    root.set_cksum();
    tar.append(&root, std::io::empty())?;
    for (path, node) in nodes {
        let mut header = header(node.as_ref());
        let data = node.as_ref().map_or(&[][..], |(_, data)| data);
        tar.append_data(&mut header, path.join("/"), data)?;
    }
    tar.into_inner()?.finish()
}

fn header(file: Option<&(u32, Vec<u8>)>) -> Header {
    let mut header = Header::new_ustar();
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_entry_type(if file.is_some() { EntryType::Regular } else { EntryType::Directory });
    header.set_mode(file.map_or(0o750, |(mode, _)| *mode));
    header.set_size(file.map_or(0, |(_, data)| data.len() as u64));
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, text) in files {
            let mut header = Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o755);
            header.set_mtime(12345);
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            tar.append(&header, text.as_bytes()).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    }

    fn names(bytes: &[u8]) -> Vec<String> {
        let mut archive = tar::Archive::new(MultiGzDecoder::new(bytes));
        let entries = archive.entries().unwrap().map(Result::unwrap);
        entries.map(|e| String::from_utf8(e.path_bytes().into_owned()).unwrap()).collect()
    }

    #[test]
    fn equal_content_has_equal_bytes() {
        let one = repack(&archive(&[("b/x", "1"), ("a", "2"), ("b.c", "3")]), 1000).unwrap();
        let two = repack(&archive(&[("./b.c", "3"), ("a", "2"), ("b/x", "1")]), 1000).unwrap();
        assert_eq!(one, two);
        assert_eq!(names(&one), [".", "a", "b", "b/x", "b.c"]);
    }

    #[test]
    fn hostile_archives_are_refused() {
        for name in ["/etc/passwd", "../x", "a/../../x", "a\\b"] {
            assert!(repack(&archive(&[(name, "x")]), 1000).is_err(), "{name}");
        }
        assert!(repack(&archive(&[("a", "x"), ("a/b", "x")]), 1000).is_err());
        assert!(repack(&archive(&[("a/b", "x"), ("a", "x")]), 1000).is_err());
        let bomb = archive(&[("a", &"x".repeat(100_000))]);
        assert!(bomb.len() < 2000);
        assert!(matches!(repack(&bomb, 50_000), Err(Error::TooLarge { .. })));
        assert!(repack(b"no archive", 1000).is_err());
    }
}
