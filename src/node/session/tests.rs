//! Both formats, against those of dora itself; and every way in which a file can be wrong.

use std::sync::{Arc, Mutex};

use dora_node_api::DoraNode;
use dora_node_api::dora_core::config::DataId;
use dora_node_api::futures::StreamExt as _;
use dora_node_api::integration_testing::integration_testing_format::{
    IncomingEvent, IntegrationTestInput,
};
use dora_node_api::integration_testing::{
    TestingInput, TestingOptions, TestingOutput, drain_outputs, output_channel,
};
use proptest::prelude::*;

use super::*;
use crate::sim::VirtualClock;
use crate::terms::{Output, Wire as _};

/// One of each kind of event that dora reads, and payloads of every kind.
const ALL: &str = r#"{ "id": "octos_edge", "recording_status": { "state": "clean" }, "events": [
  { "type": "Input", "id": "capabilities", "time_offset_secs": 0.25, "data": ["{}"], "data_type": "Utf8" },
  { "type": "Input", "id": "state", "time_offset_secs": 0.125, "data": "first by time" },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25, "data": "é", "data_type": "LargeUtf8",
    "metadata": { "request_id": { "String": "r" } } },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25, "data": ["é"], "data_type": "Utf8View" },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25, "data": { "x": 1 } },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25, "data": [1, 2], "data_type": "Int64" },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25, "data": ["a", "b"] },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25, "data": [], "data_type": "Utf8" },
  { "type": "Input", "id": "state", "time_offset_secs": 0.25 },
  { "type": "Input", "id": "tick", "time_offset_secs": 0.25 },
  { "type": "Input", "id": "odd", "time_offset_secs": 0.25, "data": 7 },
  { "type": "InputClosed", "id": "state", "time_offset_secs": 0.25 },
  { "type": "Stop", "time_offset_secs": 0.5 },
  { "type": "Input", "id": "state", "time_offset_secs": 0.75, "data": "too late" }
] }"#;

fn parse(text: &str) -> Result<Session, String> {
    Session::parse(text.as_bytes())
}

/// What dora's own testing stream makes of a file, with its times taken out: it would wait for them.
fn by_dora(text: &str) -> Vec<WireEvent> {
    let mut input: IntegrationTestInput = serde_json::from_str(text).unwrap();
    input
        .events
        .sort_by(|a, b| a.time_offset_secs.total_cmp(&b.time_offset_secs));
    for event in &mut input.events {
        event.time_offset_secs = 0.0;
    }
    let (sender, _outputs) = output_channel();
    let output = TestingOutput::ToChannel(sender);
    let input = TestingInput::Input(input);
    let (node, stream) = DoraNode::init_testing(input, output, TestingOptions::default()).unwrap();
    let events = dora_node_api::futures::executor::block_on(stream.collect::<Vec<_>>());
    drop(node);
    events
        .into_iter()
        .map(crate::node::stream::translate)
        .collect()
}

#[test]
fn case_42_a_session_is_read_as_doras_own_testing_stream_reads_it() {
    let session = parse(ALL).unwrap();
    let ours: Vec<WireEvent> = session.events.iter().map(|e| e.event.clone()).collect();
    assert_eq!(ours, by_dora(ALL));
    let times: Vec<u64> = session.events.iter().map(|e| e.at.as_ms()).collect();
    assert_eq!((times[0], times[1], times[12]), (125, 250, 500));
    assert_eq!(times.len(), 13, "nothing is heard after a Stop");
}

#[test]
fn what_doras_recorder_writes_and_its_reader_refuses_is_read() {
    let text = r#"{ "id": "n", "events": [
      { "type": "InputRecovered", "id": "state", "time_offset_secs": 0 },
      { "type": "NodeRestarted", "id": "rover", "time_offset_secs": 1 },
      { "type": "AllInputsClosed", "time_offset_secs": 2 } ] }"#;
    assert!(serde_json::from_str::<IntegrationTestInput>(text).is_err());
    let events: Vec<WireEvent> = parse(text)
        .unwrap()
        .events
        .into_iter()
        .map(|e| e.event)
        .collect();
    let expected = [
        peer(PeerEvent::Recovered, "state".to_owned()),
        peer(PeerEvent::Restarted, "rover".to_owned()),
        WireEvent::Stop,
    ];
    assert_eq!(events, expected);
}

/// A writer whose bytes the test sees.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn case_42_an_output_is_written_as_dora_writes_it() {
    let payload = r#"{"verb":"é \" \n"}"#;
    let stop = r#"{ "id": "n", "events": [] }"#;
    let (sender, mut outputs) = output_channel();
    let (mut node, stream) = DoraNode::init_testing(
        TestingInput::Input(serde_json::from_str(stop).unwrap()),
        TestingOutput::ToChannel(sender),
        TestingOptions {
            skip_output_time_offsets: true,
        },
    )
    .unwrap();
    let id = DataId::from("cmd_request".to_owned());
    node.send_output(id, Default::default(), payload).unwrap();
    drop((stream, node));
    let theirs = serde_json::to_string(&drain_outputs(&mut outputs)[0]).unwrap();

    let seen = Seen::default();
    let mut wire = SessionOutputs::new(Box::new(seen.clone()), None);
    wire.send(Output::CmdRequest, payload, Some("r")).unwrap();
    let ours = String::from_utf8(seen.0.lock().unwrap().clone()).unwrap();
    assert_eq!(ours, format!("{theirs}\n"));
    assert_eq!(wire.finish().unwrap(), 1);
}

#[test]
fn an_output_says_when_unless_that_is_left_out() {
    let seen = Seen::default();
    let clock = VirtualClock::default();
    clock.go_to(Mono::from_ms(1250));
    let mut wire = SessionOutputs::new(Box::new(seen.clone()), Some(Arc::new(clock)));
    wire.send(Output::CmdRequest, "x", None).unwrap();
    let line = String::from_utf8(seen.0.lock().unwrap().clone()).unwrap();
    let expected =
        r#"{"id":"cmd_request","time_offset_secs":1.25,"data":["x"],"data_type":"Utf8"}"#;
    assert_eq!(line.trim_end(), expected);
}

/// A writer on a full disk.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_the_disk_refuses_is_told_at_once_and_at_the_end() {
    let mut wire = SessionOutputs::new(Box::new(Full), None);
    assert!(wire.send(Output::CmdRequest, "x", None).is_err());
    let error = wire.finish().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}

/// Asserts that each text is refused, and what is said of it.
fn refused(rows: &[(&str, &str, &str)]) {
    for (text, problem, permitted) in rows {
        let error = parse(text).unwrap_err();
        assert!(
            error.contains(problem) && error.contains(permitted),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_file_that_is_no_session_is_refused_with_line_and_column() {
    refused(&[
        ("", "no session, line 1 column 0: ", "EOF while parsing"),
        ("{", "no session, line 1 column 1: ", "EOF while parsing"),
        (
            "[]",
            "line 1 column 2: ",
            "an object with `id` and `events`",
        ),
        ("7", "line 1 column 1: ", "an object with `id` and `events`"),
        ("{}", "line 1 column 2: ", "missing field `id`"),
        (
            r#"{ "id": "n" }"#,
            "line 1 column 13: ",
            "missing field `events`",
        ),
        (
            r#"{ "id": "n", "events": {} }"#,
            "line 1 column 2",
            "expected a sequence",
        ),
        (
            r#"{ "id": 3, "events": [] }"#,
            "line 1 column 9: ",
            "expected a string",
        ),
        (
            r#"{ "id": "n", "events": [ 7 ] }"#,
            "line 1 column ",
            "an object with `time_offset_secs`",
        ),
        (
            r#"{ "id": "n", "events": [], "recording_status": { "state": "poisoned",
                "first_failure_event_index": 7, "first_failure_time_offset_secs": 1.0,
                "first_failure_error": "no memory", "additional_failures": 2 } }"#,
            "incomplete from events[7] on",
            "no memory",
        ),
    ]);
}

#[test]
fn an_event_that_cannot_be_is_refused_with_its_place_and_what_is_permitted() {
    let rows = [
        ("{}", ".time_offset_secs: it is missing", "0 to 86400"),
        (
            r#"{ "type": "Stop" }"#,
            ".time_offset_secs: it is missing",
            "seconds",
        ),
        (
            r#"{ "time_offset_secs": 1 }"#,
            ".type: it is missing",
            KINDS,
        ),
        (
            r#"{ "time_offset_secs": 1, "type": "NodeFailed" }"#,
            r#".type: found `"NodeFailed"`"#,
            KINDS,
        ),
        (
            r#"{ "time_offset_secs": 1, "type": ["Input"] }"#,
            r#".type: found `["Input"]`"#,
            KINDS,
        ),
        (
            r#"{ "time_offset_secs": 1, "type": "Input" }"#,
            ".id: it is missing",
            "as text",
        ),
        (
            r#"{ "time_offset_secs": 1, "type": "InputClosed", "id": 1 }"#,
            ".id: found `1`",
            "as text",
        ),
        (
            r#"{ "time_offset_secs": 1, "type": "Input", "id": "state", "path": "/etc/passwd" }"#,
            ".path: payloads of Arrow files are not read",
            "`data`",
        ),
    ];
    for (event, problem, permitted) in rows {
        let text = second(event);
        refused(&[(&text, &format!("events[1]{problem}"), permitted)]);
    }
}

/// A session whose second event is this.
fn second(event: &str) -> String {
    format!(
        r#"{{ "id": "n", "events": [ {{ "type": "Stop", "time_offset_secs": 0 }}, {event} ] }}"#
    )
}

#[test]
fn a_time_that_is_none_is_refused() {
    let time = |time: &str| {
        second(&format!(
            r#"{{ "type": "Stop", "time_offset_secs": {time} }}"#
        ))
    };
    for bad in ["-0.1", "86400.5", "100000", "\"NaN\"", "null", "[1]"] {
        let found = match bad {
            "null" => "it is missing".to_owned(),
            shown => format!("found `{shown}`"),
        };
        let place = format!("events[1].time_offset_secs: {found}");
        refused(&[(&time(bad), &place, "0 to 86400")]);
    }
    refused(&[
        (&time("NaN"), "line 1 column ", "expected value"),
        (&time("1e999"), "line 1 column ", "number out of range"),
    ]);
}

#[test]
fn a_huge_session_and_a_deep_one_are_refused() {
    let huge = vec![b' '; usize::try_from(SESSION_BYTES_MAX).unwrap() + 1];
    let error = Session::read("s.json", &huge).unwrap_err();
    assert!(error.to_string().contains("67108864"), "{error}");
    let deep = format!(
        r#"{{ "id": "n", "events": [ {{ "data": {} "#,
        "[".repeat(100_000)
    );
    assert!(parse(&deep).unwrap_err().contains("recursion limit"));
    let long = format!(
        r#"{{ "id": "n", "events": [ {{ "time_offset_secs": 0, "type": "{}" }} ] }}"#,
        "é".repeat(9999)
    );
    assert!(parse(&long).unwrap_err().len() < 300);
}

#[test]
fn every_kind_that_dora_reads_is_named() {
    // A kind that a new release of dora adds must be thought of.
    let kind = |event: &IncomingEvent| match event {
        IncomingEvent::Stop => "Stop",
        IncomingEvent::Input { .. } => "Input",
        IncomingEvent::InputClosed { .. } => "InputClosed",
        IncomingEvent::AllInputsClosed => "AllInputsClosed",
    };
    let input: IntegrationTestInput = serde_json::from_str(ALL).unwrap();
    assert!(
        input
            .events
            .iter()
            .all(|timed| KINDS.contains(kind(&timed.event)))
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_in_few_words(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Err(problem) = Session::parse(&bytes) {
            prop_assert!(!problem.is_empty() && problem.len() < 400);
        }
    }

    #[test]
    fn a_session_with_some_bytes_changed_is_read_in_order_or_refused_in_few_words(
        changes in prop::collection::vec((0..ALL.len(), any::<u8>()), 1..8),
        end in 0..ALL.len() * 2,
    ) {
        let mut bytes = ALL.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(end);
        match Session::parse(&bytes) {
            Ok(session) => prop_assert!(session.events.is_sorted_by_key(|event| event.at)),
            Err(problem) => prop_assert!(!problem.is_empty() && problem.len() < 400),
        }
    }
}

#[test]
fn a_late_event_is_refused_before_anybody_lives_through_the_silence_before_it() {
    let session = |times: &[f64]| {
        let events: Vec<String> = times
            .iter()
            .map(|at| {
                format!(
                    r#"{{ "type": "Input", "id": "state", "time_offset_secs": {at}, "data": "{{}}" }}"#
                )
            })
            .collect();
        let text = format!(r#"{{ "id": "n", "events": [ {} ] }}"#, events.join(", "));
        Session::read("late.json", text.as_bytes())
    };
    assert!(session(&[0.0, 120.0, 240.0]).is_ok());
    for late in [&[0.0, 1.0, 86_400.0][..], &[121.0]] {
        let error = session(late).unwrap_err().to_string();
        assert!(error.contains("silent for at most 120 s"), "{error}");
    }
}
