//! Charts that `make fuzz-diff` found to differ once, with what Helm 4.3.1 made of them.
//!
//! Owns: nothing but the comparison. The cases are `case.json` files as the fuzzer writes them; Helm is not needed.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../examples/fuzz-diff/ours.rs"]
mod ours;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

#[test]
fn found_cases_stay_as_helm_has_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fuzz");
    let mut complaints = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let case: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let files = case["files"].as_object().unwrap();
        let files = files.iter().map(|(name, text)| (name.clone(), text.as_str().unwrap().into())).collect();
        let ours = ours::answer(&files, case["values"].as_str().unwrap().as_bytes());
        let theirs = match (case["out"].as_str(), case["out_b64"].as_str()) {
            (Some(text), _) => Ok(text.as_bytes().to_vec()),
            (None, Some(text)) => Ok(STANDARD.decode(text).unwrap()),
            (None, None) => Err(case["err"].as_str().unwrap().to_owned()),
        };
        seen += 1;
        if ours != theirs {
            let shown = |a: &ours::Answer| a.clone().map(|t| String::from_utf8_lossy(&t).into_owned());
            complaints.push(format!("{}\n  Helm: {:?}\n  ours: {:?}", path.display(), shown(&theirs), shown(&ours)));
        }
    }
    assert!(seen > 0);
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
