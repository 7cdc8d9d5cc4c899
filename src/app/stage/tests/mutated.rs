//! Envelopes of all four streams of a robot, spoiled in their bytes and in their form, heard by an agent
//! that is armed and drives: nothing panics, nothing moves that was not asked for, every call has its one
//! answer, and the counters add up.
//!
//! The robot goes on speaking between them. What is spoiled may still mean something: an envelope that
//! tells of a danger stops or latches, and the operator of the test begins again.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::*;
use crate::terms::{Call, FactClass, Input, InputFault, LaneReply, WireEvent};

/// Says how many envelopes, in place of one part.
const VARIABLE: &str = "OCTOS_EDGE_TEST_ENVELOPES";
/// Envelopes of one life; as many as a plain test run has.
const ENVELOPES: u64 = 50_000;
/// Envelopes of one step of time, and steps of one burst.
const STEP: u64 = 50;
const BURST: u64 = 10;
/// Goals that the model has an answer to.
const GOALS: usize = 5_000;

const STREAMS: [(Output, Input); 4] = [
    (Output::CmdResponse, Input::CmdResponse),
    (Output::State, Input::State),
    (Output::Capabilities, Input::Capabilities),
    (Output::SafetyEvent, Input::SafetyEvent),
];

/// Drives there and back, for a long time.
fn drives() -> Vec<Cue> {
    let goal = |nth: usize| {
        let x = if nth.is_multiple_of(2) { 1.5 } else { 0.0 };
        let Value::Object(args) = json!({ "x": x, "y": 0.0 }) else {
            panic!("an object");
        };
        let call = Call {
            id: format!("call-{nth}"),
            tool: "rover_go_to_pose".to_owned(),
            args: args.into(),
        };
        [vec![call], Vec::new()].map(|calls| Cue {
            sees: Vec::new(),
            reply: LaneReply {
                text: "go".to_owned(),
                calls,
            },
        })
    };
    (0..GOALS).flat_map(goal).collect()
}

/// Spoils envelopes, the same ones for the same seed.
struct Mutator(fastrand::Rng);

impl Mutator {
    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.0.usize(..list.len())]
    }

    /// Spoils a text; `None` for bytes that are no text at all.
    fn spoil(&mut self, text: &str, other: &str, ids: &[String]) -> Option<String> {
        let formed = match serde_json::from_str::<Value>(text) {
            Ok(mut value) if self.0.u8(..4) > 0 => {
                for _ in 0..self.0.u8(1..4) {
                    self.bend(&mut value, ids);
                }
                value.to_string()
            }
            Ok(_) | Err(_) => text.to_owned(),
        };
        match self.0.u16(..1000) {
            0 => None,
            // Beyond the largest answer that is read.
            1 if self.0.u8(..8) == 0 => Some(format!("{formed}{}", " ".repeat(1 << 20))),
            n if n < 500 => Some(self.corrupt(formed.into_bytes(), other.as_bytes())),
            _ => Some(formed),
        }
    }

    /// Changes one thing of a value, at any depth.
    fn bend(&mut self, value: &mut Value, ids: &[String]) {
        let go_on = self.0.u8(..8) > 1;
        if let Value::Object(map) = value
            && go_on
            && !map.is_empty()
        {
            self.bend_member(map, ids);
        } else if let Value::Array(list) = value
            && go_on
            && !list.is_empty()
        {
            let nth = self.0.usize(..list.len());
            match self.0.u8(..8) {
                0 => drop(list.remove(nth)),
                1 => list.push(list[nth].clone()),
                _ => self.bend(&mut list[nth], ids),
            }
        } else {
            *value = self.leaf(ids);
        }
    }

    fn bend_member(&mut self, map: &mut Map<String, Value>, ids: &[String]) {
        let nth = self.0.usize(..map.len());
        let key = map.keys().nth(nth).unwrap().clone();
        match self.0.u8(..12) {
            0 => drop(map.remove(&key)),
            1 => {
                let moved = map.remove(&key).unwrap();
                map.insert(format!("{key}x"), moved);
            }
            2 => drop(map.insert("extra".to_owned(), self.leaf(ids))),
            3 if map.contains_key("request_id") && !ids.is_empty() => {
                let id = self.one_of(ids).clone();
                map.insert("request_id".to_owned(), id.into());
            }
            _ => self.bend(map.get_mut(&key).unwrap(), ids),
        }
    }

    /// Something that was not meant to stand there.
    fn leaf(&mut self, ids: &[String]) -> Value {
        const NUMBERS: [f64; 8] = [0.0, -1.0, 1e308, -1e308, 0.5, 2.5, 1e-300, 9.007e15];
        const WORDS: [&str; 12] = [
            "",
            "0",
            "NaN",
            "following",
            "arrived",
            "idle",
            "estopped",
            "rover-1",
            "rover-2",
            "robot.estop",
            "\u{0}\u{202e}",
            "operator",
        ];
        match self.0.u8(..9) {
            0 => Value::Null,
            1 => self.0.bool().into(),
            2 => (*self.one_of(&NUMBERS)).into(),
            3 => self.0.u64(..).into(),
            4 => self.0.i64(..).into(),
            5 if !ids.is_empty() => self.one_of(ids).clone().into(),
            6 => "x".repeat(self.0.usize(..600)).into(),
            7 => (0..self.0.usize(..200)).fold(json!([]), |inner, _| Value::Array(vec![inner])),
            _ => (*self.one_of(&WORDS)).into(),
        }
    }

    /// Changes bytes.
    fn corrupt(&mut self, mut bytes: Vec<u8>, other: &[u8]) -> String {
        for _ in 0..self.0.u8(1..4) {
            if bytes.is_empty() {
                break;
            }
            let at = self.0.usize(..bytes.len());
            match self.0.u8(..7) {
                0 => bytes[at] ^= 1 << self.0.u8(..8),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, self.0.u8(..)),
                3 => bytes.truncate(at),
                4 => bytes[at] = *self.one_of(b"{}[]\",:0-9eE.\\ntf"),
                5 => {
                    let end = (at + self.0.usize(1..40)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                _ => {
                    let from = self.0.usize(..=other.len());
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What was done to a life.
#[derive(Debug, Default)]
struct Tally {
    injected: u64,
    states: u64,
    /// Bursts that began in motion.
    moving: u64,
}

impl Rig {
    /// Does what an operator would until the robot moves again.
    async fn recover(&mut self) {
        let end = self.stage.clock.now().plus_ms(6 * PATIENCE_MS);
        let mut steps = 0_u32;
        while self.run() != RunState::Moving {
            let now = self.stage.clock.now();
            assert!(now < end, "never moves: {:?}", self.status());
            // Calls have a rate, so a goal is not given at once again.
            let may_ask = steps.is_multiple_of(50);
            let run = self.run();
            if matches!(run, RunState::Latched | RunState::Stopped) {
                drop(self.say(&reset("again")));
            } else if run == RunState::Disarmed && self.status().ready {
                drop(self.say(&arm("again")));
            } else if run == RunState::Armed && may_ask && !self.status().goal.running {
                self.goal();
            }
            steps += 1;
            if steps.is_multiple_of(150) && self.run() != RunState::Armed {
                // A robot that is stopped for good is switched off and on.
                let fresh = vendor(&installation());
                self.stage.world().0.robot().restart(fresh);
            }
            self.step().await;
        }
    }

    /// Lets the agent hear spoiled envelopes in one step of time.
    fn hear(&mut self, mutator: &mut Mutator, calm: bool, tally: &mut Tally) {
        // Before the step nobody says more: what was said is looked up once for all of them.
        let spoiled: Vec<(Input, Option<String>)> = {
            let mut line = self.line();
            let Line { ids, said, .. } = &mut *line;
            let ids: &[String] = ids.make_contiguous();
            let other = said.back().map_or("", |said| said.1.as_str());
            let of = |output| -> Vec<&str> {
                let of = said.iter().filter(|said| said.0 == output);
                of.map(|said| said.1.as_str()).collect()
            };
            let said = STREAMS.map(|(output, _)| of(output));
            let samples = STREAMS.map(|(output, _)| sample(output));
            let mut spoil = || {
                // Nobody is latched by an answer: only then a burst is heard in motion to its end.
                let wanted = if calm {
                    0
                } else {
                    mutator.0.usize(..STREAMS.len())
                };
                let text: &str = if said[wanted].is_empty() {
                    &samples[wanted]
                } else {
                    mutator.one_of::<&str>(&said[wanted])
                };
                (STREAMS[wanted].1, mutator.spoil(text, other, ids))
            };
            (0..STEP).map(|_| spoil()).collect()
        };
        for (input, text) in spoiled {
            tally.injected += 1;
            tally.states += u64::from(input == Input::State);
            self.stage.world().0.inject(WireEvent::Data { input, text });
        }
    }
}

/// An envelope that this robot has not said yet.
fn sample(output: Output) -> String {
    let text = match output {
        Output::SafetyEvent => json!({
            "robot_id": ROBOT, "seq": 3, "event": "dead_man", "severity": "critical",
            "ts": "2026-01-01T00:00:00Z", "detail": { "why": "no heartbeat" },
        }),
        Output::Capabilities => json!({
            "robot_id": ROBOT, "pid": 1, "heartbeat_timeout_ms": 1000,
            "capabilities": [ { "verb": "vendor.octos.rover.stop", "tier": "observe" } ],
        }),
        Output::CmdResponse | Output::CmdRequest | Output::State => json!({
            "request_id": "00000000-0000-4000-8000-000000000000", "ok": true, "code": "0",
            "msg": "", "data": {},
        }),
    };
    text.to_string()
}

/// A life that hears so many of them.
fn life(seed: u64, envelopes: u64) {
    let dir = tempfile::tempdir().unwrap();
    let installation = installation();
    let setup = Setup {
        script: drives(),
        ..Setup::new(&installation, dir.path(), &[DRIVE])
    };
    let mut mutator = Mutator(fastrand::Rng::with_seed(seed));
    on_stage(setup, async |rig: &mut Rig| {
        let mut tally = Tally::default();
        rig.ready().await;
        while tally.injected < envelopes {
            rig.recover().await;
            let calm = mutator.0.u8(..3) > 0;
            tally.moving += u64::from(rig.run() == RunState::Moving);
            for _ in 0..BURST {
                rig.hear(&mut mutator, calm, &mut tally);
                rig.step().await;
            }
        }
        rig.finish().await;
        assert_sound(rig, &tally);
    });
    let found = verified(dir.path());
    assert!(found.ok, "{:#?}", found.faults);
}

fn assert_sound(rig: &Rig, tally: &Tally) {
    let facts = rig.facts();
    assert_eq!(rig.stage.ledger.dropped(), 0);
    for class in [FactClass::Safety, FactClass::Audit, FactClass::Trace] {
        assert_eq!(rig.kept.stepped.dropped(class), 0);
    }
    assert!(
        tally.moving * BURST * STEP >= tally.injected,
        "each burst began in motion"
    );
    let (mut granted, mut ended) = (Vec::new(), BTreeMap::<&str, u32>::new());
    let (mut run, mut sent, mut armed, mut asked) = (RunState::Boot, 0_usize, 0, 0);
    let (mut ignored, mut of_states, mut goals) = (0_u64, 0_u64, 0_i64);
    for (at, fact) in &facts {
        if let Fact::Granted { call, .. } = fact {
            granted.push(call.as_str());
        } else if let Fact::Finished { call, .. } = fact {
            *ended.entry(call).or_default() += 1;
        } else if let Fact::RunStateChanged { from, to, .. } = fact {
            armed += usize::from((*from, *to) == (RunState::Disarmed, RunState::Armed));
            run = *to;
        } else if let Fact::OrderDone { order, .. } = fact {
            asked += usize::from(order == "arm");
        } else if let Fact::CommandSent { moves: true, .. } = fact {
            sent += 1;
            let may = matches!(run, RunState::Armed | RunState::Moving);
            assert!(may, "{at} ms: a command in {run:?}");
        } else if let Fact::InputIgnored { input, .. } = fact {
            ignored += 1;
            of_states += u64::from(*input == Some(Input::State));
        }
        goals += i64::from(matches!(fact, Fact::GoalBegun { .. }));
        goals -= i64::from(matches!(fact, Fact::GoalEnded { .. }));
    }
    // Each call that was granted has one answer, and nothing else moved the robot.
    assert_eq!(ended.len(), granted.len());
    assert!(ended.values().all(|times| *times == 1), "{ended:?}");
    assert!(granted.iter().all(|call| ended.contains_key(call)));
    assert_eq!(goals, 0);
    let verbs = rig.sent();
    let motions = verbs
        .iter()
        .filter(|(_, verb)| verb.ends_with("go_to_pose"))
        .count();
    assert_eq!(motions, sent);
    assert!(sent <= granted.len(), "{sent} of {}", granted.len());
    let others = verbs
        .iter()
        .filter(|(_, verb)| verb.ends_with("velocity") || verb.ends_with("set"));
    assert_eq!(others.count(), 0);
    assert_eq!(armed, asked, "nobody is armed but by a word");
    // The counters.
    assert_eq!(
        rig.kept.stepped.counted("octos_edge_input_ignored_total"),
        ignored
    );
    let heard = rig
        .stage
        .control
        .bridge
        .state()
        .map_or(0, |state| state.seq);
    assert_eq!(
        rig.line().states + tally.states,
        heard + of_states,
        "each state is heard or counted"
    );
    assert!(
        ignored > tally.injected / 4 && ignored < tally.injected,
        "{ignored} of {tally:?}"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the test says how long"
)]
fn case_40_spoiled_envelopes_of_all_streams_move_nothing_lose_nothing_and_are_counted() {
    let asked = std::env::var(VARIABLE).ok();
    let all: u64 = asked.map_or(ENVELOPES, |number| number.parse().unwrap());
    let parts = all.div_ceil(ENVELOPES);
    // Two lives at a time; each has a seed of its own.
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                for seed in (0..parts).filter(|seed| seed % 2 == half) {
                    let left = all - seed * ENVELOPES;
                    life(seed, left.min(ENVELOPES));
                }
            });
        }
    });
}

#[test]
fn case_40_an_answer_to_nobody_or_given_twice_or_that_is_none_is_counted_and_ends_no_call() {
    let dir = tempfile::tempdir().unwrap();
    let installation = installation();
    on_stage(
        Setup::new(&installation, dir.path(), &[DRIVE]),
        async |rig: &mut Rig| {
            let ignored = |rig: &Rig, wanted: InputFault| {
                let input = Some(Input::CmdResponse);
                rig.count(|f| {
                    *f == Fact::InputIgnored {
                        input,
                        fault: wanted,
                    }
                })
            };
            let tell = |rig: &mut Rig, text: String| {
                let input = Input::CmdResponse;
                let text = Some(text);
                rig.stage.world().0.inject(WireEvent::Data { input, text });
            };
            rig.arm("one").await;
            rig.line().deaf = true;
            rig.goal();
            let left = |rig: &Rig| {
                rig.sent()
                    .iter()
                    .any(|(_, verb)| verb.ends_with("go_to_pose"))
            };
            rig.until("the command", left).await;
            // The call waits for its answer. A stranger's is there first.
            let refusal = json!({
                "request_id": "00000000-0000-4000-8000-000000000000", "ok": false, "code": "busy",
                "msg": "", "data": {},
            });
            tell(rig, refusal.to_string());
            rig.step().await;
            assert_eq!(ignored(rig, InputFault::UnknownResponse), 1);
            let answer = {
                let mut line = rig.line();
                line.deaf = false;
                let mut said = line.said.iter().rev();
                let answer = said.find(|said| said.0 == Output::CmdResponse);
                answer.unwrap().1.clone()
            };
            tell(rig, answer.clone());
            rig.enters(RunState::Moving).await;
            rig.run_ms(100).await;
            tell(rig, answer.clone());
            tell(rig, format!("{answer}{}", " ".repeat(2 << 20)));
            tell(rig, "no JSON".to_owned());
            rig.run_ms(100).await;
            for fault in [
                InputFault::UnknownResponse,
                InputFault::DuplicateResponse,
                InputFault::Oversized,
                InputFault::NotJson,
            ] {
                assert_eq!(ignored(rig, fault), 1, "{fault:?}");
            }
            assert_eq!(rig.run(), RunState::Moving);
            assert_eq!(rig.count(|f| matches!(f, Fact::Finished { .. })), 0);
        },
    );
}
