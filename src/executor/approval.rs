//! The stage at which a person is asked, bound to the final numbers.
//!
//! The call holds its slot and its scope while it waits, and nothing else: a stop, a cancelled turn or
//! the end of the time ends the wait. A word that comes is a word for these arguments alone: limits
//! and admission judge the call anew behind it, and it falls if its numbers are not the same. How often a
//! person may be asked stands in `questions`.

use std::time::Duration;

use tokio::time::{interval, timeout};

use super::admission::{Approved, limit, not_void, would_pass};
use super::pipeline::{Executor, Held};
use super::refuse;
use super::stages::Checked;
use super::turn::Asked;
use crate::arguments::Arguments;
use crate::terms::{ApprovalRequest, Reason, Refusal, Said};

/// How often a waiting call looks whether a stop has made it void.
const LOOK: Duration = Duration::from_millis(50);

impl Executor {
    /// Asks a person, if the tier of the tool says so.
    pub(super) async fn approve(
        &self,
        asked: &Asked<'_>,
        checked: &Checked<'_>,
    ) -> Result<Approved, Held> {
        let Some(ttl_ms) = checked.asks_for_ms else {
            return Ok(None);
        };
        let held = |refusal| Held::Refused(Box::new(refusal));
        let args = self.in_vain(asked, checked).map_err(held)?;
        let tool = checked.entry.descriptor();
        let digest = args.digest();
        let (questions, call) = (&asked.turn.questions, (tool.name.as_str(), &*digest));
        questions
            .take(call, &self.minute, self.ports.clock.now())
            .map_err(|spared| held(refuse::spared(asked, tool, spared)))?;
        let question = self.ports.human.ask(ApprovalRequest {
            call: refuse::short(&asked.call.id),
            tool: tool.name.as_str().to_owned(),
            args: args.to_value(),
            digest: digest.clone(),
            needed: tool.effect.needed_tier(),
            rule: tool.rule.as_ref().map(|rule| rule.id.as_ref().to_owned()),
            ttl_ms,
        });
        let said = tokio::select! {
            biased;
            () = asked.turn.cancel.cancelled() => return Err(Held::Cancelled),
            void = self.void(asked, checked) => return Err(held(void)),
            said = timeout(Duration::from_millis(ttl_ms), question) => said,
        };
        match said {
            Ok(Ok(Said::Yes(approver))) => Ok(Some((args, approver))),
            Ok(Ok(Said::No { who, why })) => {
                questions.deny(call);
                Err(held(refuse::denied(asked, tool, (&who, &why))))
            }
            Ok(Err(unasked)) => {
                questions.give_back(&self.minute);
                Err(held(refuse::nobody_to_ask(asked, tool, unasked)))
            }
            Err(_elapsed) => {
                questions.deny(call);
                Err(held(refuse::nobody_answered(asked, tool, ttl_ms)))
            }
        }
    }

    /// Nobody is asked about a call that the robot, as it stands, would not carry out anyway.
    fn in_vain(&self, asked: &Asked<'_>, checked: &Checked<'_>) -> Result<Arguments, Refusal> {
        // A copy: looking ahead spends no rate.
        let mut pace = self.pace().clone();
        let limited = limit(asked, checked, &pace)?;
        let now = self.ports.robot.posture();
        let ahead = (&mut pace, &*self.ports.elevations);
        would_pass((asked, checked), (&limited, &now), ahead)?;
        Ok(limited.args().clone())
    }

    /// Waits until the call is void because a stop came.
    async fn void(&self, asked: &Asked<'_>, checked: &Checked<'_>) -> Refusal {
        let mut looks = interval(LOOK);
        loop {
            looks.tick().await;
            let now = self.ports.robot.posture();
            if let Err(refusal) = not_void(asked, checked, &now) {
                return refusal;
            }
            if now.latched {
                // The gate says more about a latched robot; the word that is waited for would be late.
                return refuse::stopped_since(asked, checked.entry.descriptor());
            }
            // Who arms next has not asked for this call, nor has who raises the tier next.
            let lost = self.in_vain(asked, checked).err();
            let ends = [Reason::NotArmed, Reason::RobotTierGate];
            if let Some(refusal) = lost.filter(|refusal| ends.contains(&refusal.reason)) {
                return refusal;
            }
        }
    }
}
