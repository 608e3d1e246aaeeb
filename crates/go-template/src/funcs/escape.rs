//! `html`, `js`, `urlquery`.
//!
//! Owns: the escapes of text/template (not those of html/template). Does not own: printing the operands. Upstream:
//! `text/template/funcs.go`, `net/url.QueryEscape`.
//! The surprising thing: operands print as actions print them, so nil is `<no value>` and gets escaped.

use std::io::Write as _;

use go_value::quote::{decode_char, is_print};
use go_value::{Kind, Value, format};

use crate::exec::value;

/// The operands as one text, as `print` makes it of what actions would print.
pub(super) fn printed(args: &[Value]) -> Vec<u8> {
    if let [Value::String(s)] = args {
        return s.to_vec();
    }
    let mut out = Vec::new();
    let mut after_text = true;
    for arg in args {
        let text = matches!(arg, Value::Nil | Value::String(_));
        if !text && !after_text {
            out.push(b' ');
        }
        match arg {
            Value::Nil => out.extend_from_slice(b"<no value>"),
            // A pointer is followed.
            Value::Object(o) if o.kind() == Kind::Pointer => value::print(&mut out, arg),
            _ => format::append(&mut out, arg),
        }
        after_text = text;
    }
    out
}

/// Escape text for HTML, as the function `html` does.
pub fn html_escape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &b in text {
        match b {
            0 => out.extend_from_slice("\u{FFFD}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            _ => out.push(b),
        }
    }
    out
}

/// Escape text for a JavaScript string, as the function `js` does.
pub fn js_escape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(&b) = rest.first() {
        let (c, width) = decode_char(rest);
        match b {
            b'\\' | b'\'' | b'"' => out.extend_from_slice(&[b'\\', b]),
            b'<' | b'>' | b'&' | b'=' | 0..b' ' => drop(write!(out, "\\u{b:04X}")),
            _ if b < 0x80 || is_print(c) => out.extend_from_slice(&rest[..width]),
            _ => drop(write!(out, "\\u{:04X}", u32::from(c))),
        }
        rest = &rest[width..];
    }
    out
}

/// Escape text for the query of a URL, as the function `urlquery` does.
pub fn query_escape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &b in text {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(b),
            b' ' => out.push(b'+'),
            _ => drop(write!(out, "%{b:02X}")),
        }
    }
    out
}
