//! The sending side: the one place from which anything leaves for the robot.
//!
//! Stop verbs, heartbeats and commands leave from one queue, so their order is total. Directly before
//! each hand-over stands the last check, against the latch word, the clock and the lease as they are
//! then: a stop that came after the decision, or a freeze of the process, keeps the frame here. No
//! allocation and no lock up to the wire. Nothing is sent twice, but for stop verbs and releases,
//! which the tick asks for again.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::Ids;
use super::codec::{JsonWord, Outgoing, RequestText, encode_request};
use super::ids::Asked;
use super::plan::Rendered;
use crate::safety::{EVENT_SLOTS, Links, OUT_SLOTS, Receiver, SafetyOut, Sender};
use crate::terms::{
    ActuationCmd, Clock, CommandKind, DropCause, Mono, Output, RunState, SafetyEvent,
    SafetyEventKind, StopCause, StopKind, Wire,
};

/// Longest sleep of the sending thread, ms: its progress is watched.
const NAP_MS: u64 = 20;
/// Time from the first look for an advert to the second, ms; it doubles.
const PROBE_MS_MIN: u64 = 1_000;
/// Longest time between two looks for an advert, ms.
const PROBE_MS_MAX: u64 = 5_000;

/// The sending side of the bridge.
pub struct Outbox {
    pub(super) links: Links,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<Ids>,
    pub(super) target: JsonWord,
    pub(super) verbs: OutVerbs,
    pub(super) outs: Receiver<SafetyOut>,
    pub(super) reads: Receiver<ActuationCmd>,
    pub(super) events: Sender<SafetyEvent>,
    pub(super) text: RequestText,
    pub(super) beats: u32,
    pub(super) probe: Probe,
}

/// All verbs that can leave, rendered once.
#[derive(Debug)]
pub(super) struct OutVerbs {
    /// By index of the tool; `None` for tools that send nothing.
    pub(super) tools: Vec<Option<JsonWord>>,
    pub(super) steps: Vec<Rendered>,
    pub(super) release: Option<Rendered>,
    pub(super) heartbeat: Rendered,
    pub(super) capabilities: Rendered,
}

/// When the next look for an advert is due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    due: Mono,
    period_ms: u64,
    nth: u32,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            due: Mono::ZERO,
            period_ms: PROBE_MS_MIN,
            nth: 0,
        }
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("outs", &self.outs)
            .field("reads", &self.reads)
            .finish_non_exhaustive()
    }
}

impl Outbox {
    /// Hands over what waits: everything of the tick first, then one read at a time.
    pub fn step(&mut self, wire: &mut dyn Wire) {
        self.links.shared.outbox_progressed();
        for _ in 0..OUT_SLOTS {
            while_some(OUT_SLOTS, || {
                let out = self.outs.pop()?;
                self.hand_over(wire, &out);
                Some(())
            });
            let Some(read) = self.reads.pop() else {
                break;
            };
            self.read(wire, &read);
        }
        self.look_for_advert(wire);
    }

    /// Runs on this thread until `ending` is set, woken by the tick and by reads.
    pub fn run(mut self, wire: &mut dyn Wire, ending: &AtomicBool) {
        self.links.shared.register_sender(thread::current());
        while !ending.load(Ordering::SeqCst) {
            self.step(wire);
            thread::park_timeout(Duration::from_millis(NAP_MS));
        }
        self.step(wire);
    }

    fn hand_over(&mut self, wire: &mut dyn Wire, out: &SafetyOut) {
        match out {
            SafetyOut::StopVerb {
                serial,
                step,
                nth,
                empty,
            } => {
                let asked = Asked::Stop {
                    serial: *serial,
                    step: *step,
                    nth: *nth,
                    empty: *empty,
                };
                self.stop_verb(wire, asked);
            }
            SafetyOut::Heartbeat { call } => self.heartbeat(wire, *call),
            SafetyOut::Release { serial, nth, epoch } => {
                if self.links.latch.word().epoch == *epoch {
                    let asked = Asked::Release {
                        serial: *serial,
                        nth: *nth,
                    };
                    let sent = self.verbs.release.as_ref().map(|release| {
                        let id = self.ids.derived(asked);
                        let request = request(&self.target, release, id, self.clock.as_ref());
                        send(wire, &mut self.text, &request)
                    });
                    self.failed(sent == Some(false));
                }
            }
            SafetyOut::Command { cmd, repeat } => self.command(wire, cmd, *repeat),
        }
    }

    /// Nothing keeps a stop verb back.
    fn stop_verb(&mut self, wire: &mut dyn Wire, asked: Asked) {
        let Asked::Stop {
            serial,
            step,
            nth,
            empty,
        } = asked
        else {
            return;
        };
        let Some(verb) = self.verbs.steps.get(usize::from(step)) else {
            return;
        };
        let states = self.links.observed.states();
        let id = self.ids.derived(asked);
        let mut request = request(&self.target, verb, id, self.clock.as_ref());
        if empty {
            request.params = "{}";
        }
        if send(wire, &mut self.text, &request) {
            self.links.shared.note_stop_sent(serial, states);
            self.record(SafetyEventKind::StopVerb { step, nth });
        } else {
            self.failed(true);
        }
    }

    fn heartbeat(&mut self, wire: &mut dyn Wire, call: u64) {
        let now = self.clock.now();
        let lives = self.links.shared.lease_lives(call, now);
        // The latch is read last: what it says is true directly before the send.
        if !lives || self.links.latch.word().estop {
            self.record(SafetyEventKind::HeartbeatDropped);
            return;
        }
        self.beats = self.beats.wrapping_add(1);
        let id = self.ids.derived(Asked::Heartbeat { nth: self.beats });
        let request = request(&self.target, &self.verbs.heartbeat, id, self.clock.as_ref());
        if send(wire, &mut self.text, &request) {
            self.record(SafetyEventKind::Heartbeat);
        } else {
            let cause = StopCause::HeartbeatFault;
            let epoch = self.links.latch.ask(StopKind::Stop, cause);
            self.record(SafetyEventKind::StopAsked {
                cause,
                estop: false,
                epoch,
            });
            self.failed(true);
        }
    }

    fn command(&mut self, wire: &mut dyn Wire, cmd: &ActuationCmd, repeat: bool) {
        let call = cmd.lease.call;
        if let Err(why) = self.last_check(cmd) {
            return self.dropped(cmd, why);
        }
        if !self.send_command(wire, cmd) {
            return self.dropped(cmd, DropCause::Send);
        }
        self.links.shared.calls.sent(call);
        self.record(SafetyEventKind::Sent {
            tool: cmd.tool,
            call,
            repeat,
        });
    }

    /// Whether the command may leave now. The latch is read last.
    fn last_check(&self, cmd: &ActuationCmd) -> Result<(), DropCause> {
        let now = self.clock.now();
        let shared = &self.links.shared;
        let may = match cmd.kind {
            CommandKind::Move | CommandKind::Hold if !shared.lease_lives(cmd.lease.call, now) => {
                Err(DropCause::Lease)
            }
            CommandKind::Config if shared.run() != RunState::Armed => Err(DropCause::NotArmed),
            CommandKind::Move | CommandKind::Hold | CommandKind::Config | CommandKind::Read => {
                Ok(())
            }
        };
        if now >= cmd.deadline {
            return Err(DropCause::Deadline);
        }
        if cmd.kind == CommandKind::Read {
            return Ok(());
        }
        // The call may have been admitted for the last of the count; what counts is that it lives.
        let lives = |elevation| shared.elevations.lives(elevation);
        if !cmd.lease.elevation.is_none_or(lives) {
            return Err(DropCause::Elevation);
        }
        let word = self.links.latch.word();
        if word.forbids_motion() || word.epoch != cmd.epoch {
            return Err(DropCause::Epoch);
        }
        may
    }

    /// A read changes nothing: only its deadline counts.
    fn read(&mut self, wire: &mut dyn Wire, cmd: &ActuationCmd) {
        let late = self.clock.now() >= cmd.deadline;
        if late || cmd.kind != CommandKind::Read {
            return self.dropped(cmd, DropCause::Deadline);
        }
        if !self.send_command(wire, cmd) {
            return self.dropped(cmd, DropCause::Send);
        }
        // Reads may not fill the queue of safety events: half of it is not theirs.
        if self.events.waiting() < EVENT_SLOTS / 2 {
            self.record(SafetyEventKind::Sent {
                tool: cmd.tool,
                call: 0,
                repeat: false,
            });
        }
    }

    fn send_command(&mut self, wire: &mut dyn Wire, cmd: &ActuationCmd) -> bool {
        let Some(Some(verb)) = self.verbs.tools.get(usize::from(cmd.tool)) else {
            return false; // a tool that sends nothing
        };
        let request = Outgoing {
            verb,
            target: &self.target,
            id: cmd.id,
            wall: self.clock.wall(),
            params: &cmd.params,
        };
        send(wire, &mut self.text, &request)
    }

    /// Until an advert is known the robot is asked for it: it may have spoken before we listened.
    fn look_for_advert(&mut self, wire: &mut dyn Wire) {
        if self.links.observed.advert_known() {
            self.probe = Probe {
                nth: self.probe.nth,
                ..Probe::default()
            };
            return;
        }
        let now = self.clock.now();
        if now < self.probe.due || !self.may_speak_first() {
            return;
        }
        self.probe.nth = self.probe.nth.wrapping_add(1);
        self.probe.due = now.plus_ms(self.probe.period_ms);
        self.probe.period_ms = self.probe.period_ms.saturating_mul(2).min(PROBE_MS_MAX);
        let id = self.ids.derived(Asked::Probe {
            nth: self.probe.nth,
        });
        let request = request(
            &self.target,
            &self.verbs.capabilities,
            id,
            self.clock.as_ref(),
        );
        let sent = send(wire, &mut self.text, &request);
        self.failed(!sent);
    }

    /// After an unclean end the stop sequence is the first output: until the tick has begun, and
    /// until its first verb has left when it began with a stop, nothing else leaves.
    fn may_speak_first(&self) -> bool {
        let shared = &self.links.shared;
        let begun = shared.run() != RunState::Boot;
        begun && (!shared.standing().stop_active || shared.stop_sent().is_some())
    }

    fn dropped(&mut self, cmd: &ActuationCmd, why: DropCause) {
        let call = cmd.lease.call;
        self.links.shared.calls.dropped(call, why);
        self.record(SafetyEventKind::Dropped {
            tool: cmd.tool,
            call,
            why,
        });
        self.failed(why == DropCause::Send);
    }

    fn failed(&mut self, failed: bool) {
        if failed {
            self.record(SafetyEventKind::SendFailed);
        }
    }

    /// Records an event. The tick latches the robot when one found the queue full.
    fn record(&mut self, kind: SafetyEventKind) {
        let at = self.clock.now();
        if self.events.push(SafetyEvent { at, kind }).is_err() {
            self.links.shared.event_lost();
            self.links.latch.wake();
        }
    }
}

fn request<'a>(
    target: &'a JsonWord,
    rendered: &'a Rendered,
    id: [u8; 16],
    clock: &dyn Clock,
) -> Outgoing<'a> {
    Outgoing {
        verb: &rendered.verb,
        target,
        id,
        wall: clock.wall(),
        params: &rendered.params,
    }
}

/// Encodes and hands over. Returns whether the dataflow took it.
fn send(wire: &mut dyn Wire, text: &mut RequestText, request: &Outgoing<'_>) -> bool {
    if encode_request(request, text).is_err() {
        return false;
    }
    let mut buffer = Uuid::encode_buffer();
    let id: &str = Uuid::from_bytes(request.id)
        .hyphenated()
        .encode_lower(&mut buffer);
    wire.send(Output::CmdRequest, text, Some(id)).is_ok()
}

/// Calls `next` until it has nothing more, `max` times at most.
fn while_some(max: usize, mut next: impl FnMut() -> Option<()>) {
    for _ in 0..max {
        if next().is_none() {
            return;
        }
    }
}
