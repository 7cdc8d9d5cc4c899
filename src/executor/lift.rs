//! What a granted call holds of the Elevation that permits it.

use super::record::Record;
use super::refuse::short;
use super::turn::Asked;
use crate::gate::Grant;
use crate::terms::{ElevationEnd, ElevationId, ElevationPort, Fact, Raised};

/// One call, taken from an Elevation; dropping it says that the call has ended.
#[derive(Debug)]
pub(super) struct Lifted<'a> {
    raised: Raised,
    port: &'a dyn ElevationPort,
}

impl<'a> Lifted<'a> {
    /// Holds what a grant took; `None` for a call that needed no Elevation.
    pub(super) fn of(grant: &Grant, port: &'a dyn ElevationPort) -> Option<Self> {
        let raised = grant.raised()?;
        Some(Self { raised, port })
    }

    /// Records which call it was.
    pub(super) fn tell(&self, record: Record<'_>, asked: &Asked<'_>) {
        let (call, tool) = (short(&asked.call.id), short(&asked.call.tool));
        self.port.used(self.raised, &call, &tool);
        record.facts.raise(Fact::ElevationUsed {
            elevation: self.raised.id,
            call,
            tool,
            left: self.raised.left,
        });
    }
}

impl Drop for Lifted<'_> {
    fn drop(&mut self) {
        self.port.give_back(self.raised.id);
    }
}

/// The Elevations for somebody who looks ahead: nothing is taken.
#[derive(Debug)]
pub(super) struct Looking<'a>(pub(super) &'a dyn ElevationPort);

impl ElevationPort for Looking<'_> {
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        self.0.look(id)
    }

    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        self.0.look(id)
    }

    fn used(&self, _raised: Raised, _call: &str, _tool: &str) {}

    fn give_back(&self, _id: ElevationId) {}
}
