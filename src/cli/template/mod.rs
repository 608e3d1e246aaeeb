//! `helmrel template`: what `helm template` prints.
//!
//! Owns: the order of the steps, and which of them fail with which of Helm's words. Does not own: finding the chart
//! (`charts`), rendering it (`helm::render`). Follows Helm's `pkg/cmd/template.go` and `pkg/cmd/install.go`.

mod cluster;
mod flags;
mod ignored;
mod name;
mod output;

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use helm::engine::{Capabilities, Environment, KubeVersion, ReleaseOptions, STACK_BYTES, on_large_stack};
use helm::render::{RenderOptions, execute, prepare, settle};
use helm_action::lookup::ClusterLookup;

use super::charts::{complete, locate, transport};
use super::{Exit, Printer};
use crate::host::SystemHost;
pub use flags::Args;

/// Where a render asks what it cannot know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DryRun {
    Client,
    Server,
}

/// Render in a thread that has all the stack and all the memory that templates need.
pub(super) fn run_alone(args: &Args, printer: &Printer) -> Result<Exit> {
    let work = || {
        grow_heap();
        run(args, printer)
    };
    on_large_stack(STACK_BYTES, work).map_err(|e| anyhow!("failed to start a rendering thread: {e}"))?
}

/// Let the heap of this thread grow once. As it is, glibc maps and unmaps each larger buffer anew, and lets a thread's heap
/// grow page by page with a system call for each. The first block is mapped; when it goes, blocks up to its size are taken
/// from the heap, and this much of the heap's end is kept. The second is the heap's, which is ready to be used when it
/// goes. No page is touched. Other allocators take no notice.
fn grow_heap() {
    /// A little less than the largest that glibc takes for a hint.
    const HINT: usize = 31 << 20;
    for bytes in [HINT, HINT - (1 << 20)] {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(bytes)));
    }
}

fn run(args: &Args, printer: &Printer) -> Result<Exit> {
    args.ignored.check(printer)?;
    let dry_run = dry_run(args, printer)?;
    let kube_version = args
        .kube_version
        .as_deref()
        .filter(|v| !v.is_empty())
        .map(|v| KubeVersion::parse(v).map_err(|e| anyhow!("invalid kube version '{v}': {e}")))
        .transpose()?;
    let (name, reference) = name::name_and_chart(args)?;
    let runtime = match dry_run {
        DryRun::Client => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        // Templates ask the cluster while they are rendered, from another thread.
        DryRun::Server => tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?,
    };
    let located = runtime.block_on(locate(reference, &args.chart, printer))?;
    let values = args.values.merge(&|address| runtime.block_on(transport::plain_get(address)))?;
    let mut chart = located.load()?;
    chart.check_installable()?;
    if chart.metadata.deprecated {
        printer.warn("this chart is deprecated");
    }
    if let Err(missing) = chart.check_dependencies() {
        if !args.dependency_update {
            return Err(missing.into());
        }
        runtime.block_on(complete(&mut chart, &located, &args.chart, printer))?;
    }

    let namespace = args.namespace.clone().filter(|n| !n.is_empty()).or_else(|| args.cluster.namespace());
    let namespace = namespace.unwrap_or_else(|| "default".into());
    let cluster = match dry_run {
        DryRun::Client => None,
        DryRun::Server => Some(runtime.block_on(args.cluster.connect())?),
    };
    helm::release::name::validate(&name)
        .map_err(|e| anyhow!("release name check failed: release name {name:?}: {e}"))?;
    let profile = args.helm_profile;
    let settled = settle(&chart, &values, profile)?;
    let mut environment =
        Environment { enable_dns: args.enable_dns, ..Environment::offline(Arc::new(SystemHost::default())) };
    environment.limits = args.limits.limits();
    let capabilities = if let Some(cluster) = &cluster {
        if !args.skip_crds && !settled.chart().crds().is_empty() {
            printer
                .warn("This chart or one of its subcharts contains CRDs. Rendering may fail or contain inaccuracies.");
        }
        let _inside = runtime.enter();
        environment.lookup = Some(Arc::new(ClusterLookup::new(cluster.clone())));
        runtime.block_on(cluster::capabilities(cluster, profile))?
    } else {
        Arc::new(Capabilities::offline(profile, kube_version, &args.api_versions))
    };
    let options = RenderOptions {
        release: ReleaseOptions {
            name: name.clone(),
            namespace: namespace.clone(),
            revision: 1,
            is_upgrade: args.is_upgrade,
        },
        capabilities,
        profile,
        environment,
        skip_schema_validation: args.skip_schema_validation,
        remote_schemas: None,
        sub_notes: false,
    };
    let prepared = prepare(settled, &values, &options)?;
    args.ignored.check_labels()?;
    let rendered = match execute(prepared, &options) {
        Ok(executed) => executed.sorted(profile).map_err(|(e, files)| (e, output::unsorted(&files, args))),
        // Helm has an empty release here, and prints that.
        Err(e) => Err((e, "\n".to_owned())),
    };
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err((e, partial)) => return failed(&e, &partial, args, printer),
    };
    for warning in &rendered.warnings {
        printer.warn(warning);
    }
    if let Some(cluster) = &cluster {
        let release = cluster::Release { name: &name, namespace: &namespace, is_upgrade: args.is_upgrade, profile };
        let manifest = helm::manifest::join(&rendered.manifests);
        runtime.block_on(args.cluster.check(cluster, &manifest, &release))?;
    }
    let folder = args.output_dir.as_deref().filter(|d| !d.is_empty());
    if folder.is_none() && args.show_only.is_empty() {
        printer.write(|out| output::write(out, &rendered, args))?;
        // The process ends now: the system takes its memory back faster than we could piece by piece.
        std::mem::forget((rendered, chart, values));
        return Ok(Exit::Ok);
    }
    let mut text = Vec::new();
    match folder {
        Some(folder) => {
            output::write_files(&rendered, folder, &name, args, printer)?;
            text.push(b'\n');
        }
        None => output::write(&mut text, &rendered, args)?,
    }
    let text = String::from_utf8_lossy(&text);
    if args.show_only.is_empty() {
        printer.out(&*text)?;
    } else {
        printer.out(output::shown_only(&text, &args.show_only, profile)?)?;
    }
    Ok(Exit::Ok)
}

/// A release that was rendered in part: shown with `--debug`, else there is a hint.
fn failed(error: &helm::Error, partial: &str, args: &Args, printer: &Printer) -> Result<Exit> {
    if !args.debug() {
        return Err(output::hinted(error));
    }
    if args.show_only.is_empty() {
        printer.out(partial)?;
    } else if let Ok(shown) = output::shown_only(partial, &args.show_only, args.helm_profile) {
        printer.out(shown)?;
    }
    bail!("{error}")
}

fn dry_run(args: &Args, printer: &Printer) -> Result<DryRun> {
    if args.validate {
        printer.note("Flag --validate has been deprecated, use '--dry-run=server' instead");
        if args.dry_run.is_some() {
            bail!(
                "if any flags in the group [validate dry-run] are set none of the others can be; [dry-run validate] \
                 were all set"
            );
        }
        return Ok(DryRun::Server);
    }
    match args.dry_run.as_deref() {
        None | Some("client") => Ok(DryRun::Client),
        Some("server") => Ok(DryRun::Server),
        Some("unset") => {
            printer.warn("--dry-run is deprecated and should be replaced with '--dry-run=client'");
            Ok(DryRun::Client)
        }
        Some("none") => bail!("invalid dry-run value (\"none\"). Must be \"server\" or \"client\""),
        Some(other) => match super::flags::parse_bool(other) {
            Ok(true) => {
                printer.warn(&format!(
                    "boolean '--dry-run={other}' flag is deprecated and must be replaced with '--dry-run=client'"
                ));
                Ok(DryRun::Client)
            }
            Ok(false) => bail!("invalid dry-run value ({other:?}). Must be \"server\" or \"client\""),
            Err(_) => bail!("invalid dry-run value ({other:?}). Must be \"none\", \"server\", or \"client\""),
        },
    }
}
