//! Slash-separated paths.
//!
//! Upstream: Go's packages `path` and, for the `os` variants, `path/filepath` as on Linux, where both do the same.
//! The surprising thing: the base and the directory of an empty path are `.`.

use go_value::Value;

use crate::args::{Outcome, text};

pub(crate) fn base(a: &[Value]) -> Outcome {
    let path = text(a, 0);
    if path.is_empty() {
        return Ok(".".into());
    }
    let end = path.iter().rposition(|b| *b != b'/').map_or(0, |i| i + 1);
    let trimmed = &path[..end];
    let start = trimmed.iter().rposition(|b| *b == b'/').map_or(0, |i| i + 1);
    let name = &trimmed[start..];
    Ok(if name.is_empty() { "/".into() } else { Value::string(name) })
}

pub(crate) fn dir(a: &[Value]) -> Outcome {
    let path = text(a, 0);
    let end = path.iter().rposition(|b| *b == b'/').map_or(0, |i| i + 1);
    Ok(Value::string(cleaned(&path[..end])))
}

pub(crate) fn clean(a: &[Value]) -> Outcome {
    Ok(Value::string(cleaned(text(a, 0))))
}

pub(crate) fn ext(a: &[Value]) -> Outcome {
    let path = text(a, 0);
    let name = &path[path.iter().rposition(|b| *b == b'/').map_or(0, |i| i + 1)..];
    Ok(Value::string(name.iter().rposition(|b| *b == b'.').map_or(&name[name.len()..], |i| &name[i..])))
}

pub(crate) fn is_abs(a: &[Value]) -> Outcome {
    Ok(text(a, 0).starts_with(b"/").into())
}

/// `path.Clean`
fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match parts.last() {
                Some(&last) if last != b".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let mut out = if rooted { b"/".to_vec() } else { Vec::new() };
    out.extend_from_slice(&parts.join(&b'/'));
    if out.is_empty() { b".".to_vec() } else { out }
}
