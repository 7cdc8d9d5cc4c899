//! `mock-robot`: the simulated rover as a node of a dataflow.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::clock::SystemClock;
use super::exit::{AppError, Exit};
use super::requests::MockRobotRequest;
use super::settings::Settings;
use crate::node::{Attached, DoraWire, Needs, attach};
use crate::sim::{Frame, Vendor, VendorPlan};
use crate::terms::{Clock, Input, Wire as _, WireEvent};

/// Serves a dataflow until it ends.
///
/// # Errors
/// [`AppError::Node`] when the dataflow does not wire it, [`AppError::Internal`] when the journal
/// cannot be written.
pub fn serve_mock_robot(settings: &Settings, request: &MockRobotRequest) -> Result<Exit, AppError> {
    super::start_log(settings)?;
    let clock = SystemClock::start();
    let journal = request.journal.as_deref().map(open_journal).transpose()?;
    let Attached {
        wire, mut events, ..
    } = attach(Needs::ROBOT)?;
    let plan = VendorPlan {
        robot_id: request.robot_id.clone(),
        seed: request.seed,
        home: request.home,
        pid: std::process::id(),
        wall_at_zero: clock.wall(),
    };
    let mut robot = Robot {
        vendor: Vendor::new(plan, clock.now()),
        clock,
        wire,
        journal,
    };
    while let Some(event) = events.next_event() {
        match robot.take(event)? {
            Some(exit) => return Ok(exit),
            None => continue,
        }
    }
    Ok(Exit::Done)
}

struct Robot {
    vendor: Vendor,
    clock: SystemClock,
    wire: DoraWire,
    journal: Option<File>,
}

impl Robot {
    /// Takes one event; returns how to end when it is the last.
    fn take(&mut self, event: WireEvent) -> Result<Option<Exit>, AppError> {
        let now = self.clock.now();
        let frames = match event {
            WireEvent::Data {
                input: Input::Tick, ..
            } => self.vendor.advance(now),
            WireEvent::Data {
                input: Input::CmdRequest,
                text: Some(text),
            } => self.vendor.handle(&text, now),
            WireEvent::Stop => return Ok(Some(Exit::Done)),
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
            | WireEvent::Unknown => Vec::new(),
        };
        self.send(&frames);
        self.write_journal()?;
        Ok(None)
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
        let Some(file) = &mut self.journal else {
            return Ok(());
        };
        for entry in &entries {
            let line = serde_json::to_string(entry)
                .map_err(|error| AppError::Internal(format!("journal entry: {error}")))?;
            writeln!(file, "{line}")
                .map_err(|error| AppError::Internal(format!("journal: {error}")))?;
        }
        Ok(())
    }
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
