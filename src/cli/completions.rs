//! `completions`: the script that lets a shell complete this command line.

use std::io;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::app::{AppError, Exit};

use super::Cli;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<Exit, AppError> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    // A reader that went away is its own business.
    drop(io::Write::write_all(&mut io::stdout().lock(), &script));
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_every_command() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "octos-edge", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["explain", "mock-robot", "completions"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
