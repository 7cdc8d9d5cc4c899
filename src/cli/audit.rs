//! `audit`: verify, show and export the black box of a robot.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::app::{
    AppError, Exit, RecordHash, Settings, ShowRequest, Since, export_audit, show_audit,
    verify_audit,
};
use crate::terms::{FactClass, RobotId};

use super::node::robot_id;
use super::print::Printer;

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Id of the robot [default: the only one with an audit in the state folder].
    #[arg(long, value_name = "ID", env = "ROBOT_ID", value_parser = robot_id, global = true)]
    robot_id: Option<RobotId>,
    #[command(subcommand)]
    job: Job,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Check that no record was changed, removed, swapped or put in; a broken chain ends with 1.
    Verify {
        /// The log must hold a record with this hash, such as a head that was kept elsewhere.
        #[arg(long, value_name = "HASH", value_parser = hash)]
        holds: Vec<RecordHash>,
    },
    /// Print records for people, oldest first.
    Show {
        /// Only from here on: how long ago, such as 10m, or a time such as 2026-12-01 or '2026-12-01
        /// 13:00', in UTC as the records are unless a zone such as Z or +01:00 stands behind it.
        #[arg(long, value_name = "TIME", value_parser = clap::value_parser!(Since))]
        since: Option<Since>,
        /// Only this class.
        #[arg(long, value_name = "CLASS")]
        class: Option<Class>,
        /// Only this kind, such as stop_asked or refused; a word that is none is told with all that are.
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// At most so many, the newest, 1 to 100000.
        #[arg(long, value_name = "N", default_value_t = 100,
            value_parser = clap::value_parser!(u32).range(1..=100_000))]
        last: u32,
    },
    /// Write everything into one file of JSON lines, with what verifying found in the first; a broken
    /// chain ends with 1 and is written all the same.
    Export {
        /// The file; it must not exist.
        file: PathBuf,
        /// Replace a file that exists.
        #[arg(long)]
        force: bool,
    },
}

/// How a record is kept.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Class {
    /// Stops, run states, latches.
    Safety,
    /// Who asked for what and what came of it.
    Audit,
    /// Fine detail.
    Trace,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let robot = args.robot_id.as_ref();
    let ok = match &args.job {
        Job::Verify { holds } => {
            let report = verify_audit(settings, robot, holds)?;
            printer.foreign(&report.to_text(), &report);
            report.verification.ok
        }
        Job::Show {
            since,
            class,
            kind,
            last,
        } => {
            let report = show_audit(
                settings,
                &ShowRequest {
                    robot: args.robot_id.clone(),
                    since: since.clone(),
                    class: class.map(Class::fact_class),
                    kind: kind.clone(),
                    last: usize::try_from(*last).unwrap_or(usize::MAX),
                },
            )?;
            printer.foreign(&report.to_text(), &report);
            true
        }
        Job::Export { file, force } => {
            let report = export_audit(settings, robot, (file, *force))?;
            printer.foreign(&report.to_text(), &report);
            report.verification.ok
        }
    };
    Ok(if ok { Exit::Done } else { Exit::JobFailed })
}

impl Class {
    fn fact_class(self) -> FactClass {
        match self {
            Self::Safety => FactClass::Safety,
            Self::Audit => FactClass::Audit,
            Self::Trace => FactClass::Trace,
        }
    }
}

fn hash(text: &str) -> Result<RecordHash, String> {
    RecordHash::parse(text).ok_or_else(|| "a hash has 64 lower-case hexadecimal digits".to_owned())
}
