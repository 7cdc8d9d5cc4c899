//! The parts of an agent that a node on a dataflow and a rehearsal in this process share.
//!
//! Everything that decides, moves, records or answers is here or in the rooms; what differs is who
//! drives it: threads and a dataflow in `serve`, one driver under a virtual clock in `rehearse`.

mod approvals;
mod desk;
mod elevations;
mod end;
mod mind;
mod operator;
mod scribe;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::app::load::Installation;
use crate::gate::Fence;
use crate::robot::{
    self, Ids, Setup, assemble, raised_ceilings_mps, safety_plan, speed_ceiling_mps,
};
use crate::safety::{Boot, Latch};
use crate::terms::{Clock, Fact, FactSink, RobotId, Tier};

pub(super) use desk::Desk;
#[cfg(any(feature = "dora", test))]
pub(super) use elevations::Held;
pub(super) use end::{ENDS_MAX, End};
#[cfg(feature = "dora")]
pub(super) use end::{EndSeen, EndWatch};
pub(super) use mind::{Mind, Wake, replies};
#[cfg(feature = "dora")]
pub(super) use mind::{scenario, script};
pub(super) use operator::{OperatorDesk, Wait, carried_out};
pub(super) use scribe::Scribe;

/// What the parts around a robot are made of, besides the files.
pub(super) struct Life {
    /// The robot's id.
    pub(super) robot_id: RobotId,
    /// Makes request ids.
    pub(super) ids: Ids,
    /// How the last life ended.
    pub(super) boot: Boot,
    /// How often the dataflow restarted this node.
    pub(super) restarts: u32,
    /// The tier in force.
    pub(super) tier: Tier,
    /// The clocks.
    pub(super) clock: Arc<dyn Clock>,
    /// Where facts go.
    pub(super) sink: Arc<dyn FactSink>,
    /// Counts the iterations of the spine.
    pub(super) spine: Arc<AtomicU64>,
}

/// Says that a life begins, and puts the parts around its robot together. Nothing runs yet.
pub(super) fn begin(installation: &Installation, life: Life) -> robot::Parts {
    let Installation {
        tiers,
        robot,
        board,
        ..
    } = installation;
    life.sink.raise(Fact::Started {
        robot: robot.robot.clone(),
        robot_id: life.robot_id.to_string(),
        board: board.id.clone(),
        pid: std::process::id(),
        restarts: life.restarts,
        unclean: life.boot.unclean,
        tier: life.tier,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let mut parts = assemble(Setup {
        plan: safety_plan(robot, tiers, board, life.boot),
        latch: Latch::new(0, life.boot.latched),
        inside: match &robot.workspace {
            Some(workspace) => {
                let fence = Fence::of(workspace);
                Box::new(move |position| fence.holds(position))
            }
            None => Box::new(|_| true),
        },
        speed_ceiling_mps: speed_ceiling_mps(robot, tiers, life.tier),
        robot: Arc::new(robot.clone()),
        id: life.robot_id,
        ids: life.ids,
        clock: life.clock,
        sink: life.sink,
        spine: life.spine,
    });
    parts.inbox.watch_raised(raised_ceilings_mps(tiers));
    parts
}

#[cfg(test)]
mod tests;
