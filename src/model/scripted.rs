//! A lane that says what was written down before.
//!
//! It does not look at the conversation: a rehearsal asks the same of the gate every time. When
//! the script has ended, asking again is an error, never an empty reply: an empty reply would
//! read as "done".

use futures::future::{self, BoxFuture};

use crate::terms::{Lane, LaneError, LaneReply, Message, ToolSpec};

/// Gives its replies in their order.
#[derive(Debug)]
pub struct Scripted {
    replies: std::vec::IntoIter<LaneReply>,
    step: u32,
}

impl Scripted {
    /// Makes a lane of these replies.
    pub fn new(replies: Vec<LaneReply>) -> Self {
        Self {
            replies: replies.into_iter(),
            step: 0,
        }
    }
}

impl Lane for Scripted {
    fn reply<'a>(
        &'a mut self,
        _conversation: &'a [Message],
        _tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<LaneReply, LaneError>> {
        self.step = self.step.saturating_add(1);
        let reply = self
            .replies
            .next()
            .ok_or(LaneError::Exhausted { step: self.step });
        Box::pin(future::ready(reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn replies_come_in_order_and_the_end_of_the_script_is_an_error() {
        let say = |text: &str| LaneReply {
            text: text.to_owned(),
            calls: Vec::new(),
        };
        let mut lane = Scripted::new(vec![say("one"), say("two")]);
        assert_eq!(lane.reply(&[], &[]).await, Ok(say("one")));
        assert_eq!(lane.reply(&[], &[]).await, Ok(say("two")));
        let end = lane.reply(&[], &[]).await;
        assert_eq!(end, Err(LaneError::Exhausted { step: 3 }));
        assert_eq!(
            lane.reply(&[], &[]).await,
            Err(LaneError::Exhausted { step: 4 })
        );
    }
}
