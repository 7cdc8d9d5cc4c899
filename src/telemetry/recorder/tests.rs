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
use crate::telemetry::blackbox::{FakeDisk, Trouble};
use crate::telemetry::{Record, RobotLabels, read_records, verify_records};
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

/// As large as a box may be.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

fn plan(dir: &Path) -> RecorderPlan {
    RecorderPlan {
        dir: dir.to_owned(),
        bytes_max: BYTES_MAX,
        clock: Arc::new(Stopped::default()),
        metrics: Arc::new(Metrics::new(RobotLabels::default()).unwrap()),
    }
}

fn folder(dir: &Path) -> Box<dyn Disk> {
    Box::new(Folder::new(dir))
}

/// A recorder without its thread: the test lets it go round.
struct Bench {
    disk: FakeDisk,
    clock: Arc<Stopped>,
    metrics: Arc<Metrics>,
    sink: RecorderSink,
    writer: Writer,
}

impl Bench {
    fn new() -> Self {
        let disk = FakeDisk::default();
        let clock = Arc::new(Stopped::default());
        let plan = RecorderPlan {
            clock: clock.clone(),
            ..plan(Path::new("nowhere"))
        };
        let times = Times {
            at: Mono::ZERO,
            wall: "2023-11-14T22:13:20.000Z",
        };
        let limits = (Limits::default(), "b00f".to_owned());
        let opened = BlackBox::open(Box::new(disk.clone()), limits, times).unwrap();
        let (lanes, queues) = channels();
        let shared = Arc::new(Shared::default());
        let metrics = Arc::clone(&plan.metrics);
        let writer = Writer::new(&plan, (opened, queues), Arc::clone(&shared));
        let sink = RecorderSink(Arc::new(Inner {
            lanes,
            shared,
            wake: std::thread::current(),
            clock: plan.clock,
            metrics: plan.metrics,
        }));
        Self {
            disk,
            clock,
            metrics,
            sink,
            writer,
        }
    }

    fn pass_ms(&mut self, ms: u64) {
        *self.clock.0.lock().unwrap() += ms;
        self.writer.round(/* closing */ false);
    }

    fn says(&self, line: &str) -> bool {
        self.metrics.render().contains(line)
    }
}

#[test]
fn case_48_a_full_disk_makes_the_box_unhealthy_and_room_makes_it_healthy_by_itself() {
    for trouble in [Trouble::Full { short: 4 }, Trouble::ReadOnly] {
        let mut bench = Bench::new();
        bench.sink.raise(stop_asked(1));
        bench.pass_ms(1);
        assert!(bench.sink.healthy());
        bench.disk.trouble(Some(trouble));
        bench.sink.raise(goal("lost"));
        bench.pass_ms(1);
        assert!(!bench.sink.healthy(), "{trouble:?}");
        assert!(bench.says("octos_edge_blackbox_healthy 0"));
        assert!(bench.says("octos_edge_blackbox_dropped_total{class=\"audit\"} 1"));
        bench.disk.trouble(None);
        // The disk is not asked more often than once a second.
        bench.pass_ms(500);
        assert!(!bench.sink.healthy(), "{trouble:?}");
        bench.pass_ms(600);
        assert!(bench.sink.healthy(), "{trouble:?}");
        assert!(bench.says("octos_edge_blackbox_healthy 1"));
    }
}

#[test]
fn what_is_to_be_kept_is_on_disk_before_it_is_said_and_a_disk_that_refuses_says_nothing() {
    let mut bench = Bench::new();
    bench.sink.raise(stop_asked(1));
    let kept = bench.sink.keep();
    assert!(!kept.is_kept());
    // At once: whoever waits does not wait for the next sync.
    bench.pass_ms(0);
    assert!(kept.is_kept());
    bench.disk.trouble(Some(Trouble::NoSync));
    bench.sink.raise(stop_asked(2));
    let kept = bench.sink.keep();
    bench.pass_ms(0);
    assert!(!kept.is_kept() && !bench.sink.healthy());
    bench.disk.trouble(None);
    bench.pass_ms(2000);
    assert!(kept.is_kept() && bench.sink.healthy());
}

#[test]
fn safety_records_are_synced_within_their_time_and_the_others_later() {
    let mut bench = Bench::new();
    let on_disk = |bench: &Bench, class: &str| {
        let bytes = bench.disk.synced_file(&format!("{class}-000001.jsonl"));
        bytes.iter().filter(|byte| **byte == b'\n').count()
    };
    bench.sink.raise(stop_asked(1));
    bench.sink.raise(goal("a"));
    bench.pass_ms(0);
    assert_eq!(
        (on_disk(&bench, "safety"), on_disk(&bench, "audit")),
        (1, 1)
    );
    bench.pass_ms(50);
    assert_eq!(
        (on_disk(&bench, "safety"), on_disk(&bench, "audit")),
        (2, 1)
    );
    bench.pass_ms(950);
    assert_eq!(
        (on_disk(&bench, "safety"), on_disk(&bench, "audit")),
        (2, 2)
    );
}

#[test]
fn facts_that_found_their_channel_full_are_told_by_a_record() {
    let mut bench = Bench::new();
    for _ in 0..AUDIT_QUEUE + 5 {
        bench.sink.raise(goal("x"));
    }
    bench.pass_ms(0);
    let text = String::from_utf8(bench.disk.file("audit-000001.jsonl")).unwrap();
    assert!(text.contains("{\"kind\":\"gap\",\"lost\":5}"));
    assert!(bench.sink.healthy());
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
        peer: None,
    }
}

fn segment_names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
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
    let text = fs::read_to_string(dir.path().join("safety-000001.jsonl")).unwrap();
    let boot = read_records(dir.path()).unwrap()[0].boot.clone();
    // Behind the note with which a life begins.
    let line = text.lines().nth(1).unwrap();
    let written: serde_json::Value = serde_json::from_str(line).unwrap();
    // Compared as values: which features of the JSON library a build unifies decides the order of keys.
    let expected = serde_json::json!({
        "n": 2,
        "seq": 1,
        "boot": boot,
        "t_mono_ms": 0,
        "t_wall": "2023-11-14T22:13:20.000Z",
        "class": "safety",
        "fact": { "kind": "standstill", "after_ms": 120 },
        "prev": text.lines().next().unwrap().rsplit('"').nth(1),
        "hash": written["hash"],
    });
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(written, expected);
}

#[test]
fn every_process_life_begins_segments_and_its_own_count() {
    let dir = tempfile::tempdir().unwrap();
    for life in 0..3 {
        let recorder = Recorder::start(plan(dir.path())).unwrap();
        recorder.sink().raise(stop_asked(life));
        recorder.finish().unwrap();
    }
    let names = segment_names(dir.path());
    for class in ["audit", "safety", "trace"] {
        let of_class = names.iter().filter(|name| name.starts_with(class));
        let expected = [1, 2, 3].map(|n| format!("{class}-00000{n}.jsonl"));
        assert!(of_class.eq(expected.iter()), "{names:?}");
    }
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
    let path = dir.path().join("safety-000001.jsonl");
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
        error.ends_with("safety-000001.jsonl:1: not a record of the black box"),
        "{error}"
    );
}

#[test]
fn segments_rotate_by_size_and_the_oldest_make_room() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        segment_bytes: 64,
        segments: 20,
        ..Limits::default()
    };
    // Each record is larger than a segment may be, so each gets its own.
    let recorder = Recorder::start_on(folder(dir.path()), plan(dir.path()), limits).unwrap();
    for epoch in 0..70 {
        recorder.sink().raise(stop_asked(epoch));
    }
    recorder.finish().unwrap();
    assert!(segment_names(dir.path()).len() <= 20);
    let records = read_records(dir.path()).unwrap();
    assert_eq!(records.last().unwrap().fact, stop_asked(69));
    let found = verify_records(dir.path(), &[]).unwrap();
    assert!(found.ok, "{:#?}", found.faults);
}

#[test]
fn a_smaller_box_keeps_fewer_of_the_lives_before_it() {
    let segments_after_six_lives = |bytes_max| {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..6 {
            let plan = RecorderPlan {
                bytes_max,
                ..plan(dir.path())
            };
            Recorder::start(plan).unwrap().finish().unwrap();
        }
        segment_names(dir.path()).len()
    };
    assert_eq!(segments_after_six_lives(BYTES_MAX), 18);
    // Those of this life stay, whatever they hold.
    assert_eq!(segments_after_six_lives(1), 3);
}

#[test]
fn an_oversized_fact_is_cut_not_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(plan(dir.path())).unwrap();
    recorder.sink().raise(Fact::OrderRefused {
        order: "\u{1}".repeat(100_000),
        who: "é".repeat(100_000),
        failed: vec!["x".repeat(10_000); 1000],
        peer: None,
    });
    recorder.finish().unwrap();
    let text = fs::read_to_string(dir.path().join("audit-000001.jsonl")).unwrap();
    let line = text.lines().last().unwrap();
    assert!(
        line.len() < crate::telemetry::record::RECORD_BYTES_MAX,
        "{}",
        line.len()
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
    assert_eq!(sink.dropped(FactClass::Safety), 0);
    sink.raise(Fact::SendFailed);
    assert_eq!(sink.dropped(FactClass::Safety), 1);
    assert_eq!(sink.dropped(FactClass::Audit), 2);
    assert!(!sink.keep().is_kept(), "there is no room for the word");
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
    assert_eq!(sink.dropped(FactClass::Safety), 1);
    assert!(!sink.healthy());
}

#[test]
fn a_folder_that_vanishes_makes_the_box_unhealthy_and_the_end_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        segment_bytes: 64,
        ..Limits::default()
    };
    let recorder = Recorder::start_on(folder(dir.path()), plan(dir.path()), limits).unwrap();
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
