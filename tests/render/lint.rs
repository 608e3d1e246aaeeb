//! `helmrel lint` on the charts of testdata/lint, and the others, in which nothing is found.

use std::path::Path;

use testkit::ChartBuilder;

use super::support::{first_difference, helmrel};

fn testdata() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

fn code(folder: &Path, args: &[&str]) -> i32 {
    let done =
        std::process::Command::new(env!("CARGO_BIN_EXE_helmrel")).args(args).current_dir(folder).output().unwrap();
    done.status.code().unwrap()
}

#[test]
fn each_thing_that_bites_is_found_in_its_place() {
    let testdata = testdata();
    for name in ["bites", "broken", "garbled"] {
        let run = helmrel(&testdata, &["lint", &format!("lint/{name}")]);
        let want = std::fs::read_to_string(testdata.join(format!("lint/expected/{name}.txt"))).unwrap();
        assert!(run.text() == want, "{name}: {}", first_difference(&want, &run.text()));
    }
}

#[test]
fn the_exit_code_tells_errors_and_with_strict_warnings() {
    let testdata = testdata();
    for (args, want) in [
        (&["lint", "charts/web"][..], 0),
        (&["lint", "charts/web", "--strict"], 0),
        (&["lint", "charts/store", "--strict"], 0),
        (&["lint", "charts/umbrella/", "--strict"], 0),
        (&["lint", "charts/umbrella/charts/shapes", "--strict"], 0),
        (&["lint", "lint/bites"], 0),
        (&["lint", "lint/bites", "--strict"], 1),
        (&["lint", "lint/bites", "--strict=false"], 0),
        (&["lint", "lint/broken"], 1),
        (&["lint", "lint/broken", "--set", "a.b.c=1"], 0),
        (&["lint", "lint/garbled"], 1),
        (&["lint", "charts/web", "--set", "service.port=70000"], 1),
        (&["lint", "charts/web", "--set", "service.port=70000", "--skip-schema-validation"], 0),
        (&["lint", "nowhere/at-all"], 1),
        (&["lint"], 2),
    ] {
        assert_eq!(code(&testdata, args), want, "{args:?}");
    }
}

#[test]
fn archives_and_files_of_the_user_are_looked_into() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(dir.path().join(name), text).unwrap();
    let inner = ChartBuilder::new("inner", "1.0.0").values("a: 1\nb: off\n").build().unwrap();
    let outer = ChartBuilder::new("outer", "1.0.0").values("count: 1234567\n").dependency(&inner);
    let outer = outer.template("a.yaml", "kind: A\ncount: {{ .Values.count }}\nm: {{ .Values.m }}\n").build().unwrap();
    write("outer.tgz", &outer.bytes);
    write("mine.yaml", b"m: yes\n");
    let run = helmrel(dir.path(), &["lint", "outer.tgz", "-f", "mine.yaml"]);
    let want = "\
mine.yaml:1: warning: `yes` of `m` is read as true (YAML 1.1); write true, or quote it
outer.tgz/charts/inner-1.0.0.tgz/values.yaml:2: warning: `off` of `b` is read as false (YAML 1.1); write false, or quote it
outer.tgz/values.yaml:1: warning: 1234567 is printed as 1.234567e+06 by outer.tgz/templates/a.yaml (line 2 of what it renders); use `int64` there, or quote it here
";
    assert_eq!(run.text(), want, "{}", run.err);
    write("cut.tgz", &outer.bytes[..100]);
    assert_eq!(code(dir.path(), &["lint", "cut.tgz"]), 1);
}

#[test]
fn what_is_said_of_helm_is_true_of_it() {
    let Some(helm) = super::beside::helm() else { return };
    let world = super::beside::World::new(helm);
    super::beside::copy(&testdata().join("lint/bites"), &world.path().join("bites"));
    let all = "{{ toYaml .Values }}\n";
    world.write("bites/templates/all.yaml", all);
    // One pair of keys is decided by chance, in Helm.
    let values = std::fs::read_to_string(world.path().join("bites/values.yaml")).unwrap();
    world.write("bites/values.yaml", values.replace("\"1\": text\n", ""));
    let left = world.compare(&["template", "bites"], None).unwrap();
    for said in ["country: false", "\"true\":\n  push: true", "a: third", "account: 9007199254740992"] {
        assert!(left.out.contains(said), "{said}\n{}", left.out);
    }
    assert!(left.out.contains("memory: \"2.097152e+07\""), "{}", left.out);
}
