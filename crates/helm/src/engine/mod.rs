//! Helm's template engine: a chart and its values to texts.
//!
//! Owns: which templates see which values, the functions Helm adds to sprig's, Helm's reformatting of errors. Does not
//! own: the language (go-template), sprig's functions, splitting the result into manifests. Follows Helm's
//! `pkg/engine`. The surprising things: all templates of a chart and its subcharts live in one set, so a `define` in
//! one is seen by all, and the last one parsed wins; `.Template` is written into the map a chart's templates share.

mod cache;
mod capabilities;
mod durations;
mod error;
mod files;
mod functions;
mod glob;
mod toml;
mod toml_decode;

pub use cache::TemplateCache;
pub use capabilities::{Capabilities, KubeVersion};
pub use glob::Glob;
pub use go_template::{Grown, Limits, on_large_stack};

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use go_template::{Budget, FuncMap, MissingKey, Options, Set};
use go_value::{Map, MapType, Value};

use crate::chart::Chart;
use crate::error::Error;
use crate::profile::HelmProfile;

/// The stack of a rendering thread. Only touched pages cost memory.
pub const STACK_BYTES: usize = 256 << 20;

/// The window of templates into a cluster: the function `lookup`.
pub trait Lookup: Send + Sync {
    /// The object of this name, or a list of all of the kind when the name is empty, as plain data; the empty map when
    /// there is no such object.
    ///
    /// # Errors
    /// Any other failure, which fails the render.
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Map, String>;
}

/// What a release is told about itself: `.Release`.
#[derive(Clone, Debug, Default)]
pub struct ReleaseOptions {
    /// `.Release.Name`
    pub name: String,
    /// `.Release.Namespace`
    pub namespace: String,
    /// `.Release.Revision`
    pub revision: i64,
    /// `.Release.IsUpgrade`; `.Release.IsInstall` is the opposite.
    pub is_upgrade: bool,
}

impl ReleaseOptions {
    fn to_value(&self) -> Map {
        [
            ("Name", Value::string(self.name.as_str())),
            ("Namespace", Value::string(self.namespace.as_str())),
            ("IsUpgrade", Value::Bool(self.is_upgrade)),
            ("IsInstall", Value::Bool(!self.is_upgrade)),
            ("Revision", Value::int(self.revision)),
            ("Service", Value::string("Helm")),
        ]
        .into_iter()
        .collect()
    }
}

/// What templates may ask of the world outside.
#[derive(Clone)]
pub struct Environment {
    /// A cluster; without one `lookup` finds nothing.
    pub lookup: Option<Arc<dyn Lookup>>,
    /// Clock, randomness and DNS.
    pub host: Arc<dyn sprig::Host>,
    /// Does `getHostByName` ask? Without it the answer is empty.
    pub enable_dns: bool,
    /// `required` and `fail` let pass.
    pub lint: bool,
    /// How far a render may go.
    pub limits: Limits,
    /// Where parsed templates are kept for the next render, if there will be one.
    pub templates: Option<Arc<TemplateCache>>,
}

impl Environment {
    /// No cluster, no DNS, nothing kept, the given clock and randomness.
    pub fn offline(host: Arc<dyn sprig::Host>) -> Self {
        Self { lookup: None, host, enable_dns: false, lint: false, limits: Limits::default(), templates: None }
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("lookup", &self.lookup.is_some()).finish_non_exhaustive()
    }
}

/// One template ready to be parsed: its text and what it sees.
struct Renderable {
    text: Bytes,
    values: Map,
    base_path: String,
}

/// Render all templates of a chart whose dependencies are processed, with coalesced values. Gives the text of each
/// template that is not a partial, by its path from the root chart's name on. What is in `grown` afterwards is let go of when
/// nobody needs `values` any more.
///
/// # Errors
/// Helm's text: a template that does not parse or does not execute.
pub fn render(
    chart: &Chart,
    values: &Map,
    release: &ReleaseOptions,
    capabilities: &Arc<Capabilities>,
    profile: HelmProfile,
    environment: &Environment,
    grown: &mut Grown,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut templates = BTreeMap::new();
    let top = Top {
        release: Value::Map(release.to_value()),
        capabilities: Value::Object(Arc::clone(capabilities) as Arc<dyn go_value::Object>),
    };
    collect(chart, chart.name(), true, &values.with_type(MapType::VALUES), &top, &mut templates);
    let work = || execute(&templates, profile, environment, grown);
    on_large_stack(STACK_BYTES, work).map_err(|e| Error::Render(format!("failed to start a rendering thread: {e}")))?
}

/// All functions of a profile, as templates may call them: for tools that list or check them.
pub fn function_map(profile: HelmProfile, host: &Arc<dyn sprig::Host>) -> FuncMap {
    functions::functions(profile, host)
}

struct Top {
    release: Value,
    capabilities: Value,
}

/// Gather the templates of a chart and of its subcharts. Gives what the chart's templates see, which the parent offers
/// as `.Subcharts.<name>`.
fn collect(
    chart: &Chart,
    full_path: &str,
    is_root: bool,
    values: &Map,
    top: &Top,
    templates: &mut BTreeMap<String, Renderable>,
) -> Map {
    let metadata = chart.metadata.to_value();
    metadata.insert("IsRoot", is_root);
    let subcharts = Map::new();
    let scope: Map = [
        ("Chart", Value::Map(metadata)),
        ("Files", files::files(&chart.files)),
        ("Release", top.release.clone()),
        ("Capabilities", top.capabilities.clone()),
        ("Values", Value::Map(values.clone())),
        ("Subcharts", Value::Map(subcharts.clone())),
    ]
    .into_iter()
    .collect();
    for sub in &chart.dependencies {
        let values = crate::values::table(values, sub.name()).unwrap_or_default();
        let path = format!("{full_path}/charts/{}", sub.name());
        let seen = collect(sub, &path, false, &values.with_type(MapType::VALUES), top, templates);
        subcharts.insert(sub.name(), seen);
    }
    let is_library = chart.metadata.is_library();
    for file in &chart.templates {
        if is_library && !is_partial(&file.name) {
            continue;
        }
        let path = format!("{full_path}/{}", file.name);
        let base_path = format!("{full_path}/templates");
        templates.insert(path, Renderable { text: file.data.clone(), values: scope.clone(), base_path });
    }
    scope
}

fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().unwrap_or(path).starts_with('_')
}

/// Deeper paths first, and among equals the later name first: so that a parent's definitions, parsed last, win.
fn parse_order(templates: &BTreeMap<String, Renderable>) -> Vec<&String> {
    let mut names: Vec<&String> = templates.keys().collect();
    // The keys are in order already.
    names.reverse();
    names.sort_by_cached_key(|name| std::cmp::Reverse(name.bytes().filter(|&b| b == b'/').count()));
    names
}

fn execute(
    templates: &BTreeMap<String, Renderable>,
    profile: HelmProfile,
    environment: &Environment,
    grown: &mut Grown,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut set = Set::new("gotpl", functions::functions(profile, &environment.host));
    let order = parse_order(templates);
    for name in &order {
        let template = &templates[*name];
        let parsed = match &environment.templates {
            Some(cache) => cache.parsed(&set, profile, name, &template.text),
            None => set.compile(name, &template.text),
        };
        let parsed = parsed.map_err(|e| Error::Render(error::parse_error(name, &e.to_string())))?;
        set.add(&parsed);
    }
    let options = Options { missing_key: MissingKey::Zero, limits: environment.limits.for_stack(STACK_BYTES) };
    let mut state = functions::RenderState::new(environment.clone());
    let mut rendered = BTreeMap::new();
    let mut budget = Budget::new(options.limits);
    // One that grows as long as the longest text, instead of one for each that grows in steps.
    let mut out = Vec::new();
    for name in order.into_iter().filter(|name| !is_partial(name)) {
        let template = &templates[name];
        let own: Map = [("Name", name.as_str()), ("BasePath", template.base_path.as_str())].into_iter().collect();
        template.values.insert("Template", own.with_type(MapType::VALUES));
        let data = Value::Map(template.values.with_type(MapType::VALUES));
        out.clear();
        if let Err(e) = set.execute_into(&mut out, name, &data, &options, &mut state, &mut budget) {
            *grown = budget.into_grown();
            return Err(Error::Render(error::exec_error(name, &e)));
        }
        rendered.insert(name.clone(), functions::without_no_value(&out).into_owned());
    }
    *grown = budget.into_grown();
    Ok(rendered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::File;
    use crate::chart::files::load_files;

    /// A map that contains itself does not outlive its render.
    #[test]
    fn cycles_end_with_the_render() {
        const CYCLES: [&str; 5] = [
            r#"{{ $_ := set .Values.a "self" .Values.a }}"#,
            r#"{{ $_ := set .Values.a "top" $ }}"#,
            r#"{{ $_ := set .Values.a "list" (list (list .Values)) }}"#,
            r#"{{ $_ := merge .Values (dict "a" (dict "x" .Values)) }}"#,
            r#"{{ $_ := set .Values.a "self" .Values.a }}{{ fail "and so on" }}"#,
        ];
        for text in CYCLES {
            let file = |name: &str, text: &str| File {
                name: name.into(),
                data: Bytes::copy_from_slice(text.as_bytes()),
                modified: None,
            };
            let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
            let chart = load_files(vec![file("Chart.yaml", chart), file("templates/t.yaml", text)]).unwrap();
            let a: Map = [("x", Value::Map(Map::new()))].into_iter().collect();
            let seen = a.downgrade();
            let values: Map = [("a", Value::Map(a))].into_iter().collect();
            let profile = HelmProfile::default();
            let mut grown = Grown::default();
            let release = ReleaseOptions { name: "r".into(), namespace: "n".into(), revision: 1, is_upgrade: false };
            let host = Arc::new(sprig::FixedHost::new(jiff::Timestamp::UNIX_EPOCH, 1));
            let _ = render(
                &chart,
                &values,
                &release,
                &Arc::new(Capabilities::offline(profile, None, &[])),
                profile,
                &Environment::offline(host),
                &mut grown,
            );
            drop(values);
            assert!(!seen.is_gone(), "no cycle: {text}");
            grown.let_go();
            assert!(seen.is_gone(), "{text}");
        }
    }
}
