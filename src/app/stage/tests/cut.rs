//! Latch and marker that are cut at any byte or changed in one, or are no files at all: a start reads them
//! as what is safer.

use std::os::unix::fs::symlink;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode};

use super::*;

/// What a life on these files came to.
#[derive(Debug)]
struct Came {
    run: RunState,
    cause: Option<StopCause>,
    first: Option<String>,
    arm: Answer,
    reset: Answer,
    run_after: RunState,
}

/// Starts on a file of this name with these bytes, tries to arm, and resets.
fn start(installation: &Installation, name: &str, bytes: &[u8]) -> (Came, bool) {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_of(dir.path());
    std::fs::create_dir_all(&folder).unwrap();
    write(&folder.join(name), bytes);
    let came = start_on(installation, dir.path());
    (came, folder.join(name).exists())
}

/// Starts on what lies there, tries to arm, and resets.
fn start_on(installation: &Installation, state: &Path) -> Came {
    let setup = Setup::new(installation, state, &[LOOK]);
    on_stage(setup, async |rig: &mut Rig| {
        rig.ready().await;
        let (run, cause) = (rig.run(), rig.status().cause);
        let arm = rig.say(&arm("one"));
        let reset = if run == RunState::Latched {
            rig.say(&reset("two"))
        } else {
            arm.clone()
        };
        let motion = |f: &Fact| matches!(f, Fact::CommandSent { .. } | Fact::Heartbeat);
        assert_eq!(rig.count(motion), 0);
        Came {
            run,
            cause,
            first: rig.sent().first().map(|(_, verb)| verb.clone()),
            arm,
            reset,
            run_after: rig.run(),
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "the test lays a file of its own")]
fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// A file as the agent writes it.
fn written(name: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateFolder::open(dir.path(), &robot_id()).unwrap();
    folder
        .files()
        .persist_latch(StopCause::Overspeed, 9, 1_767_225_600)
        .unwrap();
    folder.files().mark_armed("ann").unwrap();
    std::fs::read(folder_of(dir.path()).join(name)).unwrap()
}

/// Every prefix of a file, and the file with every single byte changed, in two ways.
fn spoiled(whole: &[u8]) -> Vec<Vec<u8>> {
    let cut = (0..=whole.len()).map(|end| whole[..end].to_vec());
    let changed = (0..whole.len()).flat_map(|at| {
        [0x01, 0x80].map(|bits| {
            let mut bytes = whole.to_vec();
            bytes[at] ^= bits;
            bytes
        })
    });
    cut.chain(changed).collect()
}

#[test]
fn case_27_a_latch_file_cut_at_each_byte_or_with_one_changed_starts_latched_and_a_person_resets_it()
{
    let installation = installation();
    let whole = written("latch.json");
    for bytes in spoiled(&whole) {
        let what = String::from_utf8_lossy(&bytes).into_owned();
        let (came, latch) = start(&installation, "latch.json", &bytes);
        assert_eq!(came.run, RunState::Latched, "{what}");
        let readable = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
        let causes = [Some(StopCause::InternalFault), Some(StopCause::Overspeed)];
        assert!(causes.contains(&came.cause), "{what}: {:?}", came.cause);
        assert!(readable || came.cause == causes[0], "{what}");
        let Answer::Refused { failed } = &came.arm else {
            panic!("{what}: {:?}", came.arm);
        };
        assert!(failed.contains(&"latched".to_owned()), "{what}: {failed:?}");
        assert!(
            matches!(came.reset, Answer::Done { .. }),
            "{what}: {:?}",
            came.reset
        );
        assert_eq!(
            (came.run_after, latch),
            (RunState::Disarmed, false),
            "{what}"
        );
    }
}

#[test]
fn case_64_a_marker_cut_at_each_byte_or_with_one_changed_is_an_unclean_end_all_the_same() {
    let installation = installation();
    let whole = written("armed.json");
    for bytes in spoiled(&whole) {
        let what = String::from_utf8_lossy(&bytes).into_owned();
        let (came, _) = start(&installation, "armed.json", &bytes);
        assert_eq!(came.first.as_deref(), Some(STOP_VERB), "{what}");
        assert_eq!(came.run, RunState::Disarmed, "{what}");
        assert!(
            matches!(came.arm, Answer::Done { .. }),
            "{what}: by a person's word"
        );
    }
}

#[test]
fn case_27_a_spoiled_latch_file_is_named_with_the_way_out_and_a_whole_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateFolder::open(dir.path(), &robot_id()).unwrap();
    let (files, latch) = (folder.files(), folder_of(dir.path()).join("latch.json"));
    assert_eq!(files.latch_fault(), None);
    let whole = written("latch.json");
    write(&latch, &whole);
    assert_eq!(files.latch_fault(), None);
    for end in 0..whole.len() {
        write(&latch, &whole[..end]);
        let told = files.latch_fault().unwrap();
        assert!(
            told.contains("latch.json") && told.contains("ctl reset"),
            "{told}"
        );
    }
}

/// Nothing that lies there makes anybody wait; a start that does is given up after this long.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// Does something on a thread of its own, so that a test which waits for ever fails.
fn waits_for_nobody(work: fn()) {
    let (done, heard) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        done.send(())
    });
    if heard.recv_timeout(HANGS_AFTER) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("it hangs");
    }
    thread.join().unwrap().unwrap();
}

/// Lays something at a path; beside it a file called `other` may lie.
type Lay = fn(&Path);

/// What is no file, and whether a reset can take it away.
const LAID: [(&str, Lay, bool); 4] = [
    (
        "a pipe",
        |at| rustix::fs::mknodat(CWD, at, FileType::Fifo, Mode::RWXU, 0).unwrap(),
        true,
    ),
    (
        "a link to nothing",
        |at| symlink("nothing", at).unwrap(),
        true,
    ),
    ("a link to a file", |at| symlink("other", at).unwrap(), true),
    ("a folder", |at| std::fs::create_dir(at).unwrap(), false),
];

/// A state folder in which something lies under this name, with a whole latch beside it.
fn laid(name: &str, lay: Lay) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_of(dir.path());
    std::fs::create_dir_all(&folder).unwrap();
    write(&folder.join("other"), &written("latch.json"));
    lay(&folder.join(name));
    (dir, folder)
}

/// Nobody wrote where a link points.
fn assert_untouched(folder: &Path, what: &str) {
    let other = std::fs::read(folder.join("other")).unwrap();
    assert_eq!(other, written("latch.json"), "{what}");
    assert!(!folder.join("nothing").exists(), "{what}");
}

#[test]
fn case_27_a_link_a_pipe_or_a_folder_as_latch_starts_latched_and_is_named_with_the_way_out() {
    waits_for_nobody(|| {
        let installation = installation();
        for (what, lay, goes) in LAID {
            let (dir, folder) = laid("latch.json", lay);
            let latch = folder.join("latch.json");
            let opened = StateFolder::open(dir.path(), &robot_id()).unwrap();
            let told = opened.files().latch_fault().unwrap();
            assert!(told.contains(&latch.display().to_string()), "{told}");
            assert!(told.contains("ctl reset"), "{what}: {told}");
            drop(opened);

            let came = start_on(&installation, dir.path());
            assert_eq!(came.run, RunState::Latched, "{what}");
            // Also a link to a whole latch says nothing of why.
            assert_eq!(came.cause, Some(StopCause::InternalFault), "{what}");
            let Answer::Refused { failed } = &came.arm else {
                panic!("{what}: {:?}", came.arm);
            };
            assert!(failed.contains(&"latched".to_owned()), "{what}: {failed:?}");
            let lies = latch.symlink_metadata().is_ok();
            if goes {
                assert!(matches!(came.reset, Answer::Done { .. }), "{what}");
                assert_eq!(
                    (came.run_after, lies),
                    (RunState::Disarmed, false),
                    "{what}"
                );
            } else {
                let Answer::Refused { failed } = &came.reset else {
                    panic!("{what}: {:?}", came.reset);
                };
                let told = failed.join(" ");
                assert!(told.contains("latch.json"), "{what}: {told}");
                assert!(told.contains("move it away by hand"), "{what}: {told}");
                assert_eq!((came.run_after, lies), (RunState::Latched, true), "{what}");
            }
            assert_untouched(&folder, what);
        }
    });
}

#[test]
fn case_26_a_link_a_pipe_or_a_folder_beside_the_latch_starts_free_and_no_estop_waits_for_it() {
    waits_for_nobody(|| {
        let installation = installation();
        for (what, lay, goes) in LAID {
            let (dir, folder) = laid("latch.json.new", lay);
            let setup = Setup::new(&installation, dir.path(), &[LOOK]);
            on_stage(setup, async |rig: &mut Rig| {
                rig.ready().await;
                assert_eq!(rig.run(), RunState::Disarmed, "{what}");
                let told = rig.does(&estop("one"));
                rig.enters(RunState::Latched).await;
                assert_eq!(told.contains("latched and on disk"), goes, "{what}: {told}");
            });
            let latch = folder.join("latch.json");
            let file = latch.symlink_metadata().is_ok_and(|there| there.is_file());
            assert_eq!(file, goes, "{what}");
            let left = folder.join("latch.json.new").symlink_metadata();
            assert_eq!(left.is_ok(), !goes, "{what}");
            assert_untouched(&folder, what);
        }
    });
}
