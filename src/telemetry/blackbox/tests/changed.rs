//! Somebody changes a log that was whole: found, and named with file and line.

use proptest::prelude::*;

use super::*;

/// A log of these lives, each with so many records of all classes.
fn log(lives: &[u8]) -> FakeDisk {
    let disk = FakeDisk::default();
    let mut mark = 0;
    for records in lives {
        let mut blackbox = life(&disk, SMALL);
        for _ in 0..*records {
            put(&mut blackbox, class_of(mark), mark).unwrap();
            mark += 1;
        }
        blackbox.finish().unwrap();
    }
    assert_whole(&disk, "before anybody changed it");
    disk
}

/// Changes one segment and returns what verifying finds.
fn changed(disk: &FakeDisk, name: &str, bytes: Vec<u8>) -> Verification {
    let mut files = disk.files();
    files.insert(name.to_owned(), bytes);
    verified(&FakeDisk::of(files))
}

/// Asserts that the first fault is at this place and says this.
fn assert_named(found: &Verification, (file, line): (&str, u64), part: &str) {
    let first = found.faults.first().expect("a fault");
    assert_eq!((first.file.as_str(), first.line), (file, line), "{first:?}");
    assert!(first.what.contains(part), "{first:?}");
}

const NAME: &str = "audit-000001.jsonl";

#[test]
fn case_49_a_changed_byte_is_named() {
    let disk = log(&[12]);
    let text = &segments(&disk)[NAME];
    let text = String::from_utf8(text.clone()).unwrap();
    let forged = text.replacen("\"mark\":4", "\"mark\":5", 1);
    assert_ne!(text, forged);
    let found = changed(&disk, NAME, forged.into_bytes());
    assert_named(&found, (NAME, 3), "was changed");
    assert_eq!(found.faults.len(), 1, "one change is one fault");
}

#[test]
fn case_49_a_removed_record_is_named() {
    let disk = log(&[12]);
    let mut all = lines(&segments(&disk)[NAME]);
    all.remove(1);
    let found = changed(&disk, NAME, all.concat());
    assert_named(&found, (NAME, 2), "record 2 is missing");
    all.remove(1);
    let found = changed(&disk, NAME, all.concat());
    assert_named(&found, (NAME, 2), "records 2 to 3 are missing");
}

#[test]
fn case_49_a_record_that_was_put_in_or_doubled_is_named() {
    let disk = log(&[12]);
    let mut all = lines(&segments(&disk)[NAME]);
    all.insert(2, all[1].clone());
    let found = changed(&disk, NAME, all.concat());
    assert_named(&found, (NAME, 3), "does not follow");
}

#[test]
fn case_49_a_swapped_segment_is_named() {
    let disk = log(&[30]);
    let mut files = disk.files();
    let (a, b) = ("safety-000001.jsonl", "safety-000002.jsonl");
    let (first, second) = (files[a].clone(), files[b].clone());
    files.insert(a.to_owned(), second);
    files.insert(b.to_owned(), first);
    let found = verified(&FakeDisk::of(files));
    assert!(!found.ok);
    assert!(
        found
            .faults
            .iter()
            .any(|fault| fault.file == a || fault.file == b)
    );
}

#[test]
fn case_49_a_cut_tail_is_named() {
    let disk = log(&[12]);
    let newest = "audit-000002.jsonl";
    let mut all = lines(&segments(&disk)[newest]);
    all.pop();
    let line = all.len() as u64;
    let found = changed(&disk, newest, all.concat());
    assert_named(
        &found,
        (newest, line),
        "record 5 was on disk, the last one now is 4",
    );
    let mut files = disk.files();
    files.retain(|name, _| !name.starts_with("safety-"));
    let found = verified(&FakeDisk::of(files));
    assert_named(&found, ("safety-*.jsonl", 0), "the tail is cut");
}

#[test]
fn case_49_a_log_made_anew_does_not_hold_a_hash_that_was_kept_elsewhere() {
    let disk = log(&[12]);
    let kept = verified(&disk).chains[0].head.unwrap().hash;
    assert!(verify(&disk, &[kept]).unwrap().ok);
    let anew = log(&[6]);
    assert!(verified(&anew).ok, "the chain alone cannot tell");
    let found = verify(&anew, &[kept]).unwrap();
    assert_named(&found, ("*", 0), &kept.to_string());
}

#[test]
fn a_head_that_is_gone_or_changed_is_named_also_after_the_next_life() {
    let disk = log(&[12]);
    let mut gone = disk.files();
    gone.remove("head");
    let mut spoiled = disk.files();
    spoiled.get_mut("head").unwrap().fill(b'x');
    for files in [gone, spoiled] {
        let disk = FakeDisk::of(files);
        assert_named(&verified(&disk), ("head", 0), "nobody knows");
        life(&disk, SMALL).finish().unwrap();
        let found = verified(&disk);
        assert!(found.faults[0].what.contains("the head was gone"));
    }
}

#[test]
fn an_unfinished_line_that_no_record_tells_of_is_a_fault_but_at_the_end() {
    let disk = log(&[12]);
    for (name, ok) in [(NAME, false), ("audit-000002.jsonl", true)] {
        let mut bytes = segments(&disk)[name].clone();
        bytes.extend_from_slice(b"{\"n\":");
        let found = changed(&disk, name, bytes);
        assert_eq!(found.ok, ok, "{name}: {found:#?}");
    }
}

#[test]
fn every_byte_of_a_log_counts() {
    let disk = log(&[4, 1]);
    for (name, bytes) in segments(&disk) {
        for at in 0..bytes.len() {
            for mask in [0x01, 0x20] {
                let mut flipped = bytes.clone();
                flipped[at] ^= mask;
                let found = changed(&disk, &name, flipped);
                assert!(!found.ok, "{name}: byte {at} with {mask:#x}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn case_49_no_change_of_a_random_log_goes_unseen(
        lives in prop::collection::vec(1_u8..25, 1..4),
        (change, file, a, b) in (0_u8..7, any::<prop::sample::Index>(),
            any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        mask in 1_u8..=255,
    ) {
        let disk = log(&lives);
        let all = segments(&disk);
        let names: Vec<&String> = all.keys().collect();
        let name = names[file.index(names.len())].clone();
        let mut files = disk.files();
        let mut of_file = lines(&all[&name]);
        let (a_line, b_line) = (a.index(of_file.len()), b.index(of_file.len()));
        match change {
            0 => {
                let bytes = files.get_mut(&name).unwrap();
                let at = a.index(bytes.len());
                bytes[at] ^= mask;
            }
            1 => {
                of_file.remove(a_line);
                files.insert(name, of_file.concat());
            }
            2 => {
                of_file.insert(b_line, of_file[a_line].clone());
                files.insert(name, of_file.concat());
            }
            3 => {
                prop_assume!(a_line != b_line);
                of_file.swap(a_line, b_line);
                files.insert(name, of_file.concat());
            }
            4 => {
                files.remove(&name);
            }
            5 => {
                let other = names[b.index(names.len())].clone();
                prop_assume!(other != name);
                files.insert(name.clone(), all[&other].clone());
                files.insert(other, all[&name].clone());
            }
            _ => {
                // Doubled as the newest of its class.
                let (class, _) = name.split_once('-').unwrap();
                files.insert(format!("{class}-000999.jsonl"), all[&name].clone());
            }
        }
        let found = verified(&FakeDisk::of(files));
        prop_assert!(!found.ok);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        name in prop::sample::select(vec!["safety-000001.jsonl", "trace-000002.jsonl", "head", "reserve"]),
    ) {
        let disk = log(&[3]);
        let mut files = disk.files();
        files.insert(name.to_owned(), bytes);
        let disk = FakeDisk::of(files);
        let _found = verified(&disk);
        let opened = try_life(&disk, SMALL);
        prop_assert!(opened.is_ok());
    }
}
