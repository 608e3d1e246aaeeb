//! Durations as Go and Kubernetes write them.

use std::fmt;
use std::time::Duration as Std;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration such as `1h30m` or `500ms`. Kept with its text, so that it is written back as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duration {
    text: String,
    value: Std,
}

impl Duration {
    /// Parse Flux's form: numbers with units `ms`, `s`, `m`, `h`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = || format!("invalid duration {text:?}: expected a form like 1h30m, 90s or 500ms");
        let mut total = 0.0;
        let mut rest = text;
        if rest.is_empty() {
            return Err(fault());
        }
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(fault)?;
            let (number, tail) = rest.split_at(end);
            let number: f64 = number.parse().map_err(|_| fault())?;
            let (unit, tail) = match tail {
                t if t.starts_with("ms") => (0.001, &t[2..]),
                t if t.starts_with('s') => (1.0, &t[1..]),
                t if t.starts_with('m') => (60.0, &t[1..]),
                t if t.starts_with('h') => (3600.0, &t[1..]),
                _ => return Err(fault()),
            };
            total += number * unit;
            rest = tail;
        }
        let value = Std::try_from_secs_f64(total).map_err(|_| fault())?;
        Ok(Self { text: text.into(), value })
    }

    /// The length.
    pub const fn as_std(&self) -> Std {
        self.value
    }
}

/// The duration as Go prints it: `5m0s`, `1h0m0s`, `1.5s`, `750ms`.
pub fn go_text(d: Std) -> String {
    if d.is_zero() {
        return "0s".into();
    }
    if d < Std::from_secs(1) {
        let nanos = d.as_nanos();
        let with_unit = |scale: f64, unit: &str| format!("{}{unit}", trim(nanos as f64 / scale));
        return match nanos {
            n if n < 1_000 => format!("{n}ns"),
            n if n < 1_000_000 => with_unit(1e3, "µs"),
            _ => with_unit(1e6, "ms"),
        };
    }
    let total = d.as_secs();
    let (h, m) = (total / 3600, total / 60 % 60);
    let seconds = trim((total % 60) as f64 + f64::from(d.subsec_nanos()) / 1e9);
    match (h, m) {
        (0, 0) => format!("{seconds}s"),
        (0, m) => format!("{m}m{seconds}s"),
        (h, m) => format!("{h}h{m}m{seconds}s"),
    }
}

fn trim(n: f64) -> String {
    let text = format!("{n:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// No time at all.
impl Default for Duration {
    fn default() -> Self {
        Self { text: "0s".into(), value: Std::ZERO }
    }
}

impl From<Std> for Duration {
    fn from(value: Std) -> Self {
        Self { text: go_text(value), value }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for (text, secs, go) in [
            ("5m", 300.0, "5m0s"),
            ("1h30m", 5400.0, "1h30m0s"),
            ("1.5s", 1.5, "1.5s"),
            ("750ms", 0.75, "750ms"),
            ("60m", 3600.0, "1h0m0s"),
        ] {
            let d = Duration::parse(text).unwrap();
            assert!((d.as_std().as_secs_f64() - secs).abs() < 1e-9, "{text}");
            assert_eq!(go_text(d.as_std()), go);
            assert_eq!(d.to_string(), text);
        }
        for bad in ["", "5", "m", "1d", "-1s", "1 s"] {
            assert!(Duration::parse(bad).is_err(), "{bad}");
        }
    }
}
