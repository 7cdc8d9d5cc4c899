//! The loop: budgets, circles and the bound of the conversation.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::{BYTES_MAX, DROPPED};
use super::guard::Guard;
use super::{Agent, AgentEvent, AgentStep, End, Limits};
use crate::terms::{
    Call, CallReport, LaneReply, Message, Mono, Outcome, Posture, Reason, Refusal, SENSOR_TOKENS,
    SensedValue, SensorReading, Surroundings, Tier, ToolError, ToolName,
};

fn agent(limits: Limits) -> Agent {
    let actuating = BTreeSet::from([ToolName::parse("drive").unwrap()]);
    Agent::new(limits, "system".to_owned(), actuating)
}

fn call(tool: &str, args: Value) -> Call {
    Call {
        id: "c".to_owned(),
        tool: tool.to_owned(),
        args,
    }
}

fn reply(calls: &[Call]) -> AgentEvent {
    AgentEvent::Reply(LaneReply {
        text: String::new(),
        calls: calls.to_vec(),
    })
}

fn report(tool: &str, outcome: Outcome) -> CallReport {
    CallReport {
        id: "c".to_owned(),
        tool: tool.to_owned(),
        outcome,
        took: Duration::ZERO,
    }
}

fn done(text: &str) -> Outcome {
    Outcome::Done {
        text: text.to_owned(),
        clamped: Vec::new(),
        repaired: Vec::new(),
    }
}

fn refused(reason: Reason, detail: &str) -> Outcome {
    Outcome::Refused(Refusal {
        reason,
        needed: None,
        effective: Tier::Observe,
        rule: None,
        detail: detail.to_owned(),
        hint: String::new(),
    })
}

/// Asks for the same call over and over until the goal ends; returns why and after how many.
fn circle(agent: &mut Agent, call: &Call, mut outcome: impl FnMut(u32) -> Outcome) -> (End, u32) {
    let mut step = agent.step(Mono::ZERO, AgentEvent::Goal("go".to_owned()));
    for nth in 0..1000 {
        let event = match step {
            AgentStep::Ask => reply(std::slice::from_ref(call)),
            AgentStep::Run(_) => AgentEvent::Reports(vec![report(&call.tool, outcome(nth / 2))]),
            AgentStep::End(end) => return (end, nth / 2),
        };
        step = agent.step(Mono::ZERO, event);
    }
    panic!("a goal without an end");
}

#[test]
fn a_reply_without_calls_ends_the_goal_as_done() {
    let mut agent = agent(Limits::default());
    let goal = AgentEvent::Goal("say hello".to_owned());
    assert_eq!(agent.step(Mono::ZERO, goal), AgentStep::Ask);
    assert_eq!(
        agent.step(Mono::ZERO, reply(&[])),
        AgentStep::End(End::Done)
    );
    assert_eq!(agent.steps_used(), 1);
}

#[test]
fn steps_time_repeats_and_refusals_each_end_a_goal() {
    let look = call("look", json!({}));
    let limits = Limits {
        steps_max: 7,
        ..Limits::default()
    };
    let changing = |nth: u32| done(&nth.to_string());
    assert_eq!(
        circle(&mut agent(limits), &look, changing),
        (End::StepsSpent, 7)
    );
    let limits = Limits::default();
    assert_eq!(
        circle(&mut agent(limits), &look, |_| done("same")),
        (End::Repeats, 5)
    );
    let worded = |nth: u32| refused(Reason::StaleState, &format!("state is {nth} ms old"));
    assert_eq!(
        circle(&mut agent(limits), &look, worded),
        (End::Refusals, 5)
    );

    let mut late = agent(limits);
    assert_eq!(
        late.step(Mono::ZERO, AgentEvent::Goal("go".to_owned())),
        AgentStep::Ask
    );
    let run = late.step(Mono::ZERO, reply(&[look]));
    assert!(matches!(run, AgentStep::Run(_)), "{run:?}");
    let after = AgentEvent::Reports(vec![report("look", done(""))]);
    assert_eq!(
        late.step(Mono::from_ms(limits.wall_ms_max), after),
        AgentStep::End(End::TimeSpent)
    );
}

#[test]
fn a_different_call_in_between_begins_the_count_anew() {
    let mut guard = Guard::new(3);
    let (a, b) = (call("a", json!({})), call("b", json!({})));
    for _ in 0..20 {
        assert_eq!(guard.see(a.clone(), &report("a", done("x"))), None);
        assert_eq!(guard.see(a.clone(), &report("a", done("x"))), None);
        assert_eq!(guard.see(b.clone(), &report("b", done("x"))), None);
    }
}

#[test]
fn motions_above_their_budget_do_not_go_out_but_a_stop_beside_them_does() {
    let limits = Limits {
        actuations_max: 1,
        ..Limits::default()
    };
    let mut agent = agent(limits);
    let drive = call("drive", json!({}));
    let stop = call("halt", json!({}));
    agent.step(Mono::ZERO, AgentEvent::Goal("go".to_owned()));
    agent.step(Mono::ZERO, reply(std::slice::from_ref(&drive)));
    let failed = Outcome::Failed(ToolError::TimedOut { limit_ms: 1 });
    let asked = agent.step(
        Mono::ZERO,
        AgentEvent::Reports(vec![report("drive", failed)]),
    );
    assert_eq!(asked, AgentStep::Ask, "a spent budget alone ends nothing");
    let run = agent.step(Mono::ZERO, reply(&[drive.clone(), stop.clone()]));
    assert_eq!(run, AgentStep::Run(vec![stop]));
    let end = agent.step(
        Mono::ZERO,
        AgentEvent::Reports(vec![report("halt", done(""))]),
    );
    assert_eq!(end, AgentStep::End(End::ActuationsSpent));
    assert_eq!(agent.actuations_used(), 1);
}

#[test]
fn refused_motions_do_not_spend_the_budget() {
    let mut agent = agent(Limits {
        actuations_max: 1,
        ..Limits::default()
    });
    let drive = call("drive", json!({}));
    let (end, asked) = circle(&mut agent, &drive, |_| refused(Reason::Busy, "taken"));
    assert_eq!((end, asked), (End::Refusals, 5));
    assert_eq!(agent.actuations_used(), 0);
}

#[test]
fn old_outputs_are_dropped_before_the_conversation_is_full() {
    let mut agent = agent(Limits::default());
    let read = call("read", json!({}));
    let large = |nth: u32| done(&format!("{nth}{}", "x".repeat(BYTES_MAX / 4)));
    let (end, asked) = circle(&mut agent, &read, large);
    assert_eq!((end, asked), (End::StepsSpent, 64));
    let texts: Vec<&str> = agent
        .conversation()
        .iter()
        .filter_map(|message| match message {
            Message::Tools(reports) => Some(reports),
            Message::System(_) | Message::User(_) | Message::Assistant(_) | Message::Sensors(_) => {
                None
            }
        })
        .flatten()
        .filter_map(|report| match &report.outcome {
            Outcome::Done { text, .. } => Some(text.as_str()),
            Outcome::Refused(_) | Outcome::Failed(_) | Outcome::StopAccepted { .. } => None,
        })
        .collect();
    assert_eq!(texts.first(), Some(&DROPPED));
    assert!(texts.last().is_some_and(|text| text.starts_with("63x")));
}

#[test]
fn what_the_model_said_is_kept_so_a_flood_of_it_ends_the_goal() {
    let mut agent = agent(Limits::default());
    let flood = call("read", json!({ "text": "x".repeat(BYTES_MAX) }));
    let (end, asked) = circle(&mut agent, &flood, |_| done("ok"));
    assert_eq!(
        (end, asked),
        (End::ConversationFull, 1),
        "its calls ran once"
    );
}

#[test]
fn an_event_out_of_order_ends_the_goal() {
    let mut agent = agent(Limits::default());
    assert_eq!(
        agent.step(Mono::ZERO, reply(&[])),
        AgentStep::End(End::OutOfOrder)
    );
    agent.step(Mono::ZERO, AgentEvent::Goal("go".to_owned()));
    agent.step(Mono::ZERO, reply(&[call("look", json!({}))]));
    assert_eq!(
        agent.step(Mono::ZERO, AgentEvent::Reports(Vec::new())),
        AgentStep::End(End::OutOfOrder)
    );
}

fn seen(speed: f64) -> Surroundings {
    let speed = SensorReading {
        name: "speed".into(),
        unit: "m/s".into(),
        value: SensedValue::Number(speed),
        age_ms: Some(20),
        max_age_ms: 500,
    };
    Surroundings {
        posture: Posture::at_rest([0.0; 3]),
        tier: Tier::SafeMotion,
        readings: vec![speed],
        tokens_max: SENSOR_TOKENS,
    }
}

/// One line a message; a message of several lines is indented.
fn told(conversation: &[Message]) -> String {
    let told = conversation.iter().map(|message| match message {
        Message::System(text) => format!("system: {text}"),
        Message::User(text) => format!("user: {text}"),
        Message::Assistant(reply) => {
            format!("assistant: {}", serde_json::to_string(reply).unwrap())
        }
        Message::Tools(reports) => format!("tools: {}", serde_json::to_string(reports).unwrap()),
        Message::Sensors(text) => format!("sensors: {text}"),
    });
    told.map(|one| one.replace('\n', "\n  ") + "\n").collect()
}

#[test]
fn the_robot_is_shown_last_and_all_before_it_stays_byte_for_byte() {
    let mut agent = agent(Limits::default());
    agent.step(Mono::ZERO, AgentEvent::Goal("go".to_owned()));
    agent.show(&seen(0.0));
    let first = told(agent.conversation());
    agent.step(Mono::ZERO, reply(&[call("drive", json!({ "x": 1 }))]));
    agent.step(
        Mono::ZERO,
        AgentEvent::Reports(vec![report("drive", done("there"))]),
    );
    agent.show(&seen(0.5));
    agent.show(&seen(0.25));
    let second = told(agent.conversation());
    insta::assert_snapshot!("a_turn", second);
    let (before, _) = first.split_once("sensors: ").unwrap();
    assert!(second.starts_with(before), "{second}");
    assert_eq!(second.matches("## Sensor context").count(), 1);
    assert!(matches!(
        agent.conversation().last(),
        Some(Message::Sensors(text)) if text.ends_with("- speed: 0.25 m/s, age 20 ms")
    ));
}

#[test]
fn what_was_shown_takes_no_room_of_the_conversation_for_good() {
    let mut agent = agent(Limits::default());
    let read = call("read", json!({}));
    let mut step = agent.step(Mono::ZERO, AgentEvent::Goal("go".to_owned()));
    for nth in 0..20 {
        assert_eq!(step, AgentStep::Ask);
        agent.show(&seen(f64::from(nth)));
        agent.step(Mono::ZERO, reply(std::slice::from_ref(&read)));
        let answer = report("read", done(&nth.to_string()));
        step = agent.step(Mono::ZERO, AgentEvent::Reports(vec![answer]));
    }
    let shown = |message: &&Message| matches!(message, Message::Sensors(_));
    assert_eq!(agent.conversation().iter().filter(shown).count(), 0);
}
