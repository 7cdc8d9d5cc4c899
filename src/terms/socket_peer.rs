//! The process behind a word on the control socket, as records name it.

use serde::{Deserialize, Serialize};

/// Who said a word, by what the kernel says of the connection. What somebody calls himself stands beside
/// it, as `who` or `by`: that is his own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketPeer {
    /// Its process; 0 when it lies outside this PID namespace.
    pub pid: i32,
    /// Its user; the greatest number when the kernel does not say.
    pub uid: u32,
}

#[cfg(test)]
mod tests {
    use crate::terms::Fact;

    /// What people said, as releases without a process wrote it.
    const OLD: [&str; 6] = [
        r#"{"kind":"goal_begun","goal":1,"digest":"d","by":"ann"}"#,
        r#"{"kind":"goal_dropped","goal":1,"digest":"d","by":"ann","why":"stopped"}"#,
        r#"{"kind":"approval_ended","request":"1-a","outcome":"denied","who":"ann","why":"no"}"#,
        r#"{"kind":"elevation_given","elevation":1,"who":"ann","why":"w","tier":"full_actuation","tools":[],"calls":1,"for_s":1}"#,
        r#"{"kind":"order_done","order":"arm","who":"ann","why":"w","for_s":30}"#,
        r#"{"kind":"order_refused","order":"arm","who":"ann","failed":[]}"#,
    ];

    #[test]
    fn records_without_a_process_are_read_and_written_as_they_were_and_one_with_it_keeps_it() {
        for old in OLD {
            let fact: Fact = serde_json::from_str(old).unwrap();
            assert_eq!(serde_json::to_string(&fact).unwrap(), old);
            let new = old.replace('}', r#","peer":{"pid":4711,"uid":1000}}"#);
            let fact: Fact = serde_json::from_str(&new).unwrap();
            assert_eq!(serde_json::to_string(&fact).unwrap(), new);
        }
    }
}
