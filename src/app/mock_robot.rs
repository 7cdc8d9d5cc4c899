//! `mock-robot`: the simulated rover as a node of a dataflow, in the language of any robot file.
//!
//! It has a control loop of its own, as robots have, and needs no timer of the dataflow. When the
//! dataflow ends it brakes by itself and ends at rest: dora lets nothing in after a Stop, so nobody can
//! tell it to any more.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::clock::SystemClock;
use super::exit::{AppError, Exit};
use super::load::load_checked_robot;
use super::requests::MockRobotRequest;
use super::settings::Settings;
use crate::config::RobotFile;
use crate::node::{Attached, DoraEvents, DoraWire, Needs, Polled, attach};
use crate::sim::{Dialect, Frame, JournalEntry, Loss, Vendor, VendorPlan};
use crate::terms::{Clock, Input, Mono, RobotId, Wire as _, WireEvent};

/// Period of the rover's own control loop. A robot's node looks at its inputs once a period, so a stop
/// verb that arrives together with the dataflow's Stop is still carried out.
const PERIOD: Duration = Duration::from_millis(10);
/// Events taken in one period; a flood waits, and dora drops the oldest of it.
const EVENTS_PER_PERIOD: u32 = 256;
/// After the dataflow's Stop the rover has this long to come to rest, ms. It brakes in 300.
const REST_WITHIN_MS: u64 = 2_000;

/// Serves a dataflow until it ends.
///
/// # Errors
/// [`AppError::Config`] when the robot file has faults or moves what a planar base does not have,
/// [`AppError::Usage`] without an id, [`AppError::Node`] when the dataflow does not wire it,
/// [`AppError::Internal`] when the journal cannot be written.
pub fn serve_mock_robot(settings: &Settings, request: &MockRobotRequest) -> Result<Exit, AppError> {
    let robot = request.robot.as_deref();
    let robot = robot.map(|name| load_checked_robot(settings, name).map(|(_, robot, _)| robot));
    let robot = robot.transpose()?;
    let robot_id = robot_id(robot.as_ref(), request)?;
    let dialect = dialect(robot.as_ref(), request)?;
    super::start_log(settings)?;
    let clock = SystemClock::start();
    let journal = request.journal.as_deref().map(open_journal).transpose()?;
    let Attached {
        wire, mut events, ..
    } = attach(Needs::ROBOT, settings.dora_node_config())?;
    let plan = VendorPlan {
        robot_id,
        dialect,
        seed: request.seed,
        home: request
            .home
            .or_else(|| Some(robot.as_ref()?.home()))
            .unwrap_or_default(),
        pid: std::process::id(),
        wall_at_zero: wall_at_zero(&clock),
    };
    let mut robot = Robot {
        vendor: Vendor::new(plan, clock.now()),
        clock,
        wire,
        journal,
        losses: request.losses.clone(),
        ends_by: None,
    };
    loop {
        if let Some(exit) = robot.listen(&mut events)? {
            return Ok(exit);
        }
        if let Some(exit) = robot.go_on()? {
            return Ok(exit);
        }
        thread::park_timeout(PERIOD);
    }
}

/// The id of the file goes first, as for the agent.
fn robot_id(robot: Option<&RobotFile>, request: &MockRobotRequest) -> Result<RobotId, AppError> {
    let fixed = robot.and_then(|robot| robot.id.clone());
    let id = fixed.or_else(|| request.robot_id.clone());
    id.ok_or_else(|| AppError::Usage {
        problem: "the simulated robot has no id".to_owned(),
        hint: "give --robot-id, or ROBOT_ID in the env of the node; or `id` in the robot file"
            .to_owned(),
    })
}

fn dialect(robot: Option<&RobotFile>, request: &MockRobotRequest) -> Result<Dialect, AppError> {
    let dialect = match robot {
        Some(robot) => Dialect::of(robot)?,
        None => Dialect::rover(),
    };
    Ok(match request.heartbeat_field {
        Some(field) => dialect.with_heartbeat_field(field),
        None => dialect,
    })
}

struct Robot {
    vendor: Vendor,
    clock: SystemClock,
    wire: DoraWire,
    journal: Option<File>,
    losses: Vec<Loss>,
    /// Set once the dataflow asked it to end.
    ends_by: Option<Mono>,
}

impl Robot {
    /// Takes what has arrived; returns how to end when nothing more can come.
    fn listen(&mut self, events: &mut DoraEvents) -> Result<Option<Exit>, AppError> {
        for _ in 0..EVENTS_PER_PERIOD {
            match events.poll_event() {
                Polled::Event(event) => {
                    if let Some(exit) = self.take(event)? {
                        return Ok(Some(exit));
                    }
                }
                Polled::Nothing => return Ok(None),
                Polled::Ended if self.ends_by.is_some() => return Ok(None),
                Polled::Ended => return Ok(Some(Exit::Done)),
            }
        }
        Ok(None)
    }

    fn take(&mut self, event: WireEvent) -> Result<Option<Exit>, AppError> {
        let now = self.clock.now();
        match event {
            WireEvent::Data {
                input: Input::CmdRequest,
                text: Some(text),
            } => {
                if !self.loses(&text, now) {
                    let frames = self.vendor.handle(&text, now);
                    self.send(&frames);
                }
                self.write_journal()?;
            }
            WireEvent::Stop => {
                self.ends_by = Some(now.plus_ms(REST_WITHIN_MS));
                self.vendor.brake_by_itself(now);
            }
            WireEvent::Broken(error) => {
                tracing::error!(%error, "the dataflow is gone");
                return Ok(Some(Exit::Internal));
            }
            // A robot controls nobody: what becomes of its peers is its dead-man's business.
            WireEvent::Data { .. }
            | WireEvent::Stray { .. }
            | WireEvent::Peer { .. }
            | WireEvent::Param { .. }
            | WireEvent::Reload
            | WireEvent::Unknown => {}
        }
        Ok(None)
    }

    /// Whether the rehearsal has this request lost on its way.
    fn loses(&mut self, request: &str, now: Mono) -> bool {
        let Some(loss) = self.losses.iter_mut().find_map(|loss| {
            let lost = loss.takes(request);
            lost.then_some(loss)
        }) else {
            return false;
        };
        let verb = loss.verb().to_owned();
        let t_ms = now.as_ms();
        self.vendor.journal().add(JournalEntry::Lost { t_ms, verb });
        true
    }

    /// Lets time pass; returns how to end once the robot rests after the dataflow's Stop.
    fn go_on(&mut self) -> Result<Option<Exit>, AppError> {
        let now = self.clock.now();
        let frames = self.vendor.advance(now);
        self.send(&frames);
        self.write_journal()?;
        let Some(ends_by) = self.ends_by else {
            return Ok(None);
        };
        let is_over = self.vendor.rover().is_at_rest() || now >= ends_by;
        Ok(is_over.then_some(Exit::Done))
    }

    fn send(&mut self, frames: &[Frame]) {
        for frame in frames {
            let sent = self
                .wire
                .send(frame.output, &frame.payload, frame.request_id.as_deref());
            if let Err(error) = sent {
                tracing::warn!(%error, output = frame.output.as_str(), "a frame was not sent");
            }
        }
    }

    /// Appends what happened to the journal, and says the rare events in the log.
    fn write_journal(&mut self) -> Result<(), AppError> {
        let entries = self.vendor.journal().take();
        for entry in &entries {
            tell(entry);
            let Some(file) = &mut self.journal else {
                continue;
            };
            let line = serde_json::to_string(entry)
                .map_err(|error| AppError::Internal(format!("journal entry: {error}")))?;
            writeln!(file, "{line}")
                .map_err(|error| AppError::Internal(format!("journal: {error}")))?;
        }
        Ok(())
    }
}

/// Says in the log what happens rarely.
fn tell(entry: &JournalEntry) {
    match entry {
        JournalEntry::DeadMan { silent_ms, .. } => {
            tracing::info!(silent_ms, "dead_man: the rover stops itself");
        }
        JournalEntry::Lost { verb, .. } => {
            tracing::info!(verb, "lost on its way, as was asked for")
        }
        JournalEntry::Rest { x, y, arrived, .. } => tracing::info!(x, y, arrived, "rest"),
        JournalEntry::Start { .. }
        | JournalEntry::Verb { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Pose { .. } => {}
    }
}

/// Returns the wall time at the origin of the clock, by which the journal is compared with others.
fn wall_at_zero(clock: &SystemClock) -> SystemTime {
    let (wall, now) = (clock.wall(), clock.now());
    wall.checked_sub(now.since(Mono::ZERO)).unwrap_or(wall)
}

fn open_journal(path: &Path) -> Result<File, AppError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o640)
        .open(path)
        .map_err(|error| {
            AppError::Internal(format!(
                "journal {} cannot be written: {error}",
                path.display()
            ))
        })
}
