//! `ctl`: the operator's words to a running node, over its control socket.

use clap::Subcommand;

use crate::app::{Answer, AppError, Exit, Settings, Word, say};
use crate::terms::RobotId;

use super::node::robot_id;
use super::print::{Printer, progress_line};

/// Arguments of `ctl`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Id of the robot [default: the only one in the state folder; stop and estop: every one].
    #[arg(long, value_name = "ID", env = "ROBOT_ID", value_parser = robot_id, global = true)]
    robot_id: Option<RobotId>,
    /// Who asks; goes to the audit.
    #[arg(
        long,
        value_name = "NAME",
        env = "USER",
        default_value = "operator",
        global = true
    )]
    who: String,
    #[command(subcommand)]
    word: CtlWord,
}

#[derive(Debug, Subcommand)]
enum CtlWord {
    /// Print the state of the robot and of the agent.
    Status,
    /// Permit motion for a time.
    Arm {
        /// Why; goes to the audit.
        #[arg(long)]
        why: String,
        /// For how long, s, 1 to 3600.
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
        for_s: u32,
    },
    /// Permit no motion; a robot that moves is stopped first.
    Disarm {
        /// Why; goes to the audit.
        #[arg(long, default_value = "asked at the terminal")]
        why: String,
    },
    /// Stop the robot.
    Stop {
        /// Why; goes to the audit.
        #[arg(long, default_value = "asked at the terminal")]
        why: String,
    },
    /// Stop the robot and lock it until a person resets it.
    Estop {
        /// Why; goes to the audit.
        #[arg(long, default_value = "asked at the terminal")]
        why: String,
    },
    /// Release the lock, or acknowledge a fault. Never resumes motion.
    Reset {
        /// Why; goes to the audit.
        #[arg(long)]
        why: String,
    },
    /// Say yes to one call that waits for a person's word; `status` lists them.
    Approve {
        /// Id of the question.
        request: String,
        /// Why; goes to the audit.
        #[arg(long)]
        why: String,
    },
    /// Say no to it.
    Deny {
        /// Id of the question.
        request: String,
        /// Why; goes to the audit and to the model.
        #[arg(long, default_value = "asked at the terminal")]
        why: String,
    },
    /// Give the agent a goal.
    Goal {
        /// What to do.
        text: String,
    },
    /// End the node in order: stop, rest, disarm. Waits until its process is gone; 1 when rest was not seen.
    End,
}

impl Args {
    /// Returns whether it is one of the two words that end motion.
    pub(super) fn is_stop(&self) -> bool {
        matches!(self.word, CtlWord::Stop { .. } | CtlWord::Estop { .. })
    }

    fn word(&self) -> Word {
        let who = self.who.clone();
        match &self.word {
            CtlWord::Status => Word::Status,
            CtlWord::Arm { why, for_s } => Word::Arm {
                who,
                why: why.clone(),
                for_s: *for_s,
            },
            CtlWord::Disarm { why } => Word::Disarm {
                who,
                why: why.clone(),
            },
            CtlWord::Stop { why } => Word::Stop {
                who,
                why: why.clone(),
            },
            CtlWord::Estop { why } => Word::Estop {
                who,
                why: why.clone(),
            },
            CtlWord::Reset { why } => Word::Reset {
                who,
                why: why.clone(),
            },
            CtlWord::Approve { request, why } => Word::Approve {
                who,
                why: why.clone(),
                request: request.clone(),
            },
            CtlWord::Deny { request, why } => Word::Deny {
                who,
                why: why.clone(),
                request: request.clone(),
            },
            CtlWord::Goal { text } => Word::Goal {
                who,
                text: text.clone(),
            },
            CtlWord::End => Word::End { who },
        }
    }
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    if matches!(args.word, CtlWord::End) {
        let tell = progress_line(settings.quiet() || printer.is_json());
        tell("ordering a stop and the end; waiting for rest, then until the process is gone");
    }
    let answer = say(settings, args.robot_id.as_ref(), &args.word())?;
    match &answer {
        Answer::Refused { failed } => Err(AppError::Refused {
            failed: failed.clone(),
        }),
        Answer::Status(status) => {
            printer.foreign(&status.to_text(), &answer);
            Ok(Exit::Done)
        }
        Answer::Ending { .. } => {
            let text = "the robot was stopped and is at rest; its process has ended";
            printer.result(text, &answer);
            Ok(Exit::Done)
        }
        Answer::Done { text } => {
            printer.result(text, &answer);
            Ok(Exit::Done)
        }
    }
}
