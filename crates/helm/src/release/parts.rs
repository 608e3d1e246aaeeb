//! What makes a record large.
//!
//! Owns: the parts of a record with their shares, for messages that help. A share is that of the packed bytes: what
//! repeats itself costs little in a record, however long it is. Each part is packed alone, so shares are estimates.

use std::collections::BTreeMap;

use flate2::Compression;
use go_value::{Map, json};

use super::{Release, codec};
use crate::manifest::split;
use crate::profile::HelmProfile;

/// The largest parts of a record, largest first: `files/a.bin (97%), …`. Names only, never content.
pub fn largest(release: &Release, count: usize) -> String {
    let mut parts = sizes(release);
    let total: usize = parts.iter().map(|(_, size)| size).sum();
    parts.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let shown = parts.iter().take(count).map(|(name, size)| match size * 100 / total.max(1) {
        0 => format!("{name} (under 1%)"),
        percent => format!("{name} ({percent}%)"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn sizes(release: &Release) -> Vec<(String, usize)> {
    let chart = &release.chart;
    let mut parts = vec![("the chart's metadata".to_owned(), packed(&serde_json::to_vec(&chart.metadata)))];
    for file in chart.templates.iter().chain(&chart.files) {
        parts.push((file.name.to_string(), size(&file.data)));
    }
    parts.extend(chart.schema.as_ref().map(|schema| ("values.schema.json".to_owned(), size(schema))));
    keys(&mut parts, "in the chart's values", &chart.values);
    keys(&mut parts, "in the release's values", &release.config);
    let mut rendered: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for document in split(&release.manifest, HelmProfile::default()) {
        let source = document.lines().find_map(|l| l.strip_prefix("# Source: ")).unwrap_or_default();
        rendered.entry(source).or_default().extend_from_slice(document.as_bytes());
    }
    parts.extend(rendered.iter().map(|(source, text)| (format!("what {source} renders"), size(text))));
    for hook in &release.hooks {
        parts.push((format!("the hook of {}", hook.path), size(hook.manifest.as_bytes())));
    }
    parts.push(("the notes".to_owned(), size(release.info.notes.as_bytes())));
    parts.retain(|(_, size)| *size > 0);
    parts
}

fn keys(parts: &mut Vec<(String, usize)>, place: &str, values: &Map) {
    for (key, value) in values.entries() {
        let text = json::encode(&value).unwrap_or_default();
        parts.push((format!("`{}` {place}", String::from_utf8_lossy(key.as_bytes())), size(text.as_bytes())));
    }
}

fn packed<E>(bytes: &Result<Vec<u8>, E>) -> usize {
    bytes.as_ref().map_or(0, |bytes| size(bytes))
}

fn size(bytes: &[u8]) -> usize {
    if bytes.is_empty() {
        return 0;
    }
    codec::gzip(bytes, Compression::fast()).map_or(bytes.len(), |packed| packed.len())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::chart::File;
    use crate::values::load_values;

    #[test]
    fn the_part_that_packs_badly_counts_most() {
        // Numbers that do not repeat pack badly; a text that does is nearly free.
        let noise = (0_u64..9000).fold(String::new(), |mut text, n| {
            let _ = write!(text, "{:x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            text
        });
        let file = |name: &str, text: &str| File {
            name: name.into(),
            data: text.to_owned().into_bytes().into(),
            modified: None,
        };
        let mut release = Release {
            manifest: format!("---\n# Source: c/templates/a.yaml\na: {}\n", "x".repeat(1_000_000)),
            config: load_values(format!("secret: {}\nb: 1", &noise[..30_000]).as_bytes()).unwrap(),
            ..Release::default()
        };
        release.chart.files = vec![file("files/noise", &noise), file("README.md", "text")];
        let text = largest(&release, 3);
        let names: Vec<&str> = text.split(", ").map(|p| p.split(" (").next().unwrap_or_default()).collect();
        assert_eq!(names, ["files/noise", "`secret` in the release's values", "what c/templates/a.yaml renders"]);
        assert!(text.starts_with("files/noise (7") || text.starts_with("files/noise (8"), "{text}");
        assert!(!text.contains(&noise[..10]), "content came to light");
    }
}
