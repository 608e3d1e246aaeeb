//! The flags that give values, as Helm has them.

use std::io::{ErrorKind, Read};

use anyhow::{Result, anyhow};
use go_value::{Map, Value};
use helm::values::set::{SetKind, parse_into};
use helm::values::set_literal::parse_literal_into;
use helm::values::{from_json, load_values, merge_maps};

/// Values from files and from the command line. Whatever their order there, files come first, then --set-json, --set,
/// --set-string, --set-file, --set-literal.
#[derive(Debug, Default, clap::Args)]
pub struct ValuesArgs {
    /// Values from a YAML file, an http(s) address, or `-` for standard input (may be repeated)
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',')]
    files: Vec<String>,
    /// Set values: key1=val1,key2=val2 (may be repeated)
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Set values that are always strings (may be repeated)
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set_string: Vec<String>,
    /// Set JSON values: key1=json1,key2=json2, or one JSON object (may be repeated)
    #[arg(long, value_name = "KEY=JSON", allow_hyphen_values = true)]
    set_json: Vec<String>,
    /// Set values from files: key1=path1,key2=path2 (may be repeated)
    #[arg(long, value_name = "KEY=PATH", allow_hyphen_values = true)]
    set_file: Vec<String>,
    /// Set a value in which nothing is escaped (may be repeated)
    #[arg(long, value_name = "KEY=TEXT", allow_hyphen_values = true)]
    set_literal: Vec<String>,
}

/// Gets the text at an http(s) address.
pub type Fetch<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>>;

impl ValuesArgs {
    /// The names of the files, as they were given.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The merged values.
    ///
    /// # Errors
    /// Helm's text for the argument that is wrong.
    pub fn merge(&self, fetch: Fetch<'_>) -> Result<Map> {
        let values = Map::new();
        for file in &self.files {
            let text = read(file, fetch)?;
            let loaded = load_values(&text).map_err(|e| anyhow!("failed to parse {file}: {e}"))?;
            merge_maps(&values, &loaded);
        }
        for text in &self.set_json {
            let trimmed = text.trim();
            if trimmed.starts_with('{') {
                let json: serde_json::Value = serde_json::from_str(trimmed)
                    .map_err(|_| anyhow!("failed parsing --set-json data JSON: {text}"))?;
                if let Value::Map(map) = from_json(&json) {
                    merge_maps(&values, &map);
                }
            } else {
                parse_into(text, &values, &SetKind::Json)
                    .map_err(|_| anyhow!("failed parsing --set-json data {text}"))?;
            }
        }
        for text in &self.set {
            parse_into(text, &values, &SetKind::Typed).map_err(|e| anyhow!("failed parsing --set data: {e}"))?;
        }
        for text in &self.set_string {
            parse_into(text, &values, &SetKind::Text).map_err(|e| anyhow!("failed parsing --set-string data: {e}"))?;
        }
        for text in &self.set_file {
            let from_file = |path: &str| read(path, fetch).map_err(|e| e.to_string());
            parse_into(text, &values, &SetKind::File(&from_file))
                .map_err(|e| anyhow!("failed parsing --set-file data: {e}"))?;
        }
        for text in &self.set_literal {
            parse_literal_into(text, &values).map_err(|e| anyhow!("failed parsing --set-literal data: {e}"))?;
        }
        Ok(values)
    }
}

fn read(path: &str, fetch: Fetch<'_>) -> Result<Vec<u8>> {
    if path.trim() == "-" {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text)?;
        return Ok(text);
    }
    let scheme = path.split_once("://").map_or("", |(scheme, _)| scheme);
    if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
        return fetch(path);
    }
    /// What no values need, be they a file that has no end.
    const LARGEST: u64 = 100 << 20;
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text));
    if text.len() as u64 > LARGEST {
        return Err(anyhow!("read {path}: exceeded maximum size of a file of values ({LARGEST} bytes); it is fixed"));
    }
    read.map(|_| text).map_err(|e| {
        // A folder opens; it is the reading that fails.
        let step = if e.kind() == ErrorKind::IsADirectory { "read" } else { "open" };
        anyhow!("{step} {path}: {}", go_io_error(&e))
    })
}

/// An I/O error in Go's words, without Rust's `(os error 2)`.
pub(super) fn go_io_error(e: &std::io::Error) -> String {
    match e.kind() {
        ErrorKind::NotFound => "no such file or directory".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "is a directory".into(),
        ErrorKind::NotADirectory => "not a directory".into(),
        ErrorKind::AlreadyExists => "file exists".into(),
        _ => e.to_string(),
    }
}
