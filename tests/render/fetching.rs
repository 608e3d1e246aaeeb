//! Charts and values from servers on loopback, beside real Helm.
//!
//! Owns: repositories by address and by name, registries, credentials, certificates, caches. The registry is the real
//! one, where it is on this machine.

use testkit::{Archive, ChartBuilder, ChartRepo, Registry, registry, repo};

use super::beside::{World, helm};

fn chart(name: &str, version: &str) -> Archive {
    let shown = "v: {{ list .Chart.Version .Release.Name .Values | toJson | quote }}\n";
    ChartBuilder::new(name, version).values("k: v\n").template("map.yaml", shown).build().unwrap()
}

fn check(world: &World, rows: &[String]) {
    let bad: Vec<String> =
        rows.iter().filter_map(|row| world.compare(&row.split(' ').collect::<Vec<_>>(), None).err()).collect();
    assert!(bad.is_empty(), "{} of {} rows differ:\n{}", bad.len(), rows.len(), bad.join("\n"));
}

fn repository(options: &repo::Options) -> ChartRepo {
    let served = ChartRepo::start_with(options).unwrap();
    for version in ["1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1"] {
        served.add(&chart("demo", version));
    }
    served.put("/values.yaml", "k: fetched\n");
    served
}

#[test]
fn a_repository_by_its_address() {
    let Some(helm) = helm() else { return };
    let world = World::new(helm);
    let served = repository(&repo::Options::default());
    let url = served.url();
    let rows =
        |text: &[&str]| text.iter().map(|row| format!("template {}", row.replace("URL", &url))).collect::<Vec<_>>();
    check(
        &world,
        &rows(&[
            "r demo --repo URL",
            "r demo --repo URL/",
            "r demo --repo URL --version 1.2.0",
            "r demo --repo URL --version 1.2",
            "r demo --repo URL --version ^1",
            "r demo --repo URL --version ~1.0.0",
            "r demo --repo URL --version >1.10.0",
            "r demo --repo URL --devel",
            "r demo --repo URL --devel --version 1.0.0",
            "r demo --repo URL --version 9.0.0",
            "r demo --repo URL --version nonsense",
            "r other --repo URL",
            "r demo --repo URL/nowhere",
            "r demo --repo http://127.0.0.1:1",
            "r demo --repo ftp://127.0.0.1:1",
            "r demo --repo URL --username u --password p",
            "r URL/charts/demo-1.2.0.tgz",
            "URL/charts/demo-1.2.0.tgz --set k=w",
            "r URL/charts/none.tgz",
            "r http://127.0.0.1:1/x.tgz",
            "r URL/charts/demo-1.2.0.tgz -f URL/values.yaml",
            "r URL/charts/demo-1.2.0.tgz --values URL/values.yaml --set-file j=URL/values.yaml",
            "r URL/charts/demo-1.2.0.tgz -f URL/none.yaml",
            "r URL/charts/demo-1.2.0.tgz -f http://127.0.0.1:1/values.yaml",
        ]),
    );
    served.put("/bad/index.yaml", "apiVersion: v1\nentries: [\n");
    served.put("/empty/index.yaml", "");
    served.put(
        "/none/index.yaml",
        "apiVersion: v1\nentries:\n  demo:\n  - {name: demo, version: 1.0.0, apiVersion: v1}\n",
    );
    check(&world, &rows(&["r demo --repo URL/bad", "r demo --repo URL/empty", "r demo --repo URL/none"]));
}

#[test]
fn credentials_and_certificates() {
    let Some(helm) = helm() else { return };
    let world = World::new(helm);
    let options = repo::Options { tls: true, basic_auth: Some(("u".into(), "p".into())) };
    let served = repository(&options);
    world.write("ca.pem", served.ca().unwrap());
    let open = repository(&repo::Options::default());
    // A repository that lists a chart on another host: credentials are not for that one.
    let index = |base: &str| {
        format!(
            "apiVersion: v1\nentries:\n  demo:\n  - {{name: demo, version: 1.0.0, apiVersion: v1, urls: ['{base}/charts/demo-1.0.0.tgz']}}\n"
        )
    };
    open.put("/elsewhere/index.yaml", index(&served.url()));
    let rows: Vec<String> = [
        "r demo --repo URL --ca-file ca.pem --username u --password p",
        "r demo --repo URL --insecure-skip-tls-verify --username u --password p",
        "r demo --repo URL --ca-file ca.pem",
        "r demo --repo URL --ca-file ca.pem --username u --password wrong",
        "r demo --repo URL --username u --password p",
        "r URL/charts/demo-1.0.0.tgz --ca-file ca.pem --username u --password p",
        "r URL/charts/demo-1.0.0.tgz --ca-file ca.pem",
        "r demo --repo OPEN/elsewhere --ca-file ca.pem --username u --password p",
        "r demo --repo OPEN/elsewhere --ca-file ca.pem --username u --password p --pass-credentials",
    ]
    .iter()
    .map(|row| format!("template {}", row.replace("URL", &served.url()).replace("OPEN", &open.url())))
    .collect();
    check(&world, &rows);
}

#[test]
fn repositories_that_helm_knows() {
    let Some(helm) = helm() else { return };
    let mut world = World::new(helm);
    let served = repository(&repo::Options::default());
    let secret = repository(&repo::Options { basic_auth: Some(("u".into(), "p".into())), ..repo::Options::default() });
    let add = |name: &str, url: &str, more: &[&str]| {
        let args = [&["repo", "add", name, url][..], more].concat();
        let left = world.helm(&args);
        assert_eq!(left.code, 0, "{}", left.err);
    };
    add("one", &served.url(), &[]);
    add("two", &secret.url(), &["--username", "u", "--password", "p"]);
    let mut rows: Vec<String> = [
        "r one/demo",
        "one/demo",
        "r one/demo --version 1.2.0",
        "r one/demo --version 1.2",
        "r one/demo --version ^1.2",
        "r one/demo --version 9",
        "r one/demo --version nonsense",
        "r one/demo --devel",
        "r one/other",
        "r three/demo",
        "r two/demo",
        "r one/demo --repository-config nope",
        "r one/demo --repository-cache nope",
    ]
    .iter()
    .map(|row| format!("template {row}"))
    .collect();
    // An address that a known repository lists gets that one's credentials.
    rows.push(format!("template r {}/charts/demo-1.0.0.tgz", secret.url()));
    check(&world, &rows);

    // The index is the cached one, and Helm has the archive already: no server is needed.
    let copied = chart("demo", "3.0.0");
    served.add(&copied);
    check(&world, &["template r one/demo".into()]);
    drop(served);
    check(&world, &["template r one/demo".into(), "template r one/demo --version 1.0.0".into()]);
    let moved = world.path().join("moved");
    std::fs::create_dir_all(&moved).unwrap();
    world.set("HELM_REPOSITORY_CONFIG", &moved.join("none.yaml").display().to_string());
    check(&world, &["template r one/demo".into()]);
    world.set("HELM_CONFIG_HOME", &moved.display().to_string());
    check(&world, &["template r two/demo".into()]);
}

async fn registry_with(options: &registry::Options) -> Option<(Registry, String)> {
    let served = match Registry::start_with(options).await {
        Ok(served) => served,
        Err(e) => {
            eprintln!("SKIPPED: no registry: {e:#}");
            return None;
        }
    };
    let mut digest = String::new();
    for version in ["1.0.0", "1.2.0", "1.10.0+b", "2.0.0-rc.1"] {
        let pushed =
            served.push_chart("charts/demo", &version.replace('+', "_"), &chart("demo", version)).await.unwrap();
        if version == "1.2.0" {
            digest = pushed;
        }
    }
    served.push_chart("charts/odd", "latest", &chart("odd", "1.0.0")).await.unwrap();
    Some((served, digest))
}

#[tokio::test]
async fn a_registry() {
    let Some(helm) = helm() else { return };
    let Some((served, digest)) = registry_with(&registry::Options::default()).await else { return };
    let world = World::new(helm);
    let other = format!("sha256:{}", "0".repeat(64));
    let rows: Vec<String> = [
        "r URL/charts/demo",
        "URL/charts/demo",
        "r URL/charts/demo --version 1.2.0",
        "r URL/charts/demo --version ^1",
        "r URL/charts/demo --version 1.10.0+b",
        "r URL/charts/demo --version 1.2",
        "r URL/charts/demo --version ~1.2",
        "r URL/charts/demo --version 9.9.9",
        "r URL/charts/demo --version ^9",
        "r URL/charts/demo --version nonsense",
        "r URL/charts/demo --devel",
        "r URL/charts/demo:1.2.0",
        "r URL/charts/demo:1.2.0 --version 1.2.0",
        "r URL/charts/demo:1.2.0 --version 1.0.0",
        "r URL/charts/demo@DIGEST",
        "r URL/charts/demo:1.2.0@DIGEST",
        "r URL/charts/demo:1.0.0@DIGEST",
        "r URL/charts/demo:7.7.7@DIGEST",
        "r URL/charts/demo@DIGEST --version 1.2.0",
        "r URL/charts/demo@OTHER",
        "r URL/charts/none",
        "r URL/charts/none --version 1.0.0",
        "r URL/charts/odd",
        "r URL/charts/odd:latest",
        "r oci://127.0.0.1:1/x",
        "r oci://127.0.0.1:1/x --version 1.0.0",
    ]
    .iter()
    .map(|row| {
        let row = row.replace("URL", &served.url()).replace("DIGEST", &digest).replace("OTHER", &other);
        format!("template {row} --plain-http")
    })
    .collect();
    check(&world, &rows);
}

#[tokio::test]
async fn a_registry_with_credentials_and_certificates() {
    let Some(helm) = helm() else { return };
    let options = registry::Options { tls: true, basic_auth: Some(("u".into(), "p".into())) };
    let Some((served, _)) = registry_with(&options).await else { return };
    let world = World::new(helm);
    world.write("ca.pem", served.ca().unwrap());
    let rows = |text: &[&str]| {
        text.iter().map(|row| format!("template {}", row.replace("URL", &served.url()))).collect::<Vec<String>>()
    };
    let anonymous = rows(&["r URL/charts/demo --ca-file ca.pem", "r URL/charts/demo --version 1.0.0 --ca-file ca.pem"]);
    check(&world, &anonymous);
    check(
        &world,
        &rows(&[
            "r URL/charts/demo --ca-file ca.pem --username u --password p",
            "r URL/charts/demo --insecure-skip-tls-verify --username u --password p --version 1.2.0",
            "r URL/charts/demo --username u --password p",
            "r URL/charts/demo --ca-file ca.pem --username u --password wrong",
        ]),
    );
    // Docker's file, then Helm's, which beats it.
    let entry = |pair: &str| {
        use base64::Engine;
        let auth = base64::engine::general_purpose::STANDARD.encode(pair);
        format!("{{\"auths\":{{\"{}\":{{\"auth\":\"{auth}\"}}}}}}", served.host())
    };
    world.write("home/.docker/config.json", entry("u:p"));
    check(&world, &anonymous);
    world.write("home/.config/helm/registry/config.json", entry("u:wrong"));
    check(&world, &anonymous);
    world.write("home/.docker/config.json", entry("u:wrong"));
    world.write("home/.config/helm/registry/config.json", entry("u:p"));
    check(&world, &anonymous);
}

#[test]
fn missing_dependencies() {
    let Some(helm) = helm() else { return };
    let mut world = World::new(helm);
    let served = repository(&repo::Options::default());
    let secret = repository(&repo::Options { basic_auth: Some(("u".into(), "p".into())), ..repo::Options::default() });
    for (name, url) in [("one", served.url()), ("two", secret.url())] {
        let left = world.helm(&["repo", "add", name, &url, "--username", "u", "--password", "p"]);
        assert_eq!(left.code, 0, "{}", left.err);
    }
    world.write("near/Chart.yaml", "apiVersion: v2\nname: near\nversion: 1.2.3\n");
    world.write("near/templates/a.yaml", "near: {{ .Chart.Version }}\n");
    world.set("HELM_NO_PLUGINS", "1");
    let rows = [
        ("{name: demo, version: ^1, repository: 'URL'}", true),
        (
            "{name: demo, version: 1.2.0, repository: 'URL/'}, {name: near, version: '>=1', repository: 'file://../near'}",
            true,
        ),
        ("{name: demo, version: 1.0.0, repository: '@two'}", true),
        ("{name: demo, version: 1.0.0, repository: 'alias:two', alias: other}", true),
        ("{name: demo, version: 1.0.0, repository: 'SECRET'}", true),
        ("{name: demo, version: ^1, repository: 'URL', condition: demo.on}", true),
        ("{name: demo, version: ^9, repository: 'URL'}", false),
        ("{name: none, version: 1.0.0, repository: 'URL'}", false),
        ("{name: near, version: ^2, repository: 'file://../near'}", false),
        ("{name: far, version: ^2, repository: 'file://../far'}", false),
        ("{name: demo, version: nope, repository: 'URL'}", false),
        ("{name: demo, version: 1.0.0, repository: '@nobody'}", false),
        ("{name: here, version: 1.0.0}", false),
    ];
    let rows = rows.map(|(row, good)| (row.replace("URL", &served.url()).replace("SECRET", &secret.url()), good));
    complete(&world, &rows, &[]);
}

/// Charts that want these dependencies, completed by both.
fn complete(world: &World, rows: &[(String, bool)], flags: &[&str]) {
    for (i, (row, good)) in rows.iter().enumerate() {
        let chart = format!("apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{row}]\n");
        let name = format!("c{i}");
        world.write(&format!("{name}/Chart.yaml"), chart);
        world.write(&format!("{name}/values.yaml"), "demo:\n  on: true\n");
        let args = [&["template", "r", &name, "--dependency-update"], flags].concat();
        // Helm completes the folder, so it comes second; and it tells about it before the manifest.
        let ours = world.helmrel(&args);
        assert!(!world.path().join(&name).join("charts").exists());
        let helms = world.helm(&args);
        let shown = format!("{row}\n{}\n{}", ours.err, helms.err);
        assert_eq!((ours.code, helms.code == 0), (helms.code, *good), "{shown}");
        assert!(helms.out.ends_with(&ours.out), "{shown}\n{}\n{}", ours.out, helms.out);
        assert_eq!(ours.out.is_empty(), !good, "{shown}");
        // Of what it pulls from a registry to complete a chart Helm tells, too.
        let told = if *good && !flags.is_empty() { &ours.err } else { &helms.err };
        assert_eq!(super::support::message(&ours.err), super::support::message(told), "{row}");
    }
}

#[tokio::test]
async fn missing_dependencies_of_a_registry() {
    let Some(helm) = helm() else { return };
    let Some((served, _)) = registry_with(&registry::Options::default()).await else { return };
    let world = World::new(helm);
    let rows = [
        ("{name: demo, version: 1.2.0, repository: 'URL/charts'}", true),
        ("{name: demo, version: ^1, repository: 'URL/charts'}", true),
        ("{name: demo, version: '>=1', repository: 'URL/charts', alias: other}", true),
        ("{name: demo, version: '>=1', repository: 'URL/charts/'}", false),
        ("{name: demo, version: 1.2.0, repository: 'URL/charts/'}", false),
        ("{name: demo, version: ^9, repository: 'URL/charts'}", false),
        ("{name: none, version: 1.0.0, repository: 'URL/charts'}", false),
        ("{name: demo, version: nonsense, repository: 'URL/charts'}", false),
        ("{name: demo, version: 1.2.0, repository: 'oci://127.0.0.1:1/charts'}", false),
    ];
    complete(&world, &rows.map(|(row, good)| (row.replace("URL", &served.url()), good)), &["--plain-http"]);
}
