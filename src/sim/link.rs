//! The simulated robot in this process: the far end of a [`Wire`], without a dataflow.
//!
//! Like a dataflow it may lose messages and still answer `Ok`: a test says which, with a rule that
//! sees each message. It has no thread and no clock: whoever owns it says what time it is.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde_json::Value;

use super::vendor::{Frame, Vendor};
use crate::terms::{Input, Mono, Output, Wire, WireError, WireEvent};

/// Requests on their way; more are lost, as on a dataflow.
const REQUESTS_MAX: usize = 64;
/// Messages that are late at the same time; more are lost.
const LATE_MAX: usize = 1024;
/// The id of an answer to a request that nobody made.
const WRONG_ID: &str = "00000000-0000-4000-8000-000000000000";

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A request.
    ToRobot,
    /// Something that the robot says.
    FromRobot(Output),
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Arrives,
    /// It is lost, and nobody is told.
    Lost,
    /// It arrives later. A request cannot be late: it arrives.
    Late {
        /// By how much, ms.
        by_ms: u32,
    },
    /// It arrives with the id of a request that nobody made.
    WrongId,
}

type Rule = dyn FnMut(Way, &str) -> Fate + Send;

/// Decides on each message.
pub struct FateRule(Box<Rule>);

impl FateRule {
    /// Makes a rule of a closure, which sees the way and the payload.
    pub fn new(rule: impl FnMut(Way, &str) -> Fate + Send + 'static) -> Self {
        Self(Box::new(rule))
    }

    /// Decides on one message.
    pub fn of(&mut self, way: Way, text: &str) -> Fate {
        (self.0)(way, text)
    }

    /// Everything arrives.
    pub fn perfect() -> Self {
        Self::new(|_, _| Fate::Arrives)
    }

    /// Loses this many of a thousand messages, the same ones for the same seed.
    pub fn lossy(seed: u64, lost_per_thousand: u16) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        Self::new(move |_, _| {
            if random.u16(..1000) < lost_per_thousand {
                Fate::Lost
            } else {
                Fate::Arrives
            }
        })
    }
}

impl fmt::Debug for FateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FateRule").finish_non_exhaustive()
    }
}

/// The sending half, for the thread or driver that owns a robot's frames.
#[derive(Debug, Clone)]
pub struct MockWire(SyncSender<String>);

impl Wire for MockWire {
    fn send(
        &mut self,
        output: Output,
        payload: &str,
        _request_id: Option<&str>,
    ) -> Result<(), WireError> {
        if output != Output::CmdRequest {
            let id = output.as_str();
            return Err(WireError(format!("nobody listens to output `{id}`")));
        }
        // A full queue loses the message and answers `Ok`, as a dataflow does.
        drop(self.0.try_send(payload.to_owned()));
        Ok(())
    }
}

/// The robot behind a [`MockWire`].
#[derive(Debug)]
pub struct MockRobot {
    vendor: Vendor,
    requests: Receiver<String>,
    fate: FateRule,
    late: Vec<(Mono, WireEvent)>,
    frozen_until: Mono,
}

impl MockRobot {
    /// Puts a robot behind a wire.
    pub fn new(vendor: Vendor, fate: FateRule) -> (Self, MockWire) {
        let (sender, requests) = sync_channel(REQUESTS_MAX);
        let robot = Self {
            vendor,
            requests,
            fate,
            late: Vec::new(),
            frozen_until: Mono::ZERO,
        };
        (robot, MockWire(sender))
    }

    /// Lets time pass up to `now` and returns what arrives from the robot. Requests that were sent
    /// since the last call reach it at `now`.
    pub fn poll(&mut self, now: Mono) -> Vec<WireEvent> {
        if now < self.frozen_until {
            return Vec::new();
        }
        let mut arrived = self.no_longer_late(now);
        let mut frames = self.vendor.advance(now);
        for request in self.requests.try_iter().take(REQUESTS_MAX) {
            if self.fate.of(Way::ToRobot, &request) != Fate::Lost {
                frames.extend(self.vendor.handle(&request, now));
            }
        }
        for mut frame in frames {
            match self.fate.of(Way::FromRobot(frame.output), &frame.payload) {
                Fate::Arrives => arrived.push(arrival(frame)),
                Fate::Lost => {}
                Fate::Late { by_ms } if self.late.len() < LATE_MAX => {
                    let due = now.plus_ms(u64::from(by_ms));
                    self.late.push((due, arrival(frame)));
                }
                Fate::Late { .. } => {}
                Fate::WrongId => {
                    frame.payload = with_wrong_id(&frame.payload);
                    arrived.push(arrival(frame));
                }
            }
        }
        arrived
    }

    /// Lets the robot's process stand still: it neither moves on nor listens. Requests wait.
    pub fn freeze_until(&mut self, until: Mono) {
        self.frozen_until = self.frozen_until.max(until);
    }

    fn no_longer_late(&mut self, now: Mono) -> Vec<WireEvent> {
        let (due, late) = std::mem::take(&mut self.late)
            .into_iter()
            .partition(|(due, _)| *due <= now);
        self.late = late;
        let due: Vec<(Mono, WireEvent)> = due;
        due.into_iter().map(|(_, event)| event).collect()
    }

    /// Returns the robot.
    pub fn vendor(&mut self) -> &mut Vendor {
        &mut self.vendor
    }

    /// Replaces the robot by one that was just switched on: it has forgotten its latch.
    pub fn restart(&mut self, vendor: Vendor) {
        self.vendor = vendor;
    }

    /// Changes what becomes of messages from now on.
    pub fn set_fate(&mut self, fate: FateRule) {
        self.fate = fate;
    }
}

/// A payload that is no object has no id that could be wrong.
fn with_wrong_id(payload: &str) -> String {
    let Ok(Value::Object(mut answer)) = serde_json::from_str(payload) else {
        return payload.to_owned();
    };
    answer.insert("request_id".to_owned(), WRONG_ID.into());
    Value::Object(answer).to_string()
}

fn arrival(frame: Frame) -> WireEvent {
    let input = match frame.output {
        Output::CmdRequest => Input::CmdRequest,
        Output::CmdResponse => Input::CmdResponse,
        Output::Capabilities => Input::Capabilities,
        Output::State => Input::State,
        Output::SafetyEvent => Input::SafetyEvent,
    };
    WireEvent::Data {
        input,
        text: Some(frame.payload),
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::sim::{Dialect, VendorPlan};
    use crate::terms::RobotId;

    fn vendor() -> Vendor {
        let plan = VendorPlan {
            robot_id: RobotId::parse("r").unwrap(),
            dialect: Dialect::rover(),
            seed: 7,
            home: [0.0, 0.0],
            pid: 1,
            wall_at_zero: UNIX_EPOCH,
        };
        Vendor::new(plan, Mono::ZERO)
    }

    fn inputs(events: &[WireEvent]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for event in events {
            if let WireEvent::Data { input, .. } = event {
                inputs.push(*input);
            }
        }
        inputs
    }

    const STOP: &str = r#"{"verb":"vendor.octos.rover.stop","target":"r","request_id":"1"}"#;

    #[test]
    fn a_request_is_answered_in_the_same_poll() {
        let (mut robot, mut wire) = MockRobot::new(vendor(), FateRule::perfect());
        let first = robot.poll(Mono::ZERO);
        assert_eq!(inputs(&first), [Input::Capabilities, Input::State]);
        wire.send(Output::CmdRequest, STOP, Some("1")).unwrap();
        assert_eq!(inputs(&robot.poll(Mono::from_ms(10))), [Input::CmdResponse]);
        assert!(wire.send(Output::State, "{}", None).is_err());
    }

    #[test]
    fn chosen_messages_are_lost_and_the_sender_is_not_told() {
        let mut left = 1;
        let rule = FateRule::new(move |way, _| {
            if way == Way::ToRobot && left > 0 {
                left -= 1;
                Fate::Lost
            } else {
                Fate::Arrives
            }
        });
        let (mut robot, mut wire) = MockRobot::new(vendor(), rule);
        robot.poll(Mono::ZERO);
        for expected in [0, 1] {
            wire.send(Output::CmdRequest, STOP, None).unwrap();
            assert_eq!(robot.poll(Mono::ZERO).len(), expected);
        }
    }

    #[test]
    fn an_answer_that_is_late_comes_later_and_one_with_a_wrong_id_names_no_request() {
        let (mut robot, mut wire) = MockRobot::new(vendor(), FateRule::perfect());
        robot.poll(Mono::ZERO);
        let answers = |way| way == Way::FromRobot(Output::CmdResponse);
        robot.set_fate(FateRule::new(move |way, _| match answers(way) {
            true => Fate::Late { by_ms: 30 },
            false => Fate::Arrives,
        }));
        wire.send(Output::CmdRequest, STOP, None).unwrap();
        let arrived = [0, 20, 30].map(|ms| robot.poll(Mono::from_ms(ms)).len());
        assert_eq!(arrived, [0, 0, 1]);
        robot.set_fate(FateRule::new(|_, _| Fate::WrongId));
        wire.send(Output::CmdRequest, STOP, None).unwrap();
        let events = robot.poll(Mono::from_ms(40));
        let [
            WireEvent::Data {
                text: Some(text), ..
            },
        ] = events.as_slice()
        else {
            panic!("{events:?}");
        };
        assert!(text.contains(WRONG_ID), "{text}");
    }

    #[test]
    fn a_frozen_robot_says_nothing_and_hears_its_requests_afterwards() {
        let (mut robot, mut wire) = MockRobot::new(vendor(), FateRule::perfect());
        robot.poll(Mono::ZERO);
        robot.freeze_until(Mono::from_ms(500));
        wire.send(Output::CmdRequest, STOP, None).unwrap();
        assert!(robot.poll(Mono::from_ms(490)).is_empty());
        assert!(inputs(&robot.poll(Mono::from_ms(500))).contains(&Input::CmdResponse));
    }

    #[test]
    fn a_lossy_link_loses_the_same_messages_for_the_same_seed() {
        let run = |seed| {
            let (mut robot, _wire) = MockRobot::new(vendor(), FateRule::lossy(seed, 300));
            let polls = (0..100).map(|n| robot.poll(Mono::from_ms(n * 100)).len());
            polls.collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert!((50..90).contains(&run(1).iter().sum::<usize>()));
    }
}
