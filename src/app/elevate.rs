//! `ctl elevate`: a word that holds its connection, and what is told on it.
//!
//! The Elevation lives as long as the connection: when this process ends, however it ends, the node sees
//! the connection go. Nothing here has to be said for that.

use std::time::Duration;

use super::audit::plain;
use super::control::{Answer, ElevationNews, ElevationStatus, Word};
use super::ctl::only_node;
use super::exit::AppError;
use super::settings::Settings;
use crate::terms::RobotId;

/// So much longer than its time a node may take to tell the end of an Elevation. Chosen: a node that is
/// overloaded is waited for; one that stands still is not.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Says [`Word::Elevate`] and holds the connection until the Elevation is over. `tell` gets what happens
/// and says whether anybody still listens: nobody listening ends the Elevation.
///
/// # Errors
/// [`AppError::Refused`] with everything that stands against it, [`AppError::Usage`] when it is not clear
/// which robot is meant, [`AppError::NoNode`] when no node answers for it, [`AppError::Control`] when one
/// goes without a word.
pub fn elevate(
    settings: &Settings,
    robot: Option<&RobotId>,
    word: &Word,
    mut tell: impl FnMut(&ElevationNews) -> bool,
) -> Result<(), AppError> {
    let Word::Elevate { for_s, .. } = word else {
        return Err(AppError::Internal(format!(
            "`{}` holds no connection",
            word.as_str()
        )));
    };
    let within = Duration::from_secs(u64::from(*for_s)).saturating_add(END_WITHIN);
    let mut node = only_node(settings, robot)?;
    let mut answer = node.ask(word)?;
    loop {
        let news = match answer {
            Answer::Elevation(news) => news,
            Answer::Refused { failed } => return Err(AppError::Refused { failed }),
            Answer::Status(_) | Answer::Ending { .. } | Answer::Done { .. } => {
                return Err(AppError::Internal(
                    "an elevation was answered by something else".to_owned(),
                ));
            }
        };
        let is_over = matches!(news, ElevationNews::Ended { .. });
        if !tell(&news) || is_over {
            return Ok(());
        }
        answer = node.hear(within)?;
    }
}

impl ElevationNews {
    /// Returns one line for people.
    pub fn to_text(&self) -> String {
        match self {
            Self::Given {
                elevation,
                who,
                tier,
                tools,
                calls,
                left_ms,
            } => format!(
                "elevation {elevation}, given by {}: {tier} for {}, {calls} calls, {} s; it ends when \
                 this command does",
                plain(who),
                tools.join(", "),
                left_ms / 1000
            ),
            Self::Used {
                elevation,
                call,
                tool,
                left,
            } => format!(
                "elevation {elevation}, used: {tool} ({}), {left} left",
                plain(call)
            ),
            Self::Ended {
                elevation,
                cause,
                left,
            } => format!(
                "elevation {elevation}, over: {} ({cause}), {left} calls left",
                cause.told()
            ),
        }
    }
}

impl ElevationStatus {
    /// Returns one line of the status.
    pub(super) fn to_text(&self) -> String {
        format!(
            "{} by {}: {} for {}; {} calls left, {} running, {} s left; {}",
            self.elevation,
            plain(&self.who),
            self.tier,
            self.tools.join(", "),
            self.calls_left,
            self.calls_running,
            self.left_ms / 1000,
            plain(&self.why),
        )
    }
}
