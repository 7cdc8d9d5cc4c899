//! `ctl`: the operator's words to a running node, over its control socket.

use std::time::Duration;

use clap::Subcommand;

use crate::app::{Answer, AppError, ElevationNews, Exit, Settings, Word, elevate, say};
use crate::terms::{ELEVATED_CALLS_MAX, ELEVATED_S_MAX, RobotId, Tier};

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
    /// Raise the tier for named tools, for a count of calls and a time. The command shows what is done
    /// with it until it is over; when the command ends, whatever ended it, so does the elevation, and a
    /// call that runs above the ceiling is stopped.
    Elevate {
        /// Up to which tier.
        #[arg(long, value_name = "TIER")]
        tier: Tier,
        /// For which tool of the robot file; more than once for several, 8 at most.
        #[arg(long = "tool", value_name = "NAME", required = true)]
        tools: Vec<String>,
        /// For how many calls, 1 to 100.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(ELEVATED_CALLS_MAX)))]
        calls: u32,
        /// For how long, such as `60s` or `5min`; whole seconds, 1s to 1h.
        #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
        for_s: u32,
        /// Why; goes to the audit.
        #[arg(long)]
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
            CtlWord::Elevate {
                tier,
                tools,
                calls,
                for_s,
                why,
            } => Word::Elevate {
                who,
                why: why.clone(),
                tier: *tier,
                tools: tools.clone(),
                calls: *calls,
                for_s: *for_s,
            },
            CtlWord::Goal { text } => Word::Goal {
                who,
                text: text.clone(),
            },
            CtlWord::End => Word::End { who },
        }
    }
}

/// Parses a time of whole seconds, at most an hour.
fn seconds(text: &str) -> Result<u32, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    let whole = Duration::from_secs(time.as_secs()) == time;
    let seconds = u32::try_from(time.as_secs()).ok();
    seconds
        .filter(|seconds| whole && (1..=ELEVATED_S_MAX).contains(seconds))
        .ok_or_else(|| format!("whole seconds, 1s to {ELEVATED_S_MAX}s"))
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let (robot, word) = (args.robot_id.as_ref(), args.word());
    if let CtlWord::Elevate { .. } = args.word {
        let tell = |news: &_| {
            printer.news(
                &ElevationNews::to_text(news),
                &Answer::Elevation(ElevationNews::clone(news)),
            )
        };
        elevate(settings, robot, &word, tell)?;
        return Ok(Exit::Done);
    }
    if matches!(args.word, CtlWord::End) {
        let tell = progress_line(settings.quiet() || printer.is_json());
        tell("ordering a stop and the end; waiting for rest, then until the process is gone");
    }
    let answer = say(settings, robot, &word)?;
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
        Answer::Elevation(news) => {
            printer.foreign(&news.to_text(), &answer);
            Ok(Exit::Done)
        }
        Answer::Done { text } => {
            printer.result(text, &answer);
            Ok(Exit::Done)
        }
    }
}
