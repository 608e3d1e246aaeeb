//! The charts under testdata, rendered by real Helm (see testdata/golden/make.sh).

use std::path::Path;

use super::support::{first_difference, helmrel, message};

#[test]
fn charts_of_this_project() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let table = std::fs::read_to_string(testdata.join("golden/cases.tsv")).unwrap();
    let mut checked = 0;
    for line in table.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let (name, args) = line.split_once('\t').unwrap();
        let args: Vec<&str> = args.split_whitespace().collect();
        for profile in ["4.3", "4.1"] {
            let mut all = vec!["template", "--helm-profile", profile];
            all.extend(&args);
            let run = helmrel(&testdata, &all);
            let golden = |end: &str| std::fs::read_to_string(testdata.join(format!("golden/{profile}/{name}.{end}")));
            if let Ok(want) = golden("err") {
                assert!(!run.ok, "{name} does not fail");
                // Helm's order of complaints about values varies.
                let sorted = |text: &str| {
                    let mut parts: Vec<String> = message(text).split(" - at ").map(String::from).collect();
                    parts.sort();
                    parts
                };
                assert_eq!(sorted(&run.err), sorted(&want), "{name} by {profile}");
            } else {
                assert!(run.ok, "{name} by {profile}: {}", run.err);
                let want = golden("yaml").unwrap();
                let got = run.text();
                assert!(got == want, "{name} by {profile}: {}", first_difference(&want, &got));
            }
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} goldens");
}
