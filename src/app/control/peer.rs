//! Judges the process behind a connection by what the kernel says of it.

use std::fmt;
use std::os::unix::net::UnixStream;

use super::speaker::Speaker;

/// Generations that are walked up. A deeper chain is taken for a child: refuse when in doubt.
const GENERATIONS_MAX: u32 = 64;

/// The process behind a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    /// Its user; the greatest number when the kernel does not say.
    pub(super) uid: u32,
    /// Its process; 0 when the kernel does not say.
    pub(super) pid: i32,
    /// Whether it descends from this process. In doubt it does.
    pub(super) is_child: bool,
}

impl Peer {
    /// Asks the kernel who is behind `stream`. Of a process outside this PID namespace the kernel
    /// gives no number: it counts as a child, which may still stop the robot.
    pub(super) fn of(stream: &UnixStream) -> Self {
        // A number of 0 comes as an error or as 0, as the optimizer likes: neither is trusted.
        let told = rustix::net::sockopt::socket_peercred(stream).ok();
        let own = rustix::process::getpid().as_raw_nonzero().get();
        Self::judged(
            told.map(|told| (told.uid.as_raw(), told.pid.as_raw_nonzero().get())),
            own,
        )
    }

    /// Returns who it is for the record.
    pub(super) fn speaker(self) -> Speaker {
        Speaker::Process {
            pid: self.pid,
            uid: self.uid,
            is_child: self.is_child,
        }
    }

    fn judged(told: Option<(u32, i32)>, own: i32) -> Self {
        match told {
            Some((uid, pid)) if pid > 0 => Self {
                uid,
                pid,
                is_child: descends_from(pid, own, parent_of),
            },
            Some(_) | None => Self {
                uid: u32::MAX,
                pid: 0,
                is_child: true,
            },
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.speaker().fmt(f)
    }
}

/// Returns whether `pid` is a strict descendant of `ancestor`. A chain that cannot be followed to
/// the first process counts as one.
fn descends_from(pid: i32, ancestor: i32, parent: impl Fn(i32) -> Option<i32>) -> bool {
    let mut current = pid;
    for _ in 0..GENERATIONS_MAX {
        match parent(current) {
            Some(next) if next == ancestor => return true,
            // 0 is the parent of the first process of a namespace: the chain is complete.
            Some(0) => return false,
            Some(next) => current = next,
            None => return true,
        }
    }
    true
}

#[expect(
    clippy::disallowed_methods,
    reason = "app opens the outside world; /proc names parents"
)]
fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so the fields are counted after the last one.
    let after = stat.rsplit_once(')')?.1;
    after.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_is_told_and_doubt_counts_as_descent() {
        let family = |pid| match pid {
            30 => Some(20),
            20 => Some(10),
            10 => Some(1),
            1 => Some(0),
            77 => Some(77),
            _ => None,
        };
        assert!(descends_from(30, 10, family), "a grandchild");
        assert!(descends_from(20, 10, family), "a child");
        assert!(!descends_from(10, 20, family), "a parent");
        assert!(!descends_from(1, 20, family), "the first process");
        assert!(descends_from(99, 10, family), "a process that is gone");
        assert!(descends_from(77, 10, family), "a chain without end");
    }

    #[test]
    fn this_process_is_no_child_of_itself() {
        let (a, _b) = UnixStream::pair().unwrap();
        let peer = Peer::of(&a);
        assert_eq!(u32::try_from(peer.pid).unwrap(), std::process::id());
        assert!(!peer.is_child);
    }

    #[test]
    fn whoever_the_kernel_does_not_name_counts_as_a_child() {
        for told in [None, Some((0, 0)), Some((0, -1))] {
            let peer = Peer::judged(told, 1);
            assert!(peer.is_child, "{told:?}");
            assert_eq!(peer.to_string(), "process outside this PID namespace");
        }
    }
}
