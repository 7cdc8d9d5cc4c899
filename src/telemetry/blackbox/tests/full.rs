//! A disk that is full, read-only or cannot sync.

use super::*;

const TROUBLES: [Trouble; 4] = [
    Trouble::Full { short: 0 },
    Trouble::Full { short: 9 },
    Trouble::ReadOnly,
    Trouble::NoSync,
];

/// Puts records `from` to `to`, those of all classes in turns; returns those that were kept.
fn put_all(blackbox: &mut BlackBox, from: u64, to: u64) -> Vec<u64> {
    (from..to)
        .filter(|mark| put(blackbox, class_of(*mark), *mark).is_ok())
        .collect()
}

fn sync_all(blackbox: &mut BlackBox) -> bool {
    CLASSES
        .into_iter()
        .all(|class| blackbox.sync(class).is_ok())
}

#[test]
fn case_48_a_disk_that_fails_at_record_n_keeps_safety_records_and_verifies_after() {
    for trouble in TROUBLES {
        for n in 1..50 {
            let what = format!("{trouble:?} at record {n}");
            let disk = FakeDisk::default();
            let mut blackbox = life(&disk, SMALL);
            let before = put_all(&mut blackbox, 0, n - 1);
            assert_eq!(before.len() as u64, n - 1, "{what}");
            assert!(sync_all(&mut blackbox) && blackbox.is_whole(), "{what}");

            disk.trouble(Some(trouble));
            let during = put_all(&mut blackbox, n, n + 9);
            let synced = sync_all(&mut blackbox);
            assert!(!blackbox.is_whole() || !synced, "{what}: nobody noticed");
            assert!(blackbox.mend(TIMES).is_err(), "{what}: mended too early");
            let safety = |mark: &u64| class_of(*mark) == FactClass::Safety;
            let aside = (n..n + 9).filter(safety).count();
            let kept = during.iter().filter(|mark| safety(mark)).count();
            match trouble {
                // Every safety record has room in the reserve.
                Trouble::Full { .. } => assert_eq!(kept, aside, "{what}"),
                Trouble::ReadOnly => assert_eq!(kept, 0, "{what}"),
                Trouble::NoSync => {}
            }
            assert_whole(&disk, &format!("{what}, while it lasts"));

            disk.trouble(None);
            blackbox.mend(TIMES).unwrap();
            assert!(blackbox.is_whole(), "{what}: not mended");
            let after = put_all(&mut blackbox, n + 20, n + 23);
            assert_eq!(after.len(), 3, "{what}");
            blackbox.finish().unwrap();
            assert_whole(&disk, &format!("{what}, after it"));
            let mut expected = [before, during, after].concat();
            expected.retain(safety);
            assert_eq!(marks(&disk, FactClass::Safety), expected, "{what}");

            // So does the next life.
            drop(blackbox);
            life(&disk, SMALL).finish().unwrap();
            assert_whole(&disk, &format!("{what}, in the next life"));
        }
    }
}

#[test]
fn case_48_what_was_lost_is_told_with_its_number() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, LARGE);
    disk.trouble(Some(Trouble::Full { short: 5 }));
    for mark in 0..7 {
        assert!(put(&mut blackbox, FactClass::Audit, mark).is_err());
    }
    disk.trouble(None);
    blackbox.mend(TIMES).unwrap();
    blackbox.finish().unwrap();
    let told = verified(&disk).remarks;
    let lost = told.iter().find(|remark| remark.what.contains("7 facts"));
    assert!(lost.is_some(), "{told:#?}");
    assert!(told.iter().any(|remark| remark.what.contains("unfinished")));
}

#[test]
fn a_process_killed_on_a_full_disk_loses_no_safety_record() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, SMALL);
    disk.trouble(Some(Trouble::Full { short: 3 }));
    for mark in 0..40 {
        put(&mut blackbox, FactClass::Safety, mark).unwrap();
    }
    blackbox.sync(FactClass::Safety).unwrap();
    assert!(blackbox.keeps_safety());
    drop(blackbox);
    // Power is lost as well: only what was synced stays.
    let disk = FakeDisk::of(disk.synced());
    assert_whole(&disk, "before the next life");
    let expected: Vec<u64> = (0..40).collect();
    assert_eq!(marks(&disk, FactClass::Safety), expected);
    life(&disk, SMALL).finish().unwrap();
    assert_whole(&disk, "in the next life");
    assert_eq!(marks(&disk, FactClass::Safety), expected);
}

#[test]
fn lines_that_a_segment_took_over_are_not_read_twice_when_the_reserve_was_not_cleared() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, SMALL);
    disk.trouble(Some(Trouble::Full { short: 0 }));
    assert_eq!(put_all(&mut blackbox, 0, 9), [0, 3, 6]);
    let used = disk.file("reserve");
    disk.trouble(None);
    blackbox.mend(TIMES).unwrap();
    blackbox.finish().unwrap();
    // The process was killed before it cleared the reserve.
    let mut files = disk.files();
    assert_ne!(
        files.insert("reserve".to_owned(), used.clone()).unwrap(),
        used
    );
    let disk = FakeDisk::of(files);
    assert_whole(&disk, "before the next life");
    assert_eq!(marks(&disk, FactClass::Safety), [0, 3, 6]);
    life(&disk, SMALL).finish().unwrap();
    assert_whole(&disk, "in the next life");
    assert_eq!(marks(&disk, FactClass::Safety), [0, 3, 6]);
    assert!(disk.file("reserve").iter().all(|byte| *byte == 0));
}

#[test]
fn a_reserve_that_was_taken_over_in_part_gives_the_rest_to_the_next_life() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, LARGE);
    disk.trouble(Some(Trouble::Full { short: 0 }));
    assert_eq!(put_all(&mut blackbox, 0, 9), [0, 3, 6]);
    blackbox.sync(FactClass::Safety).unwrap();
    let mut files = disk.files();
    let used = files["reserve"].clone();
    let end = used.iter().position(|byte| *byte == 0).unwrap();
    let all = lines(&used[..end]);
    // The note of the reserve, one record and half of the next were taken over when power was lost.
    let part = [&all[0][..], &all[1], &all[2][..40]].concat();
    files.insert("safety-000002.jsonl".to_owned(), part);
    let disk = FakeDisk::of(files);
    assert_whole(&disk, "before the next life");
    life(&disk, LARGE).finish().unwrap();
    assert_whole(&disk, "in the next life");
    assert_eq!(marks(&disk, FactClass::Safety), [0, 3, 6]);
}

#[test]
fn a_full_reserve_refuses_and_counts() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, Limits::default());
    disk.trouble(Some(Trouble::Full { short: 0 }));
    let fact = json!({ "kind": "test", "fill": "x".repeat(7000) });
    let item = Item {
        seq: 1,
        times: TIMES,
        class: FactClass::Safety,
        fact: &fact,
    };
    let kept = (0..200).filter(|_| blackbox.put(&item).is_ok()).count();
    assert!((140..150).contains(&kept), "{kept} of 7 kB in 1 MiB");
    assert!(!blackbox.keeps_safety());
    assert_whole(&disk, "with a full reserve");
    disk.trouble(None);
    blackbox.mend(TIMES).unwrap();
    blackbox.finish().unwrap();
    assert_whole(&disk, "after it");
    let lost = format!("{} facts were lost", 200 - kept);
    let told = verified(&disk).remarks;
    assert!(told.iter().any(|remark| remark.what.starts_with(&lost)));
}

#[test]
fn records_behind_a_sync_that_failed_may_go_and_the_chain_says_so() {
    let disk = FakeDisk::default();
    let mut blackbox = life(&disk, LARGE);
    put(&mut blackbox, FactClass::Audit, 1).unwrap();
    blackbox.sync(FactClass::Audit).unwrap();
    put(&mut blackbox, FactClass::Audit, 2).unwrap();
    disk.trouble(Some(Trouble::NoSync));
    assert!(blackbox.sync(FactClass::Audit).is_err());
    disk.trouble(None);
    blackbox.mend(TIMES).unwrap();
    put(&mut blackbox, FactClass::Audit, 3).unwrap();
    blackbox.finish().unwrap();
    assert_whole(&disk, "with power");
    let disk = FakeDisk::of(disk.synced());
    let found = verified(&disk);
    assert!(found.ok, "{:#?}", found.faults);
    assert!(
        found
            .remarks
            .iter()
            .any(|r| r.what.contains("a sync failed"))
    );
    assert_eq!(marks(&disk, FactClass::Audit), [1, 3]);
}

#[test]
fn short_writes_are_gone_on_with() {
    let disk = FakeDisk::default();
    disk.bite(7);
    let mut blackbox = life(&disk, SMALL);
    assert_eq!(put_all(&mut blackbox, 0, 30).len(), 30);
    blackbox.finish().unwrap();
    assert_whole(&disk, "bites of seven bytes");
    assert_eq!(marks(&disk, FactClass::Audit).len(), 10);
}

#[test]
fn a_disk_that_refuses_at_the_start_makes_no_box_and_changes_nothing() {
    let disk = FakeDisk::default();
    life(&disk, SMALL).finish().unwrap();
    let before = segments(&disk);
    for trouble in TROUBLES {
        disk.trouble(Some(trouble));
        assert!(try_life(&disk, SMALL).is_err(), "{trouble:?}");
        disk.trouble(None);
        assert_eq!(segments(&disk), before, "{trouble:?}");
        assert_whole(&disk, "after a life that did not begin");
    }
}
