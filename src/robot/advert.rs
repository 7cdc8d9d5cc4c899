//! What becomes of an advert: news, a sign of a restart, or a repetition. It changes no tier.

use std::collections::BTreeSet;

use super::codec::{Advert, AdvertVerb, verb};
use crate::config::{AdvertUnknown, RobotFile, Verb};
use crate::terms::{Fact, FactSink, Tier};

/// Longest claim of a tier that is kept, characters.
const CLAIM_CHARS_MAX: usize = 40;
/// Most missing verbs that one fact names; the rest is left out, those that stop the robot never.
const MISSING_MAX: usize = 32;

/// The adverts heard so far.
#[derive(Debug, Default)]
pub(super) struct Adverts {
    /// The advert in force, and whether it was published rather than asked for.
    known: Option<(Advert, bool)>,
    /// Verbs whose differing tier was told. Bounded by the verbs of the robot file.
    told: BTreeSet<String>,
}

/// What an advert says beyond its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct News {
    /// Whether it is new in this life of the robot's node.
    pub(super) fresh: bool,
    /// Whether it comes from another life of the robot's node than the one before.
    pub(super) restarted: bool,
}

impl Adverts {
    /// Hears an advert; `answered` says that it came as an answer to a question of ours.
    ///
    /// Robots publish their advert once, when they start. A second one therefore is a restart,
    /// unless it is the same to the letter, names the same process, or is the published form of one
    /// that an answer already gave.
    pub(super) fn hear(&mut self, advert: &Advert, answered: bool) -> News {
        let Some((known, published)) = &mut self.known else {
            self.known = Some((advert.clone(), !answered));
            return News {
                fresh: true,
                restarted: false,
            };
        };
        let same_pid = known.pid.is_some() && known.pid == advert.pid;
        let other_pid = known.pid.is_some() && advert.pid.is_some() && !same_pid;
        let second = !answered && *published && !same_pid && known != advert;
        let restarted = other_pid || second;
        *published |= !answered;
        let fresh = restarted || known.heartbeat_timeout_ms != advert.heartbeat_timeout_ms;
        if fresh {
            self.known = Some((advert.clone(), !answered));
        }
        News { fresh, restarted }
    }

    /// Forgets the advert: the robot's node is gone.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }

    /// Tells of a new advert, of verbs that it lacks, and of each verb whose claimed tier differs from
    /// the file's, once.
    pub(super) fn report(&mut self, robot: &RobotFile, advert: &Advert, sink: &dyn FactSink) {
        // A restart forgets; the advert that told of it is the one in force.
        self.known.get_or_insert_with(|| (advert.clone(), true));
        sink.raise(Fact::Advert {
            vendor: advert.vendor.clone(),
            model: advert.model.clone(),
            pid: advert.pid,
            deadman_ms: advert.heartbeat_timeout_ms,
            verbs: u32::try_from(advert.commands.len()).unwrap_or(u32::MAX),
        });
        let mut unknown: u32 = 0;
        for claim in &advert.commands {
            match entry(robot, &claim.verb) {
                Entry::Tool(tier) => self.compare(tier, claim, sink),
                Entry::Common => {}
                Entry::None => unknown = unknown.saturating_add(1),
            }
        }
        if robot.advert_unknown == AdvertUnknown::Report && unknown > 0 {
            sink.raise(Fact::AdvertUnknown { count: unknown });
        }
        let verbs = missing(robot, advert);
        if !verbs.is_empty() {
            sink.raise(Fact::AdvertMissing { verbs });
        }
    }

    fn compare(&mut self, file: Option<Tier>, claim: &AdvertVerb, sink: &dyn FactSink) {
        let Some(claimed) = &claim.safety_tier else {
            return;
        };
        let same = file.is_some_and(|tier| tier.as_str() == claimed);
        if !same && self.told.insert(claim.verb.clone()) {
            sink.raise(Fact::AdvertTier {
                verb: claim.verb.clone(),
                file,
                claimed: claimed.chars().take(CLAIM_CHARS_MAX).collect(),
            });
        }
    }
}

/// The verbs of the robot file that the advert lacks: stop sequence, release, tools, in this order.
/// An advert without any verb says nothing about them.
///
/// They block nothing. Robots in the field leave out verbs that they know, `robot.estop` above all; and
/// a stop verb that a robot truly lacks is answered with a refusal, which the next step follows.
fn missing(robot: &RobotFile, advert: &Advert) -> Vec<String> {
    if advert.commands.is_empty() {
        return Vec::new();
    }
    let offered: BTreeSet<&str> = advert.commands.iter().map(|c| c.verb.as_str()).collect();
    let steps = robot.stop.steps.iter().map(|step| &*step.call.verb);
    let release = robot.release.iter().map(|call| &*call.verb);
    let tools = robot.tools.iter().filter_map(|tool| match &tool.verb {
        Verb::Wire(verb) => Some(&**verb),
        Verb::Stop | Verb::Estop | Verb::State | Verb::SafetyEvents => None,
    });
    let mut seen = BTreeSet::new();
    let all = steps.chain(release).chain(tools);
    all.filter(|verb| !offered.contains(verb) && seen.insert(*verb))
        .take(MISSING_MAX)
        .map(str::to_owned)
        .collect()
}

enum Entry {
    /// In the file, with this tier; a stop has none.
    Tool(Option<Tier>),
    /// A verb of the envelope that the runtime itself uses.
    Common,
    /// Nowhere.
    None,
}

fn entry(robot: &RobotFile, wanted: &str) -> Entry {
    let tool = robot.tools.iter().find(|tool| match &tool.verb {
        Verb::Wire(verb) => **verb == *wanted,
        Verb::Stop | Verb::Estop | Verb::State | Verb::SafetyEvents => false,
    });
    let stops = robot.stop.steps.iter().any(|s| *s.call.verb == *wanted);
    let releases = robot.release.as_ref().is_some_and(|r| *r.verb == *wanted);
    match tool {
        Some(tool) => Entry::Tool(tool.tier),
        None if stops => Entry::Tool(None),
        None if releases || [verb::HEARTBEAT, verb::GET_CAPABILITIES].contains(&wanted) => {
            Entry::Common
        }
        None => Entry::None,
    }
}
