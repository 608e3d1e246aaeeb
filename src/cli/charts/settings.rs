//! Where Helm keeps its files.
//!
//! Owns: Helm's environment variables, the XDG folders and their order. Follows Helm's `pkg/cli/environment.go` and
//! `pkg/helmpath`.

use std::env::var_os;
use std::path::PathBuf;

/// The files of a person who uses Helm.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct Files {
    /// Helm's file with credentials for registries
    #[arg(long, value_name = "FILE", env = "HELM_REGISTRY_CONFIG", hide_env_values = true)]
    registry_config: Option<PathBuf>,
    /// Helm's file with the names and addresses of repositories
    #[arg(long, value_name = "FILE", env = "HELM_REPOSITORY_CONFIG", hide_env_values = true)]
    repository_config: Option<PathBuf>,
    /// Helm's folder with the indexes of repositories
    #[arg(long, value_name = "FOLDER", env = "HELM_REPOSITORY_CACHE", hide_env_values = true)]
    repository_cache: Option<PathBuf>,
    /// Helm's folder with charts that were fetched
    #[arg(long, value_name = "FOLDER", env = "HELM_CONTENT_CACHE", hide_env_values = true)]
    content_cache: Option<PathBuf>,
}

fn given(path: Option<&PathBuf>) -> Option<PathBuf> {
    path.filter(|p| !p.as_os_str().is_empty()).cloned()
}

impl Files {
    pub(super) fn registry_config(&self) -> PathBuf {
        given(self.registry_config.as_ref()).unwrap_or_else(|| config("registry/config.json"))
    }

    pub(super) fn repository_config(&self) -> PathBuf {
        given(self.repository_config.as_ref()).unwrap_or_else(|| config("repositories.yaml"))
    }

    /// The cached index of a repository.
    pub(super) fn index(&self, repository: &str) -> PathBuf {
        let folder = given(self.repository_cache.as_ref()).unwrap_or_else(|| cache("repository"));
        folder.join(format!("{repository}-index.yaml"))
    }

    /// The cached archive with a SHA-256 in hexadecimal.
    pub(super) fn archive(&self, sha256: &str) -> Option<PathBuf> {
        let folder = given(self.content_cache.as_ref()).unwrap_or_else(|| cache("content"));
        let sound = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
        sound.then(|| folder.join(&sha256[..2]).join(format!("{}.chart", sha256.to_lowercase())))
    }
}

/// Docker's configuration, which Helm asks where its own has no credentials.
pub(super) fn docker_config() -> PathBuf {
    var_os("DOCKER_CONFIG")
        .filter(|v| !v.is_empty())
        .map_or_else(|| home().join(".docker"), PathBuf::from)
        .join("config.json")
}

fn config(name: &str) -> PathBuf {
    folder("HELM_CONFIG_HOME", "XDG_CONFIG_HOME", ".config").join(name)
}

fn cache(name: &str) -> PathBuf {
    folder("HELM_CACHE_HOME", "XDG_CACHE_HOME", ".cache").join(name)
}

/// Helm's own variable names the folder itself; in the others it has a folder of its name.
fn folder(helm: &str, xdg: &str, default: &str) -> PathBuf {
    let set = |name: &str| var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set(helm).unwrap_or_else(|| set(xdg).unwrap_or_else(|| home().join(default)).join("helm"))
}

fn home() -> PathBuf {
    var_os("HOME").map(PathBuf::from).unwrap_or_default()
}
