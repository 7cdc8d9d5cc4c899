//! A lane that says what was written down before.
//!
//! Of the conversation it looks at the sensor context alone, and only for what its script waits for:
//! a rehearsal asks the same of the gate every time. When the script has ended, asking again is an
//! error, never an empty reply: an empty reply would read as "done".

use futures::future::{self, BoxFuture};

use crate::terms::{Lane, LaneError, LaneReply, Message, ToolSpec};

/// One line of a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cue {
    /// What must stand in the sensor context; else there is no reply.
    pub sees: Vec<String>,
    /// The reply.
    pub reply: LaneReply,
}

/// Gives its replies in their order.
#[derive(Debug)]
pub struct Scripted {
    cues: std::vec::IntoIter<Cue>,
    step: u32,
}

impl Scripted {
    /// Makes a lane of this script.
    pub fn new(cues: Vec<Cue>) -> Self {
        Self {
            cues: cues.into_iter(),
            step: 0,
        }
    }

    fn next(&mut self, conversation: &[Message]) -> Result<LaneReply, LaneError> {
        self.step = self.step.saturating_add(1);
        let step = self.step;
        let cue = self.cues.next().ok_or(LaneError::Exhausted { step })?;
        let shown = match conversation.last() {
            Some(Message::Sensors(text)) => text.as_str(),
            Some(
                Message::System(_) | Message::User(_) | Message::Assistant(_) | Message::Tools(_),
            )
            | None => "",
        };
        match cue.sees.into_iter().find(|wanted| !shown.contains(wanted)) {
            Some(wanted) => Err(LaneError::Unseen { step, wanted }),
            None => Ok(cue.reply),
        }
    }
}

impl Lane for Scripted {
    fn reply<'a>(
        &'a mut self,
        conversation: &'a [Message],
        _tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<LaneReply, LaneError>> {
        Box::pin(future::ready(self.next(conversation)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue(text: &str, sees: &[&str]) -> Cue {
        Cue {
            sees: sees.iter().map(|text| (*text).to_owned()).collect(),
            reply: LaneReply {
                text: text.to_owned(),
                calls: Vec::new(),
            },
        }
    }

    #[tokio::test]
    async fn replies_come_in_order_and_the_end_of_the_script_is_an_error() {
        let mut lane = Scripted::new(vec![cue("one", &[]), cue("two", &[])]);
        assert_eq!(lane.reply(&[], &[]).await, Ok(cue("one", &[]).reply));
        assert_eq!(lane.reply(&[], &[]).await, Ok(cue("two", &[]).reply));
        let end = lane.reply(&[], &[]).await;
        assert_eq!(end, Err(LaneError::Exhausted { step: 3 }));
        assert_eq!(
            lane.reply(&[], &[]).await,
            Err(LaneError::Exhausted { step: 4 })
        );
    }

    #[tokio::test]
    async fn a_line_that_waits_for_a_reading_is_said_only_when_it_is_shown() {
        let shown = |text: &str| [Message::Sensors(text.to_owned())];
        let mut lane = Scripted::new(vec![cue("one", &["STALE", "speed"]); 3]);
        let seen = lane.reply(&shown("- speed: 1 m/s, STALE"), &[]).await;
        assert_eq!(seen, Ok(cue("one", &[]).reply));
        for (conversation, wanted) in [
            (&shown("- speed: 1 m/s")[..], "STALE"),
            (&[Message::User("STALE speed".to_owned())][..], "STALE"),
        ] {
            let Err(LaneError::Unseen { wanted: told, .. }) = lane.reply(conversation, &[]).await
            else {
                panic!("said without {wanted}");
            };
            assert_eq!(told, wanted);
        }
    }
}
