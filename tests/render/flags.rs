//! Every flag of `helm template` against the real one, on the charts of testdata and a few broken ones.
//!
//! A row is a command line. Flags that fetch are in `fetching`, those that need a cluster in `tests/it`.

use std::path::Path;

use super::beside::{World, copy, helm};
use super::support::all;

/// Command lines that both programs must answer alike.
const ROWS: &[&str] = &[
    // Names.
    "site charts/web",
    "charts/web",
    "charts/web -g",
    "charts/web --generate-name",
    "site charts/web --generate-name",
    "site charts/web --name-template x",
    "charts/web --name-template foo-{{3|add|2}}",
    "charts/web --name-template foo-{{add(2)(3)}}-{{lower`ABC`}}",
    "charts/web --name-template {{.a.b",
    "charts/web --name-template {{fail`no`}}",
    "charts/web --name-template {{nope}}",
    "X_y charts/web",
    "a b c",
    "a b c d",
    // References.
    "site nope",
    "site ./nope",
    "site /nope",
    "site repo/nope",
    "site charts/umbrella/charts/shapes",
    "site charts/web/values.yaml",
    "site charts/web/Chart.yaml",
    "site deprecated",
    "site charts",
    "site ftp://127.0.0.1/x.tgz",
    "site x://127.0.0.1/x.tgz",
    // What is shown.
    "site charts/web -s templates/service.yaml",
    "site charts/web --show-only templates/service.yaml --show-only templates/secret.yaml",
    "site charts/web -s templates/secret.yaml -s templates/service.yaml -s templates/secret.yaml",
    "site charts/web -s templates/*",
    "site charts/web -s templates/s*.yaml",
    "site charts/web -s templates/[cd]*.yaml",
    "site charts/web -s templates/*/*.yaml",
    "site charts/web -s templates/tests/connection.yaml --skip-tests",
    "site charts/web -s templates/tests/connection.yaml",
    "site charts/web -s nope.yaml",
    "site charts/web -s templates/[",
    "site charts/web -s templates/service.yaml,templates/secret.yaml",
    "site charts/web -s templates/service.yaml -s nope.yaml",
    "all charts/umbrella -s charts/front/templates/page.yaml",
    "all charts/umbrella -s charts/*/templates/*",
    "db charts/store --include-crds -s crds/backups.yaml",
    "db charts/store -s crds/backups.yaml",
    "site charts/web --skip-tests",
    "site charts/web --skip-tests=false",
    "db charts/store --no-hooks",
    "db charts/store --no-hooks=0",
    "db charts/store --no-hooks --no-hooks=F",
    "db charts/store --is-upgrade",
    "db charts/store --include-crds",
    "db charts/store --include-crds --skip-crds",
    "db charts/store --skip-crds",
    // Files.
    "site charts/web --output-dir written/a",
    "site charts/web --output-dir written/a --release-name",
    "db charts/store --output-dir written/ --include-crds --release-name",
    "db charts/store --output-dir written --include-crds",
    "db charts/store --output-dir written/a --no-hooks",
    "site charts/web --output-dir written/a --skip-tests",
    "site charts/web --output-dir written/a -s templates/service.yaml",
    "site charts/web --output-dir charts/web/Chart.yaml",
    "site broken --output-dir written/a",
    "site failing --output-dir written/a",
    "db charts/store --release-name",
    // Capabilities.
    "site capable --kube-version 1.20",
    "site capable --kube-version v1.20.3-gke.1",
    "site capable --kube-version nope",
    "site capable -a a/v1 --api-versions b/v1,c/v1/Kind",
    "site capable -n here",
    "site capable --namespace=here",
    "site old",
    "site old --kube-version 1.10",
    "site old --debug",
    // Values.
    "site charts/web -f more.yaml",
    "site charts/web -f more.yaml,most.yaml",
    "site charts/web -f more.yaml -f most.yaml --set replicas=7",
    "site charts/web --values nope.yaml",
    "site charts/web -f charts",
    "site charts/web -f bad.yaml",
    "site show --set a=1,b.c=x --set-string d=1 --set-json e={\"f\":[1]} --set-literal g=a,b --set-file h=more.yaml",
    "site show --set-json {\"a\":{\"b\":1000000}}",
    "site show --set-json a=nope",
    "site show --set-json {nope",
    "site show --set a",
    "site show --set a[x]=1",
    "site show --set-file a=nope",
    "site show --set a=-1 --set-string b=--set",
    "site charts/web --set image.pullPolicy=Sometimes",
    "site charts/web --set image.pullPolicy=Sometimes --skip-schema-validation",
    "site charts/web --disable-openapi-validation",
    // What fails, and what --debug shows of it.
    "site broken",
    "site broken --debug",
    "site broken --debug --no-hooks",
    "site broken --debug -s templates/good.yaml",
    "site broken --debug -s nope",
    "site failing",
    "site failing --debug",
    "site failing --debug -s templates/x.yaml",
    "site missing",
    "site unparsed --debug",
    // Dry runs without a cluster.
    "site charts/web --dry-run",
    "site charts/web --dry-run=client",
    "site charts/web --dry-run=true",
    "site charts/web --dry-run=T",
    "site charts/web --dry-run=false",
    "site charts/web --dry-run=none",
    "site charts/web --dry-run=nope",
    "site charts/web --validate --dry-run=client",
    "site charts/web --validate=false",
    // Without effect.
    "site charts/web --create-namespace --description text --labels a=b,c=d --timeout 1m --replace --take-ownership",
    "site charts/web --wait --wait-for-jobs --rollback-on-failure --force-replace --server-side=false --keyring x",
    "site charts/web --wait=legacy --force-conflicts --server-side --burst-limit 3 --qps 2 --color never",
    "site charts/web --wait=true",
    "site charts/web --wait=false",
    "site charts/web --wait=nope",
    "site charts/web --timeout nope",
    "site charts/web -l ab",
    "site charts/web -l a=b,owner=me",
    "site charts/web --server-side=nope",
    "site charts/web --force-replace --force-conflicts",
    "site charts/web --force --force-conflicts",
    "site charts/web --hide-notes --render-subchart-notes --atomic --force",
    "site charts/web --enable-dns",
    "site charts/web --devel --version 1",
    "site charts/web --post-renderer=",
    "site charts/web --verify",
    "site charts/web --dependency-update",
    // Certificates are read whatever the chart is.
    "site charts/web --ca-file nope",
    "site charts/web --ca-file more.yaml",
    "site charts/web --cert-file nope --key-file nope",
    "site charts/web --cert-file nope",
    "site charts/web --ca-file= --keyring= --kubeconfig= --namespace= --kube-version= --version= --repo=",
    "site charts/web --insecure-skip-tls-verify --plain-http --pass-credentials --username u --password p",
];

fn world(helm: std::path::PathBuf) -> World {
    let world = World::new(helm);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/charts"), &world.path().join("charts"));
    let chart = |name: &str, more: &str, files: &[(&str, &str)]| {
        world.write(&format!("{name}/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n{more}"));
        for (path, text) in files {
            world.write(&format!("{name}/templates/{path}"), text);
        }
    };
    let hook = "kind: Job\nmetadata:\n  name: h\n  annotations:\n    helm.sh/hook: test\n";
    let good = "kind: ConfigMap\nmetadata:\n  name: good\n";
    // Helm shows broken files in any order; one alone has none.
    chart("broken", "", &[("bad.yaml", "a: [\n")]);
    chart("failing", "", &[("good.yaml", good), ("hook.yaml", hook), ("x.yaml", "a: {{ fail \"no\" }}\n")]);
    chart("unparsed", "", &[("x.yaml", "a: {{ if }}\n")]);
    chart("old", "kubeVersion: '< 1.15'\n", &[("good.yaml", good)]);
    chart("deprecated", "deprecated: true\n", &[("good.yaml", good)]);
    chart("missing", "dependencies:\n- {name: x, version: 1.0.0, repository: 'http://127.0.0.1:1'}\n", &[]);
    let seen = "v: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Minor }}\n\
                a: {{ .Capabilities.APIVersions.Has \"a/v1\" }} {{ .Capabilities.APIVersions.Has \"c/v1/Kind\" }}\n\
                n: {{ .Release.Namespace }} {{ .Release.Name }} {{ .Release.IsUpgrade }}\n";
    chart("capable", "", &[("seen.yaml", seen)]);
    chart("show", "", &[("values.yaml", "{{ toYaml .Values }}\n")]);
    world.write("more.yaml", "replicas: 3\n");
    world.write("most.yaml", "replicas: 4\nservice:\n  port: 81\n");
    world.write("bad.yaml", "a: [\n");
    world
}

#[test]
fn every_flag_answers_as_helm_does() {
    let Some(helm) = helm() else { return };
    // Rows that write files need a folder of their own.
    let worlds: Vec<World> = (0..2).map(|_| world(helm.clone())).collect();
    let halves: Vec<Vec<&str>> = (0..2).map(|n| ROWS.iter().copied().skip(n).step_by(2).collect()).collect();
    let sets: Vec<(&World, &Vec<&str>)> = worlds.iter().zip(&halves).collect();
    all(&sets, |_, (world, rows)| {
        let bad: Vec<String> = rows
            .iter()
            .filter_map(|row| {
                let args: Vec<&str> = std::iter::once("template").chain(row.split(' ')).collect();
                world.compare(&args, None).err()
            })
            .collect();
        if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
    });
}

#[test]
fn values_from_standard_input() {
    let Some(helm) = helm() else { return };
    let world = world(helm);
    world.compare(&["template", "show", "-f", "-"], Some("most.yaml")).map(drop).unwrap();
    world.compare(&["template", "show", "-f", "-"], Some("bad.yaml")).map(drop).unwrap();
    world.compare(&["template", "show", "--set-file", "a=-"], Some("most.yaml")).map(drop).unwrap();
}

#[test]
fn files_of_an_earlier_run_stay() {
    let Some(helm) = helm() else { return };
    let world = world(helm);
    let left = world.compare(&["template", "db", "charts/store", "--output-dir", "written"], None).unwrap();
    assert!(left.out.contains("wrote written/store/templates/hooks.yaml\n"), "{}", left.out);
    // A second run appends hooks to what is there.
    let path = world.path().join("written/store/templates/hooks.yaml");
    let before = std::fs::read_to_string(&path).unwrap();
    let args = ["template", "db", "charts/store", "--output-dir", "written"];
    super::support::helmrel(world.path(), &args);
    let ours = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &before).unwrap();
    world.helm(&args);
    assert_eq!(ours, std::fs::read_to_string(&path).unwrap());
    assert_eq!(ours, before.repeat(2));
}

#[test]
fn the_namespace_is_that_of_the_kubeconfig() {
    let Some(helm) = helm() else { return };
    let mut world = world(helm);
    let context =
        |name: &str, namespace: &str| format!("- name: {name}\n  context: {{cluster: c, namespace: {namespace}}}\n");
    world.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {{server: 'https://127.0.0.1:1'}}\n\
             contexts:\n{}{}current-context: one\n",
            context("one", "first"),
            context("two", "second")
        ),
    );
    world.set("KUBECONFIG", "kubeconfig");
    for args in ["", " -n mine", " --kube-context two", " --kubeconfig nope", " --kubeconfig kubeconfig"] {
        let row = format!("template capable{args}");
        world.compare(&row.split(' ').collect::<Vec<_>>(), None).map(drop).unwrap();
    }
    world.set("HELM_NAMESPACE", "of-env");
    world.compare(&["template", "capable"], None).map(drop).unwrap();
}

#[test]
fn what_would_run_another_program_is_refused_with_a_way_out() {
    let charts = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/charts");
    let run = super::support::helmrel(&charts, &["template", "web", "--post-renderer", "x"]);
    assert!(!run.ok && run.err.contains("pipe the output through it instead"), "{}", run.err);
}
