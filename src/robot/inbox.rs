//! The receiving side: every event of the dataflow is handled on purpose, and none can do harm.
//!
//! It runs on the thread that owns the event stream. What it reads becomes atomics for the tick,
//! answers for waiting calls, and a view for the agent; what it cannot use is counted and ignored.
//! Its only words to the robot's fate are stops: a lost or restarted node, an emergency stop or a
//! safety event that the robot reports, and the end of the dataflow.

use std::sync::Arc;

use super::advert::Adverts;
use super::codec::{self, Response};
use super::ids::Asked;
use super::pending::{Answer, Delivery, Pending};
use super::reading::{Reader, distance_m};
use super::view::{SafetyNote, Views};
use super::{Ids, plan};
use crate::config::RobotFile;
use crate::safety::{AnswerClass, Links, VerbAnswer};
use crate::terms::{
    Fact, FactSink, Input, InputFault, Mono, PeerEvent, RobotId, StopCause, StopKind, Tier,
    WireEvent,
};

/// The one runtime parameter that may be set from outside.
const LOG_LEVEL: &str = "log_level";
/// Longest name of a parameter, peer or input that is kept, characters.
const NAME_CHARS_MAX: usize = 80;
/// A position that changed by less than this is no news, m.
const MOVED_M: f64 = 0.02;

/// What an event asks of those who run the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// The dataflow asks this node to end. The stop is already asked for.
    Stop,
    /// The event stream broke: no robot can be reached any more.
    Lost,
    /// The dataflow asks for a reload. Nothing is read again while a robot may move; whoever runs
    /// the process says what a restart would change.
    Reload,
    /// Set the level of the log to this word, or to the usual one.
    LogLevel(Option<String>),
}

/// The receiving side of the bridge.
#[derive(Debug)]
pub struct Inbox {
    pub(super) robot: Arc<RobotFile>,
    pub(super) id: RobotId,
    pub(super) ids: Arc<Ids>,
    pub(super) links: Links,
    pub(super) sink: Arc<dyn FactSink>,
    pub(super) pending: Arc<Pending>,
    pub(super) views: Arc<Views>,
    pub(super) reader: Reader,
    pub(super) adverts: Adverts,
    pub(super) states: u64,
    pub(super) told: Told,
    pub(super) last_state_seq: Option<u64>,
    /// The number of the last state of the life before this one.
    pub(super) lost_state_seq: Option<u64>,
    pub(super) last_event_seq: Option<u64>,
}

/// What was last told of the robot's state.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Told {
    position: Option<[f64; 3]>,
    status: Option<String>,
}

impl Inbox {
    /// Watches for these ceilings of linear speed, m/s, by tier, while a call runs that an Elevation
    /// permits. Without this such a call is watched like any other.
    pub fn watch_raised(&mut self, ceilings_mps: [Option<f64>; Tier::ALL.len()]) {
        self.reader.watch_raised(ceilings_mps);
    }

    /// Handles one event.
    pub fn handle(&mut self, event: WireEvent, now: Mono) -> Heard {
        let heard = match event {
            WireEvent::Data { input, text } => {
                if let Err(fault) = self.data(input, text.as_deref(), now) {
                    self.ignore(Some(input), fault);
                }
                Heard::Nothing
            }
            WireEvent::Stray { .. } => {
                self.ignore(None, InputFault::UnknownInput);
                Heard::Nothing
            }
            WireEvent::Peer { event, who } => {
                self.peer(event, &who);
                Heard::Nothing
            }
            WireEvent::Param { key, value } => self.param(&key, value),
            WireEvent::Stop => {
                // dora closes the stream of a node with its Stop: frames still leave, none arrives.
                self.links.observed.note_deaf();
                self.ask(StopKind::Stop, StopCause::Shutdown);
                self.sink.raise(Fact::GraphStop);
                Heard::Stop
            }
            WireEvent::Reload => {
                self.graph_ignored("reload");
                Heard::Reload
            }
            WireEvent::Unknown => {
                self.graph_ignored("unknown_event");
                Heard::Nothing
            }
            WireEvent::Broken(detail) => {
                self.lose_peer();
                let detail = detail.chars().take(codec::MSG_CHARS_MAX).collect();
                self.sink.raise(Fact::GraphLost { detail });
                Heard::Lost
            }
        };
        self.views.pulse.send_replace(now);
        heard
    }

    fn data(&mut self, input: Input, text: Option<&str>, now: Mono) -> Result<(), InputFault> {
        if input == Input::Tick {
            self.links.observed.note_graph_tick(now); // whatever a timer carries
            return Ok(());
        }
        let text = text.ok_or(InputFault::NotText)?;
        match input {
            Input::Tick => Ok(()),
            Input::CmdRequest => Err(InputFault::UnknownInput),
            Input::CmdResponse => self.response(codec::decode_response(text)?),
            Input::Capabilities => {
                let advert = codec::decode_advert(text)?;
                self.advert(&advert, /* answered */ false)
            }
            Input::State => self.state(text, now),
            Input::SafetyEvent => self.event(text, now),
        }
    }

    // ---- answers -----------------------------------------------------------------------------

    fn response(&mut self, response: Response) -> Result<(), InputFault> {
        let id = uuid::Uuid::try_parse(&response.request_id);
        let id = *id.map_err(|_bad| InputFault::UnknownResponse)?.as_bytes();
        let Some(asked) = self.ids.recognise(id) else {
            let Response {
                ok,
                code,
                msg,
                data,
                ..
            } = response;
            let answer = Answer {
                ok,
                code,
                msg,
                data,
            };
            return match self.pending.deliver(id, answer) {
                Delivery::Taken => {
                    self.links.observed.note_peer_up();
                    Ok(())
                }
                Delivery::Duplicate => Err(InputFault::DuplicateResponse),
                Delivery::Unknown => Err(InputFault::UnknownResponse),
            };
        };
        if !self.pending.first_of(id) {
            return Err(InputFault::DuplicateResponse);
        }
        self.links.observed.note_peer_up();
        match asked {
            Asked::Stop {
                serial,
                step,
                empty,
                ..
            } => {
                self.links.observed.note_answer(VerbAnswer {
                    serial,
                    step,
                    empty,
                    class: class_of(&response),
                });
                self.links.latch.wake();
                Ok(())
            }
            Asked::Release { serial, .. } => {
                self.links.observed.note_release(serial, response.ok);
                self.links.latch.wake();
                Ok(())
            }
            Asked::Heartbeat { .. } => Ok(()),
            Asked::Probe { .. } if response.ok => {
                let advert = codec::decode_advert_value(&response.data)?;
                self.advert(&advert, /* answered */ true)
            }
            Asked::Probe { .. } => Ok(()),
        }
    }

    // ---- the robot's own words ---------------------------------------------------------------

    fn advert(&mut self, advert: &codec::Advert, answered: bool) -> Result<(), InputFault> {
        self.right_robot(Some(&advert.robot_id))?;
        let news = self.adverts.hear(advert, answered);
        if news.restarted {
            self.restarted();
        }
        self.links.observed.note_peer_up();
        if news.fresh {
            let deadman = plan::deadman_ms(&self.robot, advert.heartbeat_timeout_ms);
            self.links.observed.note_advert(deadman);
            self.adverts.report(&self.robot, advert, self.sink.as_ref());
        }
        Ok(())
    }

    fn state(&mut self, text: &str, now: Mono) -> Result<(), InputFault> {
        let state = codec::decode_state(text)?;
        self.right_robot(state.robot_id.as_deref())?;
        if self.is_stale(state.seq) {
            // A danger that it tells of is heard all the same: nothing else of it is.
            if state.estopped && !self.links.latch.word().estop {
                self.ask(StopKind::Estop, StopCause::VendorEvent);
            }
            return Err(InputFault::StaleSeq);
        }
        if self.fell(state.seq) {
            self.restarted();
        }
        self.last_state_seq = state.seq.or(self.last_state_seq);
        let raised = self.links.shared.elevations.tier_running();
        let (reading, status, signs) = self.reader.read(&state, (now, raised));
        // The view first: whoever sees the tick act on a state finds that state, or a newer one.
        self.states = self.states.saturating_add(1);
        let still = signs.has(crate::safety::Signs::STILL);
        self.views.publish(super::StateView {
            seq: self.states,
            state: Arc::new(state.body),
            reading,
            still,
        });
        self.links.observed.note_state(now, signs);
        self.links.observed.note_peer_up();
        self.tell(
            Told {
                position: reading.position,
                status,
            },
            reading.speed,
        );
        Ok(())
    }

    fn event(&mut self, text: &str, now: Mono) -> Result<(), InputFault> {
        let event = codec::decode_event(text)?;
        self.right_robot(event.robot_id.as_deref())?;
        let last = self.last_event_seq;
        let fell = matches!((event.seq, last), (Some(new), Some(old)) if new < old);
        let missed_before = match (event.seq, last) {
            (Some(new), Some(old)) if new > old => new.saturating_sub(old).saturating_sub(1),
            (_, _) => 0,
        };
        let repeated = event.seq.is_some() && event.seq == last;
        self.last_event_seq = event.seq.or(last);
        if repeated {
            return Ok(()); // the same event once more
        }
        if fell {
            self.restarted();
            self.last_event_seq = event.seq;
        }
        // A robot that reports a danger is stopped first; who reads the report later decides more.
        // A latched one is stopped already, and its reports of our own verbs must not go in circles.
        if !self.links.latch.word().estop {
            self.ask(StopKind::Estop, StopCause::VendorEvent);
        }
        self.links.observed.note_peer_up();
        let seq = event.seq.unwrap_or(0);
        if fell || missed_before > 0 {
            let what = if fell {
                "gap: the numbers of the events fell".to_owned()
            } else {
                format!("gap: {missed_before} events are missing")
            };
            self.sink.raise(Fact::RobotSafetyEvent { seq, what });
        }
        self.sink.raise(Fact::RobotSafetyEvent {
            seq,
            what: event.what.clone(),
        });
        self.views.keep(SafetyNote {
            seq: 0,
            at: now,
            robot_seq: event.seq,
            what: event.what,
            missed_before,
            event: Arc::new(event.body),
        });
        Ok(())
    }

    fn right_robot(&self, said: Option<&str>) -> Result<(), InputFault> {
        match said {
            Some(id) if id != self.id.as_str() => Err(InputFault::WrongRobot),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether this state was received before: somebody on the way keeps the latest one and says it
    /// again. Also the last state of an earlier life of the robot's node.
    fn is_stale(&self, seq: Option<u64>) -> bool {
        seq.is_some() && seq == self.last_state_seq.or(self.lost_state_seq)
    }

    fn fell(&self, seq: Option<u64>) -> bool {
        matches!((seq, self.last_state_seq), (Some(new), Some(old)) if new < old)
    }

    fn tell(&mut self, now: Told, speed: Option<f64>) {
        let moved = match (self.told.position, now.position) {
            (Some(old), Some(new)) => distance_m(old, new) >= MOVED_M,
            (None, None) => false,
            (None, Some(_)) | (Some(_), None) => true,
        };
        if moved || now.status != self.told.status {
            self.sink.raise(Fact::RobotState {
                position: now.position,
                speed,
                status: now.status.clone(),
            });
            self.told = now;
        }
    }

    // ---- the dataflow ------------------------------------------------------------------------

    fn peer(&mut self, event: PeerEvent, who: &str) {
        // A timer that closes says nothing about the robot; every other name is behind our inputs.
        let robots = who != Input::Tick.as_str();
        if robots && event != PeerEvent::Recovered {
            self.lose_peer();
        }
        self.sink.raise(Fact::Peer {
            event,
            who: who.chars().take(NAME_CHARS_MAX).collect(),
        });
    }

    /// The robot's node restarted without a word of the dataflow.
    fn restarted(&mut self) {
        self.lose_peer();
        self.sink.raise(Fact::Peer {
            event: PeerEvent::Restarted,
            who: self.id.as_str().to_owned(),
        });
    }

    fn lose_peer(&mut self) {
        self.links.observed.note_peer_lost();
        self.links.latch.wake();
        self.pending.fail_all();
        self.adverts.forget();
        self.reader.forget();
        self.lost_state_seq = self.last_state_seq.take().or(self.lost_state_seq);
        self.last_event_seq = None;
    }

    fn param(&self, key: &str, value: Option<String>) -> Heard {
        let accepted = key == LOG_LEVEL;
        self.sink.raise(Fact::Param {
            key: key.chars().take(NAME_CHARS_MAX).collect(),
            accepted,
        });
        if !accepted {
            return Heard::Nothing;
        }
        // A value is JSON text; a bare word is taken as it is.
        Heard::LogLevel(value.map(|text| serde_json::from_str(&text).unwrap_or(text)))
    }

    fn graph_ignored(&self, what: &str) {
        self.sink.raise(Fact::GraphIgnored {
            what: what.to_owned(),
        });
    }

    fn ignore(&self, input: Option<Input>, fault: InputFault) {
        self.sink.raise(Fact::InputIgnored { input, fault });
    }

    fn ask(&self, what: StopKind, cause: StopCause) {
        let epoch = self.links.latch.ask(what, cause);
        self.sink.raise(Fact::StopAsked {
            what,
            cause,
            epoch,
            by: None,
        });
    }
}

fn class_of(response: &Response) -> AnswerClass {
    if response.ok {
        AnswerClass::Ok
    } else if response.code == codec::code::INVALID_PARAMS {
        AnswerClass::InvalidParams
    } else {
        AnswerClass::Refused
    }
}
