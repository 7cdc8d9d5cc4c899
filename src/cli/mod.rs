//! The command line: arguments in, text or JSON out, one file a subcommand. It decides nothing.

mod audit;
mod check;
mod completions;
mod ctl;
mod explain;
mod global;
mod mock_robot;
mod node;
mod print;
mod run;
mod sim;
mod tools;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::app::{AppError, Exit, end_log};
use global::Global;
use print::Printer;

/// An LLM agent runtime for the robot's own board.
#[derive(Debug, Parser)]
#[command(name = "octos-edge", version, about, long_about = None, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 the job failed, 2 usage, 64 configuration, 65 board, \
    66 dora version, dataflow or session, 70 internal, 71 lock-up, 72 panic, 75 second instance."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Global options that no word of `ctl` needs.
const UNUSED_BY_CTL: [&str; 5] = ["log_format", "tiers", "boards", "config", "metrics"];

#[derive(Debug, Subcommand)]
enum Command {
    /// Rehearse a scenario: agent, simulated rover and scripted model in a real dora dataflow, or in
    /// this process under a virtual clock.
    Sim(sim::Args),
    /// Run a dora dataflow on a daemon inside this process.
    Run(run::Args),
    /// Be the agent's node; dora starts it from a dataflow. With DORA_TEST_WITH_INPUTS it replays a
    /// recorded session.
    Node(node::Args),
    /// Be a simulated rover; dora starts it from a dataflow.
    MockRobot(mock_robot::Args),
    /// Load tiers, robots, boards, scenarios, dataflows and policy; report every fault at once.
    Check(check::Args),
    /// Say what would become of a call: which rule decides, which limits hold. Nothing is done; a call
    /// that would be refused, also one of no tool, ends with 1.
    Explain(explain::Args),
    /// List a robot's tools as the model sees them, and those hidden from it.
    Tools(tools::Args),
    /// Talk to a running node as its operator.
    Ctl(ctl::Args),
    /// Verify, show or export what a robot's black box holds.
    Audit(audit::Args),
    /// Print the script that lets a shell complete this command line.
    Completions(completions::Args),
}

/// Parses the command line, runs the command and returns its exit code.
pub fn run() -> u8 {
    let parsed = parse(Cli::command(), &std::env::args_os().collect::<Vec<_>>());
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) if !error.use_stderr() => {
            // Help and version go to stdout; a closed pipe changes no exit code.
            drop(error.print());
            return Exit::Done.code();
        }
        Err(error) => {
            if wants_json(std::env::args_os().skip(1)) {
                print::usage_json(&error);
            } else {
                drop(error.print());
            }
            return Exit::Usage.code();
        }
    };
    let printer = Printer::new(cli.global.json);
    let done = dispatch(&cli, &matches, &printer);
    end_log();
    match done {
        Ok(exit) => exit.code(),
        Err(error) => {
            printer.error(&error);
            error.exit().code()
        }
    }
}

/// Whether `--json` stands among the options of a command line that could not be parsed.
fn wants_json(args: impl Iterator<Item = OsString>) -> bool {
    let mut options = args.take_while(|arg| arg != "--");
    options.any(|arg| arg == "--json")
}

/// Parses the command line. A bad value in the environment stands before no stop, and before no word of
/// `ctl` that does not need it: there it is told and left out of account.
fn parse(command: clap::Command, args: &[OsString]) -> Result<(Cli, ArgMatches), clap::Error> {
    let of = |command: clap::Command| {
        let matches = command.try_get_matches_from(args)?;
        Ok((Cli::from_arg_matches(&matches)?, matches))
    };
    let error = match of(command.clone()) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let unset = |command: clap::Command, id: &'static str| {
        command.mut_arg(id, |arg| arg.env(None::<&'static str>))
    };
    let for_ctl = UNUSED_BY_CTL.into_iter().fold(command, unset);
    let for_stop = unset(for_ctl.clone(), "state")
        .mut_subcommand("ctl", |ctl| unset(unset(ctl, "robot_id"), "who"));
    let parsed = match (of(for_ctl), of(for_stop)) {
        (Ok(parsed), _) if matches!(parsed.0.command, Command::Ctl(_)) => parsed,
        (_, Ok(parsed)) if matches!(&parsed.0.command, Command::Ctl(args) if args.is_stop()) => {
            parsed
        }
        (Ok(_) | Err(_), Ok(_) | Err(_)) => return Err(error),
    };
    print::warning(&format!(
        "left out of account: {}",
        error.to_string().lines().next().unwrap_or_default()
    ));
    Ok(parsed)
}

fn dispatch(cli: &Cli, matches: &ArgMatches, printer: &Printer) -> Result<Exit, AppError> {
    let settings = cli.global.settings(matches)?;
    match &cli.command {
        Command::Sim(args) => sim::run(args, &settings, printer),
        Command::Run(args) => run::run(args, &settings, printer),
        Command::Node(args) => node::run(args, &settings),
        Command::MockRobot(args) => mock_robot::run(args, &settings),
        Command::Check(args) => check::run(args, &settings, printer),
        Command::Explain(args) => explain::run(args, &settings, printer),
        Command::Tools(args) => tools::run(args, &settings, printer),
        Command::Ctl(args) => ctl::run(args, &settings, printer),
        Command::Audit(args) => audit::run(args, &settings, printer),
        Command::Completions(args) => completions::run(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command line in an environment where these options have the value of `PATH`, which is no
    /// format and no robot id.
    fn in_bad_environment(line: &[&str]) -> Result<Cli, clap::Error> {
        let command = bad_log_format()
            .mut_subcommand("ctl", |ctl| ctl.mut_arg("robot_id", |arg| arg.env("PATH")));
        parse(command, &args(line)).map(|(cli, _)| cli)
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
            let cli = in_bad_environment(&["octos-edge", "ctl", word]).unwrap();
            assert!(matches!(&cli.command, Command::Ctl(args) if args.is_stop()));
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

    #[test]
    fn a_wrong_line_asks_for_json_by_the_option_and_by_nothing_behind_its_end() {
        let wants = |line: &[&str]| wants_json(args(line).into_iter());
        assert!(wants(&["fly", "--json"]) && wants(&["--json", "--fast"]));
        assert!(!wants(&["fly"]) && !wants(&["explain", "--", "--json"]));
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn unknown_words_are_a_usage_error() {
        for line in [
            &["octos-edge"][..],
            &["octos-edge", "fly"],
            &["octos-edge", "sim", "--fast"],
        ] {
            assert!(Cli::try_parse_from(line).unwrap_err().use_stderr());
        }
    }
}
