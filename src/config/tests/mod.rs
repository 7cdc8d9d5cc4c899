//! The shipped files load; broken ones say what is wrong, where, and what to do.

mod broken;
mod cases;
mod mutation;
pub(super) mod samples;

use super::{Board, PolicyFile, RobotFile, Scenario, Tiers, When};
use crate::terms::{Kind, Tier};

const OBSERVE: &str = include_str!("../../../tiers/observe.toml");
const SAFE_MOTION: &str = include_str!("../../../tiers/safe_motion.toml");
const FULL_ACTUATION: &str = include_str!("../../../tiers/full_actuation.toml");
const EMERGENCY_OVERRIDE: &str = include_str!("../../../tiers/emergency_override.toml");
const TIERS: [&str; 4] = [OBSERVE, SAFE_MOTION, FULL_ACTUATION, EMERGENCY_OVERRIDE];
const ROVER: &str = include_str!("../../../tiers/robots/rover-sim.toml");
const ROVER_FILE: &str = "tiers/robots/rover-sim.toml";
const BOARD: &str = include_str!("../../../boards/sim.toml");
const BOARD_FILE: &str = "boards/sim.toml";
const SCENARIO: &str = include_str!("../../../dataflows/scenarios/rover-gate.toml");
const SCENARIO_FILE: &str = "dataflows/scenarios/rover-gate.toml";
const FAULTS: &str = include_str!("../../../dataflows/scenarios/rover-faults-lost-stops.toml");
const FAULTS_FILE: &str = "dataflows/scenarios/rover-faults-lost-stops.toml";
const POLICY: &str = r#"schema = 1

[policy]
allow = ["group:robot:safe_motion", "=rover_stop"]
deny = ["rover_go_to_pose"]
"#;
const POLICY_FILE: &str = "octos-edge.toml";

fn tiers() -> Tiers {
    Tiers::parse(TIERS).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn the_shipped_tiers_load() {
    let tiers = tiers();
    let safe = tiers.of(Tier::SafeMotion);
    assert_eq!(safe.ceilings.get(&Kind::LinearSpeed), Some(&0.25));
    assert_eq!(
        tiers.of(Tier::EmergencyOverride).ceilings,
        tiers.of(Tier::FullActuation).ceilings
    );
    assert_eq!(tiers.of(Tier::Observe).lease, None);
}

#[test]
fn the_shipped_robot_loads_and_takes_what_it_lacks_from_its_tiers() {
    let rover = RobotFile::parse(ROVER_FILE, ROVER, &tiers()).unwrap_or_else(|f| panic!("{f}"));
    let names: Vec<&str> = rover.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.is_sorted());
    assert_eq!(names.len(), 10);
    let timeouts: Vec<u32> = ["robot_state", "rover_set_velocity", "rover_gripper_set"]
        .iter()
        .filter_map(|name| rover.tools.iter().find(|tool| tool.name.as_str() == *name))
        .map(|tool| tool.timeout_ms)
        .collect();
    assert_eq!(timeouts, [3_000, 30_000, 60_000]);
    let home = rover.workspace.map(|workspace| workspace.home);
    assert_eq!(home, Some([0.0, 0.0, 0.0]));
    assert_eq!(rover.stop.steps.len(), 2);
}

#[test]
fn the_shipped_board_scenario_and_a_policy_load() {
    let board = Board::parse(BOARD_FILE, BOARD).unwrap_or_else(|f| panic!("{f}"));
    assert_eq!(board.safety_tick_ms, 10);
    let policy = PolicyFile::parse(POLICY_FILE, POLICY).unwrap_or_else(|f| panic!("{f}"));
    assert_eq!(policy.layer.allow.map(|rules| rules.len()), Some(2));
    let scenario = Scenario::parse(SCENARIO_FILE, SCENARIO).unwrap_or_else(|f| panic!("{f}"));
    assert_eq!((scenario.turns.len(), scenario.events.len()), (4, 2));
    assert_eq!(
        scenario.events.first().map(|event| event.when),
        Some(When::Ready)
    );
    assert_eq!(scenario.expect.end_x, Some([0.3, 1.5]));
}

#[test]
fn an_absent_allow_list_is_no_limit_and_an_empty_one_allows_nothing() {
    let layer = |text: &str| PolicyFile::parse(POLICY_FILE, text).unwrap().layer;
    assert_eq!(layer("schema = 1\n[policy]\n").allow, None);
    assert_eq!(
        layer("schema = 1\n[policy]\nallow = []\n").allow,
        Some(vec![])
    );
}
