//! Values that came from Secrets, kept out of what people see.
//!
//! Owns: what counts as such a value, and its replacement in a text. Pure. The surprising thing: an API server, a
//! template's `fail` and a parser all quote what they were given, so messages are cleaned, not their sources.

use std::collections::BTreeSet;

use kube_object::mask::MASK;
use serde_json::Value as Json;

/// Shorter values are not hidden: they stand in texts by chance.
const SHORTEST: usize = 6;

/// The values of some Secrets.
#[derive(Clone, Default)]
pub struct Secrets(BTreeSet<String>);

/// Only how many there are.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Take in the content of a key: the text itself where it is one value, else every scalar of it as YAML.
    pub fn add(&mut self, data: &[u8]) {
        let Ok(text) = std::str::from_utf8(data) else { return };
        let parsed = go_yaml::decode_json(data, go_yaml::Duplicates::LastWins);
        if let Ok(json @ (Json::Object(_) | Json::Array(_))) = parsed {
            self.scalars(&json);
        } else {
            self.insert(text.trim());
            // What `--set` makes of an unquoted value, part by part.
            text.split([',', '=', '\n']).for_each(|part| self.insert(part.trim()));
        }
    }

    fn scalars(&mut self, value: &Json) {
        match value {
            Json::Object(entries) => entries.values().for_each(|v| self.scalars(v)),
            Json::Array(items) => items.iter().for_each(|v| self.scalars(v)),
            Json::String(text) => {
                self.insert(text);
                text.lines().for_each(|line| self.insert(line.trim()));
            }
            Json::Number(number) => self.insert(&number.to_string()),
            Json::Bool(_) | Json::Null => {}
        }
    }

    fn insert(&mut self, text: &str) {
        if text.len() >= SHORTEST {
            self.0.insert(text.to_owned());
        }
    }

    /// The text with every one of the values masked, the longest first.
    pub fn redact(&self, text: &str) -> String {
        let mut all: Vec<&String> = self.0.iter().filter(|v| text.contains(v.as_str())).collect();
        all.sort_by_key(|v| std::cmp::Reverse(v.len()));
        all.into_iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), MASK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_masked() {
        let mut secrets = Secrets::default();
        secrets.add(b"db:\n  password: hunter22\n  pin: 88997766\n  on: true\n  port: 5432\n");
        secrets.add(b"S3CRETx,S3CRETy");
        let text = "expected string, got 88997766; key \"S3CRETy\" has no value; hunter22 at 5432, true";
        let shown = secrets.redact(text);
        assert_eq!(shown, format!("expected string, got {MASK}; key \"{MASK}\" has no value; {MASK} at 5432, true"));
        assert_eq!(format!("{secrets:?}"), "Secrets(5)");
    }
}
