//! The binary: a thin door to the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(octos_edge::cli::run())
}
