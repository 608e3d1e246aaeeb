//! An index that is JSON.
//!
//! The surprising thing: unknown fields are skipped and the last of equal ones wins, as Go's `encoding/json` has it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Entry, Raw};

/// `None` if the text is not JSON.
pub(super) fn parse(bytes: &[u8]) -> Option<Result<Raw, String>> {
    if !bytes.trim_ascii_start().starts_with(b"{") || serde_json::from_slice::<IgnoredAny>(bytes).is_err() {
        return None;
    }
    Some(serde_json::from_slice(bytes).map_err(|e| e.to_string()))
}

/// The same from a tree.
pub(super) fn from_value(value: serde_json::Value) -> Result<Raw, String> {
    serde_json::from_value(value).map_err(|e| e.to_string())
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Raw;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                let mut raw = Raw::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "apiVersion" => raw.api_version = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "entries" => {
                            let entries = map.next_value::<Option<BTreeMap<String, Option<Vec<Option<Entry>>>>>>()?;
                            for (name, list) in entries.unwrap_or_default() {
                                raw.charts.insert(name, list.unwrap_or_default().into_iter().flatten().collect());
                            }
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(raw)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Entry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a chart version")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
                let mut entry = Entry::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "name" => entry.name = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "version" => entry.version = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "type" => entry.chart_type = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "digest" => entry.digest = map.next_value::<Option<String>>()?.filter(|d| !d.is_empty()),
                        "created" => entry.created = map.next_value::<Option<String>>()?,
                        "deprecated" => entry.deprecated = map.next_value::<Option<bool>>()?.unwrap_or_default(),
                        "urls" => {
                            let urls = map.next_value::<Option<Vec<Option<String>>>>()?.unwrap_or_default();
                            entry.urls = urls.into_iter().map(Option::unwrap_or_default).collect();
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(entry)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
