//! `helmrel lint`: where Helm's own behaviour bites.
//!
//! Owns: what is looked at, how findings are shown, how the command ends. Does not own: the checks ([`written`] for
//! files as they are written, [`rendered`] for what templates make of them). It has no counterpart: `helm lint` looks at
//! the form of a chart, this at what happens to its data.

mod finding;
mod rendered;
mod sources;
mod written;

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use helm::HelmProfile;
use helm::engine::{Capabilities, Environment, KubeVersion, ReleaseOptions};
use helm::render::{RenderOptions, execute, prepare, settle};

use super::charts::{ChartFlags, locate, transport};
use super::values_args::ValuesArgs;
use super::{Exit, Printer};
use crate::host::SystemHost;
use crate::render_limits::LimitsArgs;
use finding::{Finding, Level};

/// Warn where Helm makes something else of a chart than it says.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Looked at are values.yaml and Chart.yaml of the chart and its subcharts, the files of -f, and what the templates render \
with these values:

  on, yes, n, …   read as booleans, as keys too (YAML 1.1); write true or false, or quote them
  equal keys      one of them wins and nobody says so: in values, in Chart.yaml, in rendered documents
  large integers  pass through a float64: above 2^53 digits are lost; from a million on they may be printed as 1e+06
  equal env names the last one wins, in containers that are rendered
  templates       that do not render, or not to YAML

Exit code: 0 nothing, or warnings without --strict; 1 errors, or warnings with --strict; 2 wrong usage.")]
pub struct Args {
    /// The chart: a folder, an archive, or any reference that `helmrel template` takes
    #[arg(value_name = "CHART")]
    reference: String,
    #[command(flatten)]
    values: ValuesArgs,
    /// End with exit code 1 for warnings too
    #[arg(long)]
    strict: bool,
    /// The namespace to render with
    #[arg(short = 'n', long, value_name = "NAMESPACE", default_value = "default")]
    namespace: String,
    /// Kubernetes version for .Capabilities.KubeVersion
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Kubernetes API versions for .Capabilities.APIVersions (may be repeated)
    #[arg(short = 'a', long, value_name = "VERSION", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Set .Release.IsUpgrade instead of .Release.IsInstall
    #[arg(long)]
    is_upgrade: bool,
    /// Do not check the values against the chart's schema
    #[arg(long)]
    skip_schema_validation: bool,
    /// Whose Helm's rules hold: 4.3 or 4.1
    #[arg(long, value_name = "VERSION", default_value_t = HelmProfile::default())]
    helm_profile: HelmProfile,
    #[command(flatten)]
    chart: ChartFlags,
    #[command(flatten)]
    limits: LimitsArgs,
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit> {
    let kube_version = args
        .kube_version
        .as_deref()
        .map(|v| KubeVersion::parse(v).map_err(|e| anyhow!("invalid kube version '{v}': {e}")))
        .transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let located = runtime.block_on(locate(&args.reference, &args.chart, printer))?;
    let values = args.values.merge(&|address| runtime.block_on(transport::plain_get(address)))?;
    let sources = sources::read(&args.reference, &located)?;
    let mut findings = Vec::new();
    let mut integers = Vec::new();
    for file in sources.files() {
        written::check(&file, &mut findings, &mut integers);
    }
    for name in args.values.files() {
        // Standard input is read up, and an address was fetched for its values only.
        if let Ok(text) = std::fs::read(name) {
            written::check(&sources::Written::values(name, text), &mut findings, &mut integers);
        }
    }
    let options = RenderOptions {
        release: ReleaseOptions {
            name: "release-name".into(),
            namespace: args.namespace.clone(),
            revision: 1,
            is_upgrade: args.is_upgrade,
        },
        capabilities: Arc::new(Capabilities::offline(args.helm_profile, kube_version, &args.api_versions)),
        profile: args.helm_profile,
        environment: Environment {
            limits: args.limits.limits(),
            ..Environment::offline(Arc::new(SystemHost::default()))
        },
        skip_schema_validation: args.skip_schema_validation,
        remote_schemas: None,
        sub_notes: false,
    };
    let chart = match located.load() {
        Ok(chart) => chart,
        Err(e) => {
            findings.push(Finding::error(&args.reference, None, &e));
            return show(findings, args, printer);
        }
    };
    // A library renders nothing by itself; its values are worth a look all the same.
    if chart.metadata.is_library() {
        return show(findings, args, printer);
    }
    let executed = chart
        .check_dependencies()
        .and_then(|()| settle(&chart, &values, args.helm_profile))
        .and_then(|settled| prepare(settled, &values, &options))
        .and_then(|prepared| execute(prepared, &options));
    match executed {
        Ok(executed) => {
            let view = rendered::View { sources: &sources, chart: chart.name(), profile: args.helm_profile };
            rendered::check(&view, &executed.files, &integers, &mut findings);
        }
        Err(e) => findings.push(rendered::failure(&sources, chart.name(), &e)),
    }
    show(findings, args, printer)
}

fn show(mut findings: Vec<Finding>, args: &Args, printer: &Printer) -> Result<Exit> {
    findings.sort();
    findings.dedup();
    let mut text = String::new();
    for finding in &findings {
        let _ = writeln!(text, "{finding}");
    }
    let count = |level| findings.iter().filter(|f| f.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    printer.out(text)?;
    printer.note(&format!("{}: {errors} error(s), {warnings} warning(s)", args.reference));
    Ok(if errors > 0 || (args.strict && warnings > 0) { Exit::Changes } else { Exit::Ok })
}
