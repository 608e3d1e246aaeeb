//! Files that are made from the code are what the code makes now.

#![expect(clippy::unwrap_used)] // A file that cannot be read is a failure.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[test]
fn crds_are_fresh() {
    let fresh = tempfile::tempdir().unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_helmrel")).args(["crds", "--write"]).arg(fresh.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crds"));
    // The list of the folder for kustomize is written by hand; the next test compares it.
    committed.remove("kustomization.yaml");
    let fresh = files(fresh.path());
    let names: Vec<&String> = fresh.keys().collect();
    assert_eq!(names, committed.keys().collect::<Vec<_>>(), "crds/ has other files than `helmrel crds` writes");
    for (name, text) in &fresh {
        assert!(
            committed[name] == *text,
            "crds/{name} is not what the types say: run `make crds` and commit the result"
        );
    }
}

#[test]
fn kustomization_lists_every_crd() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    let list = std::fs::read_to_string(folder.join("kustomization.yaml")).unwrap();
    let listed: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
    let mut names: Vec<String> = files(&folder).into_keys().collect();
    names.retain(|name| name != "kustomization.yaml");
    assert_eq!(listed, names);
}

/// The texts of a folder's files by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}
