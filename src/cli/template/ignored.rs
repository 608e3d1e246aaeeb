//! Flags that `helm template` takes although it installs nothing.
//!
//! Owns: accepting them, Helm's complaints about their values, and a refusal of those that would run another program.
//! The surprising thing: labels are checked although nothing is stored.

use anyhow::{Result, bail};

use super::super::Printer;
use super::super::flags::parse_bool;

/// Labels that Helm's storage keeps for itself.
const SYSTEM_LABELS: [&str; 6] = ["name", "owner", "status", "version", "createdAt", "modifiedAt"];

/// Accepted as Helm's template accepts them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Without effect, as in Helm")]
pub(super) struct IgnoredFlags {
    /// For an install: make the namespace
    #[arg(long)]
    create_namespace: bool,
    /// For an install: a description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// For an install: labels of the record, KEY=VALUE,…; Helm's own are refused
    #[arg(short = 'l', long, value_name = "LABELS")]
    labels: Vec<String>,
    /// For an install: how long to wait
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// For an install: wait by this strategy
    #[arg(long, value_name = "STRATEGY", num_args = 0..=1, require_equals = true, default_missing_value = "watcher")]
    wait: Option<String>,
    /// For an install: wait for Jobs
    #[arg(long)]
    wait_for_jobs: bool,
    /// For an install: take a failed release back
    #[arg(long)]
    rollback_on_failure: bool,
    /// For an install: use a name again
    #[arg(long)]
    replace: bool,
    /// For an install: replace objects
    #[arg(long)]
    force_replace: bool,
    /// For an install: overrule other field managers
    #[arg(long)]
    force_conflicts: bool,
    /// For an install: apply on the server
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    server_side: Option<String>,
    /// No effect on what is rendered; kinds are checked by --dry-run=server
    #[arg(long)]
    disable_openapi_validation: bool,
    /// Colours of Helm's output
    #[arg(long, alias = "colour", value_name = "WHEN")]
    color: Option<String>,
    #[arg(long, hide = true)]
    hide_notes: bool,
    #[arg(long, hide = true)]
    render_subchart_notes: bool,
    #[arg(long, hide = true)]
    atomic: bool,
    #[arg(long, hide = true)]
    force: bool,
    /// Refused: pipe the output through the program instead
    #[arg(long, value_name = "PLUGIN")]
    post_renderer: Option<String>,
    /// Belongs to --post-renderer
    #[arg(long, value_name = "TEXT")]
    post_renderer_args: Vec<String>,
}

impl IgnoredFlags {
    /// What Helm's parser of flags says about them.
    ///
    /// # Errors
    /// Helm's text, for values that cannot be; ours, for programs that are not run.
    pub(super) fn check(&self, printer: &Printer) -> Result<()> {
        let unused = "this flag has no effect for 'helm template' and will be removed in Helm 5";
        for (given, name, instead) in [
            (self.hide_notes, "hide-notes", unused),
            (self.render_subchart_notes, "render-subchart-notes", unused),
            (self.atomic, "atomic", "use --rollback-on-failure instead"),
            (self.force, "force", "use --force-replace instead"),
        ] {
            if given {
                printer.note(&format!("Flag --{name} has been deprecated, {instead}"));
            }
        }
        if let Some(plugin) = self.post_renderer.as_deref().filter(|p| !p.is_empty()) {
            bail!(
                "--post-renderer is not supported: helmrel runs no other program; pipe the output through it instead, \
                 or use `helm template --post-renderer {plugin}`"
            );
        }
        if let Some(text) = &self.timeout
            && let Err(e) = sprig::parse_duration(text)
        {
            bail!("invalid argument {text:?} for \"--timeout\" flag: {e}");
        }
        if let Some(text) = &self.server_side
            && let Err(e) = parse_bool(text)
        {
            bail!("invalid argument {text:?} for \"--server-side\" flag: {e}");
        }
        match self.wait.as_deref() {
            None | Some("watcher" | "hookOnly" | "legacy") => {}
            Some("true") => {
                printer.warn("--wait=true is deprecated (boolean value) and can be replaced with --wait=watcher");
            }
            Some("false") => {
                printer.warn("--wait=false is deprecated (boolean value) and can be replaced with --wait=hookOnly");
            }
            Some(other) => bail!(
                "invalid argument {other:?} for \"--wait\" flag: invalid wait input {other:?}. Valid inputs are watcher, \
                 hookOnly, and legacy"
            ),
        }
        for text in &self.labels {
            if let Some(pair) = text.split(',').find(|pair| !pair.is_empty() && !pair.contains('=')) {
                bail!("invalid argument {text:?} for \"-l, --labels\" flag: {pair} must be formatted as key=value");
            }
        }
        for (name, given) in [("force-replace", self.force_replace), ("force", self.force)] {
            if given && self.force_conflicts {
                let mut set = [name, "force-conflicts"];
                set.sort_unstable();
                bail!(
                    "if any flags in the group [{name} force-conflicts] are set none of the others can be; [{}] were \
                     all set",
                    set.join(" ")
                );
            }
        }
        Ok(())
    }

    /// May a release have these labels?
    ///
    /// # Errors
    /// Helm's text.
    pub(super) fn check_labels(&self) -> Result<()> {
        let mut keys = self.labels.iter().flat_map(|l| l.split(',')).filter_map(|pair| pair.split_once('='));
        if keys.any(|(key, _)| SYSTEM_LABELS.contains(&key)) {
            bail!(
                "user supplied labels contains system reserved label name. System labels: [{}]",
                SYSTEM_LABELS.join(" ")
            );
        }
        Ok(())
    }
}
