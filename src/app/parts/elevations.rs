//! The Elevations of one robot: who gave which, for what, and the view of the tools that follows.
//!
//! What is live is one atomic word each (`safety`); here stand the names around it. An Elevation is held
//! by the connection that its word came through: when the holder is dropped, by a closed terminal or by a
//! panic, it ends, the tick is woken, and a call that runs above the ceiling is stopped. The tick tells
//! each end; it is not told here a second time.
//!
//! An Elevation raises the ceiling for the tools that it names and nothing else: a policy layer that
//! refuses one of them still does, a stop needs none, and a tool has one Elevation at a time.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::app::control::{ElevationNews, ElevationStatus, name_problem};
use crate::catalog::{Catalog, Hidden, ToolView};
use crate::gate::PolicyStack;
use crate::safety::{Links, Opening, Stands};
use crate::terms::{
    Clock, Descriptor, ELEVATED_CALLS_MAX, ELEVATED_S_MAX, ELEVATED_TOOLS_MAX, ELEVATIONS_MAX,
    Elevated, ElevationEnd, ElevationId, ElevationPort, Fact, FactSink, Raised, RunState,
    SocketPeer, StopCause, Tier, ToolName, nearest,
};

/// Longest name of a tool that an answer repeats, characters.
const NAME_CHARS_MAX: usize = 80;

/// What an operator asks for.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Ask<'a> {
    pub(in crate::app) who: &'a str,
    pub(in crate::app) why: &'a str,
    pub(in crate::app) tier: Tier,
    pub(in crate::app) tools: &'a [String],
    pub(in crate::app) calls: u32,
    pub(in crate::app) for_s: u32,
    /// The process that asks.
    pub(in crate::app) peer: Option<SocketPeer>,
}

/// Where operators give Elevations, calls take from them, and the agent sees its tools.
#[derive(Debug, Clone)]
pub(in crate::app) struct Elevations {
    inner: Arc<Inner>,
}

struct Inner {
    links: Links,
    clock: Arc<dyn Clock>,
    sink: Arc<dyn FactSink>,
    catalog: Arc<Catalog>,
    policy: PolicyStack,
    /// At most [`ELEVATIONS_MAX`]: each holds a slot.
    given: Mutex<Vec<Given>>,
    views: watch::Sender<Arc<ToolView>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elevations").finish_non_exhaustive()
    }
}

/// One that is held.
struct Given {
    elevated: Elevated,
    who: String,
    why: String,
    /// Calls that the holder has not heard of; at most [`ELEVATED_CALLS_MAX`].
    news: VecDeque<ElevationNews>,
}

impl Elevations {
    /// Makes a desk at which nothing was given, and tells what the first view hides.
    pub(in crate::app) fn new(
        (catalog, policy): (Arc<Catalog>, PolicyStack),
        links: Links,
        (clock, sink): (Arc<dyn Clock>, Arc<dyn FactSink>),
    ) -> Self {
        let view = catalog.view(&policy);
        for hidden in view.hidden() {
            sink.raise(told(hidden));
        }
        Self {
            inner: Arc::new(Inner {
                links,
                clock,
                sink,
                catalog,
                policy,
                given: Mutex::default(),
                views: watch::Sender::new(view),
            }),
        }
    }

    /// Returns what the model may see and call, as it changes.
    pub(in crate::app) fn views(&self) -> watch::Receiver<Arc<ToolView>> {
        self.inner.views.subscribe()
    }

    /// Gives an Elevation, which lives no longer than what is returned.
    ///
    /// # Errors
    /// Everything that stands against it.
    pub(in crate::app) fn give(&self, ask: Ask<'_>) -> Result<Held, Vec<String>> {
        let inner = &self.inner;
        // Before anything is looked at: what stops the robot meanwhile ends it at once.
        let falls = inner.links.latch.falls();
        let mut given = inner.given();
        let mut failed = asked_problems(&ask);
        failed.extend(self.tool_problems(&ask, &given));
        failed.extend(self.robot_problem());
        if given.len() >= ELEVATIONS_MAX {
            failed.push(self.full(&given));
        }
        if !failed.is_empty() {
            return Err(failed);
        }
        let for_ms = u64::from(ask.for_s).saturating_mul(1000);
        let opening = Opening {
            tier: ask.tier,
            calls: ask.calls,
            until: inner.clock.now().plus_ms(for_ms),
            falls,
        };
        let opened = inner.links.shared.elevations.open(opening);
        // A slot whose last call has not ended is not free yet.
        let id = opened.ok_or_else(|| vec![self.full(&given)])?;
        let names = ask.tools.iter().filter_map(|name| self.tool(name));
        given.push(Given {
            elevated: Elevated {
                id,
                tier: ask.tier,
                tools: names.map(|tool| tool.name.clone()).collect(),
            },
            who: ask.who.to_owned(),
            why: ask.why.to_owned(),
            news: VecDeque::new(),
        });
        drop(given);
        let held = Held {
            elevations: self.clone(),
            id,
            #[cfg(any(feature = "dora", test))]
            begun: ElevationNews::Given {
                elevation: id,
                who: ask.who.to_owned(),
                tier: ask.tier,
                tools: ask.tools.to_vec(),
                calls: ask.calls,
                left_ms: for_ms,
            },
            #[cfg(any(feature = "dora", test))]
            is_over: false,
        };
        // The record first: no call is to stand before it.
        inner.sink.raise(Fact::ElevationGiven {
            elevation: id,
            who: ask.who.to_owned(),
            why: ask.why.to_owned(),
            tier: ask.tier,
            tools: ask.tools.to_vec(),
            calls: ask.calls,
            for_s: ask.for_s,
            peer: ask.peer,
        });
        self.keep_up();
        Ok(held)
    }

    /// Returns those that live, oldest first.
    pub(in crate::app) fn live(&self) -> Vec<ElevationStatus> {
        let now = self.inner.clock.now();
        let given = self.inner.given();
        let shown = given.iter().filter_map(|one| {
            let stands = self.inner.stands(one.elevated.id)?;
            (stands.ended.is_none()).then(|| ElevationStatus {
                elevation: one.elevated.id,
                who: one.who.clone(),
                why: one.why.clone(),
                tier: one.elevated.tier,
                tools: one.elevated.tools.iter().map(text_of).collect(),
                calls_left: stands.left,
                calls_running: stands.running,
                left_ms: stands.until.ms_since(now),
            })
        });
        shown.collect()
    }

    /// Makes the view of the tools anew when another Elevation lives than it was made of.
    pub(in crate::app) fn keep_up(&self) {
        let inner = &self.inner;
        let given = inner.given();
        let live = given.iter().map(|one| &one.elevated);
        let live: Vec<Elevated> = live
            .filter(|one| inner.look(one.id).is_ok())
            .cloned()
            .collect();
        let old = inner.views.borrow().clone();
        let ids: BTreeSet<ElevationId> = live.iter().map(|one| one.id).collect();
        if ids == *old.elevations() {
            return;
        }
        let view = inner.catalog.view_under(&inner.policy, &live);
        for fact in changes(&old, &view) {
            inner.sink.raise(fact);
        }
        inner.views.send_replace(view);
    }

    fn tool(&self, name: &str) -> Option<&Descriptor> {
        let entries = self.inner.catalog.entries().iter();
        let mut tools = entries.map(|entry| entry.descriptor());
        tools.find(|tool| tool.name.as_str() == name)
    }

    /// What stands against each of the tools.
    fn tool_problems(&self, ask: &Ask<'_>, given: &[Given]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut problems = Vec::new();
        for name in ask.tools.iter().take(ELEVATED_TOOLS_MAX) {
            if !seen.insert(name) {
                problems.push(format!("`{}` is named twice", short(name)));
                continue;
            }
            let problem = match self.tool(name) {
                None => Some(self.unknown(name)),
                Some(tool) => self.tool_problem(tool, ask.tier).or_else(|| {
                    // One that has ended waits only for its terminal to hear of it.
                    let lives = |one: &&Given| self.inner.lives(one.elevated.id);
                    let mut others = given.iter().filter(lives);
                    let other = others.find(|one| one.elevated.is_for(&tool.name))?;
                    let (id, who) = (other.elevated.id, &other.who);
                    Some(format!("`{name}` has elevation {id}, given by {who}"))
                }),
            };
            problems.extend(problem);
        }
        problems
    }

    fn unknown(&self, name: &str) -> String {
        let entries = self.inner.catalog.entries().iter();
        let names = entries.map(|entry| entry.descriptor().name.as_str());
        let meant = nearest(name, names);
        let meant = meant.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        format!("no tool is named `{}`{meant}", short(name))
    }

    fn tool_problem(&self, tool: &Descriptor, tier: Tier) -> Option<String> {
        let (name, policy) = (&tool.name, &self.inner.policy);
        if tool.effect.is_stop() {
            return Some(format!(
                "`{name}` needs no tier: a stop is always permitted"
            ));
        }
        let need = tool.effect.needed_tier();
        match need {
            Some(need) if !tier.permits(need) => {
                return Some(format!("`{name}` needs the tier {need}, above {tier}"));
            }
            Some(_) if policy.decide(tool).refusal().is_none() => {
                return Some(format!("`{name}` is permitted already"));
            }
            Some(_) => {}
            None => return Some(format!("`{name}` has no tier to raise")),
        }
        // An operator raises a tier; what the installation's policy refuses stays refused.
        let raised = policy.decide_raised(tool, tier);
        raised.refusal().map(|refusal| refusal.detail.clone())
    }

    /// Says that no place is free, and what holds them: one that has ended keeps its place until the tick
    /// has told that, its last call is at its end and its terminal lets go.
    fn full(&self, given: &[Given]) -> String {
        let lives = |one: &&Given| self.inner.lives(one.elevated.id);
        let live = given.iter().filter(lives).count();
        let ended = match ELEVATIONS_MAX.saturating_sub(live) {
            0 => String::new(),
            1 => ", and 1 ended that waits for its last call or its terminal".to_owned(),
            many => format!(", and {many} ended that wait for their last calls or terminals"),
        };
        format!("all {ELEVATIONS_MAX} places for elevations are taken: {live} live{ended}")
    }

    /// What the robot, as it stands, has against it.
    fn robot_problem(&self) -> Option<String> {
        let word = self.inner.links.latch.word();
        let run = self.inner.links.shared.run();
        let stops = word.stop && word.cause != Some(StopCause::Deadline);
        if word.ending {
            Some("this process is ending".to_owned())
        } else if word.estop {
            Some("latched".to_owned())
        } else if stops {
            Some("a stop is under way".to_owned())
        } else {
            match run {
                RunState::Armed | RunState::Moving | RunState::Stopping => None,
                RunState::Boot
                | RunState::Disarmed
                | RunState::Stopped
                | RunState::Latched
                | RunState::Fault => Some(format!("no operator armed the robot (it is {run})")),
            }
        }
    }

    fn let_go(&self, id: ElevationId) {
        let inner = &self.inner;
        inner.links.shared.elevations.let_go(id);
        // The tick stops what runs above the ceiling, and tells the end.
        inner.links.latch.wake();
        inner.given().retain(|one| one.elevated.id != id);
        self.keep_up();
    }
}

impl ElevationPort for Elevations {
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        self.inner.look(id)
    }

    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        let at = self.inner.at();
        self.inner.links.shared.elevations.take(id, at)
    }

    fn used(&self, raised: Raised, call: &str, tool: &str) {
        let mut given = self.inner.given();
        if let Some(one) = given.iter_mut().find(|one| one.elevated.id == raised.id) {
            one.news.push_back(ElevationNews::Used {
                elevation: raised.id,
                call: call.to_owned(),
                tool: tool.to_owned(),
                left: raised.left,
            });
        }
        drop(given);
        self.keep_up();
    }

    fn give_back(&self, id: ElevationId) {
        self.inner.links.shared.elevations.give_back(id);
        self.inner.links.latch.wake();
    }
}

impl Inner {
    fn given(&self) -> MutexGuard<'_, Vec<Given>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self) -> (crate::terms::Mono, u32) {
        (self.clock.now(), self.links.latch.falls())
    }

    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        self.links.shared.elevations.look(id, self.at())
    }

    fn lives(&self, id: ElevationId) -> bool {
        self.links.shared.elevations.lives(id)
    }

    fn stands(&self, id: ElevationId) -> Option<Stands> {
        self.links.shared.elevations.stands(id)
    }
}

/// Holds an Elevation; dropping it ends it.
#[derive(Debug)]
pub(in crate::app) struct Held {
    elevations: Elevations,
    id: ElevationId,
    #[cfg(any(feature = "dora", test))]
    begun: ElevationNews,
    /// Whether the end was told.
    #[cfg(any(feature = "dora", test))]
    is_over: bool,
}

#[cfg(any(feature = "dora", test))]
impl Held {
    /// Returns how it began, for the terminal of the operator.
    pub(in crate::app) fn begun(&self) -> &ElevationNews {
        &self.begun
    }

    /// Takes what happened since the last look. The end comes last, and once.
    pub(in crate::app) fn news(&mut self) -> Vec<ElevationNews> {
        let inner = &self.elevations.inner;
        // Looked at first: the last call of one that is used up is told before its end.
        let stands = inner.stands(self.id);
        let mut given = inner.given();
        let mine = given.iter_mut().find(|one| one.elevated.id == self.id);
        let mut news: Vec<ElevationNews> =
            mine.map_or_else(Vec::new, |one| one.news.drain(..).collect());
        drop(given);
        if let Some(stands) = stands
            && let Some(cause) = stands.ended.filter(|_| !self.is_over)
        {
            self.is_over = true;
            news.push(ElevationNews::Ended {
                elevation: self.id,
                cause,
                left: stands.left,
            });
        }
        self.elevations.keep_up();
        news
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.elevations.let_go(self.id);
    }
}

/// What is wrong with the question itself.
fn asked_problems(ask: &Ask<'_>) -> Vec<String> {
    let mut problems: Vec<String> = name_problem(ask.who, ask.why).into_iter().collect();
    let named = ask.tools.len();
    if named == 0 {
        problems.push("no tool is named: an elevation is for named tools".to_owned());
    }
    if named > ELEVATED_TOOLS_MAX {
        problems.push(format!(
            "{named} tools are named, {ELEVATED_TOOLS_MAX} at most"
        ));
    }
    for (what, found, max) in [
        ("calls", ask.calls, ELEVATED_CALLS_MAX),
        ("for_s", ask.for_s, ELEVATED_S_MAX),
    ] {
        if !(1..=max).contains(&found) {
            problems.push(format!("`{what}` is {found}: 1 to {max}"));
        }
    }
    problems
}

fn told(hidden: &Hidden) -> Fact {
    Fact::ToolsHidden {
        reason: hidden.reason,
        tier: hidden.tier,
        count: hidden.count,
    }
}

/// What hides more or fewer tools in the new view than in the old one.
fn changes(old: &ToolView, new: &ToolView) -> Vec<Fact> {
    let same = |a: &Hidden, b: &Hidden| (a.reason, a.tier) == (b.reason, b.tier);
    let gone = old.hidden().iter().filter_map(|was| {
        let stays = new.hidden().iter().any(|is| same(was, is));
        (!stays).then_some(Hidden { count: 0, ..*was })
    });
    let fresh = new.hidden().iter().filter(|is| !old.hidden().contains(is));
    gone.chain(fresh.copied())
        .map(|hidden| told(&hidden))
        .collect()
}

fn text_of(name: &ToolName) -> String {
    name.as_str().to_owned()
}

fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}
