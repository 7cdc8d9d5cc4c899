//! A bench: the safety step under a virtual clock, with a small robot at the other end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::safety::{
    AnswerClass, Boot, CallEnd, FailedChecks, Latch, Links, Observed, Order, SafetyOut, SafetyPlan,
    SafetyPorts, SafetyStep, Shared, Signs, StepPlan, VerbAnswer,
};
use crate::terms::{
    ActuationCmd, CommandKind, LeaseTerms, Mono, Params, RunState, SafetyEvent, SafetyEventKind,
    StopCause,
};

pub(super) const TICK_MS: u64 = 10;
pub(super) const STATE_MS: u64 = 50;
pub(super) const DEADMAN_MS: u32 = 900;

/// A frame that left, without its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Verb { step: u8, nth: u16, empty: bool },
    Beat,
    Release,
    Command { call: u64, repeat: bool },
}

/// The robot at the other end.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent habits")]
pub(super) struct Model {
    pub(super) moving: bool,
    /// The first step of the stop sequence that it obeys.
    pub(super) obeys_step: u8,
    pub(super) answers: bool,
    /// How it answers a verb with parameters.
    pub(super) class: AnswerClass,
    /// So many stop verbs get lost before the first arrives.
    pub(super) loses: u32,
    pub(super) speaks: bool,
    pub(super) extra: Signs,
    pub(super) releases: bool,
}

pub(super) struct Bench {
    pub(super) step: SafetyStep,
    pub(super) ports: SafetyPorts,
    pub(super) links: Links,
    pub(super) now: Mono,
    pub(super) robot: Model,
    pub(super) left: Vec<(u64, Left)>,
    pub(super) events: Vec<SafetyEvent>,
    /// Whether the future of the call is polled and the spine iterates.
    pub(super) polls: bool,
    pub(super) spins: bool,
    pub(super) call: u64,
    next_state: Mono,
}

pub(super) fn plan() -> SafetyPlan {
    let step = StepPlan {
        wait_ms: 200,
        retry_empty: true,
    };
    SafetyPlan {
        tick_ms: 10,
        jitter_ms: 50,
        lockup_ms: 1000,
        steps: [step, step].into_iter().collect(),
        within_ms: 500,
        has_release: true,
        idle_disarm_s: 300,
        waive_deadman: false,
        stale_after_ms: 500,
        boot: Boot::default(),
    }
}

impl Bench {
    /// A robot that just started and was not heard yet.
    pub(super) fn cold(plan: SafetyPlan) -> Self {
        let latch = Latch::new(0, plan.boot.latched);
        let links = Links {
            latch,
            observed: Arc::new(Observed::default()),
            shared: Arc::new(Shared::new(Arc::new(AtomicU64::new(0)))),
        };
        let (step, ports) = SafetyStep::new(plan, links.clone());
        Self {
            step,
            ports,
            links,
            now: Mono::from_ms(1000),
            robot: Model {
                moving: false,
                obeys_step: 0,
                answers: true,
                class: AnswerClass::Ok,
                loses: 0,
                speaks: true,
                extra: Signs::default(),
                releases: true,
            },
            left: Vec::new(),
            events: Vec::new(),
            polls: true,
            spins: true,
            call: 0,
            next_state: Mono::from_ms(1000),
        }
    }

    /// Disarmed, heard and at rest.
    pub(super) fn ready() -> Self {
        Self::ready_with(plan())
    }

    pub(super) fn ready_with(plan: SafetyPlan) -> Self {
        let mut bench = Self::cold(plan);
        bench.greet();
        bench.run_ms(100);
        bench
    }

    pub(super) fn armed() -> Self {
        let mut bench = Self::ready();
        assert_eq!(
            bench.order(Order::Arm { for_ms: 600_000 }),
            FailedChecks::NONE
        );
        bench
    }

    /// Moving under a live lease for 100 ms.
    pub(super) fn moving() -> Self {
        let mut bench = Self::armed();
        bench.go(CommandKind::Move);
        bench.run_ms(100);
        assert_eq!(bench.run(), RunState::Moving);
        bench
    }

    pub(super) fn greet(&mut self) {
        self.links.observed.note_peer_up();
        self.links.observed.note_advert(DEADMAN_MS);
    }

    pub(super) fn run(&self) -> RunState {
        self.links.shared.run()
    }

    pub(super) fn ms(&self) -> u64 {
        self.now.as_ms()
    }

    /// Opens a call and submits its first command.
    pub(super) fn go(&mut self, kind: CommandKind) {
        self.call += 1;
        assert!(self.links.shared.calls.open(self.call));
        let cmd = self.cmd(kind);
        self.ports.commands.push(cmd).unwrap();
    }

    pub(super) fn cmd(&self, kind: CommandKind) -> ActuationCmd {
        ActuationCmd {
            id: [7; 16],
            tool: 0,
            kind,
            epoch: self.links.latch.word().epoch,
            deadline: self.now.plus_ms(20_000),
            lease: LeaseTerms {
                call: self.call,
                renew_ms: 500,
                lost_after_ms: 1_000,
                hard_max_ms: 30_000,
                hold_ms: if kind == CommandKind::Hold { 400 } else { 0 },
                elevation: None,
            },
            params: Params::new(),
        }
    }

    pub(super) fn order(&mut self, order: Order) -> FailedChecks {
        let seq = self.ports.orders.submit(order).unwrap();
        self.tick();
        self.ports.orders.result(seq).unwrap()
    }

    pub(super) fn end_call(&mut self, end: CallEnd) {
        match end {
            CallEnd::Dropped => self.links.shared.calls.close(self.call),
            CallEnd::Running | CallEnd::Arrived | CallEnd::Over => {
                self.links.shared.calls.end(self.call, end);
            }
        }
    }

    pub(super) fn run_ms(&mut self, ms: u64) {
        for _ in 0..ms / TICK_MS {
            self.tick();
        }
    }

    pub(super) fn run_until(&mut self, max_ms: u64, mut done: impl FnMut(&Self) -> bool) {
        for _ in 0..max_ms / TICK_MS {
            if done(self) {
                return;
            }
            self.tick();
        }
        panic!("not reached within {max_ms} ms: {:?}", self.run());
    }

    pub(super) fn tick(&mut self) {
        self.now = self.now.plus_ms(TICK_MS);
        self.round();
    }

    /// One round at the time it is now.
    pub(super) fn round(&mut self) {
        if self.robot.speaks && self.now >= self.next_state {
            self.next_state = self.now.plus_ms(STATE_MS);
            self.say_state();
        }
        if self.spins {
            self.links.shared.spine().fetch_add(1, Ordering::SeqCst);
        }
        if self.polls {
            self.links.shared.calls.polled(self.call);
        }
        self.step.step(self.now);
        self.links.shared.outbox_progressed();
        while let Some(out) = self.ports.outs.pop() {
            self.leave(&out);
        }
        while let Some(event) = self.ports.events.pop() {
            self.events.push(event);
        }
    }

    pub(super) fn say_state(&mut self) {
        let signs = self.robot.extra.with(Signs::STILL, !self.robot.moving);
        self.links.observed.note_state(self.now, signs);
        self.links.observed.note_peer_up();
    }

    fn leave(&mut self, out: &SafetyOut) {
        let left = match out {
            SafetyOut::StopVerb {
                serial,
                step,
                nth,
                empty,
            } => {
                let states = self.links.observed.states();
                self.links.shared.note_stop_sent(*serial, states);
                self.hear_stop(*serial, *step, *empty);
                Left::Verb {
                    step: *step,
                    nth: *nth,
                    empty: *empty,
                }
            }
            SafetyOut::Heartbeat { .. } => Left::Beat,
            SafetyOut::Release { serial, .. } => {
                if self.robot.releases {
                    self.links.observed.note_release(*serial, true);
                }
                Left::Release
            }
            SafetyOut::Command { cmd, repeat } => {
                self.robot.moving |= cmd.kind.moves();
                Left::Command {
                    call: cmd.lease.call,
                    repeat: *repeat,
                }
            }
        };
        self.left.push((self.now.as_ms(), left));
    }

    fn hear_stop(&mut self, serial: u32, step: u8, empty: bool) {
        if self.robot.loses > 0 {
            self.robot.loses -= 1;
            return;
        }
        let class = if empty {
            AnswerClass::Ok
        } else {
            self.robot.class
        };
        if class == AnswerClass::Ok && step >= self.robot.obeys_step {
            self.robot.moving = false;
        }
        if self.robot.answers {
            self.links.observed.note_answer(VerbAnswer {
                serial,
                step,
                empty,
                class,
            });
        }
    }

    pub(super) fn verbs(&self) -> Vec<(u64, u8, u16)> {
        let verbs = self.left.iter().filter_map(|(at, left)| match left {
            Left::Verb { step, nth, .. } => Some((*at, *step, *nth)),
            Left::Beat | Left::Release | Left::Command { .. } => None,
        });
        verbs.collect()
    }

    pub(super) fn count(&self, what: Left) -> usize {
        self.left.iter().filter(|(_, left)| *left == what).count()
    }

    pub(super) fn last(&self, what: Left) -> u64 {
        let mut all = self.left.iter().rev();
        all.find(|(_, left)| *left == what).map_or(0, |(at, _)| *at)
    }

    pub(super) fn asked(&self, cause: StopCause) -> bool {
        self.events
            .iter()
            .any(|e| matches!(e.kind, SafetyEventKind::StopAsked { cause: c, .. } if c == cause))
    }

    pub(super) fn happened(&self, pick: impl Fn(&SafetyEventKind) -> bool) -> bool {
        self.events.iter().any(|event| pick(&event.kind))
    }
}
