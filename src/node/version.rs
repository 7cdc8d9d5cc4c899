//! Which dora the daemon is that started this process, asked before anything else is said to it.
//!
//! dora's own check lets a daemon of 1.0 start a node of 1.1, and one before 1.0 drops the connection at
//! the first word. What passes between node and daemon is a row of numbers without names, and no pair but
//! the pinned one was ever tried with a robot: a word about a failed node that is read wrong would be worse
//! than none. So a node asks first. It registers as a version a hair older than its own: that fits a daemon
//! of the same or a newer release, which says nothing, and no older one, which refuses and names itself.
//!
//! Whatever else goes wrong here is left to the library to say: silence, a closed connection and an answer
//! of another kind are no verdict.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use dora_message::common::Timestamped;
use dora_message::daemon_to_node::DaemonReply;
use dora_message::metadata::Metadata;
use dora_message::node_to_daemon::{DaemonRequest, NodeRegisterRequest};
use dora_node_api::dora_core::uhlc::HLC;
use serde_json::json;

use super::NodeError;

/// The version of dora that this build speaks; the manifest pins it.
pub(super) const DORA_VERSION: &str = "1.1.0";
/// What stands for the version of a daemon whose config is that of a release before 1.0.
const BEFORE_1_0: &str = "0.5 or older";
/// The daemon is on this machine and answers in a millisecond; a board under load may take a thousand
/// times as long.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Longest answer that is read, bytes: a sentence of a daemon has below 200.
const ANSWER_BYTES_MAX: usize = 4096;
/// What stands before the daemon's own version in its refusal.
const ITS_VERSION: &str = "expected message format v";

/// Judges the daemon by the config that it gave this process in `DORA_NODE_CONFIG`, and by its own word.
///
/// # Errors
/// [`NodeError::Version`] when it is another dora.
pub(super) fn ask_version(config: &str) -> Result<(), NodeError> {
    if is_before_1_0(config) {
        return Err(other(BEFORE_1_0.to_owned()));
    }
    let Some(daemon) = Daemon::of(config) else {
        return Ok(());
    };
    match daemon.refusal(ANSWER_WITHIN) {
        Some(said) => version_in(&said).map_or(Ok(()), |theirs| Err(other(theirs.to_owned()))),
        None => Ok(()),
    }
}

/// Returns the version that a daemon names in a refusal of dora's own words.
pub(super) fn version_in(said: &str) -> Option<&str> {
    let (_, after) = said.split_once(ITS_VERSION)?;
    let version = after
        .split(|c: char| c.is_whitespace() || c == ',')
        .next()?;
    (!version.is_empty()).then_some(version)
}

fn other(theirs: String) -> NodeError {
    NodeError::Version {
        ours: DORA_VERSION,
        theirs,
    }
}

/// Whether the config is one of a dora before 1.0: it counted no restarts.
fn is_before_1_0(config: &str) -> bool {
    top_level(config, "run_config").is_some() && top_level(config, "restart_count").is_none()
}

/// Returns what stands behind a key at the margin of a config. dora writes it as YAML, one key a line.
fn top_level<'a>(config: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = config.lines();
    lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(bare))
}

fn bare(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

/// Where the daemon listens for this node, and what the node is called there.
#[derive(Debug, PartialEq, Eq)]
struct Daemon<'a> {
    address: SocketAddr,
    dataflow: &'a str,
    node: &'a str,
}

impl<'a> Daemon<'a> {
    /// Reads it from a config; `None` when the config has another shape.
    fn of(config: &'a str) -> Option<Self> {
        let (_, after) = config.split_once("\ndaemon_communication:")?;
        let mut lines = after.lines().map(str::trim_start);
        let address = lines.find_map(|line| line.strip_prefix("socket_addr:"))?;
        Some(Self {
            address: bare(address).parse().ok()?,
            dataflow: top_level(config, "dataflow_id")?,
            node: top_level(config, "node_id")?,
        })
    }

    /// Registers as a version a hair older than ours. Returns the words of a daemon that refuses.
    fn refusal(&self, within: Duration) -> Option<String> {
        let frame = self.request()?;
        let mut stream = TcpStream::connect_timeout(&self.address, within).ok()?;
        stream.set_read_timeout(Some(within)).ok()?;
        stream.set_write_timeout(Some(within)).ok()?;
        stream.write_all(&frame).ok()?;
        let mut length = [0; 8];
        stream.read_exact(&mut length).ok()?;
        let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
        if length > ANSWER_BYTES_MAX {
            return None;
        }
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer).ok()?;
        match dora_message::decode(&answer) {
            Ok(DaemonReply::Result(Err(said))) => Some(said),
            Ok(_) | Err(_) => None,
        }
    }

    /// The request, behind its length as dora's frames are.
    fn request(&self) -> Option<Vec<u8>> {
        // The library makes this value with its own version only, so it is read instead.
        let register: NodeRegisterRequest = serde_json::from_value(json!({
            "dataflow_id": self.dataflow,
            "node_id": self.node,
            "dora_version": format!("{DORA_VERSION}-0"),
            "metadata_version": Metadata::CURRENT_VERSION,
        }))
        .ok()?;
        let body = dora_message::encode(&Timestamped {
            inner: DaemonRequest::Register(register),
            timestamp: HLC::default().new_timestamp(),
        })
        .ok()?;
        let mut frame = u64::try_from(body.len()).ok()?.to_le_bytes().to_vec();
        frame.extend(body);
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// As daemons of 1.0.1 and 1.1.0 write it.
    const CONFIG: &str = "\
dataflow_id: 01a23146-6e45-71f0-acaa-47612db300e9
node_id: octos_edge
run_config:
  inputs:
    tick: dora/timer/secs/1
  outputs:
  - cmd_request
daemon_communication: !Tcp
  socket_addr: 127.0.0.1:43545
dataflow_descriptor:
  nodes:
  - id: octos_edge
    env:
      socket_addr: 127.0.0.1:1
    restart_policy: never
    max_restarts: 0
    deploy: null
  health_check_interval: null
dynamic: false
write_events_to: null
restart_count: 0
output_routing:
  cmd_request:
    daemon_only: false
";

    /// As a daemon of 0.5.0 writes it.
    const OLD_CONFIG: &str = "\
dataflow_id: 01a23146-7062-708a-ba3c-9bed62527460
node_id: octos_edge
run_config:
  inputs:
    tick: dora/timer/secs/1
  outputs:
  - cmd_request
daemon_communication: !Tcp
  socket_addr: 127.0.0.1:42861
dataflow_descriptor:
  nodes:
  - id: octos_edge
    restart_policy: never
    _unstable_deploy: null
  communication:
    _unstable_local: Tcp
    _unstable_remote: tcp
dynamic: false
write_events_to: null
";

    /// What a daemon of 1.0.1 answers.
    const REFUSAL: &str = "version mismatch: message format v1.1.0-0 is not compatible with \
                           expected message format v1.0.1";

    /// Far longer than a loopback needs: it only ends a test that hangs.
    const GUARD: Duration = Duration::from_secs(20);

    /// Takes one request and gives one answer; none at all for `None`.
    fn daemon(answer: Option<DaemonReply>) -> (String, Receiver<NodeRegisterRequest>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut length = [0; 8];
            stream.read_exact(&mut length).unwrap();
            let length = usize::try_from(u64::from_le_bytes(length)).unwrap();
            let mut request = vec![0; length];
            stream.read_exact(&mut request).unwrap();
            if let Some(answer) = answer {
                let body = dora_message::encode(&answer).unwrap();
                let length = u64::try_from(body.len()).unwrap().to_le_bytes();
                stream.write_all(&length).unwrap();
                stream.write_all(&body).unwrap();
            }
            let request: Timestamped<DaemonRequest> = dora_message::decode(&request).unwrap();
            let DaemonRequest::Register(register) = request.inner else {
                panic!("{:?}", request.inner);
            };
            sender.send(register).unwrap();
        });
        (CONFIG.replace("127.0.0.1:43545", &at.to_string()), asked)
    }

    #[test]
    fn case_39_a_daemon_of_1_0_is_refused_and_both_versions_are_named() {
        let (config, asked) = daemon(Some(DaemonReply::Result(Err(REFUSAL.to_owned()))));
        let error = ask_version(&config).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("1.1.0") && text.contains("1.0.1"), "{text}");
        assert!(error.hint().contains("dora-rs-cli==1.1.0"), "{text}");
        asked.recv_timeout(GUARD).unwrap();
    }

    #[test]
    fn case_39_a_daemon_of_0_5_is_refused_without_a_word_to_it() {
        let error = ask_version(OLD_CONFIG).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("1.1.0") && text.contains("0.5 or older"),
            "{text}"
        );
    }

    #[test]
    fn a_daemon_of_our_own_version_accepts_what_it_is_asked_with() {
        let (config, asked) = daemon(Some(DaemonReply::Result(Ok(()))));
        assert_eq!(ask_version(&config), Ok(()));
        // The check is that of the library, in the version that is pinned.
        assert_eq!(asked.recv_timeout(GUARD).unwrap().check_version(), Ok(()));
    }

    #[test]
    fn no_answer_another_answer_and_another_shape_are_no_verdict() {
        for answer in [
            None,
            Some(DaemonReply::Empty),
            Some(DaemonReply::Result(Err("no such node".to_owned()))),
        ] {
            let (config, asked) = daemon(answer);
            assert_eq!(ask_version(&config), Ok(()));
            asked.recv_timeout(GUARD).unwrap();
        }
        for config in ["", "{}", "restart_count: 0", "\u{0}\u{1}"] {
            assert_eq!(ask_version(config), Ok(()), "{config}");
        }
    }

    #[test]
    fn a_daemon_that_hangs_is_waited_for_and_no_longer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap().to_string();
        let config = CONFIG.replace("127.0.0.1:43545", &at);
        let daemon = Daemon::of(&config).unwrap();
        assert_eq!(daemon.refusal(Duration::from_millis(20)), None);
    }

    #[test]
    fn the_address_is_that_of_the_daemon_and_of_nothing_else_in_the_config() {
        let expected = Daemon {
            address: "127.0.0.1:43545".parse().unwrap(),
            dataflow: "01a23146-6e45-71f0-acaa-47612db300e9",
            node: "octos_edge",
        };
        assert_eq!(Daemon::of(CONFIG), Some(expected));
    }
}
