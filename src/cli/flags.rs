//! Flags as Helm's parser takes them.
//!
//! Owns: the difference between clap and Go's pflag. A switch may have a value (`--no-hooks=false`), a flag may come
//! twice and the last one counts, what follows a flag is its value whatever it begins with, and paths may be empty.

use std::any::TypeId;
use std::convert::Infallible;
use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::{ArgAction, Command};

/// Make a command's flags behave so.
pub(super) fn as_helm_parses(command: Command) -> Command {
    command.args_override_self(true).mut_args(|arg| match arg.get_action() {
        ArgAction::SetTrue => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_value("false")
            .default_missing_value("true")
            .hide_default_value(true)
            .hide_possible_values(true)
            .value_name("BOOL")
            .value_parser(ValueParser::new(parse_bool)),
        ArgAction::Set | ArgAction::Append if !arg.is_positional() => {
            let arg = arg.allow_hyphen_values(true);
            if arg.get_value_parser().type_id() != TypeId::of::<PathBuf>() {
                return arg;
            }
            // An empty path means none, on the command line and in the environment.
            arg.value_parser(ValueParser::new(|text: &str| Ok::<_, Infallible>(PathBuf::from(text))))
        }
        _ => arg,
    })
}

/// Is a switch set in the environment? What is no boolean is not, as in Helm.
pub(super) fn env_bool(name: &str) -> bool {
    std::env::var(name).is_ok_and(|text| parse_bool(&text) == Ok(true))
}

/// Go's `strconv.ParseBool`.
///
/// # Errors
/// Go's text.
pub(super) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {text:?}: invalid syntax")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Flags {
        #[arg(long)]
        on: bool,
        #[arg(long)]
        text: Option<String>,
        #[arg(long)]
        path: Option<std::path::PathBuf>,
        rest: Vec<String>,
    }

    fn parsed(args: &[&str]) -> Result<Flags, clap::Error> {
        use clap::{CommandFactory, FromArgMatches};
        let command = super::as_helm_parses(Flags::command().no_binary_name(true));
        Flags::from_arg_matches(&command.try_get_matches_from(args)?)
    }

    #[test]
    fn switches_take_values_and_the_last_flag_counts() {
        for (args, on) in [(&["--on"][..], true), (&["--on=false"], false), (&["--on", "--on=F"], false), (&[], false)]
        {
            assert_eq!(parsed(args).unwrap().on, on, "{args:?}");
        }
        let flags = parsed(&["--on", "false", "--text", "a", "--text", "-b"]).unwrap();
        assert_eq!((flags.on, flags.rest, flags.text.as_deref()), (true, vec!["false".to_owned()], Some("-b")));
        assert!(parsed(&["--on=maybe"]).is_err());
        assert_eq!(parsed(&["--path="]).unwrap().path, Some(std::path::PathBuf::new()));
    }
}
