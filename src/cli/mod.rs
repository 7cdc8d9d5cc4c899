//! The command line: arguments in, text or JSON out, one file a subcommand. It decides nothing.

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

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::app::{AppError, Exit};
use global::Global;
use print::Printer;

/// An LLM agent runtime for the robot's own board.
#[derive(Debug, Parser)]
#[command(name = "octos-edge", version, about, long_about = None, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 the job failed, 2 usage, 64 configuration, 65 board, \
    66 dora version or dataflow, 70 internal, 71 lock-up, 72 panic, 75 second instance."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Rehearse a scenario: agent, simulated rover and scripted model in a real dora dataflow, or in
    /// this process under a virtual clock.
    Sim(sim::Args),
    /// Run a dora dataflow on a daemon inside this process.
    Run(run::Args),
    /// Be the agent's node; dora starts it from a dataflow.
    Node(node::Args),
    /// Be a simulated rover; dora starts it from a dataflow.
    MockRobot(mock_robot::Args),
    /// Load tiers, robots, boards, scenarios, dataflows and policy; report every fault at once.
    Check(check::Args),
    /// Say what would become of a call: which rule decides, which limits hold. Nothing is done.
    Explain(explain::Args),
    /// List a robot's tools as the model sees them, and those hidden from it.
    Tools(tools::Args),
    /// Talk to a running node as its operator.
    Ctl(ctl::Args),
    /// Print the script that lets a shell complete this command line.
    Completions(completions::Args),
}

/// Parses the command line, runs the command and returns its exit code.
pub fn run() -> u8 {
    let parsed = Cli::command().try_get_matches();
    let parsed = parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            // Help goes to stdout, errors to stderr; a closed pipe changes no exit code.
            drop(error.print());
            return exit.code();
        }
    };
    let printer = Printer::new(cli.global.json);
    match dispatch(&cli, &matches, &printer) {
        Ok(exit) => exit.code(),
        Err(error) => {
            printer.error(&error);
            error.exit().code()
        }
    }
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
        Command::Completions(args) => completions::run(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
