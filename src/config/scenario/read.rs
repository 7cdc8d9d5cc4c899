//! Reads a scenario file.

use std::path::Path;

use super::fault::fault;
use super::when::{WAY_M_MAX, when};
use super::{
    Event, Expect, ExpectedRefusal, ExpectedStop, OperatorAct, Scenario, ScriptedAnswer,
    ScriptedCall, ScriptedTurn,
};
use crate::config::reader::{
    self, Node, Parsed, Source, Table, flag, list, named, number, object, parsed, prose, schema,
    stem_of, text, whole, word,
};
use crate::config::{ConfigErrors, file};
use crate::terms::{
    ELEVATED_CALLS_MAX, ELEVATED_TOOLS_MAX, Reason, RobotId, RunState, StopCause, StopKind, Tier,
};

const GUIDE: &str = "dataflows/README.md";
/// Most answers, events, faults, turns, calls and things seen of one turn, and expectations of one
/// kind.
const ANSWERS_MAX: usize = 64;
const EVENTS_MAX: usize = 64;
const FAULTS_MAX: usize = 64;
const TURNS_MAX: usize = 256;
const CALLS_MAX: usize = 64;
const SEES_MAX: usize = 16;
const EXPECTED_MAX: usize = 64;
/// Longest short text (a name, a reason) and longest speech, bytes.
const SHORT_BYTES_MAX: usize = 200;
const SPEECH_BYTES_MAX: usize = 8_192;
/// Longest run, s.
const RUN_S_MAX: u32 = 3_600;

const ANSWERS: &[(&str, ScriptedAnswer)] = &[
    ("approve", ScriptedAnswer::Approve),
    ("deny", ScriptedAnswer::Deny),
    ("silent", ScriptedAnswer::Silent),
];

/// Who may have asked for a stop.
const ASKERS: &[(&str, &str)] = &[
    ("operator", "operator"),
    ("model", "model"),
    ("runtime", "runtime"),
];
const STOP_KINDS: &[(&str, StopKind)] = &[("stop", StopKind::Stop), ("estop", StopKind::Estop)];

impl Scenario {
    /// Loads a scenario file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load(path: &Path) -> Result<Self, ConfigErrors> {
        let bytes = file::read(path, "scenarios lie in dataflows/scenarios/")?;
        Self::parse_bytes(&file::quoted(path), &bytes).done()
    }

    /// Parses the text of a scenario file; its name is the stem of `file`.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigErrors> {
        Self::parse_bytes(file, text.as_bytes()).done()
    }

    pub(crate) fn parse_bytes(file: &str, bytes: &[u8]) -> Parsed<Self> {
        let source = Source {
            file,
            bytes,
            guide: GUIDE,
        };
        reader::read(source, |root| root.table(|t| scenario(t, file)))
    }
}

fn scenario(t: &mut Table<'_>, file: &str) -> Option<Scenario> {
    t.must("schema", schema);
    let name = t.must("name", stem_of(file));
    let robot = t.must("robot", parsed(RobotId::parse));
    let board = t.must("board", parsed(RobotId::parse));
    let dataflow = t.must("dataflow", dataflow);
    let seed = t.must("seed", whole(0..=u64::MAX >> 1));
    let limit_s = t.must("limit_s", whole(1..=RUN_S_MAX));
    let goal = t.must("goal", prose(1..=SPEECH_BYTES_MAX));
    let operator = t.must("operator", operator);
    let events = t.may("event", list(0..=EVENTS_MAX, event));
    let faults = t.may("fault", list(0..=FAULTS_MAX, fault));
    let turns = t.must("turn", list(1..=TURNS_MAX, turn));
    let expect = t.must("expect", expect);
    let (operator, answers) = operator?;
    Some(Scenario {
        place: t.file(),
        name: name?,
        robot: robot?.as_str().to_owned(),
        board: board?.as_str().to_owned(),
        dataflow: dataflow?,
        seed: seed?,
        limit_s: limit_s?,
        goal: goal?,
        operator,
        answers,
        events: events.unwrap_or_default(),
        faults: faults.unwrap_or_default(),
        turns: turns?,
        expect: expect?,
    })
}

/// The name of a file in the folder above the scenarios: no folder, no way out of it.
fn dataflow(node: Node<'_>) -> Option<String> {
    let stem = node.as_str().and_then(|name| name.strip_suffix(".yml"));
    match stem.map(RobotId::parse) {
        Some(Ok(stem)) => Some(format!("{}.yml", stem.as_str())),
        Some(Err(_)) | None => node.unfit("the name of a `.yml` file in dataflows/, no path"),
    }
}

/// Reads `[operator]`: the name of the person that the run plays, and their answers in order.
fn operator(node: Node<'_>) -> Option<(String, Vec<ScriptedAnswer>)> {
    node.table(|t| {
        let answers = t.may("answers", list(0..=ANSWERS_MAX, word(ANSWERS)));
        let name = t.must("name", text(1..=SHORT_BYTES_MAX));
        Some((name?, answers.unwrap_or_default()))
    })
}

fn event(node: Node<'_>) -> Option<Event> {
    node.table(|t| {
        let when = t.must("when", when);
        let act = t.must("operator", act);
        Some(Event {
            place: t.place(),
            when: when?,
            act: act?,
        })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Arm,
    Disarm,
    Stop,
    Estop,
    Reset,
    Elevate,
    HangUp,
}

const ACTS: &[(&str, Act)] = &[
    ("arm", Act::Arm),
    ("disarm", Act::Disarm),
    ("stop", Act::Stop),
    ("estop", Act::Estop),
    ("reset", Act::Reset),
    ("elevate", Act::Elevate),
    ("hang_up", Act::HangUp),
];

fn act(node: Node<'_>) -> Option<OperatorAct> {
    node.table(|t| {
        let act = t.must("do", word(ACTS));
        let why = why(t, act);
        let for_s = for_s(t, act);
        let raise = raise(t, act);
        Some(match act? {
            Act::Arm => OperatorAct::Arm {
                why: why?,
                for_s: for_s?,
            },
            Act::Disarm => OperatorAct::Disarm { why: why? },
            Act::Stop => OperatorAct::Stop { why: why? },
            Act::Estop => OperatorAct::Estop { why: why? },
            Act::Reset => OperatorAct::Reset { why: why? },
            Act::Elevate => {
                let (tier, tools, calls) = raise?;
                OperatorAct::Elevate {
                    why: why?,
                    tier,
                    tools,
                    calls,
                    for_s: for_s?,
                }
            }
            Act::HangUp => OperatorAct::HangUp,
        })
    })
}

fn why(t: &mut Table<'_>, act: Option<Act>) -> Option<String> {
    if act == Some(Act::HangUp) {
        t.refuse(
            "why",
            "changes nothing: nobody asks who is gone",
            "remove it",
        );
        return None;
    }
    t.must("why", text(1..=SHORT_BYTES_MAX))
}

fn for_s(t: &mut Table<'_>, act: Option<Act>) -> Option<u32> {
    match act {
        Some(Act::Arm | Act::Elevate) => t.must("for_s", whole(1..=RUN_S_MAX)),
        Some(Act::Disarm | Act::Stop | Act::Estop | Act::Reset | Act::HangUp) => {
            let problem = "changes nothing: only `arm` and `elevate` have it";
            t.refuse("for_s", problem, "remove it");
            None
        }
        None => t.may("for_s", whole(1..=RUN_S_MAX)),
    }
}

/// Reads what `elevate` alone has.
fn raise(t: &mut Table<'_>, act: Option<Act>) -> Option<(Tier, Vec<String>, u32)> {
    if act.is_some_and(|act| act != Act::Elevate) {
        for key in ["tier", "tools", "calls"] {
            t.refuse(key, "changes nothing: only `elevate` has it", "remove it");
        }
        return None;
    }
    let names = list(1..=ELEVATED_TOOLS_MAX, prose(1..=SHORT_BYTES_MAX));
    let calls = whole(1..=ELEVATED_CALLS_MAX);
    let (tier, tools, calls) = match act {
        Some(_) => (
            t.must("tier", reader::tier),
            t.must("tools", names),
            t.must("calls", calls),
        ),
        None => (
            t.may("tier", reader::tier),
            t.may("tools", names),
            t.may("calls", calls),
        ),
    };
    Some((tier?, tools?, calls?))
}

fn turn(node: Node<'_>) -> Option<ScriptedTurn> {
    node.table(|t| {
        let sees = t.may("sees", list(0..=SEES_MAX, text(1..=SHORT_BYTES_MAX)));
        let say = t.must("say", prose(0..=SPEECH_BYTES_MAX));
        let calls = t.must("call", list(0..=CALLS_MAX, call));
        Some(ScriptedTurn {
            sees: sees.unwrap_or_default(),
            say: say?,
            calls: calls?,
        })
    })
}

fn call(node: Node<'_>) -> Option<ScriptedCall> {
    node.table(|t| {
        let tool = t.must("tool", prose(0..=SHORT_BYTES_MAX));
        let args = t.must("args", object);
        Some(ScriptedCall {
            tool: tool?,
            args: args?,
        })
    })
}

fn expect(node: Node<'_>) -> Option<Expect> {
    node.table(|t| {
        let refused = t.may("refused", list(0..=EXPECTED_MAX, refusal));
        let stops = t.may("stops", list(0..=EXPECTED_MAX, stop));
        let commands_after_stop = t.may("commands_after_stop", whole(0..=1_000_000));
        let [end_x, end_y] = t.may("end_pose", end_pose).unwrap_or_default();
        let end_state = t.may("end_state", named(&RunState::ALL, RunState::as_str));
        let at_rest = t.may("at_rest", flag);
        Some(Expect {
            refused,
            stops,
            commands_after_stop,
            end_x,
            end_y,
            end_state,
            at_rest,
        })
    })
}

fn refusal(node: Node<'_>) -> Option<ExpectedRefusal> {
    node.table(|t| {
        let tool = t.must("tool", prose(0..=SHORT_BYTES_MAX));
        let reason = t.must("reason", named(&Reason::ALL, Reason::as_str));
        let tier = t.may("tier", reader::tier);
        let times = t.may("times", whole(1..=10_000));
        Some(ExpectedRefusal {
            tool: tool?,
            reason: reason?,
            tier,
            times: times.unwrap_or(1),
        })
    })
}

fn stop(node: Node<'_>) -> Option<ExpectedStop> {
    node.table(|t| {
        let kind = t.must("kind", word(STOP_KINDS));
        let by = t.must("by", word(ASKERS));
        let standstill = t.must("standstill", flag);
        let cause = t.may("cause", cause);
        Some(ExpectedStop {
            kind: kind?,
            by: by?.to_owned(),
            standstill: standstill?,
            cause,
        })
    })
}

/// Causes that no expectation can name: the end of a call's time and that of the node are no stops that
/// are judged, and nobody speaks for a fleet yet.
const NOT_EXPECTED: [(StopCause, &str); 3] = [
    (
        StopCause::Deadline,
        "the end of a call's own time is no stop of this list",
    ),
    (
        StopCause::Shutdown,
        "the end of the node is no stop of this list",
    ),
    (StopCause::FleetStop, "stops of a fleet come with its link"),
];

fn cause(node: Node<'_>) -> Option<StopCause> {
    let found = named(&StopCause::ALL, StopCause::as_str)(node.clone())?;
    match NOT_EXPECTED.iter().find(|(cause, _)| *cause == found) {
        Some((cause, why)) => {
            node.fault(format!("`{cause}` can never be met: {why}"), "remove it");
            None
        }
        None => Some(found),
    }
}

/// The ranges of x and of y, each `None` when it is not written.
fn end_pose(node: Node<'_>) -> Option<[Option<[f64; 2]>; 2]> {
    node.table(|t| {
        let x = t.may("x", span);
        let y = t.may("y", span);
        Some([x, y])
    })
}

fn span(node: Node<'_>) -> Option<[f64; 2]> {
    let bounds = list(2..=2, number(-WAY_M_MAX..=WAY_M_MAX))(node.clone())?;
    let span: [f64; 2] = bounds.try_into().ok()?;
    let [least, most] = span;
    if least > most {
        node.fault(
            format!("`{least}` is above `{most}`"),
            "write the smaller number first",
        );
        return None;
    }
    Some(span)
}
