//! Archives and folders: bombs, paths that lead out, links, charts within charts.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{CHART, Case, check, judge};

const LARGE: &str = "decompressed chart is larger than the maximum size 104857600";

fn gzip(parts: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    for part in parts {
        gzip.write_all(&part).unwrap();
    }
    gzip.finish().unwrap()
}

/// A head of 512 bytes, whatever the path.
fn head(path: &str, kind: u8, link: &str, size: u64) -> Vec<u8> {
    let mut head = vec![0; 512];
    head[..path.len()].copy_from_slice(path.as_bytes());
    head[100..108].copy_from_slice(b"0000644\0");
    head[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    head[136..148].copy_from_slice(b"00000000000\0");
    head[156] = kind;
    head[157..157 + link.len()].copy_from_slice(link.as_bytes());
    head[257..265].copy_from_slice(b"ustar\x0000");
    head[148..156].fill(b' ');
    let sum: u32 = head.iter().map(|b| u32::from(*b)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    head
}

fn entry(path: &str, data: &[u8]) -> Vec<u8> {
    let mut entry = head(path, b'0', "", data.len() as u64);
    entry.extend_from_slice(data);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn archive(entries: Vec<Vec<u8>>) -> Vec<u8> {
    gzip([entry("c/Chart.yaml", CHART.as_bytes())].into_iter().chain(entries).chain([vec![0; 1024]]))
}

/// `helmrel template r c.tgz`
fn packed(name: &'static str, data: Vec<u8>, error: &[&'static str]) -> Case {
    Case { name, files: vec![("c.tgz".into(), data)], args: vec!["c.tgz".into()], error: error.to_vec() }
}

fn zeros(mib: usize) -> impl Iterator<Item = Vec<u8>> {
    std::iter::repeat_n(vec![0; 1 << 20], mib)
}

#[test]
fn archives() {
    let head_of = |path: &str, kind: u8, link: &str| archive(vec![head(path, kind, link, 0)]);
    let bomb =
        gzip([entry("c/Chart.yaml", CHART.as_bytes()), head("c/x", b'0', "", 260 << 20)].into_iter().chain(zeros(260)));
    let lying = gzip([entry("c/Chart.yaml", CHART.as_bytes()), head("c/x", b'0', "", 0o77_777_777_777)]);
    let no_tar = gzip(zeros(260));
    let many = (0..300_000).map(|n| head(&format!("c/{n}"), b'0', "", 0)).collect();
    let folders = (0..1_000_000).map(|n| head(&format!("c/{n}/"), b'5', "", 0)).collect();
    let long_name = gzip([head("././@LongLink", b'L', "", 260 << 20)].into_iter().chain(zeros(260)));
    let pax = gzip([head("x", b'x', "", 260 << 20)].into_iter().chain(zeros(260)));
    let within = |data: &[u8]| archive(vec![entry("c/charts/s.tgz", data)]);
    let mut nested = archive(Vec::new());
    for _ in 0..70 {
        nested = within(&nested);
    }
    let inner = archive((0..90).map(|n| entry(&format!("c/x{n}"), &vec![0; 1 << 20])).collect());
    let bombs = archive((0..20).map(|n| entry(&format!("c/charts/s{n}.tgz"), &inner)).collect());
    check(&[
        packed("bomb", bomb, &[LARGE]),
        packed("a size that is a lie", lying, &["Error: "]),
        packed("zeros", no_tar, &["Error: "]),
        packed("many", archive(many), &["chart archive has more than 200000 entries"]),
        packed("folders", archive(folders), &["Error: "]),
        packed("long name", long_name, &["Error: "]),
        packed("pax", pax, &["Error: "]),
        packed("up", head_of("c/../../x", b'0', ""), &["chart illegally references parent directory"]),
        packed("up alone", head_of("../x", b'0', ""), &[]),
        packed("absolute", head_of("/etc/passwd", b'0', ""), &[]),
        packed("drive", head_of("c/C:/x", b'0', ""), &["chart contains illegally named files"]),
        packed("symlink", head_of("c/templates/x.yaml", b'2', "/etc/passwd"), &[]),
        packed("hard link", head_of("c/templates/x.yaml", b'1', "/etc/passwd"), &[]),
        packed("device", head_of("c/templates/x.yaml", b'3', ""), &[]),
        packed("pipe", head_of("c/templates/x.yaml", b'6', ""), &[]),
        packed("charts in charts", nested, &["Error: ", "64"]),
        packed("bombs in a chart", bombs, &["Error: "]),
        packed("cut off", gzip([head("c/Chart.yaml", b'0', "", 100)]), &["Error: "]),
        packed("empty", Vec::new(), &["Error: "]),
        packed("members", vec![gzip([Vec::new()]); 100_000].concat(), &["Error: "]),
    ]);
}

#[test]
fn folders() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let chart = |name: &str| {
        fs::create_dir_all(root.join(name).join("templates")).unwrap();
        fs::write(root.join(name).join("Chart.yaml"), CHART).unwrap();
        root.join(name)
    };
    symlink(".", chart("loop").join("templates/x")).unwrap();
    symlink("..", chart("up").join("templates/x")).unwrap();
    symlink("x", chart("self").join("x")).unwrap();
    symlink("/dev/zero", chart("zero").join("templates/x.yaml")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(chart("pipe").join("templates/x.yaml")).status().unwrap().success()
    );
    fs::File::create(chart("large").join("x")).unwrap().set_len(1 << 40).unwrap();
    let mut deep = chart("deep");
    for _ in 0..400 {
        deep.push("d");
        fs::create_dir(&deep).unwrap();
    }
    let cases: [(&str, &[&str]); 7] = [
        ("loop", &["Error: "]),
        ("up", &["Error: "]),
        ("self", &["Error: ", "error evaluating symlink"]),
        ("zero", &["cannot load irregular file"]),
        ("pipe", &["cannot load irregular file"]),
        ("large", &["chart exceeds maximum decompressed size of 104857600 bytes"]),
        ("deep", &["nest deeper than 256 levels"]),
    ];
    for (name, error) in cases {
        judge(name, root, &[name.to_owned()], error).unwrap();
    }
}

#[test]
fn dependencies() {
    let twice = "dependencies:\n- {name: c, version: 1.0.0, alias: a}\n- {name: c, version: 1.0.0, alias: b}\n";
    let parent = format!("{CHART}{twice}");
    let mut files: Vec<(String, &[u8])> = vec![("Chart.yaml".into(), parent.as_bytes())];
    for n in 1..40 {
        let chart = if n == 39 { CHART } else { &parent };
        files.push((format!("{}Chart.yaml", "charts/c/".repeat(n)), chart.as_bytes()));
    }
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, data)| (path.as_str(), *data)).collect();
    let aliases: String = (0..100_000).map(|n| format!("- {{name: c, version: 1.0.0, alias: a{n}}}\n")).collect();
    let many = format!("{CHART}dependencies:\n{aliases}");
    let globs = "*a".repeat(30) + "*b";
    let ignored = format!("{globs}\n").repeat(1000);
    let long = "a".repeat(200);
    let matching = format!("{{{{ range 1000 }}}}{{{{ $_ := $.Files.Glob \"{globs}\" }}}}{{{{ end }}}}");
    let alternatives = format!("{{{{ .Files.Glob \"{}\" }}}}", "{a,b}".repeat(40));
    let data = vec![b'x'; 90 << 20];
    check(&[
        Case::chart("two of two of two", &files, &["Error: "]),
        Case::chart(
            "aliases",
            &[("Chart.yaml", many.as_bytes()), ("charts/c/Chart.yaml", CHART.as_bytes())],
            &["Error: "],
        ),
        Case::chart("globs in .helmignore", &[(".helmignore", ignored.as_bytes()), (&long, b"")], &[]),
        Case::chart("globs", &[("templates/t.yaml", matching.as_bytes()), (&long, b"")], &[]),
        Case::chart("alternatives", &[("templates/t.yaml", alternatives.as_bytes()), (&long, b"")], &[]),
        Case::chart(
            "a file as bytes",
            &[("templates/t.yaml", b"{{ .Files.GetBytes \"x\" }}"), ("x", &data)],
            &["c/templates/t.yaml:1:", "it is fixed"],
        ),
        Case::chart(
            "files as bytes",
            &[("templates/t.yaml", b"{{ range .Files }}{{ end }}"), ("x", &data)],
            &["c/templates/t.yaml:1:", "it is fixed"],
        ),
        Case::chart(
            "files",
            &[("templates/t.yaml", b"{{ $f := .Files | toYaml }}"), ("x", &data)],
            &["c/templates/t.yaml:1:", "exceeded maximum"],
        ),
        Case::chart(
            "lines",
            &[("templates/t.yaml", b"{{ $f := .Files.Lines \"x\" }}"), ("x", "\n".repeat(30 << 20).as_bytes())],
            &["c/templates/t.yaml:1:", "exceeded maximum"],
        ),
        Case::chart(
            "a chart name",
            &[("Chart.yaml", b"apiVersion: v2\nname: ../../x\nversion: 1.0.0\n")],
            &["Error: "],
        ),
        Case::chart(
            "a version",
            &[("Chart.yaml", format!("apiVersion: v2\nname: c\nversion: {}.0.0\n", "1".repeat(100_000)).as_bytes())],
            &["Error: "],
        ),
    ]);
}
