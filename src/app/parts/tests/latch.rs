//! Latch file and death: what the next life finds when the last one was killed in the middle of a write.

use std::time::SystemTime;

use super::words::{World, world};
use crate::app::control::{Answer, Speaker, Word};
use crate::app::state::death;
use crate::terms::{Fact, RunState, StopCause, StopKind};

/// Steps between which a write can be cut: opened, written, synced, renamed; the folder is synced last.
const STEPS: u32 = 4;

fn latched(world: &World) {
    let latch = &world.desk.links.latch;
    latch.ask(StopKind::Estop, StopCause::OperatorStop);
    world
        .desk
        .desk
        .follow(RunState::Latched, SystemTime::UNIX_EPOCH);
}

/// Whether anybody was told that the latch is on disk.
fn acknowledged(world: &World) -> bool {
    let facts = world.facts.0.lock().unwrap();
    let told = facts
        .iter()
        .any(|f| matches!(f, Fact::LatchPersisted { .. }));
    assert_eq!(told, world.desk.desk.is_persisted());
    told
}

#[test]
fn case_26_a_latch_whose_write_is_cut_at_any_step_is_there_or_was_never_acknowledged() {
    for steps in 0..=STEPS {
        let world = world();
        let files = world.folder.files();
        death::after(Some(steps));
        latched(&world);
        death::after(None);
        let there = files.latched();
        assert!(there.is_some() || !acknowledged(&world), "after {steps}");
        assert_eq!(there.is_some(), steps > 2, "after {steps}");
        assert_eq!(acknowledged(&world), steps == STEPS, "after {steps}");
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test cuts a file of its own, as a power cut would"
)]
fn case_26_what_a_cut_write_left_beside_the_latch_neither_latches_nor_stands_in_the_way() {
    let world = world();
    let files = world.folder.files();
    death::after(Some(2));
    latched(&world);
    death::after(None);
    let beside = world.dir.path().join("robots/rover-1/latch.json.new");
    let whole = std::fs::read(&beside).unwrap();
    for end in 0..=whole.len() {
        std::fs::write(&beside, &whole[..end]).unwrap();
        assert_eq!(files.latched(), None, "cut at {end}");
        assert!(!acknowledged(&world));
    }
    // The process that lives on writes it again, over what is left there.
    world
        .desk
        .desk
        .follow(RunState::Latched, SystemTime::UNIX_EPOCH);
    assert_eq!(files.latched(), Some(StopCause::OperatorStop));
    assert!(acknowledged(&world));
}

#[test]
fn case_26_an_estop_is_not_said_to_be_on_disk_when_its_write_failed() {
    let mut told = Vec::new();
    for steps in [Some(1), None] {
        let world = world();
        death::after(steps);
        latched(&world);
        death::after(None);
        let estop = Word::Estop {
            who: "ann".to_owned(),
            why: "test".to_owned(),
        };
        let Answer::Done { text } = world.desk.carry_out(&estop, Speaker::Scenario) else {
            panic!("an estop is never refused");
        };
        told.push(text.contains("latched and on disk"));
    }
    assert_eq!(told, [false, true]);
}

#[test]
fn a_reset_that_the_disk_refuses_leaves_the_latch_on_disk() {
    let world = world();
    latched(&world);
    death::after(Some(0));
    // The file is removed, and then the folder cannot be synced: nothing more can be written.
    let reset = world.desk.desk.while_cleared(|| Ok(()));
    death::after(None);
    assert!(reset.unwrap_err().join(" ").contains("latch on disk"));
    assert!(!world.desk.desk.is_persisted(), "nobody may rely on it");
    assert!(world.desk.links.latch.word().estop);
    // The disk takes it again: so does the latch.
    world
        .desk
        .desk
        .follow(RunState::Latched, SystemTime::UNIX_EPOCH);
    let files = world.folder.files();
    assert_eq!(files.latched(), Some(StopCause::OperatorStop));
    assert!(world.desk.desk.is_persisted());
}
