//! Chart archives made in memory.
//!
//! Owns: Chart.yaml and the tar.gz around a chart's files. Does not own: checks; a test may want a broken chart.
//! The surprising thing: equal input gives equal bytes, so that digests can be compared.

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// A packaged chart.
#[derive(Clone)]
pub struct Archive {
    /// The chart's name.
    pub name: String,
    /// The chart's version.
    pub version: String,
    /// The `.tgz`.
    pub bytes: Vec<u8>,
    /// Chart.yaml's text.
    pub chart_yaml: String,
}

impl Archive {
    /// SHA-256 of the bytes in hexadecimal, without a prefix.
    pub fn digest(&self) -> String {
        sha256(&self.bytes)
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Collects a chart's files.
#[derive(Clone)]
pub struct ChartBuilder {
    name: String,
    version: String,
    extra: String,
    files: Vec<(String, Vec<u8>)>,
}

impl ChartBuilder {
    /// A chart without templates.
    pub fn new(name: &str, version: &str) -> Self {
        Self { name: name.to_owned(), version: version.to_owned(), extra: String::new(), files: Vec::new() }
    }

    /// Add lines to Chart.yaml, e.g. `appVersion: "1"\n`.
    pub fn metadata(mut self, lines: &str) -> Self {
        self.extra.push_str(lines);
        if !self.extra.ends_with('\n') {
            self.extra.push('\n');
        }
        self
    }

    /// Add a file below the chart's root.
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((path.to_owned(), content.into()));
        self
    }

    /// values.yaml.
    pub fn values(self, text: &str) -> Self {
        self.file("values.yaml", text)
    }

    /// A file below `templates/`.
    pub fn template(self, name: &str, text: &str) -> Self {
        self.file(&format!("templates/{name}"), text)
    }

    /// A subchart, packaged below `charts/`.
    pub fn dependency(self, archive: &Archive) -> Self {
        self.file(&format!("charts/{}-{}.tgz", archive.name, archive.version), archive.bytes.clone())
    }

    /// Package it.
    ///
    /// # Errors
    /// A path is too long for tar.
    pub fn build(self) -> Result<Archive> {
        let quoted = serde_json::Value::from(self.version.as_str());
        let chart_yaml = format!("apiVersion: v2\nname: {}\nversion: {quoted}\n{}", self.name, self.extra);
        let mut files = vec![("Chart.yaml".to_owned(), chart_yaml.clone().into_bytes())];
        files.extend(self.files);
        let files: Vec<_> = files.into_iter().map(|(path, data)| (format!("{}/{path}", self.name), data)).collect();
        Ok(Archive { bytes: tar_gz(&files)?, name: self.name, version: self.version, chart_yaml })
    }
}

/// A tar.gz of these paths and contents, in their order, with fixed times and owners.
///
/// # Errors
/// A path is not acceptable to tar.
pub fn tar_gz(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, data) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(1_700_000_000);
        tar.append_data(&mut header, path, data.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}
