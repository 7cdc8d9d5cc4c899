//! A person who says what a test has put into their mouth.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::sleep;

use crate::terms::{ApprovalRequest, Approver, Human, Said, Unasked};

/// What a person of a test says to the next question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::executor::tests) enum Says {
    /// Yes, after so many ms.
    YesAfterMs(u64),
    No,
    Nothing,
}

/// A person who says what a test has put into their mouth, and nobody once that is used up.
#[derive(Debug, Default)]
pub(in crate::executor::tests) struct Person {
    pub(super) says: Mutex<VecDeque<Says>>,
    pub(in crate::executor::tests) asked: Mutex<Vec<ApprovalRequest>>,
}

impl Human for Person {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Result<Said, Unasked>> {
        let says = self.says.lock().unwrap().pop_front();
        if says.is_some() {
            self.asked.lock().unwrap().push(request);
        }
        let who = "ann".to_owned();
        Box::pin(async move {
            match says {
                None => Err(Unasked::Nobody),
                Some(Says::YesAfterMs(ms)) => {
                    sleep(Duration::from_millis(ms)).await;
                    Ok(Said::Yes(Approver {
                        who,
                        how: "by a nod".to_owned(),
                    }))
                }
                Some(Says::No) => Ok(Said::No {
                    who,
                    why: "a hand is in the way".to_owned(),
                }),
                Some(Says::Nothing) => std::future::pending().await,
            }
        })
    }
}
