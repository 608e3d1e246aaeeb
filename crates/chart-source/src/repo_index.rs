//! `index.yaml`: which versions of which charts a repository has.
//!
//! Owns: reading it into as little as is needed, and the choice of a version. Does not own: fetching it.
//! Upstream: Helm's `pkg/repo/v1/index.go`, source-controller's `getChartVersion`.
//! The surprising thing: a text that is valid JSON is read leniently, any other strictly, and an entry that Helm
//! considers invalid is left out without a word.

use std::collections::BTreeMap;

use go_semver::{Constraints, Version};

use crate::Error;
use crate::tags::parse_version;

mod json;
mod yaml;

/// One version of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The name in the entry; the index's key is what counts.
    pub name: String,
    /// The version as written.
    pub version: String,
    /// Where the archive is; absolute or relative to the repository.
    pub urls: Vec<String>,
    /// SHA-256 of the archive in hexadecimal, as far as the repository is right.
    pub digest: Option<String>,
    /// When it was made, RFC 3339.
    pub created: Option<String>,
    /// Do not use it any more.
    pub deprecated: bool,
    /// `application`, `library` or empty.
    pub chart_type: String,
}

impl Entry {
    /// Would Helm keep it? A name without a path, a version Masterminds' loose parser takes, a known type.
    fn is_valid(&self) -> bool {
        !self.name.is_empty()
            && !self.name.contains('/')
            && self.name != "."
            && self.name != ".."
            && Version::parse(&self.version).is_ok()
            && matches!(self.chart_type.as_str(), "" | "application" | "library")
    }

    fn created_at(&self) -> Option<jiff::Timestamp> {
        self.created.as_deref()?.parse().ok()
    }
}

/// A repository's charts by name.
#[derive(Clone, Debug, Default)]
pub struct Index {
    charts: BTreeMap<String, Vec<Entry>>,
}

/// What both readers fill.
#[derive(Debug, Default)]
struct Raw {
    api_version: String,
    charts: BTreeMap<String, Vec<Entry>>,
}

impl Index {
    /// Read an index, and keep of it names, versions, addresses, digests and times only.
    ///
    /// # Errors
    /// [`Error::IndexLoad`] with Helm's text.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::IndexLoad("empty index.yaml file".to_owned()));
        }
        let raw = match json::parse(bytes) {
            Some(raw) => raw,
            None => yaml::parse(bytes),
        };
        let mut raw = raw.map_err(Error::IndexLoad)?;
        if raw.api_version.is_empty() {
            return Err(Error::IndexLoad("no API version specified".to_owned()));
        }
        for entries in raw.charts.values_mut() {
            entries.retain(Entry::is_valid);
            entries.shrink_to_fit();
        }
        Ok(Self { charts: raw.charts })
    }

    /// The names of the charts.
    pub fn charts(&self) -> impl Iterator<Item = &str> {
        self.charts.keys().map(String::as_str)
    }

    /// The versions of a chart, in the index's order.
    pub fn versions(&self, chart: &str) -> &[Entry] {
        self.charts.get(chart).map(Vec::as_slice).unwrap_or_default()
    }

    /// The entry whose version is exactly this text, else the newest that satisfies it as a constraint; empty means
    /// `*`. Of equal versions the one made later.
    ///
    /// # Errors
    /// [`Error::NoSuchChart`], [`Error::NoSuchVersion`], [`Error::Constraint`], with Flux's texts.
    pub fn choose(&self, chart: &str, version: &str) -> Result<&Entry, Error> {
        let entries = self.charts.get(chart).ok_or(Error::NoSuchChart)?;
        let exact = entries.iter().find(|e| !version.is_empty() && e.version == version);
        if let Some(exact) = exact {
            return Ok(exact);
        }
        let wanted = if version.is_empty() { "*" } else { version };
        let constraints = Constraints::parse(wanted).map_err(|e| Error::Constraint(e.to_string()))?;
        entries
            .iter()
            .filter_map(|entry| Some((parse_version(&entry.version)?, entry)))
            .filter(|(parsed, _)| constraints.check(parsed))
            .max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.created_at().cmp(&y.created_at())))
            .map(|(_, entry)| entry)
            .ok_or_else(|| Error::NoSuchVersion { chart: chart.to_owned(), version: version.to_owned() })
    }
}

#[cfg(test)]
mod tests;
