//! The files under `crds/`.

use super::{Chart, File};

/// A file under `crds/` of a chart or one of its subcharts.
#[derive(Clone, Debug)]
pub struct CrdFile {
    /// Path from the root chart's name on, as `# Source:` shows it.
    pub path: String,
    /// The file.
    pub file: File,
}

impl Chart {
    /// The chart's CRD files, its own first and then those of its dependencies, as they stand after
    /// [`process_dependencies`](super::process_dependencies): those of disabled subcharts are not among them.
    pub fn crds(&self) -> Vec<CrdFile> {
        let mut found = Vec::new();
        self.collect_crds(self.name(), &mut found);
        found
    }

    fn collect_crds(&self, full_path: &str, found: &mut Vec<CrdFile>) {
        let own = self.files.iter().filter(|f| {
            let extension = f.name.rsplit_once('.').map_or("", |(_, e)| e);
            f.name.starts_with("crds/")
                && ["yaml", "yml", "json"].iter().any(|want| extension.eq_ignore_ascii_case(want))
        });
        found.extend(own.map(|f| CrdFile { path: format!("{full_path}/{}", f.name), file: f.clone() }));
        for dep in &self.dependencies {
            dep.collect_crds(&format!("{full_path}/charts/{}", dep.name()), found);
        }
    }
}
