//! Parses the command line, and what of the environment stands for an option.

use std::ffi::OsString;

use clap::{ArgMatches, FromArgMatches as _};

use super::print::warning;
use super::{Cli, Command};

/// Global options that no word of `ctl` needs.
const UNUSED_BY_CTL: [&str; 5] = ["log_format", "tiers", "boards", "config", "metrics"];

/// Parses the command line. A bad value in the environment stands before no stop, and before no word of
/// `ctl` that does not need it: there it is told and left out of account.
///
/// # Errors
/// What is wrong with it, for people.
pub(super) fn parse(
    command: clap::Command,
    args: &[OsString],
) -> Result<(Cli, ArgMatches), clap::Error> {
    let of = |command: clap::Command| {
        let matches = command.try_get_matches_from(args)?;
        Ok((Cli::from_arg_matches(&matches)?, matches))
    };
    let error: clap::Error = match of(command.clone()) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let for_ctl = UNUSED_BY_CTL.into_iter().fold(command, unset);
    let for_stop = unset(for_ctl.clone(), "state")
        .mut_subcommand("ctl", |ctl| unset(unset(ctl, "robot_id"), "who"));
    let parsed = match (of(for_ctl), of(for_stop)) {
        (Ok(parsed), _) if matches!(parsed.0.command, Command::Ctl(_)) => parsed,
        (_, Ok(parsed)) if is_stop(&parsed.0) => parsed,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => return Err(error),
    };
    warning(&format!(
        "left out of account: {}",
        error.to_string().lines().next().unwrap_or_default()
    ));
    Ok(parsed)
}

/// Cuts an option loose from the environment.
fn unset(command: clap::Command, option: &'static str) -> clap::Command {
    command.mut_arg(option, |arg| arg.env(None::<&'static str>))
}

fn is_stop(cli: &Cli) -> bool {
    matches!(&cli.command, Command::Ctl(args) if args.is_stop())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// The command line in an environment where these options have the value of `PATH`, which is no
    /// format and no robot id.
    fn in_bad_environment(line: &[&str]) -> Result<(Cli, ArgMatches), clap::Error> {
        let command = bad_log_format()
            .mut_subcommand("ctl", |ctl| ctl.mut_arg("robot_id", |arg| arg.env("PATH")));
        parse(command, &args(line))
    }

    fn bad_log_format() -> clap::Command {
        Cli::command().mut_arg("log_format", |arg| arg.env("PATH"))
    }

    fn args(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_bad_environment_stands_before_no_stop() {
        for word in ["stop", "estop"] {
            let (cli, _) = in_bad_environment(&["octos-edge", "ctl", word]).unwrap();
            assert!(is_stop(&cli));
        }
        let status = args(&["octos-edge", "ctl", "status"]);
        assert!(
            parse(bad_log_format(), &status).is_ok(),
            "a status needs no log"
        );
        for line in [
            &["octos-edge", "ctl", "end"][..],
            &["octos-edge", "check"],
            &["octos-edge", "ctl", "stop", "--fast"],
            &["octos-edge", "--log-format", "xml", "ctl", "stop"],
        ] {
            assert!(in_bad_environment(line).is_err(), "{line:?}");
        }
    }
}
