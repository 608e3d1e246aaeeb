//! One person, one command.
//!
//! Owns: the command tree, exit codes, where output goes. One file a command: its arguments and what it does. Exit
//! codes: 0 done, 1 failed (or, for `diff` and `lint`, something found), 2 wrong usage (or, for `diff`, any error).

mod charts;
mod controller;
mod crds;
mod diff;
mod flags;
mod lint;
mod printer;
mod template;
mod values_args;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use printer::Printer;

/// A Kubernetes controller for Helm releases, and the command line that goes with it.
#[derive(Debug, Parser)]
#[command(name = "helmrel", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one in a process")]
enum Command {
    /// Render a chart as `helm template` does
    Template(template::Args),
    /// Warn where Helm makes something else of a chart than it says
    Lint(lint::Args),
    /// Show what the controller would change for a HelmRelease, without changing it
    Diff(diff::Args),
    /// Run the controller
    Controller(controller::Args),
    /// Print or write the CustomResourceDefinitions
    Crds(crds::Args),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well, nothing differs.
    Ok,
    /// Differences were found, or what is wrong with a chart.
    Changes,
}

fn command() -> clap::Command {
    Cli::command().mut_subcommand("template", flags::as_helm_parses).mut_subcommand("lint", flags::as_helm_parses)
}

fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches()?)
}

/// Parse the command line and run the command.
pub fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let printer = Printer::new();
    // `diff` keeps 1 for differences, so that scripts can tell them from errors.
    let failure = if matches!(cli.command, Command::Diff(_)) { 2 } else { 1 };
    let result = match cli.command {
        Command::Template(args) => template::run_alone(&args, &printer),
        Command::Lint(args) => lint::run(&args, &printer),
        Command::Diff(args) => diff::run(&args, &printer),
        Command::Controller(args) => controller::run(args),
        Command::Crds(args) => crds::run(&args, &printer),
    };
    match result {
        Ok(Exit::Ok) => ExitCode::SUCCESS,
        Ok(Exit::Changes) => ExitCode::from(1),
        // Whoever reads our output has seen enough.
        Err(e) if printer::is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            printer.error(&e);
            ExitCode::from(failure)
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_tree_is_sound() {
        super::command().debug_assert();
    }
}
