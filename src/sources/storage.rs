//! Artifacts as files.
//!
//! Owns: paths and addresses with Flux's layout, atomic writes, sweeping. The surprising thing: a file is written beside
//! its place and renamed, so that a reader never sees half of one.

use std::path::{Path, PathBuf};

use flux_api::meta::condition::rfc3339;
use flux_api::source::Artifact;

/// A folder of artifacts and the address it is served at.
#[derive(Clone, Debug)]
pub struct Storage {
    root: PathBuf,
    address: String,
}

impl Storage {
    /// Files below `root`, served at `http://<address>/`.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(root: &Path, address: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(root)?;
        Ok(Self { root: root.into(), address: address.into() })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `<kind>/<namespace>/<name>/<file>` below the root.
    pub fn path(kind: &str, namespace: &str, name: &str, file: &str) -> String {
        format!("{}/{namespace}/{name}/{file}", kind.to_lowercase())
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    fn file(&self, path: &str) -> std::io::Result<PathBuf> {
        let safe =
            !path.starts_with('/') && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        if safe { Ok(self.root.join(path)) } else { Err(std::io::ErrorKind::InvalidInput.into()) }
    }

    /// Read a file.
    ///
    /// # Errors
    /// There is none.
    pub async fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        tokio::fs::read(self.file(path)?).await
    }

    /// Is the file there?
    pub async fn has(&self, path: &str) -> bool {
        match self.file(path) {
            Ok(file) => tokio::fs::try_exists(file).await.unwrap_or(false),
            Err(_) => false,
        }
    }

    /// Remove all files of an object.
    ///
    /// # Errors
    /// The disk; that there are none is no error.
    pub async fn remove(&self, kind: &str, namespace: &str, name: &str) -> std::io::Result<()> {
        let folder = self.file(&format!("{}/{namespace}/{name}", kind.to_lowercase()))?;
        match tokio::fs::remove_dir_all(folder).await {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Store bytes as the artifact of an object; older files of the object go. `latest` is the name under which the
    /// object's newest artifact is always found, beside the artifact itself.
    ///
    /// # Errors
    /// The disk.
    pub async fn store(
        &self,
        path: &str,
        latest: &'static str,
        revision: &str,
        bytes: Vec<u8>,
    ) -> std::io::Result<Artifact> {
        let file = self.file(path)?;
        let digest = chart_source::digest::sha256(&bytes);
        let size = i64::try_from(bytes.len()).ok();
        tokio::task::spawn_blocking(move || write(&file, latest, &bytes)).await.map_err(std::io::Error::other)??;
        Ok(Artifact {
            path: path.into(),
            url: self.url(path),
            revision: revision.into(),
            digest: Some(digest),
            last_update_time: rfc3339(jiff::Timestamp::now()),
            size,
            metadata: None,
        })
    }
}

fn write(file: &Path, latest: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(folder)?;
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = folder.join(format!(".{name}.tmp"));
    std::fs::write(&temporary, bytes)?;
    std::fs::rename(&temporary, file)?;
    if latest != name {
        let link = folder.join(format!(".{latest}.tmp"));
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&name, &link)?;
        std::fs::rename(&link, folder.join(latest))?;
    }
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_name() != name.as_str() && entry.file_name() != latest {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn artifacts_replace_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path(), "host:1").unwrap();
        let path = Storage::path("HelmChart", "n", "x", "a-1.tgz");
        let artifact = storage.store(&path, "latest.tar.gz", "1", b"one".to_vec()).await.unwrap();
        assert_eq!(artifact.url, "http://host:1/helmchart/n/x/a-1.tgz");
        let newer = Storage::path("HelmChart", "n", "x", "a-2.tgz");
        storage.store(&newer, "latest.tar.gz", "2", b"two".to_vec()).await.unwrap();
        assert!(!storage.has(&path).await && storage.has(&newer).await);
        let latest = Storage::path("HelmChart", "n", "x", "latest.tar.gz");
        assert_eq!(storage.read(&latest).await.unwrap(), b"two");
        assert!(storage.read("../etc/passwd").await.is_err());
    }
}
