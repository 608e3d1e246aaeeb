//! Labels and annotations set on rendered objects before they are stored.
//!
//! Owns: writing them into the text of a document so that everything else stays as the chart wrote it, comments
//! included. Does not own: patches and images. The surprising thing: where the text is unusual (flow style, quoted
//! keys, anchors) the document is written anew from its data; the result of an edit is read back and compared, so that
//! a wrong edit cannot reach a cluster.

use std::collections::BTreeMap;

use go_yaml::Duplicates;
use kube_object::Object;
use serde_json::Value as Json;

use crate::error::Error;

/// What to set under `metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetMetadata {
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

impl SetMetadata {
    /// Is there nothing to set?
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }

    /// Set them on an object.
    pub fn apply(&self, object: &mut Object) {
        for (key, value) in &self.labels {
            object.set_label(key, value);
        }
        for (key, value) in &self.annotations {
            object.set_annotation(key, value);
        }
    }

    /// Set them in the text of one document. A document that is not an object stays as it is.
    ///
    /// # Errors
    /// The document is not YAML.
    pub fn apply_to_text(&self, document: &str) -> Result<String, Error> {
        if self.is_empty() {
            return Ok(document.into());
        }
        let decode = |text: &str| {
            go_yaml::decode_json(text.as_bytes(), Duplicates::LastWins).map_err(|e| Error::Manifest(e.to_string()))
        };
        let Some(mut wanted) = Object::from_json(decode(document)?) else { return Ok(document.into()) };
        if wanted.kind().ends_with("List") && wanted.at(&["items"]).is_some_and(Json::is_array) {
            self.apply_to_items(&mut wanted);
            return rewrite(document, &wanted.into_json());
        }
        self.apply(&mut wanted);
        let wanted = wanted.into_json();
        let mut text = document.to_string();
        for (key, entries) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            match edit(&text, key, entries) {
                Some(edited) => text = edited,
                None => return rewrite(document, &wanted),
            }
        }
        if decode(&text).is_ok_and(|read| read == wanted) { Ok(text) } else { rewrite(document, &wanted) }
    }

    fn apply_to_items(&self, list: &mut Object) {
        let Some(Json::Array(items)) = list.0.get_mut("items") else { return };
        for item in items {
            if let Some(mut object) = Object::from_json(item.take()) {
                self.apply(&mut object);
                *item = object.into_json();
            }
        }
    }
}

/// The data as a new document, with the comments that stood before the old one.
fn rewrite(document: &str, wanted: &Json) -> Result<String, Error> {
    let head: String = document.split_inclusive('\n').take_while(|l| l.starts_with('#')).collect();
    let body = go_yaml::encode_json(wanted).map_err(|e| Error::Manifest(e.to_string()))?;
    Ok(format!("{head}{body}"))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_content(line: &str) -> bool {
    let trimmed = line.trim();
    !trimmed.is_empty() && !trimmed.starts_with('#')
}

/// Where the block below line `at` ends: the first content line that is not indented deeper than `indent`.
fn block_end(lines: &[&str], at: usize, indent: usize) -> usize {
    let mut end = at + 1;
    let mut last = at + 1;
    while end < lines.len() {
        if is_content(lines[end]) {
            if indent_of(lines[end]) <= indent {
                break;
            }
            last = end + 1;
        }
        end += 1;
    }
    last
}

/// Put the entries into `metadata.<key>`; `None` where the text is not plain block style.
fn edit(text: &str, key: &str, entries: &BTreeMap<String, String>) -> Option<String> {
    if entries.is_empty() {
        return Some(text.into());
    }
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ends_open = !text.ends_with('\n');
    let trimmed = |line: &str| line.trim_end().to_string();
    let metadata = {
        let mut found = lines.iter().enumerate().filter(|(_, l)| trimmed(l) == "metadata:").map(|(i, _)| i);
        let first = found.next()?;
        if found.next().is_some() {
            return None;
        }
        first
    };
    let end = block_end(&lines, metadata, 0);
    let first = (metadata + 1..end).find(|&i| is_content(lines[i]))?;
    let indent = indent_of(lines[first]);
    let wanted = format!("{}{key}:", " ".repeat(indent));
    let mut added = String::new();
    #[expect(clippy::single_match_else, reason = "two cases of one length")]
    let at = match (metadata + 1..end).find(|&i| trimmed(lines[i]) == wanted) {
        Some(section) => {
            let section_end = block_end(&lines, section, indent);
            let child = (section + 1..section_end).find(|&i| is_content(lines[i]))?;
            let child_indent = indent_of(lines[child]);
            for (name, value) in entries {
                let own = (section + 1..section_end).any(|i| {
                    let line = lines[i].trim_start();
                    [name.as_str(), &format!("\"{name}\""), &format!("'{name}'")]
                        .iter()
                        .any(|n| line.strip_prefix(n).is_some_and(|rest| rest.starts_with(':')))
                });
                if own {
                    // Another value stands there already: writing the document anew settles it.
                    return None;
                }
                added.push_str(&entry(child_indent, name, value));
            }
            section_end
        }
        None => {
            // A key in flow style or with a comment behind it is not for editing.
            if (metadata + 1..end)
                .any(|i| indent_of(lines[i]) == indent && lines[i].trim_start().starts_with(&format!("{key}:")))
            {
                return None;
            }
            added.push_str(&wanted);
            added.push('\n');
            for (name, value) in entries {
                added.push_str(&entry(indent + 2, name, value));
            }
            end
        }
    };
    let closing = if at == lines.len() && ends_open { "\n" } else { "" };
    let added = format!("{closing}{added}");
    lines.insert(at, &added);
    Some(lines.concat())
}

fn entry(indent: usize, name: &str, value: &str) -> String {
    // JSON strings are YAML strings, and their text does not depend on what the value looks like.
    let quoted = Json::from(value).to_string();
    let plain = !value.is_empty()
        && value.starts_with(|c: char| c.is_ascii_alphabetic())
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && !matches!(
            value.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
        );
    let value = if plain { value } else { &quoted };
    format!("{}{name}: {value}\n", " ".repeat(indent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(labels: &[(&str, &str)]) -> SetMetadata {
        let labels = labels.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        SetMetadata { labels, annotations: BTreeMap::new() }
    }

    #[test]
    fn text_stays_as_it_was() {
        let document =
            "# c\napiVersion: v1 # v\nkind: A\nmetadata:\n  name: x\n  labels:\n    a: b\n\nspec:\n  x: |\n    y\n\n";
        let got = set(&[("o/name", "r"), ("m", "yes")]).apply_to_text(document).unwrap();
        assert_eq!(
            got,
            "# c\napiVersion: v1 # v\nkind: A\nmetadata:\n  name: x\n  labels:\n    a: b\n    m: \"yes\"\n    o/name: r\n\nspec:\n  x: |\n    y\n\n"
        );
        let got = set(&[("o", "r")]).apply_to_text("kind: A\nmetadata:\n    name: x").unwrap();
        assert_eq!(got, "kind: A\nmetadata:\n    name: x\n    labels:\n      o: r\n");
    }

    #[test]
    fn unusual_texts_are_written_anew() {
        for document in [
            "kind: A\nmetadata: {name: x, labels: {o: other}}\n",
            "kind: A\nmetadata:\n  name: x\n  labels: {a: b}\n",
            "kind: A\nmetadata:\n  name: x\n  labels:\n    o: other\n",
            "kind: A\n\"metadata\":\n  name: x\n",
        ] {
            let got = set(&[("o", "r")]).apply_to_text(document).unwrap();
            let read = go_yaml::decode_json(got.as_bytes(), Duplicates::LastWins).unwrap();
            assert_eq!(read["metadata"]["labels"]["o"], "r", "{document}");
            assert_eq!(read["metadata"]["name"], "x", "{document}");
        }
        assert_eq!(set(&[("o", "r")]).apply_to_text("# only\n").unwrap(), "# only\n");
    }
}
