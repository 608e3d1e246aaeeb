//! What is in a file and means something else than it says.
//!
//! Owns: YAML 1.1 booleans, equal keys, integers that lose digits; and a list of the integers that may be printed as
//! floats, for [`super::rendered`] to look for.

use std::collections::BTreeMap;

use go_yaml::located::{Located, Meaning, Node, locate};

use super::finding::Finding;
use super::sources::{Purpose, Written};

/// From here on Go prints a float64 with an exponent.
const EXPONENT: i128 = 1_000_000;
/// The largest integer up to which a float64 has them all.
const EXACT: i128 = 1 << 53;

/// A large integer in values.
pub(super) struct Integer {
    pub(super) file: String,
    pub(super) line: usize,
    /// As it is written.
    pub(super) text: String,
    /// As Go prints the float64 that Helm makes of it.
    pub(super) printed: String,
}

/// Check one file.
pub(super) fn check(file: &Written, findings: &mut Vec<Finding>, integers: &mut Vec<Integer>) {
    match locate(&file.text) {
        Ok(documents) => {
            let mut walk = Walk { file, findings, integers };
            for document in &documents {
                walk.node(document, "");
            }
        }
        Err(e) => findings.push(Finding::error(&file.shown, None, &e)),
    }
}

struct Walk<'a> {
    file: &'a Written,
    findings: &'a mut Vec<Finding>,
    integers: &'a mut Vec<Integer>,
}

impl Walk<'_> {
    fn warn(&mut self, line: usize, text: impl Into<String>) {
        self.findings.push(Finding::warning(&self.file.shown, Some(line), text));
    }

    fn node(&mut self, located: &Located, path: &str) {
        match &located.node {
            Node::Scalar { .. } => self.scalar(located, path, false),
            Node::Sequence(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.node(item, &format!("{path}[{i}]"));
                }
            }
            Node::Mapping(pairs) => {
                for Again { key, first, winner } in equal_keys(pairs) {
                    let name = under(path, &key_text(key));
                    self.warn(key.line, format!("`{name}` is set in line {first} too; {winner}"));
                }
                for (key, value) in pairs {
                    let path = under(path, &key_text(key));
                    self.scalar(key, &path, true);
                    self.node(value, &path);
                }
            }
            Node::Alias(_) => {}
        }
    }

    fn scalar(&mut self, located: &Located, path: &str, is_key: bool) {
        let Node::Scalar { text, plain: true, meaning } = &located.node else { return };
        if self.file.purpose != Purpose::Values {
            return;
        }
        match meaning {
            Meaning::Bool(value) if !matches!(text.to_lowercase().as_str(), "true" | "false") => {
                let what = if is_key { format!("the key `{text}`") } else { format!("`{text}` of `{path}`") };
                self.warn(located.line, format!("{what} is read as {value} (YAML 1.1); write {value}, or quote it"));
            }
            Meaning::Int(n) if !is_key => self.integer(located.line, path, text, *n),
            // Longer than 64 bits: a float already.
            Meaning::Float(_) if !is_key => {
                if let Ok(n) = text.replace('_', "").parse() {
                    self.integer(located.line, path, text, n);
                }
            }
            _ => {}
        }
    }

    fn integer(&mut self, line: usize, path: &str, text: &str, n: i128) {
        let float = n as f64;
        let printed = go_value::float::format_float(float, b'g', None, 64);
        if n.abs() > EXACT && float as i128 != n {
            self.warn(
                line,
                format!("`{path}` loses digits: Helm reads {text} as a float64, which is {}; quote it", float as i128),
            );
        } else if n.abs() >= EXPONENT {
            self.integers.push(Integer { file: self.file.shown.clone(), line, text: text.into(), printed });
        }
    }
}

/// The path of an entry of what is at a path.
pub(super) fn under(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The text that a key becomes on its way through JSON.
pub(super) fn key_text(key: &Located) -> String {
    match &key.node {
        Node::Scalar { meaning: Meaning::Bool(b), .. } => b.to_string(),
        Node::Scalar { meaning: Meaning::Int(n), .. } => n.to_string(),
        Node::Scalar { text, .. } => text.clone(),
        Node::Alias(name) => format!("*{name}"),
        _ => String::new(),
    }
}

/// A key that was there before.
pub(super) struct Again<'n> {
    pub(super) key: &'n Located,
    /// The line of the first one.
    pub(super) first: usize,
    /// Which of them Helm takes.
    pub(super) winner: &'static str,
}

/// The keys of a map that were there before.
pub(super) fn equal_keys(pairs: &[(Located, Located)]) -> Vec<Again<'_>> {
    let mut seen = BTreeMap::new();
    let mut equal = Vec::new();
    for (key, _) in pairs {
        let Node::Scalar { text, plain, meaning } = &key.node else { continue };
        // Merging twice is no contradiction.
        if *plain && text == "<<" {
            continue;
        }
        let kind = std::mem::discriminant(meaning);
        match seen.get(&key_text(key)) {
            Some((first, same)) => {
                // `1` and `"1"` are two keys until they become JSON, in the random order of a map in Go.
                let winner = if *same == kind { "the last one wins" } else { "which one wins is left to chance" };
                equal.push(Again { key, first: *first, winner });
            }
            None => {
                seen.insert(key_text(key), (key.line, kind));
            }
        }
    }
    equal
}
