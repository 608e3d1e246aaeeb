//! A chart and values to everything a release is made of.
//!
//! Owns: the order of the steps between a loaded chart and a release's manifest: dependencies, values, schema,
//! Kubernetes version, templates, notes, hooks. Does not own: any of the steps. Follows Helm's `action/install.go` and
//! `renderResources`.

use std::collections::BTreeMap;
use std::sync::Arc;

use go_value::Map;

use crate::chart::crds::CrdFile;
use crate::chart::dependencies::is_compatible_range;
use crate::chart::{Chart, process_dependencies};
use crate::engine::{Capabilities, Environment, Grown, ReleaseOptions};
use crate::error::Error;
use crate::manifest::{Files, Manifest, sort};
use crate::profile::HelmProfile;
use crate::release::Hook;
use crate::values::Warnings;
use crate::values::coalesce::Coalesce;
use crate::values::schema::RemoteSchemas;

/// How to render.
#[derive(Clone)]
pub struct RenderOptions {
    /// `.Release`
    pub release: ReleaseOptions,
    /// `.Capabilities`
    pub capabilities: Arc<Capabilities>,
    /// Whose rules.
    pub profile: HelmProfile,
    /// What templates may ask of the world.
    pub environment: Environment,
    /// Leave the check against the charts' schemas out.
    pub skip_schema_validation: bool,
    /// Loads schemas that refer to http addresses.
    pub remote_schemas: Option<&'static RemoteSchemas>,
    /// Keep the notes of subcharts too.
    pub sub_notes: bool,
}

/// What a chart renders to.
#[derive(Debug)]
pub struct Rendered {
    /// The chart with its dependencies settled: what a record stores.
    pub chart: Chart,
    /// Documents that are no hooks, in install order.
    pub manifests: Vec<Manifest>,
    /// Hooks, by kind.
    pub hooks: Vec<Hook>,
    /// NOTES.txt.
    pub notes: String,
    /// The files under `crds/`.
    pub crds: Vec<CrdFile>,
    /// Remarks on the values.
    pub warnings: Vec<String>,
}

/// A chart whose dependencies are settled for the user's values. Whoever needs its `crds/` before it renders takes this
/// step alone.
#[derive(Debug)]
pub struct Settled {
    chart: Chart,
    warnings: Warnings,
}

impl Settled {
    /// The chart, without what is switched off.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }
}

/// Settle a chart's dependencies: the first step of [`render`].
///
/// # Errors
/// A value that must be a table for a subchart and is not.
pub fn settle(chart: &Chart, values: &Map, profile: HelmProfile) -> Result<Settled, Error> {
    let mut warnings = Warnings::default();
    let chart = process_dependencies(chart, values, profile, &mut warnings)
        .map_err(|e| Error::Dependencies(format!("chart dependencies processing failed: {e}")))?;
    Ok(Settled { chart, warnings })
}

/// Render a chart with the user's values.
///
/// # Errors
/// The first step that fails, in Helm's words.
pub fn render(chart: &Chart, values: &Map, options: &RenderOptions) -> Result<Rendered, Error> {
    render_settled(settle(chart, values, options.profile)?, values, options)
}

/// Render a chart that was settled for these values.
///
/// # Errors
/// As [`render`].
pub fn render_settled(settled: Settled, values: &Map, options: &RenderOptions) -> Result<Rendered, Error> {
    execute(prepare(settled, values, options)?, options)?.sorted(options.profile).map_err(|(e, _)| e)
}

/// A chart with the values that its templates will see.
#[derive(Debug)]
pub struct Prepared {
    chart: Chart,
    coalesced: Map,
    warnings: Warnings,
}

/// What the templates of a chart made, before it is cut into documents.
#[derive(Debug)]
pub struct Executed {
    chart: Chart,
    /// The text of each template that made some, by path; no partials, no notes.
    pub files: Files,
    notes: String,
    /// The first file that is no text, as it is.
    not_text: Option<(String, Vec<u8>)>,
    warnings: Warnings,
}

/// The first step after [`settle`]: values of chart and user together, checked against the schemas.
///
/// # Errors
/// Values that do not fit.
pub fn prepare(settled: Settled, values: &Map, options: &RenderOptions) -> Result<Prepared, Error> {
    let Settled { chart, mut warnings } = settled;
    let coalesced = Coalesce::new(options.profile, &mut warnings).coalesce_values(&chart, values)?;
    if !options.skip_schema_validation {
        crate::values::schema::validate(&chart, &coalesced, options.remote_schemas)?;
    }
    Ok(Prepared { chart, coalesced, warnings })
}

/// The second step: the chart's demand on Kubernetes' version, then its templates. Where this fails, Helm has a release
/// already, if an empty one.
///
/// # Errors
/// [`Error::KubeVersion`], [`Error::Render`].
pub fn execute(prepared: Prepared, options: &RenderOptions) -> Result<Executed, Error> {
    let Prepared { chart, coalesced, warnings } = prepared;
    let kube_version = &options.capabilities.kube_version;
    let range = &chart.metadata.kube_version;
    if !range.is_empty() && !is_compatible_range(range, &kube_version.normalized) {
        return Err(Error::KubeVersion(format!(
            "chart requires kubeVersion: {range} which is incompatible with Kubernetes {}",
            kube_version.version
        )));
    }
    let mut grown = Grown::default();
    let rendered = crate::engine::render(
        &chart,
        &coalesced,
        &options.release,
        &options.capabilities,
        options.profile,
        &options.environment,
        &mut grown,
    );
    drop(coalesced);
    grown.let_go();
    let rendered = rendered?;
    let (files, notes, not_text) = take_notes(rendered, chart.name(), options.sub_notes);
    Ok(Executed { chart, files, notes, not_text, warnings })
}

impl Executed {
    /// The last step: documents, hooks apart from the rest.
    ///
    /// # Errors
    /// A document that is not YAML, with the files as they are.
    pub fn sorted(self, profile: HelmProfile) -> Result<Rendered, (Error, Files)> {
        let Self { chart, files, notes, not_text, warnings } = self;
        if let Some((path, bytes)) = not_text {
            // What comes before it is complained about first.
            let before = files.iter().take_while(|(p, _)| **p < path).map(|(p, text)| (p.clone(), text.clone()));
            let fault = sort(before.collect(), profile).err().map(|(e, _)| e);
            return Err((fault.unwrap_or_else(|| crate::manifest::no_text(&path, &bytes, profile)), files));
        }
        let (hooks, manifests) = sort(files, profile)?;
        let crds = chart.crds();
        Ok(Rendered { chart, manifests, hooks, notes, crds, warnings: warnings.texts().to_vec() })
    }
}

/// Files without notes; the notes, the root chart's or all of them; the first file that is no text.
fn take_notes(
    rendered: BTreeMap<String, Vec<u8>>,
    chart: &str,
    sub_notes: bool,
) -> (Files, String, Option<(String, Vec<u8>)>) {
    const NOTES: &str = "NOTES.txt";
    let root = format!("{chart}/templates/{NOTES}");
    let mut notes = String::new();
    let mut files = Files::new();
    let mut not_text = None;
    for (path, text) in rendered {
        // What is not UTF-8 cannot be a manifest; the YAML reader says so where it is read.
        let text = String::from_utf8(text).unwrap_or_else(|e| {
            let text = String::from_utf8_lossy(e.as_bytes()).into_owned();
            if !path.ends_with(NOTES) {
                not_text.get_or_insert((path.clone(), e.into_bytes()));
            }
            text
        });
        if !path.ends_with(NOTES) {
            files.insert(path, text);
        } else if sub_notes || path == root {
            if !notes.is_empty() {
                notes.push('\n');
            }
            notes.push_str(&text);
        }
    }
    (files, notes, not_text)
}
