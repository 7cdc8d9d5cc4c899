//! The box on a disk that fails, and the box under the hands of somebody who changes it.

mod changed;
mod cut;
mod fake;
mod folder;
mod full;
mod lives;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(in crate::telemetry) use fake::{FakeDisk, Trouble};

use super::verify::{FAULTS_MAX, verify};
use super::*;

const TIMES: Times<'_> = Times {
    at: Mono::ZERO,
    wall: "2026-05-01T12:00:00.000Z",
};

/// Segments so small that a few records fill one.
const SMALL: Limits = Limits {
    segment_bytes: 1200,
    total_bytes: TOTAL_BYTES_MAX,
    segments: SEGMENTS_MAX,
    reserve_bytes: 16 * 1024,
};

/// Segments of full size.
const LARGE: Limits = Limits {
    segment_bytes: SEGMENT_BYTES_MAX,
    ..SMALL
};

fn life(disk: &FakeDisk, limits: Limits) -> BlackBox {
    try_life(disk, limits).unwrap()
}

fn try_life(disk: &FakeDisk, limits: Limits) -> io::Result<BlackBox> {
    BlackBox::open(Box::new(disk.clone()), (limits, "b00f".to_owned()), TIMES)
}

/// Puts a record that holds `mark`.
fn put(blackbox: &mut BlackBox, class: FactClass, mark: u64) -> io::Result<()> {
    blackbox.put(&Item {
        seq: mark,
        times: TIMES,
        class,
        fact: &json!({ "kind": "test", "mark": mark }),
    })
}

/// The class of the record number `mark` in tests that use all three.
fn class_of(mark: u64) -> FactClass {
    match mark % 3 {
        0 => FactClass::Safety,
        1 => FactClass::Audit,
        _ => FactClass::Trace,
    }
}

fn verified(disk: &FakeDisk) -> Verification {
    verify(disk, &[]).unwrap()
}

fn assert_whole(disk: &FakeDisk, what: &str) {
    let found = verified(disk);
    assert!(found.ok, "{what}: {:#?}", found.faults);
}

/// Returns the marks of a class, in the order of its chain, as a reader finds them.
fn marks(disk: &FakeDisk, class: FactClass) -> Vec<u64> {
    let (mut of, mut tip, mut marks) = (None, Tip::START, Vec::new());
    walk::walk(disk, &mut |seen| {
        match seen {
            walk::Seen::Class(class) => {
                of = Some(class);
                tip = Tip::START;
            }
            walk::Seen::Line(line) => {
                if let Ok(record) = chain::open(line) {
                    tip = record.tip();
                    let mark = record.fact.as_ref().and_then(|fact| fact["mark"].as_u64());
                    marks.extend(mark.filter(|_| of == Some(class)));
                }
            }
            walk::Seen::File { .. } | walk::Seen::Unreadable(_) | walk::Seen::TooLarge => {}
        }
        tip
    })
    .unwrap();
    marks
}

/// Returns the segments of a disk, without head and reserve.
fn segments(disk: &FakeDisk) -> BTreeMap<String, Vec<u8>> {
    let mut files = disk.files();
    files.retain(|name, _| name.ends_with(".jsonl"));
    files
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn notes_of(disk: &FakeDisk) -> Vec<Value> {
    let files = segments(disk);
    let lines = files.values().flat_map(|bytes| lines(bytes));
    lines
        .filter_map(|line| chain::open(&line).ok()?.note)
        .collect()
}
