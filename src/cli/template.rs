//! `helmrel template`: what `helm template` prints.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use helm::HelmProfile;
use helm::engine::{Capabilities, Environment, KubeVersion, ReleaseOptions};
use helm::manifest::{push_source, split};
use helm::release::HookEvent;
use helm::render::{RenderOptions, Rendered, render};

use super::values_args::ValuesArgs;
use super::{Exit, Printer};
use crate::host::SystemHost;

/// Render a chart as `helm template` does.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The release's name and the chart (a folder or an archive); the name may be left out
    #[arg(value_name = "[NAME] CHART", required = true, num_args = 1..=2)]
    positional: Vec<String>,
    /// The namespace of the release
    #[arg(short = 'n', long, default_value = "default")]
    namespace: String,
    #[command(flatten)]
    values: ValuesArgs,
    /// Print the files under crds/ too
    #[arg(long)]
    include_crds: bool,
    /// Kubernetes version for .Capabilities.KubeVersion
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Kubernetes API versions for .Capabilities.APIVersions (may be repeated)
    #[arg(short = 'a', long, value_name = "VERSION", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Set .Release.IsUpgrade instead of .Release.IsInstall
    #[arg(long)]
    is_upgrade: bool,
    /// Leave hooks out
    #[arg(long)]
    no_hooks: bool,
    /// Leave tests out
    #[arg(long)]
    skip_tests: bool,
    /// Leave the files under crds/ out (the default without --include-crds)
    #[arg(long)]
    skip_crds: bool,
    /// Do not check the values against the chart's schema
    #[arg(long)]
    skip_schema_validation: bool,
    /// Only print the documents of these templates (may be repeated)
    #[arg(short = 's', long, value_name = "TEMPLATE", value_delimiter = ',')]
    show_only: Vec<String>,
    /// Let getHostByName ask DNS
    #[arg(long)]
    enable_dns: bool,
    /// Whose Helm's rules hold: 4.3 or 4.1
    #[arg(long, value_name = "VERSION", default_value_t = HelmProfile::default())]
    helm_profile: HelmProfile,
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit> {
    let (name, chart) = match args.positional.as_slice() {
        [chart] => ("release-name", chart.as_str()),
        [name, chart] => (name.as_str(), chart.as_str()),
        _ => bail!("expected a release name and a chart"),
    };
    let kube_version = args
        .kube_version
        .as_deref()
        .map(|v| KubeVersion::parse(v).map_err(|e| anyhow!("invalid kube version '{v}': {e}")))
        .transpose()?;
    if chart.contains("://") {
        bail!("{chart}: charts from an address are not supported here yet; fetch the archive first and give its path");
    }
    let path = PathBuf::from(chart);
    if !path.exists() {
        bail!("path {chart:?} not found");
    }
    let values = args.values.merge()?;
    let chart = helm::chart::load(&path)?;
    chart.check_installable()?;
    chart.check_dependencies()?;
    helm::release::name::validate(name)
        .map_err(|e| anyhow!("release name check failed: release name {name:?}: {e}"))?;

    let profile = args.helm_profile;
    let options = RenderOptions {
        release: ReleaseOptions {
            name: name.into(),
            namespace: args.namespace.clone(),
            revision: 1,
            is_upgrade: args.is_upgrade,
        },
        capabilities: Arc::new(Capabilities::offline(profile, kube_version, &args.api_versions)),
        profile,
        environment: Environment {
            enable_dns: args.enable_dns,
            ..Environment::offline(Arc::new(SystemHost::default()))
        },
        skip_schema_validation: args.skip_schema_validation,
        remote_schemas: None,
        sub_notes: false,
    };
    let rendered = render(&chart, &values, &options).map_err(|e| match e {
        // Helm says this where a release was rendered in part.
        helm::Error::Render(_) | helm::Error::Manifest(_) | helm::Error::KubeVersion(_) => {
            anyhow!("{e}\n\nUse --debug flag to render out invalid YAML")
        }
        e => anyhow!(e),
    })?;
    for warning in &rendered.warnings {
        printer.note(&format!("level=WARN msg={warning:?}"));
    }
    let text = text(&rendered, args);
    let text = if args.show_only.is_empty() { text } else { shown_only(&text, &args.show_only, profile)? };
    printer.out(text)?;
    Ok(Exit::Ok)
}

/// The manifest without space around it, then the hooks.
fn text(rendered: &Rendered, args: &Args) -> String {
    let mut manifest = String::new();
    if args.include_crds {
        for crd in &rendered.crds {
            push_source(&mut manifest, &crd.path, &String::from_utf8_lossy(&crd.file.data));
        }
    }
    manifest.push_str(&helm::manifest::join(&rendered.manifests));
    let mut text = format!("{}\n", manifest.trim());
    if !args.no_hooks {
        for hook in &rendered.hooks {
            if args.skip_tests && hook.runs_at(HookEvent::Test) {
                continue;
            }
            push_source(&mut text, &hook.path, &hook.manifest);
        }
    }
    text
}

/// The documents of templates that match one of the patterns, in the order of the patterns.
fn shown_only(text: &str, patterns: &[String], profile: HelmProfile) -> Result<String> {
    let documents = split(text, profile);
    let mut out = String::new();
    for pattern in patterns {
        let mut missing = true;
        for document in &documents {
            let path = document
                .lines()
                .find_map(|l| l.strip_prefix("# Source: "))
                .and_then(|source| source.split_once('/'))
                .map(|(_, path)| path);
            if path.is_some_and(|p| helm::chart::ignore::glob_match(pattern, p) == Some(true)) {
                let _ = write!(out, "---\n{document}\n");
                missing = false;
            }
        }
        if missing {
            bail!("could not find template {pattern} in chart");
        }
    }
    Ok(out)
}
