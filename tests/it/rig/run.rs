//! A running process: started, listened to, and killed with all its nodes when a test ends early.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use octos_edge::terms::Fact;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{BINARY, Line, Site, is_start};

/// A wait that takes longer has failed. Ten times the longest that was seen.
const GUARD: Duration = Duration::from_secs(60);
/// Lines that a failure shows.
const SHOWN: usize = 80;

/// One dataflow at a time: the machine has two cores.
static TURN: Mutex<()> = Mutex::new(());

/// A process under test.
#[derive(Debug)]
pub(crate) struct Run {
    child: Child,
    lines: Receiver<Line>,
    out: Option<JoinHandle<String>>,
    seen: Vec<Line>,
    _turn: MutexGuard<'static, ()>,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it printed as its result.
    pub(crate) out: String,
    /// What it said meanwhile.
    pub(crate) lines: Vec<Line>,
}

impl Run {
    /// Starts `sim` for a scenario, with JSON logs down to each state of the robot.
    pub(crate) fn sim(site: &Site, scenario: &Path) -> Self {
        Self::start(site, &[OsStr::new("sim"), scenario.as_os_str()])
    }

    /// Starts any subcommand in the folder of a site.
    pub(crate) fn start(site: &Site, args: &[&OsStr]) -> Self {
        Self::start_with(site, args, &[])
    }

    /// Starts any subcommand with further variables.
    pub(crate) fn start_with(site: &Site, args: &[&OsStr], env: &[(&str, &Path)]) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = command(site)
            .args(args)
            .env("OCTOS_EDGE_LOG", "warn,octos_edge=debug")
            .envs(env.iter().copied())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines() {
                // A test that has failed listens no more.
                drop(sender.send(Line::read(&line.unwrap())));
            }
        });
        let mut stdout = child.stdout.take().unwrap();
        let out = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        Self {
            child,
            lines,
            out: Some(out),
            seen: Vec::new(),
            _turn: turn,
        }
    }

    /// Waits for the next line that fits.
    pub(crate) fn wait(&mut self, what: &str, fits: impl Fn(&Line) -> bool) -> Line {
        let until = Instant::now() + GUARD;
        loop {
            match self.next(until) {
                Ok(line) if fits(&line) => return line,
                Ok(_) => {}
                Err(why) => self.fail(&format!("{why:?} while waiting for: {what}")),
            }
        }
    }

    /// Waits until a line for each has come, in any order.
    pub(crate) fn wait_all(&mut self, what: &str, mut fits: Vec<&dyn Fn(&Line) -> bool>) {
        while !fits.is_empty() {
            let line = self.wait(what, |line| fits.iter().any(|fits| fits(line)));
            fits.retain(|fits| !fits(&line));
        }
    }

    /// Waits for the next fact that fits.
    pub(crate) fn wait_fact(&mut self, what: &str, fits: impl Fn(&Fact) -> bool) -> Fact {
        let line = self.wait(what, |line| line.tells(&fits));
        line.fact.unwrap()
    }

    /// Listens for a while, in which no line may fit.
    pub(crate) fn silent(&mut self, time: Duration, what: &str, fits: impl Fn(&Line) -> bool) {
        let until = Instant::now() + time;
        loop {
            match self.next(until) {
                Ok(line) if fits(&line) => self.fail(&format!("{what}: {line:?}")),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return,
                Err(why) => self.fail(&format!("{why:?} in a silence")),
            }
        }
    }

    /// Waits until the process has begun to drive its robot; returns the process ids of agent and
    /// rover.
    pub(crate) fn wait_moving(&mut self) -> (i32, i32) {
        let agent = self.wait_fact("the agent starts", is_start);
        let rover = self.wait_fact("an advert", |f| matches!(f, Fact::Advert { .. }));
        self.wait_fact(
            "the rover moves",
            |fact| matches!(fact, Fact::RobotState { speed: Some(speed), .. } if *speed > 0.1),
        );
        match (agent, rover) {
            (
                Fact::Started { pid: agent, .. },
                Fact::Advert {
                    pid: Some(rover), ..
                },
            ) => (raw(agent), raw(rover)),
            other => self.fail(&format!("no process ids: {other:?}")),
        }
    }

    /// Sends a signal to the process itself.
    pub(crate) fn signal(&self, what: Signal) {
        signal(raw(self.child.id()), what);
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Ended {
        let until = Instant::now() + GUARD;
        loop {
            match self.next(until) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(why) => self.fail(&format!("{why:?} while waiting for the end")),
            }
        }
        let code = self.child.wait().unwrap().code();
        Ended {
            code,
            out: self.out.take().unwrap().join().unwrap(),
            lines: self.seen.clone(),
        }
    }

    fn next(&mut self, until: Instant) -> Result<Line, RecvTimeoutError> {
        let left = until.saturating_duration_since(Instant::now());
        let line = self.lines.recv_timeout(left)?;
        self.seen.push(line.clone());
        Ok(line)
    }

    fn fail(&self, why: &str) -> ! {
        let from = self.seen.len().saturating_sub(SHOWN);
        let seen: Vec<String> = self
            .seen
            .iter()
            .skip(from)
            .map(|line| match &line.fact {
                Some(fact) => format!("{:>10} | {fact:?}", line.node),
                None => format!("{:>10} | {}", line.node, line.text),
            })
            .collect();
        panic!("{why}; the last lines were\n{}", seen.join("\n"));
    }
}

impl Drop for Run {
    /// Kills what is left: the process, then its nodes, which have process groups of their own.
    fn drop(&mut self) {
        let process = raw(self.child.id());
        let mut nodes = children(process);
        if let Ok(None) = self.child.try_wait() {
            // It may end by itself in this moment; what counts is that it is gone.
            let _gone = kill_process_group(pid(process), Signal::KILL);
            let _ended = self.child.wait();
        }
        self.seen.extend(self.lines.iter());
        nodes.extend(self.seen.iter().filter_map(Line::spawned));
        for node in nodes.into_iter().filter(|node| is_alive(*node)) {
            let _gone = kill_process_group(pid(node), Signal::KILL);
        }
    }
}

impl Ended {
    /// Returns the processes that dora started.
    pub(crate) fn nodes(&self) -> Vec<i32> {
        self.lines.iter().filter_map(Line::spawned).collect()
    }
}

/// Returns the command line of the binary for a site, without what the caller's environment says.
pub(crate) fn command(site: &Site) -> Command {
    let mut command = Command::new(BINARY);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let ours = text.starts_with("OCTOS_EDGE_") || text.starts_with("DORA_");
        if ours || name == "ROBOT_ID" || name == "STATE_DIRECTORY" {
            command.env_remove(name);
        }
    }
    command
        .current_dir(site.path(""))
        .env("OCTOS_EDGE_STATE", site.path("state"))
        .env("OCTOS_EDGE_LOG_FORMAT", "json");
    command
}

/// Sends a signal to a process.
pub(crate) fn signal(process: i32, what: Signal) {
    kill_process(pid(process), what).unwrap();
}

/// Returns whether a process lives and is one of this binary.
pub(crate) fn is_alive(process: i32) -> bool {
    std::fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|exe| exe == Path::new(BINARY))
}

/// Returns the children of a process that lives.
fn children(process: i32) -> BTreeSet<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let lists = tasks.into_iter().flatten().flatten();
    let lists = lists.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let ids = list.split_whitespace();
            ids.map(|id| id.parse().unwrap()).collect::<Vec<_>>()
        })
        .collect()
}

fn raw(process: u32) -> i32 {
    i32::try_from(process).unwrap()
}

fn pid(process: i32) -> Pid {
    Pid::from_raw(process).unwrap()
}
