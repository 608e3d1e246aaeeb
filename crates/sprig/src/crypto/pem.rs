//! PEM blocks.
//!
//! Upstream: Go's `encoding/pem`.

use crate::encoding::{from_base64, to_base64};

/// A block's label and content.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn encode(label: &str, bytes: &[u8]) -> String {
    let text = to_base64(bytes);
    let mut out = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out.push_str("-----END ");
    out.push_str(label);
    out.push_str("-----\n");
    out
}

/// The first block of the text.
pub(super) fn decode(text: &str) -> Option<Block> {
    let mut rest = text;
    loop {
        let begin = rest.find("-----BEGIN ")?;
        let at_line_start = begin == 0 || rest[..begin].ends_with('\n');
        rest = &rest[begin + "-----BEGIN ".len()..];
        if !at_line_start {
            continue;
        }
        let line_end = rest.find('\n')?;
        let Some(label) = rest[..line_end].trim_end().strip_suffix("-----") else { continue };
        let body = &rest[line_end + 1..];
        let Some(end) = body.find(&format!("-----END {label}-----")) else { continue };
        // Headers end with an empty line.
        let content = match body[..end].find("\n\n") {
            Some(i) if body[..i].contains(':') => &body[i + 2..end],
            _ => &body[..end],
        };
        let digits: Vec<u8> = content.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        if let Ok(bytes) = from_base64(&digits) {
            return Some(Block { label: label.to_owned(), bytes });
        }
    }
}
