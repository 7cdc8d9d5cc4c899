//! The way out of each refusal: one table, shown by `ctl` and in its `--json` as `hint`.

/// What a failed check begins with, and what to do about it.
const REMEDIES: [(&str, &str); 42] = [
    (
        "wrong run state",
        "`octos-edge ctl status` names the state: arming needs a disarmed robot (armed already: \
         `octos-edge ctl disarm` first), a reset a latched or stopped one",
    ),
    (
        "latched",
        "`octos-edge ctl reset --why …`, once the robot has been looked at",
    ),
    (
        "a stop is under way",
        "wait for standstill, then say it again",
    ),
    (
        "robot not heard",
        "start the robot's node, or mend its outputs in the dataflow",
    ),
    (
        "advert not seen",
        "wait for the robot's first advert; its node must send `capabilities`",
    ),
    (
        "state missing or stale",
        "wait for the robot's state; its node must send `state`",
    ),
    (
        "no usable dead-man time",
        "set a dead-man time of at least 150 ms at the robot",
    ),
    (
        "somebody else holds control",
        "end the other controller, or let it release the robot",
    ),
    (
        "robot reports an emergency stop",
        "release the emergency stop at the robot itself",
    ),
    (
        "robot not at rest",
        "`octos-edge ctl stop`, then wait for standstill",
    ),
    (
        "board was overloaded",
        "take load off the board; the check passes after 30 s without a late tick",
    ),
    (
        "black box cannot be written",
        "make room on the disk of the state folder, or mend its permissions; it is tried again every \
         second",
    ),
    ("no time to arm for", "give a time with --for-s, 1 to 3600"),
    (
        "position or speed unknown",
        "the robot's `state` must hold what its robot file watches",
    ),
    (
        "this process is ending",
        "wait for its end, then start the dataflow again",
    ),
    (
        "the graph's timer stands still",
        "look after dora's coordinator, or start the dataflow again; the check passes after 10 s of ticks",
    ),
    (
        "robot outside its workspace",
        "bring the robot back by hand, at least half of margin_m inside every border",
    ),
    (
        "robot faster than",
        "stop what moves the robot; its state must report a speed below the ceiling",
    ),
    (
        "too many orders wait",
        "say it again in a second; a stop never waits for orders",
    ),
    (
        "the safety tick gave no answer",
        "`octos-edge ctl status`; if it does not answer, end the node",
    ),
    (
        "marker on disk",
        "make room on the disk of the state folder, or mend its permissions",
    ),
    (
        "latch on disk",
        "make room on the disk of the state folder, or mend its permissions",
    ),
    (
        "this node has no model",
        "give the node a model in its dataflow",
    ),
    (
        "no question",
        "`octos-edge ctl status` lists the questions that wait",
    ),
    (
        "the time of question",
        "the call was refused; the agent may ask again",
    ),
    (
        "the call of question",
        "the call has ended; the agent may ask again",
    ),
    (
        "`request` is empty",
        "`octos-edge ctl status` lists the questions that wait",
    ),
    ("the goal is empty", "`octos-edge ctl goal \"what to do\"`"),
    ("`who` is empty", "name yourself with --who"),
    ("`why` is empty", "give a reason with --why"),
    (
        "no operator armed the robot",
        "`octos-edge ctl arm --why … --for-s …` first: an elevation ends with the arming",
    ),
    (
        "no tool is named `",
        "`octos-edge tools` lists the tools of the robot file",
    ),
    ("no tool is named:", "name each with --tool"),
    ("`calls` is", "give a count of calls with --calls, 1 to 100"),
    ("`for_s` is", "give a time of 1 to 3600 seconds"),
    (
        "all 4 places for elevations are taken",
        "let one end, or close its terminal: `octos-edge ctl status` lists those that live",
    ),
    ("this connection holds", "say it on a connection of its own"),
    (
        "an elevation needs",
        "say it on a connection that stays open: `octos-edge ctl elevate`",
    ),
    (
        "layer `",
        "an elevation raises the tier; what the policy file refuses only that file can permit",
    ),
    (
        "process ",
        "say it from a terminal that the runtime did not start, in the same PID namespace",
    ),
    (
        "too many connections",
        "end other clients of the control socket; a stop gets through all the same",
    ),
    (
        "too many words",
        "pause between two words; a stop gets through all the same",
    ),
];

/// Returns the ways out of the failed checks, each once; empty when none is known.
pub(crate) fn remedies(failed: &[String]) -> String {
    let mut ways: Vec<&str> = Vec::new();
    for check in failed {
        let found = REMEDIES.iter().find(|(begin, _)| check.starts_with(begin));
        if let Some((_, way)) = found
            && !ways.contains(way)
        {
            ways.push(way);
        }
    }
    ways.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safety::FailedChecks;

    #[test]
    fn every_check_of_the_safety_room_has_a_way_out() {
        let names: Vec<_> = FailedChecks::of_bits(u32::MAX).names().collect();
        assert!(!names.is_empty());
        for name in names {
            assert_ne!(remedies(&[name.to_owned()]), "", "{name}");
        }
    }

    #[test]
    fn ways_out_stand_in_the_order_of_the_checks_and_each_once() {
        let failed = ["latched", "latch on disk: full", "marker on disk: full"];
        let text = remedies(&failed.map(str::to_owned));
        assert!(text.starts_with("`octos-edge ctl reset --why …`"), "{text}");
        assert_eq!(text.matches("make room").count(), 1);
        assert_eq!(remedies(&["nobody knows".to_owned()]), "");
    }
}
