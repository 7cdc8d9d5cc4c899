//! The state folder of one robot: lock, latch, marker of an unclean end, control socket, audit.
//!
//! Layout: `<state>/robots/<id>/{lock, latch.json, armed.json, control.sock, audit/}`. What lies
//! here decides whether a robot may move after a restart, so it must not lie where an agent writes.
//!
//! Invariants: one process holds the lock of a robot; a latch file that exists latches, whatever it
//! holds; files are replaced by rename and synced with their folder, so that a power cut leaves the
//! old or the new.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::exit::AppError;
use crate::terms::{RobotId, StopCause};

/// A file of the state folder is a few lines; more is not ours.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The latch on disk.
const LATCH: &str = "latch.json";
/// The marker of an armed robot.
const ARMED: &str = "armed.json";

/// Neither follows a link nor waits for the other end of a pipe.
const PLAIN: i32 = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .bits()
    .cast_signed();

/// Robots whose folders are looked at when no id was given.
const ROBOTS_MAX: usize = 64;

/// The state folder of one robot, locked.
#[derive(Debug)]
pub(super) struct StateFolder {
    files: StateFiles,
    /// Holds the lock while it lives.
    _lock: File,
}

/// The files of a state folder. Only the process that holds its lock writes them; copies may go to the
/// threads that do so when everything else is broken.
#[derive(Debug, Clone)]
pub(super) struct StateFiles {
    root: PathBuf,
}

/// What `latch.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LatchNote {
    schema: u32,
    cause: StopCause,
    epoch: u32,
    /// Seconds since 1970, for people.
    at_unix_s: u64,
}

impl StateFolder {
    /// Opens the folder of a robot, makes it when it is missing, and takes its lock.
    ///
    /// # Errors
    /// [`AppError::SecondInstance`] when another process holds it, [`AppError::State`] when the
    /// folder cannot be made or written.
    pub(super) fn open(state: &Path, robot: &RobotId) -> Result<Self, AppError> {
        let root = robot_folder(state, robot);
        let bad = |error: &io::Error| AppError::State {
            folder: root.display().to_string(),
            problem: error.to_string(),
            hint: "give a folder that this user can write with --state or OCTOS_EDGE_STATE"
                .to_owned(),
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o750)
            .create(&root)
            .map_err(|error| bad(&error))?;
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o640)
            .custom_flags(PLAIN)
            .open(root.join("lock"))
            .map_err(|error| bad(&error))?;
        if !lock.metadata().is_ok_and(|told| told.is_file()) {
            return Err(bad(&io::Error::other("`lock` is no regular file")));
        }
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let pid = match (&mut lock).take(32).read_to_string(&mut text) {
                    Ok(_) => text.trim().parse().ok(),
                    Err(_) => None,
                };
                return Err(AppError::SecondInstance {
                    robot: robot.to_string(),
                    pid,
                });
            }
            Err(error) => return Err(bad(&error.into())),
        }
        lock.set_len(0).map_err(|error| bad(&error))?;
        write!(lock, "{}", std::process::id()).map_err(|error| bad(&error))?;
        Ok(Self {
            files: StateFiles { root },
            _lock: lock,
        })
    }

    /// Returns the files.
    pub(super) fn files(&self) -> &StateFiles {
        &self.files
    }
}

impl StateFiles {
    /// Returns the files of a folder that is looked at only: whoever has no lock writes none of them.
    #[cfg(feature = "dora")]
    pub(super) fn seen(robot_folder: PathBuf) -> Self {
        Self { root: robot_folder }
    }

    /// Returns the folder of the audit.
    #[cfg(feature = "dora")]
    pub(super) fn audit(&self) -> PathBuf {
        audit_folder(&self.root)
    }

    /// Returns the path of the control socket.
    #[cfg(feature = "dora")]
    pub(super) fn socket(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    /// Returns the cause of the latch on disk, `None` when there is none.
    ///
    /// A latch file that cannot be read is a latch, with cause [`StopCause::InternalFault`].
    pub(super) fn latched(&self) -> Option<StopCause> {
        match self.latch_note() {
            Ok(note) => note.map(|note| note.cause),
            Err(_) => Some(StopCause::InternalFault),
        }
    }

    /// Returns what is wrong with a latch file that cannot be read, with the way out; `None` when
    /// nothing is.
    #[cfg(feature = "dora")]
    pub(super) fn latch_fault(&self) -> Option<String> {
        let why = self.latch_note().err()?;
        Some(format!(
            "{} cannot be read: {why}; the robot is latched: look at it, then `octos-edge ctl reset`",
            self.root.join(LATCH).display()
        ))
    }

    fn latch_note(&self) -> io::Result<Option<LatchNote>> {
        match read_bounded(&self.root.join(LATCH)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
        }
    }

    /// Writes the latch and syncs it.
    ///
    /// # Errors
    /// When the disk refuses; the latch word in memory stands all the same.
    pub(super) fn persist_latch(
        &self,
        cause: StopCause,
        epoch: u32,
        at_unix_s: u64,
    ) -> io::Result<()> {
        let note = LatchNote {
            schema: 1,
            cause,
            epoch,
            at_unix_s,
        };
        self.replace(LATCH, &serde_json::to_vec_pretty(&note)?)
    }

    /// Removes the latch and syncs the folder.
    ///
    /// # Errors
    /// When the disk refuses: the robot stays latched.
    pub(super) fn clear_latch(&self) -> io::Result<()> {
        self.remove(LATCH)
    }

    /// Returns whether the last run ended while armed.
    pub(super) fn unclean(&self) -> bool {
        self.root.join(ARMED).symlink_metadata().is_ok()
    }

    /// Marks that the robot is about to be armed, and syncs.
    ///
    /// # Errors
    /// When the disk refuses: the robot must not be armed.
    pub(super) fn mark_armed(&self, who: &str) -> io::Result<()> {
        let note = serde_json::json!({ "schema": 1, "who": who, "pid": std::process::id() });
        self.replace(ARMED, note.to_string().as_bytes())
    }

    /// Removes the mark.
    ///
    /// # Errors
    /// When the disk refuses: the next start will take this end for an unclean one.
    pub(super) fn clear_armed(&self) -> io::Result<()> {
        self.remove(ARMED)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temp = self.root.join(format!("{name}.new"));
        #[cfg(test)]
        death::begins(name)?;
        let mut file = fresh(&temp)?;
        #[cfg(test)]
        death::may_come(name)?;
        file.write_all(bytes)?;
        #[cfg(test)]
        death::may_come(name)?;
        file.sync_all()?;
        #[cfg(test)]
        death::may_come(name)?;
        std::fs::rename(&temp, self.root.join(name))?;
        #[cfg(test)]
        death::may_come(name)?;
        self.sync_folder()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        #[cfg(test)]
        death::begins(name)?;
        match std::fs::remove_file(self.root.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            // A folder of that name: only a person can have made it.
            Err(error) => Err(io::Error::new(
                error.kind(),
                format!("{name}: {error}: move it away by hand"),
            )),
            Ok(()) => {
                #[cfg(test)]
                death::may_come(name)?;
                self.sync_folder()
            }
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        OpenOptions::new().read(true).open(&self.root)?.sync_all()
    }
}

/// Returns the folder of one robot below the state folder.
pub(super) fn robot_folder(state: &Path, robot: &RobotId) -> PathBuf {
    state.join("robots").join(robot.as_str())
}

/// Returns the audit folder below the folder of one robot.
pub(super) fn audit_folder(robot_folder: &Path) -> PathBuf {
    robot_folder.join("audit")
}

/// Returns the robots that have a folder, whether their node lives or not.
pub(super) fn robots_in(state: &Path) -> Vec<RobotId> {
    let mut robots: Vec<RobotId> = std::fs::read_dir(state.join("robots"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| RobotId::parse(entry.file_name().to_str()?).ok())
        .take(ROBOTS_MAX)
        .collect();
    robots.sort();
    robots
}

/// Makes a file that is written from its beginning. What lies there and is no regular file makes room: a
/// latch must not wait for the other end of a pipe, nor go where a link points.
fn fresh(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        std::fs::remove_file(path)?;
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o640)
        .custom_flags(PLAIN)
        .open(path)
}

fn read_bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(PLAIN)
        .open(path)
        .map_err(|error| {
            if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
                io::Error::other("it is a link, which nobody follows")
            } else {
                error
            }
        })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Lets a write end between two of its steps, as when the process is killed there.
#[cfg(test)]
pub(super) mod death {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::rc::Rc;

    /// Sees each step of a write or a removal of the file of this name before it is done.
    type Watch = Rc<dyn Fn(&str) -> io::Result<()>>;

    thread_local! {
        static STEPS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
        static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    }

    /// Shows every step of this thread to `watch` from now on.
    #[cfg(feature = "dora")]
    pub(in crate::app) fn watch(watch: Option<Watch>) {
        WATCH.set(watch);
    }

    pub(super) fn begins(name: &str) -> io::Result<()> {
        let watch = WATCH.with_borrow(Clone::clone);
        watch.map_or(Ok(()), |watch| watch(name))
    }

    /// After so many steps of this thread every further one fails; `None`: none does.
    pub(in crate::app) fn after(steps: Option<u32>) {
        STEPS_LEFT.set(steps);
    }

    pub(super) fn may_come(name: &str) -> io::Result<()> {
        begins(name)?;
        match STEPS_LEFT.get() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("killed")),
            Some(left) => {
                STEPS_LEFT.set(Some(left - 1));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path) -> Result<StateFolder, AppError> {
        StateFolder::open(dir, &RobotId::parse("rover-1").unwrap())
    }

    #[test]
    fn case_67_a_second_holder_of_a_robot_is_refused_and_names_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = open(dir.path()).unwrap();
        let error = open(dir.path()).unwrap_err();
        assert_eq!(error.exit(), super::super::exit::Exit::SecondInstance);
        assert!(
            error.to_string().contains(&std::process::id().to_string()),
            "{error}"
        );
        drop(first);
        assert!(open(dir.path()).is_ok());
    }

    #[test]
    fn latch_survives_a_restart_and_is_gone_after_a_reset() {
        let dir = tempfile::tempdir().unwrap();
        let folder = open(dir.path()).unwrap();
        assert_eq!(folder.files().latched(), None);
        folder
            .files()
            .persist_latch(StopCause::OperatorStop, 3, 0)
            .unwrap();
        drop(folder);
        let folder = open(dir.path()).unwrap();
        let folder = folder.files();
        assert_eq!(folder.latched(), Some(StopCause::OperatorStop));
        folder.clear_latch().unwrap();
        assert_eq!(folder.latched(), None);
    }

    #[test]
    fn case_27_a_latch_file_that_cannot_be_read_latches() {
        let dir = tempfile::tempdir().unwrap();
        let folder = open(dir.path()).unwrap();
        let folder = folder.files();
        let whole = serde_json::to_vec(&LatchNote {
            schema: 1,
            cause: StopCause::Overspeed,
            epoch: 9,
            at_unix_s: 0,
        })
        .unwrap();
        for end in 0..whole.len() {
            folder.replace("latch.json", &whole[..end]).unwrap();
            assert_eq!(
                folder.latched(),
                Some(StopCause::InternalFault),
                "cut at {end}"
            );
        }
        folder.replace("latch.json", &[0xff, 0xfe]).unwrap();
        assert_eq!(folder.latched(), Some(StopCause::InternalFault));
        folder.clear_latch().unwrap();
        std::fs::create_dir(folder.root.join("latch.json")).unwrap();
        assert_eq!(folder.latched(), Some(StopCause::InternalFault));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "somebody else's file")]
    fn a_lock_that_is_a_link_or_a_pipe_is_refused_by_name_and_the_file_behind_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let root = robot_folder(dir.path(), &RobotId::parse("rover-1").unwrap());
        std::fs::create_dir_all(&root).unwrap();
        let victim = dir.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, root.join("lock")).unwrap();
        assert!(matches!(open(dir.path()), Err(AppError::State { .. })));
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        std::fs::remove_file(root.join("lock")).unwrap();
        let name = std::ffi::CString::new(root.join("lock").to_str().unwrap()).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            name.as_c_str(),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let Err(AppError::State { problem, .. }) = open(dir.path()) else {
            panic!("a pipe is no lock");
        };
        assert!(problem.contains("`lock`"), "{problem}");
    }

    #[test]
    fn an_end_while_armed_is_seen_by_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let folder = open(dir.path()).unwrap();
        assert!(!folder.files().unclean());
        folder.files().mark_armed("ann").unwrap();
        drop(folder);
        let folder = open(dir.path()).unwrap();
        let folder = folder.files();
        assert!(folder.unclean());
        folder.clear_armed().unwrap();
        assert!(!folder.unclean());
    }
}
