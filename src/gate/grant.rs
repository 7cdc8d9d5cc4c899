//! The proof that one call passed, and the part of it that moves a robot.
//!
//! Both have private fields and no public constructor, and neither is `Clone`: whoever holds one
//! got it from [`super::admit`], for exactly one call. A capability that changes the world takes
//! one of them, so "no grant, no effect" is checked by the compiler:
//!
//! ```compile_fail,E0451
//! use octos_edge::terms::Mono;
//! let forged = octos_edge::gate::Grant {
//!     epoch: 0,
//!     deadline: Mono::ZERO,
//!     output_bytes_max: 0,
//!     tier: None,
//!     tool: 0,
//!     permit: None,
//!     raised: None,
//! };
//! ```
//! ```compile_fail,E0599
//! fn forge() -> octos_edge::gate::Permit {
//!     octos_edge::gate::Permit::new()
//! }
//! ```
//! ```compile_fail,E0599
//! fn twice(grant: octos_edge::gate::Grant) -> (octos_edge::gate::Grant, octos_edge::gate::Grant) {
//!     (grant.clone(), grant)
//! }
//! ```
//! ```compile_fail,E0382
//! use octos_edge::terms::Params;
//! fn twice(permit: octos_edge::gate::Permit) {
//!     permit.into_command([0; 16], Params::new());
//!     permit.into_command([0; 16], Params::new());
//! }
//! ```

use crate::terms::{ActuationCmd, CommandKind, LeaseTerms, Mono, Params, Raised, Tier};

/// The index of a grant whose tool belongs to no robot: no robot file has a tool of this number, so a
/// command that were made of it anyway has no verb and cannot leave.
pub(super) const NO_TOOL: u16 = u16::MAX;

/// Proof that one call passed the gate.
#[derive(Debug)]
pub struct Grant {
    pub(super) epoch: u32,
    pub(super) deadline: Mono,
    pub(super) output_bytes_max: usize,
    pub(super) tier: Option<Tier>,
    pub(super) tool: u16,
    pub(super) permit: Option<Permit>,
    pub(super) raised: Option<Raised>,
}

impl Grant {
    /// Returns the stop epoch under which the call was admitted: after any stop the grant is void.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns the time after which the call must have ended.
    pub fn deadline(&self) -> Mono {
        self.deadline
    }

    /// Returns the largest text that the call may give back, bytes.
    pub fn output_bytes_max(&self) -> usize {
        self.output_bytes_max
    }

    /// Returns the tier that the call needed.
    pub fn tier(&self) -> Option<Tier> {
        self.tier
    }

    /// Returns what was taken from an Elevation; `None` when the call needed none.
    pub fn raised(&self) -> Option<Raised> {
        self.raised
    }

    /// Takes the part that moves a robot; `None` when this call may not, or when it was taken.
    pub fn take_permit(&mut self) -> Option<Permit> {
        self.permit.take()
    }

    /// Makes a command that only reads. It passes in every run state, so it needs no permit.
    pub fn read_command(&self, id: [u8; 16], params: Params) -> ActuationCmd {
        ActuationCmd {
            id,
            tool: self.tool,
            kind: CommandKind::Read,
            epoch: self.epoch,
            deadline: self.deadline,
            lease: LeaseTerms {
                call: 0,
                renew_ms: 0,
                lost_after_ms: 0,
                hard_max_ms: 0,
                hold_ms: 0,
                elevation: None,
            },
            params,
        }
    }
}

/// Permission to move one device once.
#[derive(Debug)]
pub struct Permit {
    pub(super) tool: u16,
    pub(super) kind: CommandKind,
    pub(super) epoch: u32,
    pub(super) deadline: Mono,
    pub(super) lease: LeaseTerms,
}

impl Permit {
    /// Turns the permission into the one command that it permits. A hold repeats this command.
    pub fn into_command(self, id: [u8; 16], params: Params) -> ActuationCmd {
        ActuationCmd {
            id,
            tool: self.tool,
            kind: self.kind,
            epoch: self.epoch,
            deadline: self.deadline,
            lease: self.lease,
            params,
        }
    }

    /// Returns the lease under which the motion will run.
    pub fn lease(&self) -> LeaseTerms {
        self.lease
    }

    /// Returns the time after which the motion must have ended.
    pub fn deadline(&self) -> Mono {
        self.deadline
    }
}
