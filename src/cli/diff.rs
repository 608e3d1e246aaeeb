//! `helmrel diff`: what the controller would do.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use chart_source::Limits;
use flux_api::HelmRelease;
use flux_api::helmrelease::FIELD_MANAGER;
use helm::HelmProfile;
use helm_action::context::HostRef;
use kube_ops::{Cluster, Identity};

use super::{Exit, Printer};
use crate::controller::connect;
use crate::host::SystemHost;
use crate::preview::charts::FetchedCharts;
use crate::preview::files::{self, Files};
use crate::preview::show::{Style, text};
use crate::preview::{Preview, as_applied, preview, releases};
use crate::reconcile::context::{Context, Settings};
use crate::render_limits::LimitsArgs;

/// Show what the controller would do with HelmReleases, against a cluster and without changing it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shown are the objects and hooks that would be created, changed or deleted, the hooks and tests that would run, in their \
order, and what could not be tried. Every object is sent to the API server as a dry run, by the field manager of the \
controller. Values of Secrets are shown as ***, with (before) and (after) where they differ, wherever a template wrote them.

Exit code: 0 nothing would be done, 1 something would, 2 an error: a field of a file that the API server would not take, \
a chart that does not render, or an object that the API server refuses.")]
pub struct Args {
    /// A file with HelmReleases and what they refer to: ConfigMaps, Secrets, sources; `-` is standard input. What is
    /// not in the files is read from the cluster
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// A kubeconfig file
    #[arg(long, value_name = "FILE", env = "KUBECONFIG")]
    kubeconfig: Option<PathBuf>,

    /// A context of the kubeconfig file
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// The namespace of objects in the files that name none
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Act as the ServiceAccount of each release, as the controller does, instead of as yourself
    #[arg(long)]
    impersonate: bool,

    /// Whose Helm's rules hold where a release says nothing
    #[arg(long, value_name = "VERSION", default_value_t)]
    helm_profile: HelmProfile,

    #[command(flatten)]
    limits: LimitsArgs,
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(show(args, printer))
}

async fn show(args: &Args, printer: &Printer) -> Result<Exit> {
    let config = connect(args.kubeconfig.as_deref(), args.context.as_deref()).await?;
    let namespace = args.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
    let objects = files::load(&args.files, &namespace)?;
    let releases = releases(&objects)?;
    if releases.is_empty() {
        bail!("no HelmRelease of helm.toolkit.fluxcd.io in the files");
    }
    let own = Cluster::connect(config.clone(), &Identity::Own, FIELD_MANAGER)?;
    let files = Arc::new(Files::new(objects, own.clone()));
    let charts = FetchedCharts { files: Arc::clone(&files), limits: Limits::default() };
    let host = HostRef(Arc::new(SystemHost::default()));
    let settings = Settings { profile: args.helm_profile, render_limits: args.limits.limits(), ..Settings::default() };
    let context = Context::new(own, config, files, Arc::new(charts), host, settings);
    let (mut exit, mut failed, mut refused) = (Exit::Ok, 0, 0);
    for release in releases {
        let name = format!("{}/{}", release.namespace(), release.name());
        match one(release, &context, args.impersonate).await {
            Ok(shown) => {
                if shown.acts {
                    exit = Exit::Changes;
                }
                printer.out(text(&shown, Style { colour: printer.colour() }))?;
                for refusal in shown.refusals() {
                    refused += 1;
                    printer.error(&anyhow!(refusal).context(format!("HelmRelease {name}")));
                }
            }
            // The others are still worth seeing.
            Err(e) => {
                failed += 1;
                printer.error(&e.context(format!("HelmRelease {name}")));
            }
        }
    }
    if failed > 0 {
        bail!("{failed} HelmRelease(s) could not be previewed");
    }
    if refused > 0 {
        bail!("{refused} object(s) would be refused by the API server");
    }
    Ok(exit)
}

async fn one(release: HelmRelease, context: &Context, impersonate: bool) -> Result<Preview> {
    let mut candidate = as_applied(release, context).await?;
    if !impersonate {
        candidate.release.spec.service_account_name = None;
    }
    preview(&candidate, context).await
}
