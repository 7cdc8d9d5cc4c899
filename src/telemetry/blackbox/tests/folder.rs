//! A folder of the machine in which somebody laid something else than a file.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};

use super::*;

fn open(dir: &Path) -> io::Result<BlackBox> {
    let limits = (SMALL, "b00f".to_owned());
    BlackBox::open(Box::new(Folder::new(dir)), limits, TIMES)
}

/// Lays something at a path.
type Lay = fn(&Path);

const LAID: [(&str, Lay); 4] = [
    ("a pipe", |at| {
        rustix::fs::mknodat(CWD, at, FileType::Fifo, Mode::RWXU, 0).unwrap();
    }),
    ("a folder", |at| std::fs::create_dir(at).unwrap()),
    ("a link to nothing", |at| symlink("nothing", at).unwrap()),
    ("a link to a file", |at| {
        symlink("/etc/hostname", at).unwrap();
    }),
];

#[test]
fn something_else_than_a_file_is_named_waited_for_by_nobody_and_followed_nowhere() {
    for (what, lay) in LAID {
        for name in ["head", "reserve", "safety-000001.jsonl"] {
            let dir = tempfile::tempdir().unwrap();
            lay(&dir.path().join(name));
            let error = open(dir.path()).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{what}: {error}");
            assert!(!dir.path().join("nothing").exists(), "{what}");
            let kinds = std::fs::symlink_metadata(dir.path().join(name)).unwrap();
            assert!(!kinds.is_file(), "{what} as {name} stays as it is");
        }
    }
}

#[test]
fn a_reader_of_such_a_folder_does_not_wait_either() {
    for (what, lay) in LAID {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path()).unwrap().finish().unwrap();
        let name = "trace-000001.jsonl";
        std::fs::remove_file(dir.path().join(name)).unwrap();
        lay(&dir.path().join(name));
        let found = verify_records(dir.path(), &[]).unwrap();
        let told = found.faults.iter().any(|fault| fault.file == name);
        assert!(!found.ok && told, "{what}: {:#?}", found.faults);
    }
}
