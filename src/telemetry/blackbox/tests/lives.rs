//! Many lives, lost power, and segments that make room.

use super::*;

#[test]
fn a_chain_goes_on_over_segments_and_lives() {
    let disk = FakeDisk::default();
    for turn in 0..4 {
        let mut blackbox = life(&disk, SMALL);
        for mark in 0..12 {
            put(&mut blackbox, class_of(mark), turn * 100 + mark).unwrap();
        }
        blackbox.finish().unwrap();
    }
    let found = verified(&disk);
    assert!(found.ok, "{:#?}", found.faults);
    assert_eq!(found.remarks, []);
    for chain in &found.chains {
        // Four facts and a note in each life.
        assert_eq!((chain.first, chain.records), (Some(1), 20), "{chain:?}");
        assert_eq!(chain.head.unwrap().n, 20);
        assert!(chain.segments > 4, "{chain:?}");
    }
}

#[test]
fn power_cut_at_every_byte_loses_no_record_that_was_synced_and_the_next_life_goes_on() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, LARGE);
    for mark in 0..3 {
        put(&mut blackbox, class_of(mark), mark).unwrap();
    }
    for class in CLASSES {
        blackbox.sync(class).unwrap();
    }
    for mark in 3..6 {
        put(&mut blackbox, class_of(mark), mark).unwrap();
    }
    let (all, synced) = (disk.files(), disk.synced());
    for (class, name) in CLASSES.map(|class| (class, SegmentName::new(class, 1).name)) {
        let whole = &all[&name];
        for end in synced[&name].len()..=whole.len() {
            let mut left = all.clone();
            left.insert(name.clone(), whole[..end].to_vec());
            let disk = FakeDisk::of(left);
            assert_whole(&disk, &format!("{name} cut at {end}"));
            let mut next = life(&disk, LARGE);
            put(&mut next, class, 99).unwrap();
            next.finish().unwrap();
            assert_whole(&disk, &format!("{name} cut at {end}, next life"));
            let marks = marks(&disk, class);
            let of_class = |mark: &u64| class_of(*mark) == class;
            let first: Vec<u64> = (0..3).filter(of_class).collect();
            assert!(marks.starts_with(&first), "{name} cut at {end}: {marks:?}");
            assert_eq!(marks.last(), Some(&99));
        }
    }
}

#[test]
fn a_cut_of_what_was_synced_is_found_before_and_after_the_next_life() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, LARGE);
    for mark in 0..3 {
        put(&mut blackbox, class_of(mark), mark).unwrap();
    }
    blackbox.finish().unwrap();
    let all = disk.files();
    for (class, name) in CLASSES.map(|class| (class, SegmentName::new(class, 1).name)) {
        for end in 0..all[&name].len() {
            let mut left = all.clone();
            left.insert(name.clone(), all[&name][..end].to_vec());
            let disk = FakeDisk::of(left);
            assert!(!verified(&disk).ok, "{name} cut at {end}");
            life(&disk, LARGE).finish().unwrap();
            let found = verified(&disk);
            let told = found.faults.iter().any(|fault| {
                fault.file.starts_with(word(class)) && fault.what.contains("was gone")
            });
            assert!(told, "{name} cut at {end}: {:#?}", found.faults);
        }
    }
}

#[test]
fn unsynced_names_may_vanish_with_the_power() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, SMALL);
    for mark in 0..30 {
        put(&mut blackbox, class_of(mark), mark).unwrap();
        let left = FakeDisk::of(disk.synced());
        assert_whole(&left, &format!("after record {mark}"));
        life(&left, SMALL).finish().unwrap();
        assert_whole(&left, &format!("after record {mark}, next life"));
    }
}

/// Room for a few small segments.
const TIGHT: Limits = Limits {
    segment_bytes: 1200,
    total_bytes: 9000,
    ..SMALL
};

/// Writes records of all classes until much had to make room.
fn tight() -> FakeDisk {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, TIGHT);
    for mark in 0..120 {
        put(&mut blackbox, class_of(mark), mark).unwrap();
        blackbox.tidy(TIMES).unwrap();
    }
    blackbox.finish().unwrap();
    disk
}

#[test]
fn the_oldest_trace_makes_room_first_and_the_oldest_stop_last() {
    let disk = tight();
    let found = verified(&disk);
    assert!(found.ok, "{:#?}", found.faults);
    let total: usize = segments(&disk).values().map(Vec::len).sum();
    assert!(total < 9000 + 1200, "{total}");
    let [safety, audit, trace] = CLASSES.map(|class| marks(&disk, class).len());
    assert!(trace <= 4 && audit <= 4, "{audit} {trace}");
    assert!(safety > 10, "{safety}");
    assert!(found.chains.iter().all(|chain| chain.pruned));
    assert!(found.chains.iter().all(|chain| chain.first > Some(1)));
    // And the next life, which begins three segments more.
    life(&disk, TIGHT).finish().unwrap();
    assert_whole(&disk, "the next life");
}

#[test]
fn too_many_small_segments_make_room_as_well() {
    let disk = FakeDisk::default();
    let few = Limits {
        segments: 12,
        ..LARGE
    };
    for mark in 0..20 {
        let mut blackbox = life(&disk, few);
        put(&mut blackbox, FactClass::Safety, mark).unwrap();
        blackbox.finish().unwrap();
    }
    assert_eq!(segments(&disk).len(), 12);
    assert_whole(&disk, "twenty lives");
    let kept = marks(&disk, FactClass::Safety);
    assert_eq!(kept, (10..20).collect::<Vec<u64>>());
}

#[test]
fn a_segment_that_somebody_removed_is_told_from_one_that_made_room() {
    let disk = tight();
    for name in segments(&disk).keys() {
        let mut left = disk.files();
        left.remove(name);
        let left = FakeDisk::of(left);
        let found = verified(&left);
        assert!(!found.ok, "{name} is gone and nobody says so");
    }
}

#[test]
fn a_power_cut_between_note_and_removal_leaves_a_whole_box() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, TIGHT);
    for mark in 0..60 {
        let before = disk.files();
        put(&mut blackbox, class_of(mark), mark).unwrap();
        blackbox.tidy(TIMES).unwrap();
        // The removal did not reach the disk, the note did.
        let mut left = disk.files();
        for (name, bytes) in before {
            left.entry(name).or_insert(bytes);
        }
        let left = FakeDisk::of(left);
        assert_whole(&left, &format!("after record {mark}"));
        life(&left, TIGHT).finish().unwrap();
        assert_whole(&left, &format!("after record {mark}, next life"));
    }
}

#[test]
fn a_tail_that_cannot_be_read_begins_a_new_chain_that_says_so() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, LARGE);
    put(&mut blackbox, FactClass::Audit, 1).unwrap();
    blackbox.finish().unwrap();
    let mut files = disk.files();
    let text = files.get_mut("audit-000001.jsonl").unwrap();
    text.extend_from_slice(b"\xff\x00 rubbish\n");
    let disk = FakeDisk::of(files);
    life(&disk, LARGE).finish().unwrap();
    let told = notes_of(&disk);
    assert!(
        told.iter()
            .any(|note| note["unreadable"] == "audit-000001.jsonl"),
        "{told:#?}"
    );
    let found = verified(&disk);
    let [rubbish, anew, ..] = found.faults.as_slice() else {
        panic!("{:#?}", found.faults);
    };
    assert_eq!(
        (rubbish.file.as_str(), rubbish.line),
        ("audit-000001.jsonl", 3)
    );
    assert!(anew.what.contains("a new chain begins"), "{}", anew.what);
}

#[test]
fn a_folder_of_rubbish_makes_no_panic_and_the_box_begins() {
    let rubbish: [&[u8]; 6] = [
        b"",
        b"\n",
        b"\n\n\n",
        b"{}\n",
        b"\xff\xfe\x00",
        b"{\"prev\":\"\",\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\"}\n",
    ];
    for bytes in rubbish {
        let mut files = BTreeMap::new();
        for name in [
            "safety-000001.jsonl",
            "trace-000009.jsonl",
            "head",
            "reserve",
        ] {
            files.insert(name.to_owned(), bytes.to_vec());
        }
        let disk = FakeDisk::of(files);
        assert!(!verified(&disk).ok || bytes.is_empty(), "{bytes:?}");
        let mut blackbox = life(&disk, LARGE);
        put(&mut blackbox, FactClass::Trace, 5).unwrap();
        blackbox.finish().unwrap();
        assert_eq!(marks(&disk, FactClass::Trace), [5]);
    }
}
