//! The compact form of a record, for charts whose whole record is too large for a Secret.
//!
//! Owns: what is left out. A record is never rendered again, so templates, files and the schema can go; metadata,
//! values, manifest and hooks stay, and Helm lists, shows and rolls back as before. The surprising thing: of the files
//! under `crds/` the names of the definitions stay, because an inventory is made from them.

use serde_json::json;

use super::StoredChart;
use crate::chart::File;
use crate::manifest::parse_objects;
use crate::profile::HelmProfile;

const DEFINITION: &str = "CustomResourceDefinition";

impl StoredChart {
    /// The chart without templates, files and schema.
    pub fn bare(&self) -> Self {
        Self {
            metadata: self.metadata.clone(),
            lock: self.lock.clone(),
            values: self.values.clone(),
            modified: self.modified,
            ..Self::default()
        }
    }

    /// As [`StoredChart::bare`], with the files under `crds/` reduced to the names of their definitions.
    pub fn compact(&self) -> Self {
        let definitions = self.files.iter().filter(|f| f.name.starts_with("crds/")).filter_map(names);
        Self { files: definitions.collect(), ..self.bare() }
    }
}

/// A file of definitions with nothing of them but what identifies them; nothing if there is none in it.
fn names(file: &File) -> Option<File> {
    // The profiles split documents alike but for blank lines.
    let parsed = parse_objects(&String::from_utf8_lossy(&file.data), HelmProfile::default()).ok()?;
    let documents: Vec<String> = parsed
        .iter()
        .map(|p| &p.object)
        .filter(|o| o.kind() == DEFINITION)
        .map(|o| {
            let (version, name) = (o.api_version(), o.name());
            json!({"apiVersion": version, "kind": DEFINITION, "metadata": {"name": name}}).to_string()
        })
        .collect();
    let text = format!("# Only names: the record was too large.\n{}\n", documents.join("\n---\n"));
    (!documents.is_empty()).then(|| File { data: text.into_bytes().into(), ..file.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_can_do_without_goes() {
        let file = |name: &str, text: &str| File {
            name: name.into(),
            data: text.to_owned().into_bytes().into(),
            modified: None,
        };
        let crd = "# two\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.x\nspec: {group: x}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: b.x\nspec: {group: x}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";
        let chart = StoredChart {
            templates: vec![file("templates/a.yaml", "a: b")],
            values: crate::values::load_values(b"a: 1").unwrap(),
            schema: Some(b"{}"[..].into()),
            files: vec![file("README.md", "text"), file("crds/a.yaml", crd), file("crds/broken.yaml", ": [")],
            ..StoredChart::default()
        };
        let compact = chart.compact();
        assert!(compact.templates.is_empty() && compact.schema.is_none() && compact.values.len() == 1);
        assert_eq!(compact.files.len(), 1);
        let text = String::from_utf8_lossy(&compact.files[0].data);
        let left = parse_objects(&text, HelmProfile::default()).unwrap();
        let names: Vec<&str> = left.iter().map(|p| p.object.name()).collect();
        assert_eq!(names, ["a.x", "b.x"]);
        assert!(!text.contains("spec"), "{text}");
        assert_eq!(compact.compact().files, compact.files, "a compact chart stays as it is");
    }
}
