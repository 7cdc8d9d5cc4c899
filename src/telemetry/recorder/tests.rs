//! The black box keeps what it is given, within its bounds, through restarts and torn lines.

#![expect(
    clippy::disallowed_methods,
    reason = "looks at the files behind the recorder's back"
)]

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;
use crate::telemetry::{Record, RobotLabels, read_records};
use crate::terms::{RunState, StopCause, StopKind};

/// Both clocks stand at what the test says.
#[derive(Debug, Default)]
struct Stopped(Mutex<u64>);

impl Clock for Stopped {
    fn now(&self) -> Mono {
        Mono::from_ms(*self.0.lock().unwrap())
    }

    fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + *self.0.lock().unwrap())
    }
}

fn plan(dir: &Path) -> RecorderPlan {
    RecorderPlan {
        dir: dir.to_owned(),
        clock: Arc::new(Stopped::default()),
        metrics: Arc::new(Metrics::new(RobotLabels::default()).unwrap()),
    }
}

fn stop_asked(epoch: u32) -> Fact {
    Fact::StopAsked {
        what: StopKind::Stop,
        cause: StopCause::OperatorStop,
        epoch,
        by: Some("ann".to_owned()),
    }
}

fn goal(text: &str) -> Fact {
    Fact::GoalBegun {
        goal: 1,
        digest: text.to_owned(),
        by: "ann".to_owned(),
    }
}

fn segment_names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_raised_is_read_back_in_order_with_both_times() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(Stopped::default());
    let recorder = Recorder::start(RecorderPlan {
        clock: clock.clone(),
        ..plan(dir.path())
    })
    .unwrap();
    let sink = recorder.sink();
    let facts = [goal("a"), Fact::Heartbeat, stop_asked(2), goal("b")];
    for fact in &facts {
        *clock.0.lock().unwrap() += 7;
        sink.raise(fact.clone());
    }
    recorder.finish().unwrap();

    let records = read_records(dir.path()).unwrap();
    let read: Vec<Fact> = records.iter().map(|record| record.fact.clone()).collect();
    assert_eq!(read, facts);
    let seq: Vec<u64> = records.iter().map(|record| record.seq).collect();
    assert_eq!(seq, [1, 2, 3, 4]);
    let times: Vec<u64> = records.iter().map(|record| record.t_mono_ms).collect();
    assert_eq!(times, [7, 14, 21, 28]);
    assert_eq!(records[0].t_wall, "2023-11-14T22:13:20.007Z");
    assert!(records.iter().all(|record| record.boot == records[0].boot));
    assert_eq!(records[2].class, FactClass::Safety);
}

#[test]
fn a_record_is_one_json_object_with_a_nested_fact() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(plan(dir.path())).unwrap();
    recorder.sink().raise(Fact::Standstill { after_ms: 120 });
    recorder.finish().unwrap();
    let text = fs::read_to_string(dir.path().join("audit-000001.jsonl")).unwrap();
    let boot = read_records(dir.path()).unwrap()[0].boot.clone();
    // Compared as values: which features of the JSON library a build unifies decides the order of keys.
    let expected = serde_json::json!({
        "seq": 1,
        "boot": boot,
        "t_mono_ms": 0,
        "t_wall": "2023-11-14T22:13:20.000Z",
        "class": "safety",
        "fact": { "kind": "standstill", "after_ms": 120 },
    });
    let line = text.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{text}");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(line).unwrap(),
        expected
    );
}

#[test]
fn every_process_life_begins_a_segment_and_its_own_count() {
    let dir = tempfile::tempdir().unwrap();
    for life in 0..3 {
        let recorder = Recorder::start(plan(dir.path())).unwrap();
        recorder.sink().raise(stop_asked(life));
        recorder.finish().unwrap();
    }
    assert_eq!(
        segment_names(dir.path()),
        [
            "audit-000001.jsonl",
            "audit-000002.jsonl",
            "audit-000003.jsonl"
        ]
    );
    let records = read_records(dir.path()).unwrap();
    assert_eq!(records.len(), 3);
    assert!(records.iter().all(|record| record.seq == 1));
    assert_ne!(records[0].boot, records[1].boot);
}

#[test]
fn a_torn_last_line_is_passed_over_and_a_changed_line_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(plan(dir.path())).unwrap();
    recorder.sink().raise(stop_asked(2));
    recorder.sink().raise(stop_asked(3));
    recorder.finish().unwrap();
    let path = dir.path().join("audit-000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();

    for cut in 1..whole.lines().last().unwrap().len() {
        fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let found = read_records(dir.path()).unwrap().len();
        // Without its line end the last record may still be whole.
        assert_eq!(found, if cut == 1 { 2 } else { 1 }, "cut {cut}");
    }
    fs::write(&path, whole.replacen("\"seq\"", "\"sqe\"", 1)).unwrap();
    let error = read_records(dir.path()).unwrap_err().to_string();
    assert!(
        error.ends_with("audit-000001.jsonl:1: not a record of the black box"),
        "{error}"
    );
}

#[test]
fn segments_rotate_by_size_and_the_oldest_leave_beyond_64() {
    let dir = tempfile::tempdir().unwrap();
    // Each record is larger than a segment may be, so each gets its own.
    let recorder = Recorder::start_with(plan(dir.path()), 64).unwrap();
    for epoch in 0..70 {
        recorder.sink().raise(stop_asked(epoch));
    }
    recorder.finish().unwrap();
    let names = segment_names(dir.path());
    assert_eq!(names.len(), 64);
    assert_eq!(names.last().unwrap(), "audit-000071.jsonl");
    let records = read_records(dir.path()).unwrap();
    assert_eq!(records.first().unwrap().fact, stop_asked(6));
    assert_eq!(records.last().unwrap().fact, stop_asked(69));
}

#[test]
fn an_oversized_fact_is_cut_not_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(plan(dir.path())).unwrap();
    recorder.sink().raise(Fact::OrderRefused {
        order: "\u{1}".repeat(100_000),
        who: "é".repeat(100_000),
        failed: vec!["x".repeat(10_000); 1000],
    });
    recorder.finish().unwrap();
    let text = fs::read_to_string(dir.path().join("audit-000001.jsonl")).unwrap();
    assert!(
        text.len() <= crate::telemetry::record::RECORD_BYTES_MAX,
        "{}",
        text.len()
    );
    assert_eq!(read_records(dir.path()).unwrap().len(), 1);
}

#[test]
fn a_full_lane_drops_its_own_class_counts_it_and_never_blocks() {
    let metrics = Arc::new(Metrics::new(RobotLabels::default()).unwrap());
    let (lanes, queues) = channels();
    let sink = RecorderSink(Arc::new(Inner {
        lanes,
        shared: Arc::default(),
        wake: std::thread::current(),
        clock: Arc::new(Stopped::default()),
        metrics: Arc::clone(&metrics),
    }));
    for _ in 0..TRACE_QUEUE + 3 {
        sink.raise(Fact::Heartbeat);
    }
    for _ in 0..AUDIT_QUEUE + 2 {
        sink.raise(goal("x"));
    }
    for _ in 0..SAFETY_QUEUE {
        sink.raise(Fact::SendFailed);
    }
    assert!(!sink.safety_overflow());
    sink.raise(Fact::SendFailed);
    assert!(sink.safety_overflow());
    let text = metrics.render();
    for (class, dropped) in [("trace", 3), ("audit", 2), ("safety", 1)] {
        let line = format!("octos_edge_blackbox_dropped_total{{class=\"{class}\"}} {dropped}");
        assert!(text.contains(&line), "{line}\n{text}");
    }
    // What was dropped from the box was counted all the same.
    assert!(text.contains(&format!(
        "octos_edge_heartbeat_sent_total {}",
        TRACE_QUEUE + 3
    )));
    drop(queues);
}

#[test]
fn facts_raised_after_the_end_are_counted_as_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path());
    let metrics = Arc::clone(&plan.metrics);
    let recorder = Recorder::start(plan).unwrap();
    let sink = recorder.sink();
    recorder.finish().unwrap();
    sink.raise(stop_asked(9));
    let line = "octos_edge_blackbox_dropped_total{class=\"safety\"} 1";
    assert!(metrics.render().contains(line));
    assert!(sink.safety_overflow());
}

#[test]
fn a_folder_that_vanishes_makes_the_box_unhealthy_and_the_end_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start_with(plan(dir.path()), 64).unwrap();
    fs::remove_dir_all(dir.path()).unwrap();
    recorder.sink().raise(stop_asked(1));
    recorder.sink().raise(stop_asked(2));
    let sink = recorder.sink();
    assert!(matches!(recorder.finish(), Err(RecorderError::Unhealthy)));
    assert!(!sink.healthy());
}

#[test]
fn a_folder_that_cannot_be_written_is_told_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let error = Recorder::start(plan(&missing)).unwrap_err();
    assert!(
        error.to_string().contains("could not begin a segment"),
        "{error}"
    );
}

#[test]
fn records_survive_a_round_trip_through_json() {
    let record = Record {
        seq: 3,
        boot: "b".to_owned(),
        t_mono_ms: 4,
        t_wall: "2026-01-01T00:00:00.000Z".to_owned(),
        class: FactClass::Safety,
        fact: Fact::RunStateChanged {
            from: RunState::Moving,
            to: RunState::Stopping,
            cause: Some(StopCause::LeaseLost),
        },
    };
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
}
