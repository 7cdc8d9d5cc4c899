//! The questions that wait for a person, and the answers to them.
//!
//! A question lives as long as the call that waits for it: once that is gone, an answer is late and
//! changes nothing. Its id holds a piece of a digest of the tool, its arguments and the beginning of this
//! life, so an answer that was meant for another call, or for an earlier life, meets no question.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::app::control::{PendingApproval, Speaker};
use crate::terms::{
    ApprovalOutcome, ApprovalRequest, Approver, Clock, Fact, FactSink, Human, Mono, Said,
    SocketPeer, Unasked,
};

/// Questions that may wait. More than a person can read; a call beyond them is refused.
const WAITING_MAX: usize = 8;
/// Questions that ended and whose ids are known: an answer to one of them is late, to any other unknown.
const ENDED_MAX: usize = 256;
/// Digits of the mark in the id of a question.
const MARK_CHARS: usize = 6;
/// Longest id that is recorded of an answer to no question, characters.
const ID_CHARS_MAX: usize = 80;
/// Longest arguments that a question shows, bytes of JSON. All that a command can carry is below it.
const ARGS_BYTES_MAX: usize = 2048;

/// Where calls ask and operators answer.
#[derive(Debug, Clone)]
pub(in crate::app) struct Approvals {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Arc<dyn Clock>,
    sink: Arc<dyn FactSink>,
    /// Whether anybody can answer.
    is_attended: bool,
    /// When this life began, by the wall.
    born: SystemTime,
    asked: AtomicU32,
    waiting: Mutex<Vec<Waiting>>,
    /// Ids of questions that ended, the oldest first.
    ended: Mutex<VecDeque<String>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("is_attended", &self.is_attended)
            .finish_non_exhaustive()
    }
}

struct Waiting {
    id: String,
    request: ApprovalRequest,
    until: Mono,
    answer: oneshot::Sender<Said>,
}

/// What an operator says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Reply<'a> {
    Yes { why: &'a str },
    No { why: &'a str },
}

/// An answer that found no question.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Unanswered {
    /// What is told to whoever gave it.
    pub(in crate::app) text: String,
    /// What is to be recorded of it.
    pub(in crate::app) fact: Box<Fact>,
}

impl Approvals {
    /// Makes a desk. One that nobody attends refuses every question at once.
    pub(in crate::app) fn new(
        clock: Arc<dyn Clock>,
        sink: Arc<dyn FactSink>,
        is_attended: bool,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                born: clock.wall(),
                clock,
                sink,
                is_attended,
                asked: AtomicU32::new(0),
                waiting: Mutex::default(),
                ended: Mutex::default(),
            }),
        }
    }

    /// Returns the questions that wait, oldest first.
    pub(in crate::app) fn pending(&self) -> Vec<PendingApproval> {
        let now = self.inner.clock.now();
        let waiting = self.inner.waiting();
        waiting.iter().map(|one| one.shown(now)).collect()
    }

    /// Gives the answer to a question.
    ///
    /// # Errors
    /// [`Unanswered`] when the question does not stand, with the fact of it: late when it did once, else
    /// unknown. Nothing of it is raised here: anybody may say it a thousand times.
    pub(in crate::app) fn answer(
        &self,
        id: &str,
        (who, reply): (&str, Reply<'_>),
        from: Speaker,
    ) -> Result<String, Unanswered> {
        let answered = Answered {
            who: Some(who),
            why: reply.why(),
            peer: from.peer(),
        };
        let unanswered = |outcome, text| Unanswered {
            text,
            fact: Box::new(end_of(id, outcome, answered)),
        };
        let Some(waiting) = self.inner.take(id) else {
            let (outcome, what) = if self.inner.has_ended(id) {
                (ApprovalOutcome::Late, "waits for an answer any more")
            } else {
                (ApprovalOutcome::Unknown, "waits for an answer, or did")
            };
            let text = format!("no question `{}` {what}", short(id));
            return Err(unanswered(outcome, text));
        };
        let late = |what: &str| unanswered(ApprovalOutcome::Late, what.to_owned());
        if waiting.until <= self.inner.clock.now() {
            return Err(late(&format!(
                "the time of question `{}` is over",
                short(id)
            )));
        }
        if waiting.answer.is_closed() {
            return Err(late(&format!(
                "the call of question `{}` is gone",
                short(id)
            )));
        }
        let (said, outcome) = reply.said((who, id), from);
        // The record first: what a yes sets in motion must not stand before it.
        self.inner.ended(id, outcome, answered);
        // A call that went away in this moment runs no more, whatever was said to it.
        drop(waiting.answer.send(said));
        Ok(format!("{}: {}", outcome.as_str(), waiting.request.tool))
    }
}

impl Reply<'_> {
    fn why(&self) -> &str {
        match self {
            Self::Yes { why } | Self::No { why } => why,
        }
    }

    fn said(&self, (who, id): (&str, &str), from: Speaker) -> (Said, ApprovalOutcome) {
        let who = who.to_owned();
        match self {
            Self::Yes { .. } => {
                let how = format!("question {id}, answered by {from}");
                (Said::Yes(Approver { who, how }), ApprovalOutcome::Granted)
            }
            Self::No { why } => {
                let why = (*why).to_owned();
                (Said::No { who, why }, ApprovalOutcome::Denied)
            }
        }
    }
}

impl Human for Approvals {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Result<Said, Unasked>> {
        let asked = self.inner.ask(request);
        Box::pin(async move {
            let (answer, question) = asked?;
            let said = answer.await;
            // The sender goes only with its entry, and that goes only with an answer or with us.
            said.map_err(|_gone| {
                drop(question);
                Unasked::Nobody
            })
        })
    }
}

/// The asking side of a question: when it goes, the question goes.
struct Question {
    inner: Arc<Inner>,
    id: String,
}

impl Drop for Question {
    fn drop(&mut self) {
        let Some(waiting) = self.inner.take(&self.id) else {
            return;
        };
        let outcome = if waiting.until <= self.inner.clock.now() {
            ApprovalOutcome::Expired
        } else {
            ApprovalOutcome::Withdrawn
        };
        self.inner.ended(&self.id, outcome, Answered::default());
    }
}

impl Inner {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a question that waits: it has ended with that.
    fn take(&self, id: &str) -> Option<Waiting> {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(|one| one.id == id)?;
        let taken = waiting.remove(at);
        let mut ended = self.ended_ids();
        if ended.len() >= ENDED_MAX {
            ended.pop_front();
        }
        ended.push_back(taken.id.clone());
        Some(taken)
    }

    fn has_ended(&self, id: &str) -> bool {
        self.ended_ids().iter().any(|ended| ended == id)
    }

    fn ended_ids(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(
        self: &Arc<Self>,
        request: ApprovalRequest,
    ) -> Result<(oneshot::Receiver<Said>, Question), Unasked> {
        if !self.is_attended {
            return Err(Unasked::Nobody);
        }
        let (sender, receiver) = oneshot::channel();
        let number = self.asked.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let id = format!("{number}-{}", self.mark(&request));
        let fact = asked(&id, &request);
        {
            let mut waiting = self.waiting();
            if waiting.len() >= WAITING_MAX {
                return Err(Unasked::Full { max: WAITING_MAX });
            }
            waiting.push(Waiting {
                id: id.clone(),
                until: self.clock.now().plus_ms(request.ttl_ms),
                request,
                answer: sender,
            });
        }
        self.sink.raise(fact);
        let question = Question {
            inner: Arc::clone(self),
            id,
        };
        Ok((receiver, question))
    }

    /// Returns what tells a question from those of other calls and other lives.
    fn mark(&self, request: &ApprovalRequest) -> String {
        let born = self.born.duration_since(SystemTime::UNIX_EPOCH);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&born.unwrap_or_default().as_nanos().to_le_bytes());
        hasher.update(request.tool.as_bytes());
        hasher.update(request.digest.as_bytes());
        let hex = hasher.finalize().to_hex();
        hex.chars().take(MARK_CHARS).collect()
    }

    fn ended(&self, id: &str, outcome: ApprovalOutcome, answered: Answered<'_>) {
        self.sink.raise(end_of(id, outcome, answered));
    }
}

/// Who answered a question, and how; empty when nobody did.
#[derive(Debug, Clone, Copy, Default)]
struct Answered<'a> {
    who: Option<&'a str>,
    why: &'a str,
    peer: Option<SocketPeer>,
}

fn end_of(id: &str, outcome: ApprovalOutcome, answered: Answered<'_>) -> Fact {
    Fact::ApprovalEnded {
        request: short(id),
        outcome,
        who: answered.who.map(str::to_owned),
        why: answered.why.to_owned(),
        peer: answered.peer,
    }
}

impl Waiting {
    fn shown(&self, now: Mono) -> PendingApproval {
        let mut args = self.request.args.to_string();
        if args.len() > ARGS_BYTES_MAX {
            args.truncate(args.floor_char_boundary(ARGS_BYTES_MAX));
            args.push_str("...");
        }
        PendingApproval {
            request: self.id.clone(),
            tool: self.request.tool.clone(),
            args,
            needed: self.request.needed,
            rule: self.request.rule.clone(),
            left_ms: self.until.ms_since(now),
        }
    }
}

fn asked(id: &str, request: &ApprovalRequest) -> Fact {
    Fact::ApprovalAsked {
        request: id.to_owned(),
        call: request.call.clone(),
        tool: request.tool.clone(),
        tier: request.needed,
        args: request.digest.clone(),
        ttl_ms: request.ttl_ms,
    }
}

fn short(id: &str) -> String {
    id.chars().take(ID_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use futures::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::terms::Tier;

    #[derive(Debug, Default)]
    struct World {
        now_ms: AtomicU64,
        born_ms: AtomicU64,
        facts: Mutex<Vec<Fact>>,
    }

    impl Clock for World {
        fn now(&self) -> Mono {
            Mono::from_ms(self.now_ms.load(Ordering::Relaxed))
        }

        fn wall(&self) -> SystemTime {
            let born_ms = self.born_ms.load(Ordering::Relaxed);
            SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(born_ms)
        }
    }

    impl FactSink for World {
        fn raise(&self, fact: Fact) {
            self.facts.lock().unwrap().push(fact);
        }
    }

    fn desk(is_attended: bool) -> (Arc<World>, Approvals) {
        let world = Arc::new(World::default());
        let desk = Approvals::new(world.clone(), world.clone(), is_attended);
        (world, desk)
    }

    fn request() -> ApprovalRequest {
        ApprovalRequest {
            call: "call-1".to_owned(),
            tool: "rover_gripper_set".to_owned(),
            args: json!({ "opening": 0.05 }),
            digest: "9f2c61aa00000000".to_owned(),
            needed: Some(Tier::FullActuation),
            rule: Some("RV-03".to_owned()),
            ttl_ms: 60_000,
        }
    }

    const FROM: Speaker = Speaker::Process {
        pid: 4711,
        uid: 1000,
        is_child: false,
    };

    /// How an answer that found no question is to be recorded.
    #[track_caller]
    fn outcome_of(said: Result<String, Unanswered>) -> ApprovalOutcome {
        let fact = *said.unwrap_err().fact;
        let Fact::ApprovalEnded { outcome, .. } = fact else {
            panic!("{fact:?}");
        };
        outcome
    }

    fn ends(world: &World) -> Vec<(String, ApprovalOutcome, Option<String>)> {
        let facts = world.facts.lock().unwrap();
        let end = |fact: &Fact| {
            let Fact::ApprovalEnded {
                request,
                outcome,
                who,
                ..
            } = fact
            else {
                return None;
            };
            Some((request.clone(), *outcome, who.clone()))
        };
        facts.iter().filter_map(end).collect()
    }

    #[test]
    fn a_question_is_shown_with_its_numbers_and_one_answer_reaches_its_call() {
        let (world, desk) = desk(true);
        let mut asked = desk.ask(request());
        assert_eq!((&mut asked).now_or_never(), None, "it waits");
        world.now_ms.store(1_000, Ordering::Relaxed);
        let pending = desk.pending();
        assert_eq!(pending.len(), 1);
        let id = pending[0].request.clone();
        assert!(id.starts_with("1-") && id.len() == 8, "{id}");
        assert_eq!(pending[0].args, r#"{"opening":0.05}"#);
        assert_eq!(pending[0].left_ms, 59_000);
        let done = desk.answer(&id, ("ann", Reply::Yes { why: "looked" }), FROM);
        assert_eq!(done.unwrap(), "granted: rover_gripper_set");
        let by_peer =
            |f: &Fact| matches!(f, Fact::ApprovalEnded { peer, .. } if *peer == FROM.peer());
        assert!(world.facts.lock().unwrap().iter().any(by_peer));
        let said = asked.now_or_never().unwrap();
        let approver = Approver {
            who: "ann".to_owned(),
            how: format!("question {id}, answered by process 4711 (user 1000)"),
        };
        assert_eq!(said, Ok(Said::Yes(approver)));
        assert!(desk.pending().is_empty());
        let again = desk.answer(&id, ("eve", Reply::Yes { why: "looked" }), FROM);
        assert_eq!(outcome_of(again), ApprovalOutcome::Late);
        let who = |name: &str| Some(name.to_owned());
        assert_eq!(ends(&world), [(id, ApprovalOutcome::Granted, who("ann"))]);
    }

    #[test]
    fn case_20_a_late_yes_is_ignored_and_recorded_as_late() {
        let (world, desk) = desk(true);
        let asked = desk.ask(request());
        let id = desk.pending()[0].request.clone();
        world.now_ms.store(60_000, Ordering::Relaxed);
        let late = desk.answer(&id, ("ann", Reply::Yes { why: "looked" }), FROM);
        assert_eq!(outcome_of(late), ApprovalOutcome::Late);
        let said = asked.now_or_never().unwrap();
        assert!(said.is_err(), "no yes: {said:?}");
        assert_eq!(ends(&world), [], "it is told by whoever bounds the record");
    }

    #[test]
    fn a_call_that_goes_away_takes_its_question_with_it() {
        for (now_ms, outcome) in [
            (59_999, ApprovalOutcome::Withdrawn),
            (60_000, ApprovalOutcome::Expired),
        ] {
            let (world, desk) = desk(true);
            let asked = desk.ask(request());
            let id = desk.pending()[0].request.clone();
            world.now_ms.store(now_ms, Ordering::Relaxed);
            drop(asked);
            assert!(desk.pending().is_empty());
            assert_eq!(ends(&world), [(id, outcome, None)]);
        }
    }

    #[test]
    fn the_same_call_of_another_life_or_tool_has_another_id_and_the_reason_is_kept() {
        let (world, desk) = desk(true);
        let _asked = desk.ask(request());
        let id = desk.pending()[0].request.clone();
        world.born_ms.store(1, Ordering::Relaxed);
        let next = Approvals::new(world.clone(), world.clone(), true);
        let other = ApprovalRequest {
            tool: "rover_go_to_pose".to_owned(),
            ..request()
        };
        let _again = next.ask(request());
        assert_ne!(next.pending()[0].request, id);
        let _other = desk.ask(other);
        assert_ne!(desk.pending()[1].request[2..], id[2..]);
        desk.answer(&id, ("ann", Reply::Yes { why: "looked" }), FROM)
            .unwrap();
        let facts = world.facts.lock().unwrap();
        let kept = |f: &Fact| matches!(f, Fact::ApprovalEnded { why, .. } if why == "looked");
        assert!(facts.iter().any(kept), "{facts:#?}");
    }

    #[test]
    fn answers_to_no_question_change_nothing() {
        let (world, desk) = desk(true);
        let mut asked = desk.ask(request());
        let long = "x".repeat(10_000);
        for id in ["", "1", "1-000000", "2-9f2c61", long.as_str()] {
            let said = desk.answer(id, ("eve", Reply::Yes { why: "looked" }), FROM);
            let fact = format!("{:?}", said.as_ref().map_err(|none| &none.fact));
            assert!(fact.len() < 400, "{}", fact.len());
            assert_eq!(outcome_of(said), ApprovalOutcome::Unknown, "{id}");
        }
        assert_eq!((&mut asked).now_or_never(), None, "it still waits");
        assert_eq!(ends(&world), []);
    }

    #[test]
    fn more_questions_than_a_person_can_read_and_an_empty_chair_are_refused_at_once() {
        let (_, desk) = desk(true);
        let asked: Vec<_> = (0..WAITING_MAX).map(|_| desk.ask(request())).collect();
        let more = desk.ask(request()).now_or_never().unwrap();
        assert_eq!(more, Err(Unasked::Full { max: WAITING_MAX }));
        drop(asked);
        let (world, empty) = super::tests::desk(false);
        let said = empty.ask(request()).now_or_never().unwrap();
        assert_eq!(said, Err(Unasked::Nobody));
        assert!(world.facts.lock().unwrap().is_empty());
    }
}
