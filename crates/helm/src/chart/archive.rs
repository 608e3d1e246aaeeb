//! Chart archives (`.tgz`).
//!
//! Owns: the checks that keep a hostile archive from doing harm, with Helm's words. Follows
//! `pkg/chart/loader/archive`. The surprising thing: the first path element is dropped whatever it is, so two roots
//! in one archive are merged.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use jiff::Timestamp;

use super::files::{load_files, load_files_at};
use super::{Chart, File, go_io_error};
use crate::error::Error;

/// How large all files of a chart may be together once unpacked: Helm's limit, 100 MiB.
pub const MAX_DECOMPRESSED_SIZE: u64 = 100 * 1024 * 1024;

/// How many entries an archive may have. Helm has no such limit; an archive of empty files could hold millions.
pub const MAX_ENTRIES: usize = 200_000;

/// How large all archives within a chart may be together once unpacked. Helm has no such limit: a chart of 100 MiB can hold
/// hundreds of archives of as much.
pub(super) const MAX_NESTED_SIZE: u64 = 2 * MAX_DECOMPRESSED_SIZE;

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

fn load_error(text: impl Into<String>) -> Error {
    Error::Load(text.into())
}

/// Load a chart from the bytes of an archive.
///
/// # Errors
/// Helm's text for what is wrong with the archive or the chart in it.
pub fn load_archive(bytes: &[u8]) -> Result<Chart, Error> {
    load_files(read_archive(bytes)?)
}

/// An archive within a chart, of which all together may unpack to what is left.
pub(super) fn load_archive_nested(bytes: &[u8], depth: usize, left: &mut u64) -> Result<Chart, Error> {
    let files = read_archive(bytes)?;
    let size: u64 = files.iter().map(|f| f.data.len() as u64).sum();
    *left = left.checked_sub(size).ok_or_else(|| {
        load_error(format!("decompressed charts within a chart are larger than {MAX_NESTED_SIZE} bytes; it is fixed"))
    })?;
    load_files_at(files, depth, left)
}

/// Load a chart from an archive on disk.
///
/// # Errors
/// As [`load_archive`]; a file that is no archive is named with its content type, as Helm does.
pub fn load_file(path: &Path) -> Result<Chart, Error> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|e| load_error(format!("open {name}: {}", go_io_error(&e))))?;
    if !bytes.starts_with(b"\x1f\x8b\x08") {
        let text = name.to_string();
        if text.ends_with(".yml") || text.ends_with(".yaml") {
            return Err(load_error(format!("file '{name}' seems to be a YAML file, but expected a gzipped archive")));
        }
        return Err(load_error(format!(
            "file '{name}' does not appear to be a gzipped archive; got '{}'",
            content_type(&bytes)
        )));
    }
    load_archive(&bytes)
}

/// Go's `http.DetectContentType` as far as files that are given by mistake need it.
fn content_type(bytes: &[u8]) -> &'static str {
    let head = &bytes[..bytes.len().min(512)];
    let trimmed = head.trim_ascii_start();
    let starts = |p: &[u8]| trimmed.len() >= p.len() && trimmed[..p.len()].eq_ignore_ascii_case(p);
    match head {
        h if h.starts_with(b"PK\x03\x04") => "application/zip",
        h if h.starts_with(b"%PDF-") => "application/pdf",
        h if h.starts_with(b"\x89PNG\r\n\x1a\n") => "image/png",
        h if h.starts_with(b"\xff\xd8\xff") => "image/jpeg",
        h if h.starts_with(b"GIF87a") || h.starts_with(b"GIF89a") => "image/gif",
        h if h.starts_with(b"Rar!\x1a\x07") => "application/x-rar-compressed",
        h if h.starts_with(b"\xfe\xff") => "text/plain; charset=utf-16be",
        h if h.starts_with(b"\xff\xfe") => "text/plain; charset=utf-16le",
        _ if starts(b"<!DOCTYPE HTML") || starts(b"<html") => "text/html; charset=utf-8",
        _ if starts(b"<?xml") => "text/xml; charset=utf-8",
        h if h.iter().any(|b| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)) => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    }
}

/// The files of an archive, checked.
///
/// # Errors
/// Not gzip, not tar, paths that leave the chart, more than [`MAX_DECOMPRESSED_SIZE`], nothing in it.
pub fn read_archive(bytes: &[u8]) -> Result<Vec<File>, Error> {
    if bytes.is_empty() {
        return Err(load_error("EOF"));
    }
    if !bytes.starts_with(b"\x1f\x8b") {
        return Err(load_error("gzip: invalid header"));
    }
    match unzip(bytes).and_then(|whole| shared_files(&whole)) {
        Some(files) => Ok(files),
        // Read it piece by piece, as Helm does, to find out what is wrong where.
        None => streamed_files(bytes),
    }
}

/// The only member of a gzip file, unpacked at one go; nothing if it is not all as it should be.
fn unzip(bytes: &[u8]) -> Option<Bytes> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let flags = *bytes.get(3)?;
    if bytes[2] != 8 || flags & !(EXTRA | NAME | COMMENT) != 0 {
        return None;
    }
    let mut at = 10;
    if flags & EXTRA != 0 {
        at += 2 + usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            at += memchr::memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    let trailer = bytes.len().checked_sub(8)?;
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (sum, size) = (number(trailer)?, number(trailer + 4)?);
    if u64::from(size) > MAX_DECOMPRESSED_SIZE {
        return None;
    }
    let mut out = Vec::with_capacity(size as usize);
    let mut inflate = flate2::Decompress::new(false);
    let end = inflate.decompress_vec(bytes.get(at..trailer)?, &mut out, flate2::FlushDecompress::Finish).ok()?;
    let whole =
        end == flate2::Status::StreamEnd && inflate.total_in() == (trailer - at) as u64 && out.len() == size as usize;
    let mut crc = flate2::Crc::new();
    crc.update(&out);
    (whole && crc.sum() == sum).then(|| out.into())
}

/// The files of an unpacked archive, each a part of it that is not copied; nothing if anything is wrong or unusual.
fn shared_files(whole: &Bytes) -> Option<Vec<File>> {
    let mut archive = tar::Archive::new(std::io::Cursor::new(whole));
    let mut files = Vec::new();
    for entry in archive.entries_with_seek().ok()? {
        let entry = entry.ok()?;
        let Some(head) = head(&entry).ok()? else { continue };
        if files.len() >= MAX_ENTRIES || !matches!(entry.header().entry_type(), tar::EntryType::Regular) {
            return None;
        }
        let start = usize::try_from(entry.raw_file_position()).ok()?;
        let end = start.checked_add(usize::try_from(entry.size()).ok()?)?;
        if end > whole.len() {
            return None;
        }
        files.push(File {
            name: head.name.into(),
            data: without_bom(whole.slice(start..end)),
            modified: head.modified,
        });
    }
    // What is read past, extended headers too, is all there.
    let complete = archive.into_inner().position() <= whole.len() as u64;
    (complete && !files.is_empty()).then_some(files)
}

/// The files of an archive that is unpacked as it is read.
fn streamed_files(bytes: &[u8]) -> Result<Vec<File>, Error> {
    let too_large =
        || load_error(format!("decompressed chart is larger than the maximum size {MAX_DECOMPRESSED_SIZE}"));
    let read = Cell::new(0);
    // Where the last file ends, and where what fills its block does.
    let (mut end, mut filled) = (0, 0);
    // The tar reader keeps extended headers in memory: bound what it can read at all, headers and padding included.
    let unzipped = Counted { inner: MultiGzDecoder::new(bytes).take(MAX_DECOMPRESSED_SIZE * 2), read: &read };
    let mut archive = tar::Archive::new(unzipped);
    let mut files = Vec::new();
    let mut remaining = MAX_DECOMPRESSED_SIZE;
    let entries = archive.entries().map_err(|e| load_error(tar_error(&e)))?;
    for (count, entry) in entries.enumerate() {
        if count > MAX_ENTRIES {
            return Err(load_error(format!("chart archive has more than {MAX_ENTRIES} entries")));
        }
        let mut entry = match entry {
            Ok(entry) => entry,
            // Go does not miss what only fills the last block.
            Err(_) if (end..filled).contains(&read.get()) => break,
            Err(e) => return Err(load_error(tar_error(&e))),
        };
        end = entry.raw_file_position().saturating_add(entry.size());
        filled = end.checked_next_multiple_of(512).unwrap_or(end);
        let Some(head) = head(&entry)? else { continue };
        let kind = entry.header().entry_type();
        let is_link = kind.is_symlink() || kind.is_hard_link();
        let size = if is_link { 0 } else { entry.size() };
        if size > remaining {
            return Err(too_large());
        }
        let mut data = Vec::new();
        if !is_link {
            (&mut entry).take(remaining).read_to_end(&mut data).map_err(|e| load_error(tar_error(&e)))?;
        }
        remaining -= data.len() as u64;
        if (data.len() as u64) < size || remaining == 0 {
            return Err(too_large());
        }
        files.push(File { name: head.name.into(), data: without_bom(data.into()), modified: head.modified });
    }
    if files.is_empty() {
        return Err(load_error("no files in chart archive"));
    }
    Ok(files)
}

/// A reader that tells how much was read.
struct Counted<'a, R> {
    inner: R,
    read: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.set(self.read.get() + n as u64);
        Ok(n)
    }
}

/// What an entry says of itself.
struct Head {
    /// Its path below the chart's root.
    name: String,
    /// When it was last changed.
    modified: Option<Timestamp>,
}

/// The head of an entry that is a file; nothing for others.
fn head<R: Read>(entry: &tar::Entry<'_, R>) -> Result<Option<Head>, Error> {
    let raw = entry.path_bytes();
    let kind = entry.header().entry_type();
    if kind.is_dir() || raw.ends_with(b"/") || kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
        return Ok(None);
    }
    let name = checked_name(&String::from_utf8_lossy(&raw))?;
    let modified = entry.header().mtime().ok().and_then(|t| Timestamp::from_second(i64::try_from(t).ok()?).ok());
    Ok(Some(Head { name, modified }))
}

/// The same bytes without a mark of byte order before them.
pub(super) fn without_bom(data: Bytes) -> Bytes {
    if data.starts_with(BOM) { data.slice(BOM.len()..) } else { data }
}

/// The path of an entry below the chart's root, or why it is refused.
fn checked_name(raw: &str) -> Result<String, Error> {
    let delimiter = if raw.contains('\\') { '\\' } else { '/' };
    let (first, rest) = raw.split_once(delimiter).unwrap_or((raw, ""));
    let name = rest.replace(delimiter, "/");
    if name.starts_with('/') {
        return Err(load_error("chart illegally contains absolute paths"));
    }
    let name = clean(&name);
    if name == "." {
        return Err(load_error(format!("chart illegally contains content outside the base directory: {raw:?}")));
    }
    if name.starts_with("..") {
        return Err(load_error("chart illegally references parent directory"));
    }
    let mut bytes = name.bytes();
    if bytes.next().is_some_and(|b| b.is_ascii_alphabetic()) && bytes.next() == Some(b':') && bytes.next() == Some(b'/')
    {
        return Err(load_error("chart contains illegally named files"));
    }
    if first == "Chart.yaml" {
        return Err(load_error("chart yaml not in base directory"));
    }
    Ok(name)
}

/// Go's `path.Clean` for a relative path.
pub(crate) fn clean(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if out.last().is_some_and(|p| *p != "..") => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    if out.is_empty() { ".".into() } else { out.join("/") }
}

/// A failure inside gzip or tar in Go's words.
fn tar_error(e: &std::io::Error) -> String {
    let text = e.to_string();
    match e.kind() {
        std::io::ErrorKind::UnexpectedEof => "unexpected EOF".into(),
        std::io::ErrorKind::InvalidInput if text.contains("gzip") => "gzip: invalid header".into(),
        _ if text.contains("corrupt") || text.contains("deflate") => "gzip: invalid checksum".into(),
        _ => "archive/tar: invalid tar header".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn names_are_checked() {
        let name = |raw: &str| checked_name(raw).map_err(|e| e.to_string());
        assert_eq!(name("c/templates/a.yaml").unwrap(), "templates/a.yaml");
        assert_eq!(name(r"c\templates\a.yaml").unwrap(), "templates/a.yaml");
        assert_eq!(name("c/x/../a").unwrap(), "a");
        assert_eq!(name("c/../a").unwrap_err(), "chart illegally references parent directory");
        assert_eq!(name("c//etc/passwd").unwrap_err(), "chart illegally contains absolute paths");
        assert_eq!(name("c/d:/x").unwrap_err(), "chart contains illegally named files");
        assert_eq!(
            name("Chart.yaml").unwrap_err(),
            "chart illegally contains content outside the base directory: \"Chart.yaml\""
        );
        assert_eq!(name("Chart.yaml/x").unwrap_err(), "chart yaml not in base directory");
    }
    #[test]
    fn the_last_block_need_not_be_full() {
        let mut header = tar::Header::new_ustar();
        header.set_path("c/Chart.yaml").unwrap();
        header.set_size(5);
        header.set_cksum();
        let gzip = |bytes: &[u8]| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        };
        let whole = [header.as_bytes().as_slice(), b"a: 1\n"].concat();
        // Of two members, an archive is read piece by piece.
        let pieces = |n: usize| read_archive(&[gzip(&whole[..n / 2]), gzip(&whole[n / 2..n])].concat());
        assert_eq!(read_archive(&gzip(&whole)).unwrap()[0].data, "a: 1\n");
        assert_eq!(pieces(whole.len()).unwrap()[0].data, "a: 1\n");
        pieces(whole.len() - 1).unwrap_err();
    }
}
