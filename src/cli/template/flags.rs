//! The flags of `helmrel template`, which are those of `helm template`.
//!
//! Owns: their names and what they are for. Does not own: what they do. Flags without effect are in
//! [`super::ignored`], those that say which chart in [`super::super::charts`].

use helm::HelmProfile;

use super::super::charts::ChartFlags;
use super::super::flags::env_bool;
use super::super::values_args::ValuesArgs;
use super::cluster::ClusterFlags;
use super::ignored::IgnoredFlags;
use crate::render_limits::LimitsArgs;

/// Render a chart as `helm template` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
CHART is a folder, an archive, an address (https://…/chart.tgz), a reference to a registry (oci://…), or NAME/CHART with \
a repository's name that Helm knows; with --repo it is the chart's name alone. Names, credentials and cached indexes are \
Helm's own files. Nothing is written but what --output-dir says.")]
pub struct Args {
    /// The release's name and the chart; the name may be left out
    #[arg(value_name = "[NAME] CHART", required = true)]
    pub(super) positional: Vec<String>,
    #[command(flatten)]
    pub(super) values: ValuesArgs,

    /// The namespace of the release; without it that of the kubeconfig's context, else default
    #[arg(short = 'n', long, value_name = "NAMESPACE", env = "HELM_NAMESPACE", hide_env_values = true)]
    pub(super) namespace: Option<String>,
    /// A template for the release's name, with sprig's functions
    #[arg(long, value_name = "TEMPLATE")]
    pub(super) name_template: Option<String>,
    /// Accepted where no name is given; the name is release-name all the same, as in Helm
    #[arg(short = 'g', long)]
    pub(super) generate_name: bool,
    /// Set .Release.IsUpgrade instead of .Release.IsInstall
    #[arg(long)]
    pub(super) is_upgrade: bool,
    /// Kubernetes version for .Capabilities.KubeVersion
    #[arg(long, value_name = "VERSION")]
    pub(super) kube_version: Option<String>,
    /// Kubernetes API versions for .Capabilities.APIVersions (may be repeated)
    #[arg(short = 'a', long, value_name = "VERSION", value_delimiter = ',')]
    pub(super) api_versions: Vec<String>,
    /// Where dependencies are missing in charts/, fetch all; the chart's folder is left as it is
    #[arg(long)]
    pub(super) dependency_update: bool,
    /// Let getHostByName ask DNS
    #[arg(long)]
    pub(super) enable_dns: bool,
    /// Do not check the values against the chart's schema
    #[arg(long)]
    pub(super) skip_schema_validation: bool,
    /// Whose Helm's rules hold: 4.3 or 4.1
    #[arg(long, value_name = "VERSION", default_value_t = HelmProfile::default())]
    pub(super) helm_profile: HelmProfile,

    /// Only print the documents of these templates: paths below the chart, with * and ? (may be repeated)
    #[arg(short = 's', long, value_name = "TEMPLATE")]
    pub(super) show_only: Vec<String>,
    /// Write each template to a file below this folder instead of printing it
    #[arg(long, value_name = "FOLDER")]
    pub(super) output_dir: Option<String>,
    /// With --output-dir: below a folder of the release's name
    #[arg(long)]
    pub(super) release_name: bool,
    /// Print the files under crds/ too
    #[arg(long)]
    pub(super) include_crds: bool,
    /// With --dry-run=server: do not remark on files under crds/
    #[arg(long)]
    pub(super) skip_crds: bool,
    /// Leave hooks out
    #[arg(long)]
    pub(super) no_hooks: bool,
    /// Leave tests out
    #[arg(long)]
    pub(super) skip_tests: bool,
    /// Where rendering fails, print what there is [env: HELM_DEBUG]
    #[arg(long)]
    debug: bool,

    /// client: ask no cluster; server: take versions and lookups from the cluster, and check the objects' kinds and
    /// owners there
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "unset")]
    pub(super) dry_run: Option<String>,
    /// The old name of --dry-run=server
    #[arg(long)]
    pub(super) validate: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
    #[command(flatten)]
    pub(super) chart: ChartFlags,
    #[command(flatten)]
    pub(super) limits: LimitsArgs,
    #[command(flatten)]
    pub(super) ignored: IgnoredFlags,
}

impl Args {
    /// Print what there is of a release that does not render?
    pub(super) fn debug(&self) -> bool {
        self.debug || env_bool("HELM_DEBUG")
    }
}
