//! A higher tier for as long as a terminal stays open.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use octos_edge::sim::JournalEntry;
use octos_edge::terms::{ElevationEnd, Fact, RunState, StopCause, Tier};

use crate::rig::{
    ARM, DRIVE, Run, Site, Trail, command, enters, is_motion, is_standstill, stop_for,
};

/// A call that asks a person, who answers once the tier is raised.
const FIRST: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.1, angular = 0.0 } }"#;

/// Makes a site whose drive to a point is above the ceiling, and whose other drives ask a person too.
fn site() -> Site {
    let site = Site::with_own_files();
    let robot = "tiers/robots/rover-sim.toml";
    let was = "tier = \"safe_motion\"               # tests of the gate";
    site.edit(
        robot,
        was,
        "tier = \"full_actuation\"            # tests of the gate",
    );
    let never = "approval = { mode = \"never\" }";
    let asks = "approval = { mode = \"per_call\", ttl_s = 60 }";
    site.edit("tiers/safe_motion.toml", never, asks);
    site
}

/// Starts `ctl elevate` and waits until it tells that the tier is raised.
fn elevate(site: &Site) -> Child {
    let mut child = command(site)
        .args([
            "ctl", "elevate", "--json", "--who", "bob", "--why", "a test",
        ])
        .args(["--tier", "full_actuation", "--tool", "rover_go_to_pose"])
        .args(["--calls", "2", "--for", "10min"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    for part in [r#""answer":"elevation","news":"given""#, r#""who":"bob""#] {
        assert!(line.contains(part), "no `{part}` in {line}");
    }
    // The reading end stays open, as that of a terminal.
    child.stdout = Some(out.into_inner());
    child
}

#[test]
fn case_70_a_killed_terminal_ends_its_elevation_and_the_drive_above_the_ceiling_is_stopped() {
    let site = site();
    let events = format!("answers = [\"silent\", \"approve\"]\n{ARM}");
    let expect = "refused = []\nstops = []\nend_state = \"armed\"\nat_rest = true";
    let scenario = site.scenario(&events, &[FIRST, DRIVE], expect);
    let mut run = Run::sim(&site, &scenario);
    let asked = run.wait_fact("a question", |f| matches!(f, Fact::ApprovalAsked { .. }));
    let Fact::ApprovalAsked { request, .. } = asked else {
        panic!("{asked:?}");
    };
    let mut terminal = elevate(&site);
    let status = command(&site).args(["ctl", "status"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(
        status.contains("raised    1 by bob: full_actuation"),
        "{status}"
    );
    let approve = ["ctl", "approve", request.as_str(), "--why", "a test"];
    let approved = command(&site).args(approve).output().unwrap();
    assert_eq!(approved.status.code(), Some(0), "{approved:?}");

    run.wait_fact("one call of it", |f| {
        matches!(f, Fact::ElevationUsed { .. })
    });
    run.wait_fact(
        "the drive",
        |f| matches!(f, Fact::RobotState { speed: Some(speed), .. } if *speed > 0.1),
    );
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    let ended = run.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);

    let mut trail = Trail::of(site.facts());
    trail.then("the word", |f| {
        matches!(f, Fact::ElevationGiven { who, tier: Tier::FullActuation, calls: 2, .. }
            if who == "bob")
    });
    trail.then("one call of it", |f| {
        matches!(f, Fact::ElevationUsed { left: 1, .. })
    });
    let mut since = Trail::of(trail.rest().to_vec());
    let end = since.then("its end", |f| matches!(f, Fact::ElevationEnded { .. }));
    let lost = ElevationEnd::OperatorLost;
    assert!(
        matches!(end, Fact::ElevationEnded { cause, left: 1, .. } if cause == lost),
        "{end:?}"
    );
    since.never("a motion", is_motion);
    since.then("the stop", stop_for(StopCause::Deadline));
    since.then("standstill", is_standstill);
    since.then("armed at the old tier", enters(RunState::Armed));
    trail.then("the answer", |f| {
        matches!(f, Fact::Finished { tool, outcome, detail, .. } if tool == "rover_go_to_pose"
            && outcome == "cancelled" && detail.contains("the elevation"))
    });
    let mut journal = Trail::of(site.journal());
    journal.then(
        "the drive",
        |e| matches!(e, JournalEntry::Verb { verb, .. } if verb.ends_with("go_to_pose")),
    );
    journal.then("rest", |e| {
        matches!(e, JournalEntry::Rest { arrived: false, .. })
    });
}
