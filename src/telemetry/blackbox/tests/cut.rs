//! Files of the box that are cut at any byte, changed in one, or too many and too large: the next life
//! begins or says what is in the way, and a reader tells what is gone.

use super::*;

/// A log of two lives, whose last one put records into the reserve and died there.
fn log() -> FakeDisk {
    let disk = FakeDisk::default();
    let mut first = life(&disk, SMALL);
    for mark in 0..6 {
        put(&mut first, class_of(mark), mark).unwrap();
    }
    first.finish().unwrap();
    let mut second = life(&disk, SMALL);
    for mark in 6..9 {
        put(&mut second, class_of(mark), mark).unwrap();
    }
    for class in CLASSES {
        second.sync(class).unwrap();
    }
    disk.trouble(Some(Trouble::Full { short: 0 }));
    put(&mut second, FactClass::Safety, 9).unwrap();
    second.sync(FactClass::Safety).unwrap();
    assert!(second.keeps_safety());
    disk.trouble(None);
    assert_whole(&disk, "before anybody changed it");
    assert_eq!(marks(&disk, FactClass::Safety), [0, 3, 6, 9]);
    FakeDisk::of(disk.files())
}

/// The marks of each class.
type Marks = [Vec<u64>; 3];

fn all_marks(disk: &FakeDisk) -> Marks {
    CLASSES.map(|class| marks(disk, class))
}

/// Judges a box of which one file was changed: before the next life, and in it.
fn judge(disk: &FakeDisk, was: &Marks, (name, bytes): (&str, Vec<u8>), what: &str) {
    let mut files = disk.files();
    files.insert(name.to_owned(), bytes);
    let changed = FakeDisk::of(files);
    let found = verified(&changed);
    let whole = all_marks(&changed) == *was;
    assert!(!found.ok || whole, "{what}: nobody tells of it");
    let mut blackbox = try_life(&changed, SMALL).unwrap();
    put(&mut blackbox, FactClass::Safety, 77).unwrap();
    blackbox.finish().unwrap();
    let found = verified(&changed);
    let mut now = all_marks(&changed);
    assert_eq!(now[0].pop(), Some(77), "{what}");
    assert!(!found.ok || now == *was, "{what}: the next life hides it");
}

/// Every so many places in a file that mean something, and some of those that fill it.
fn places(bytes: &[u8], step: usize) -> impl Iterator<Item = usize> + use<'_> {
    let fill = |byte: &u8| matches!(byte, 0 | b' ' | b'\n');
    let used = move |at: &usize| {
        !fill(&bytes[*at]) || at.is_multiple_of(97) || !bytes.get(at + 1).is_none_or(fill)
    };
    (0..bytes.len()).filter(used).step_by(step)
}

#[test]
fn case_49_a_file_of_the_box_cut_at_any_byte_is_told_and_stands_in_nobodys_way() {
    let disk = log();
    let was = all_marks(&disk);
    for (name, bytes) in disk.files() {
        // All classes are written by the same hand.
        let step = if name.ends_with(".jsonl") && !name.starts_with("safety") {
            7
        } else {
            1
        };
        for end in places(&bytes, step) {
            let what = format!("{name} cut at {end}");
            judge(&disk, &was, (&name, bytes[..end].to_vec()), &what);
        }
    }
}

#[test]
fn case_49_a_file_of_the_box_with_any_byte_changed_is_told_and_stands_in_nobodys_way() {
    let disk = log();
    let was = all_marks(&disk);
    for (name, bytes) in disk.files() {
        for at in places(&bytes, 3) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x11;
            let what = format!("{name} changed at {at}");
            judge(&disk, &was, (&name, changed), &what);
        }
    }
}

#[test]
fn a_segment_with_the_last_number_is_named_and_no_life_begins_behind_it() {
    let disk = log();
    let before = verified(&disk).chains[1].segments;
    let mut files = disk.files();
    files.insert("audit-999999999.jsonl".to_owned(), Vec::new());
    let disk = FakeDisk::of(files.clone());
    let error = try_life(&disk, SMALL).unwrap_err().to_string();
    assert!(error.contains("999999999"), "{error}");
    assert!(error.contains("move it away"), "{error}");
    assert!(!disk.files().contains_key("audit-1000000000.jsonl"));
    // One below it has room for one more, which every reader finds.
    files.remove("audit-999999999.jsonl");
    files.insert("audit-999999998.jsonl".to_owned(), Vec::new());
    let disk = FakeDisk::of(files);
    life(&disk, SMALL).finish().unwrap();
    let files = disk.files();
    assert!(!files["audit-999999999.jsonl"].is_empty());
    let seen = verified(&disk).chains[1].segments;
    assert_eq!(seen, before + 2, "the empty one and the last");
}

#[test]
fn faults_beyond_the_bound_are_counted_and_not_told() {
    let disk = log();
    let mut files = disk.files();
    let name = "trace-000001.jsonl";
    let rubbish = b"rubbish\n".repeat(FAULTS_MAX + 500);
    files.insert(name.to_owned(), rubbish);
    let found = verified(&FakeDisk::of(files));
    assert!(!found.ok);
    assert_eq!(found.faults.len(), FAULTS_MAX);
    let all = u64::try_from(found.faults.len()).unwrap() + found.more_faults;
    assert!(all >= 1500, "{all}");
    assert!(found.faults.iter().all(|fault| fault.file == name));
    assert!(found.remarks.len() <= FAULTS_MAX);
}
