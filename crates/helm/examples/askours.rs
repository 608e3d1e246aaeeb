//! x
#![allow(clippy::unwrap_used, clippy::print_stdout)]
#[path = "../examples/fuzz-diff/ours.rs"]
mod ours;
fn main() {
    let root = std::path::Path::new("/tmp/wt-b/crates/helm/testdata/vectors/chart");
    fn read(folder: &std::path::Path, under: &str, files: &mut std::collections::BTreeMap<String, Vec<u8>>) {
        for e in std::fs::read_dir(folder).unwrap() { let p = e.unwrap().path(); let n = format!("{under}{}", p.file_name().unwrap().to_str().unwrap());
            if p.is_dir() { read(&p, &format!("{n}/"), files) } else { files.insert(n, std::fs::read(&p).unwrap()); } }
    }
    let mut files = std::collections::BTreeMap::new();
    read(root, "", &mut files);
    files.insert("templates/t".into(), format!("r: {{{{ tpl {} . | b64enc }}}}", go_value::quote::quote(std::env::args().nth(1).unwrap().as_bytes())).into_bytes());
    println!("{}", ours::answer(&files, b"").map_or_else(|e| e, |t| String::from_utf8_lossy(&t).into_owned()));
}
