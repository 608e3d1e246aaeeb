//! Where the real programs are.
//!
//! Owns: asking `hack/tools.sh`. Does not own: downloading or building, which that script does.
//! The surprising thing: the first call of a fresh machine may take minutes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

static KNOWN: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

/// The path of a program that `hack/tools.sh` knows, e.g. `etcd` or `helm4`; asked once per process.
///
/// # Errors
/// The script fails; its own words are in the error.
pub fn tool(name: &str) -> Result<PathBuf> {
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(path) = known.get(name) {
        return Ok(path.clone());
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hack/tools.sh");
    let output = Command::new("bash")
        .arg(&script)
        .arg(name)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("failed to run {}", script.display()))?;
    if !output.status.success() {
        bail!("{} {name} failed:\n{}", script.display(), String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let path = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .map(PathBuf::from)
        .with_context(|| format!("{} did not say where {name} is", script.display()))?;
    known.insert(name.to_owned(), path.clone());
    Ok(path)
}
