//! What the engine's steps cost: `make bench`, or `cargo bench -p helm --bench engine -- render` for some of them.
//!
//! Each is measured on a chart of this repository, and, where `HELMREL_CORPUS` names a folder with public charts, on two
//! of those. Compare figures of one run only.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use go_value::{Map, Value};
use helm::engine::{Capabilities, Environment, ReleaseOptions, TemplateCache, function_map};
use helm::release::{Release, codec};
use helm::render::{RenderOptions, Rendered, render};
use helm::{Chart, HelmProfile, chart, manifest};

fn main() {
    divan::main();
}

/// The charts that are there.
fn charts() -> Vec<String> {
    let mut paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/charts/umbrella")];
    let corpus = std::env::var_os("HELMREL_CORPUS").map(|corpus| PathBuf::from(corpus).join("charts"));
    let public = corpus.and_then(|charts| std::fs::read_dir(charts).ok());
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ["argo-cd-", "kube-prometheus-stack-"].iter().any(|prefix| name.starts_with(prefix))
    };
    paths.extend(public.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).filter(named));
    paths.sort();
    paths.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

fn options(templates: Option<Arc<TemplateCache>>) -> RenderOptions {
    let host = Arc::new(sprig::FixedHost::new(jiff::Timestamp::UNIX_EPOCH, 1));
    let profile = HelmProfile::default();
    RenderOptions {
        release: ReleaseOptions { name: "bench".into(), namespace: "default".into(), revision: 1, is_upgrade: false },
        capabilities: Arc::new(Capabilities::offline(profile, None, &[])),
        profile,
        environment: Environment { templates, ..Environment::offline(host) },
        skip_schema_validation: false,
        remote_schemas: None,
        sub_notes: false,
    }
}

fn loaded(path: &str) -> Chart {
    chart::load(Path::new(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn rendered(chart: &Chart, values: &Map, options: &RenderOptions) -> Rendered {
    render(chart, values, options).unwrap_or_else(|e| panic!("{}: {e}", chart.name()))
}

/// A folder or an archive to a chart with its subcharts.
#[divan::bench(args = charts())]
fn load(bencher: Bencher<'_, '_>, path: &str) {
    bencher.bench(|| loaded(black_box(path)));
}

/// The first render of a chart: every template is parsed.
#[divan::bench(args = charts())]
fn render_first(bencher: Bencher<'_, '_>, path: &str) {
    let (chart, options) = (loaded(path), options(None));
    bencher.bench(|| rendered(&chart, &Map::new(), &options));
}

/// Any later one, with other values: what the controller does in each pass.
#[divan::bench(args = charts())]
fn render_again(bencher: Bencher<'_, '_>, path: &str) {
    let (chart, options) = (loaded(path), options(Some(Arc::default())));
    let mut count = 0;
    rendered(&chart, &Map::new(), &options);
    bencher
        .with_inputs(|| {
            count += 1;
            Map::from_iter([("benchmark", Value::int(count))])
        })
        .bench_local_refs(|values| rendered(&chart, values, &options));
}

/// Every template of a chart to its tree.
#[divan::bench(args = charts())]
fn parse(bencher: Bencher<'_, '_>, path: &str) {
    let chart = loaded(path);
    let host: Arc<dyn sprig::Host> = Arc::new(sprig::FixedHost::new(jiff::Timestamp::UNIX_EPOCH, 1));
    let set = go_template::Set::new("bench", function_map(HelmProfile::default(), &host));
    let bytes: usize = chart.templates.iter().map(|file| file.data.len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for file in &chart.templates {
            black_box(set.compile(&file.name, &file.data)).unwrap_or_else(|e| panic!("{e}"));
        }
    });
}

/// The manifest of a chart as JSON, document by document.
#[divan::bench(args = charts())]
fn yaml_read(bencher: Bencher<'_, '_>, path: &str) {
    let text = manifest::join(&rendered(&loaded(path), &Map::new(), &options(None)).manifests);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| manifest::split(&text, HelmProfile::default()).into_iter().map(json).collect::<Vec<_>>());
}

fn json(document: &str) -> serde_json::Value {
    go_yaml::decode_json(document.as_bytes(), go_yaml::Duplicates::LastWins).unwrap_or_else(|e| panic!("{e}"))
}

/// `toYaml` of each document.
#[divan::bench(args = charts())]
fn yaml_write(bencher: Bencher<'_, '_>, path: &str) {
    let text = manifest::join(&rendered(&loaded(path), &Map::new(), &options(None)).manifests);
    let documents: Vec<Value> = manifest::split(&text, HelmProfile::default())
        .into_iter()
        .map(|document| go_yaml::decode(document.as_bytes()).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| documents.iter().map(|d| go_yaml::encode(d).map(|t| t.len())).collect::<Result<Vec<_>, _>>());
}

fn release(path: &str) -> Release {
    let rendered = rendered(&loaded(path), &Map::new(), &options(None));
    Release {
        name: "bench".into(),
        namespace: "default".into(),
        version: 1,
        manifest: manifest::join(&rendered.manifests),
        hooks: rendered.hooks,
        chart: (&rendered.chart).into(),
        ..Release::default()
    }
}

/// A revision to the text in its Secret.
#[divan::bench(args = charts())]
fn release_encode(bencher: Bencher<'_, '_>, path: &str) {
    let release = release(path);
    bencher.bench(|| codec::encode(&release));
}

/// The text in a Secret to a revision.
#[divan::bench(args = charts())]
fn release_decode(bencher: Bencher<'_, '_>, path: &str) {
    let data = codec::encode(&release(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    bencher.counter(BytesCount::of_slice(&data)).bench(|| codec::decode(&data));
}
