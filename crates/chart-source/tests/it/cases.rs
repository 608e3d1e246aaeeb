//! Shared cases: which tag a range picks. `HELMREL_CASES` names the folder they are in.

use chart_source::tags;
use serde_json::Value;

#[test]
fn ranges_pick_the_tags_of_case_19() {
    let Some(cases) = std::env::var_os("HELMREL_CASES") else {
        eprintln!("SKIPPED ranges_pick_the_tags_of_case_19: HELMREL_CASES is not set");
        return;
    };
    let path = std::path::Path::new(&cases).join("19-oci-tag-to-version/selection.json");
    let case: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let list: Vec<String> = serde_json::from_value(case["tags"].clone()).unwrap();
    for query in case["queries"].as_array().unwrap() {
        let semver = query["semver"].as_str().unwrap();
        let picked = tags::select(&list, semver, None, true).ok();
        assert_eq!(picked, query["pick"].as_str(), "{semver}");
        if let Some(version) = query["version"].as_str() {
            assert_eq!(picked.map(tags::version_of).as_deref(), Some(version), "{semver}");
        }
    }
}

#[test]
fn tags_match_the_charts_of_case_19() {
    let Some(cases) = std::env::var_os("HELMREL_CASES") else {
        eprintln!("SKIPPED tags_match_the_charts_of_case_19: HELMREL_CASES is not set");
        return;
    };
    let path = std::path::Path::new(&cases).join("19-oci-tag-to-version/cases.json");
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for case in cases {
        let text = |name: &str| case[name].as_str().unwrap();
        let tracking = case["digestTracking"] != false;
        let digest = tracking.then(|| text("digest"));
        let version = tags::release_version(text("tag"), text("chartYamlVersion"), digest);
        if let Some(wanted) = case["releaseChartVersion"].as_str() {
            assert_eq!(version.unwrap(), wanted, "{case}");
        } else {
            let error = version.unwrap_err().to_string();
            assert!(error.contains(text("tag")) && error.contains(text("chartYamlVersion")), "{error}");
        }
    }
}
