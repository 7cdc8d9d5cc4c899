//! Reads the four tier files and judges them together.
//!
//! One file at a time first: which keys a tier needs follows from its effects. Then all four: a tier
//! never permits less than the one below it.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Approval, CallDefaults, LeaseProfile, TierProfile, Tiers};
use crate::config::reader::{
    self, Node, Parsed, Source, Table, exactly, list, named, number, schema, text, whole, word,
};
use crate::config::{ConfigError, ConfigErrors, EffectWord, Place, file};
use crate::terms::{Kind, Tier};

const GUIDE: &str = "tiers/README.md";
/// Longest title, bytes.
const TITLE_BYTES_MAX: usize = 200;

const CONCURRENCY: &[(&str, bool)] = &[
    ("exclusive", /* exclusive */ true),
    ("parallel", /* exclusive */ false),
];
/// Longest time that a person may take, s.
const TTL_S_MAX: u32 = 600;

impl Tiers {
    /// Loads the four tier files of a folder.
    ///
    /// # Errors
    /// Every fault of all four files: one that is missing, unreadable or at fault, and ceilings that
    /// fall from one tier to the next.
    pub fn load(dir: &Path) -> Result<Self, ConfigErrors> {
        Self::read(dir).done()
    }

    /// Parses the texts of the four files, lowest tier first.
    ///
    /// # Errors
    /// As for [`Tiers::load`].
    pub fn parse(texts: [&str; 4]) -> Result<Self, ConfigErrors> {
        Self::parse_bytes(texts.map(str::as_bytes)).done()
    }

    pub(crate) fn read(dir: &Path) -> Parsed<Self> {
        assemble(Tier::ALL.map(|tier| {
            let path = dir.join(format!("{tier}.toml"));
            let hint = "all four tier files must be there; --tiers names their folder";
            match file::read(&path, hint) {
                Ok(bytes) => draft(&file::quoted(&path), &bytes, tier),
                Err(fault) => Parsed::failed(fault),
            }
        }))
    }

    pub(crate) fn parse_bytes(texts: [&[u8]; 4]) -> Parsed<Self> {
        let [observe, safe, full, emergency] = texts;
        let draft = |tier: Tier, bytes| draft(&format!("tiers/{tier}.toml"), bytes, tier);
        assemble([
            draft(Tier::Observe, observe),
            draft(Tier::SafeMotion, safe),
            draft(Tier::FullActuation, full),
            draft(Tier::EmergencyOverride, emergency),
        ])
    }
}

/// A tier file by itself, with the places that the judgement of all four quotes.
#[derive(Debug)]
struct Draft {
    profile: TierProfile,
    ceilings_at: Place,
    ceilings: BTreeMap<Kind, (f64, Place)>,
}

fn draft(file: &str, bytes: &[u8], tier: Tier) -> Parsed<Draft> {
    let source = Source {
        file,
        bytes,
        guide: GUIDE,
    };
    reader::read(source, |root| root.table(|t| profile(t, tier)))
}

fn profile(t: &mut Table<'_>, tier: Tier) -> Option<Draft> {
    t.must("schema", schema);
    t.must("tier", exactly(tier.as_str()));
    let title = t.must("title", text(1..=TITLE_BYTES_MAX));
    let effects = t.must("effects", list(1..=4, effect));
    let moves = effects
        .as_ref()
        .map(|effects| effects.iter().any(|effect| effect.moves()));
    let motion_per_min = t.may("motion_per_min", whole(1..=600));
    let lease = t.may("lease", lease);
    let idle_disarm_s = t.may("arming", arming);
    let defaults = t.must("defaults", defaults(moves, lease));
    let approval = t.must("approval", approval);
    let ceilings = match tier {
        Tier::Observe | Tier::SafeMotion | Tier::FullActuation => t.may("ceilings", ceilings),
        Tier::EmergencyOverride => t
            .must("ceilings", exactly("inherit"))
            .map(|()| BTreeMap::new()),
    };
    t.refuse(
        "tools",
        "a tier file lists no tools",
        "a tool gets its tier in tiers/robots/<robot>.toml, in its own [[tool]]",
    );
    t.later(
        "on_loss",
        "what a lost model or fleet link does comes with the model lanes",
    );
    fit_to_motion(t, tier, moves);

    let profile = TierProfile {
        place: t.file(),
        tier,
        title: title?,
        effects: effects?,
        defaults: defaults?,
        motion_per_min,
        lease,
        idle_disarm_s,
        approval: approval?,
        ceilings: BTreeMap::new(),
    };
    Some(Draft {
        profile,
        ceilings_at: t.place_of("ceilings"),
        // Ceilings at fault make no draft: nothing is compared with them.
        ceilings: if t.has("ceilings") {
            ceilings?
        } else {
            BTreeMap::new()
        },
    })
}

fn effect(node: Node<'_>) -> Option<EffectWord> {
    if node.as_str() == Some("stop") {
        node.fault(
            "a stop belongs to no tier",
            "remove it: stops are permitted at every tier",
        );
        return None;
    }
    named(&EffectWord::TIERED, EffectWord::as_str)(node)
}

/// Reads `defaults`, and judges them by whether something moves and by the lease it moves under.
fn defaults(
    moves: Option<bool>,
    lease: Option<LeaseProfile>,
) -> impl Fn(Node<'_>) -> Option<CallDefaults> {
    move |node| {
        node.table(|t| {
            let timeout_ms = t.must("timeout_ms", whole(1..=3_600_000));
            let exclusive = t.must("concurrency", word(CONCURRENCY));
            let rate_per_s = t.must("rate_per_s", number(0.001..=100.0));
            let burst = t.must("burst", whole(1..=1000));
            let freshness_ms = t.may("freshness_ms", whole(1..=60_000));
            if moves == Some(true) && exclusive == Some(false) {
                let hint = "write \"exclusive\": two motions of one device exclude each other";
                t.fault("concurrency", "found `parallel`, and this tier moves", hint);
            }
            if moves == Some(true) && !t.has("freshness_ms") {
                let hint = "add it: no robot may be moved on an old state";
                t.fault("freshness_ms", "missing, and this tier moves", hint);
            }
            if let (Some(timeout_ms), Some(LeaseProfile { hard_max_ms, .. })) = (timeout_ms, lease)
                && timeout_ms > hard_max_ms
            {
                let problem =
                    format!("found `{timeout_ms}`, needs at most lease.hard_max_ms, {hard_max_ms}");
                t.fault(
                    "timeout_ms",
                    problem,
                    "the lease would end the call first: lower it",
                );
            }
            Some(CallDefaults {
                timeout_ms: timeout_ms?,
                exclusive: exclusive?,
                rate_per_s: rate_per_s?,
                burst: burst?,
                freshness_ms,
            })
        })
    }
}

fn lease(node: Node<'_>) -> Option<LeaseProfile> {
    node.table(|t| {
        let renew_ms = t.must("renew_ms", whole(50..=10_000));
        let lost_after_ms = t.must("lost_after_ms", whole(100..=60_000));
        let hard_max_ms = t.must("hard_max_ms", whole(100..=3_600_000));
        let lease = LeaseProfile {
            renew_ms: renew_ms?,
            lost_after_ms: lost_after_ms?,
            hard_max_ms: hard_max_ms?,
        };
        if lease.lost_after_ms <= lease.renew_ms {
            let problem = format!(
                "found {}, needs more than renew_ms, which is {}",
                lease.lost_after_ms, lease.renew_ms
            );
            t.fault(
                "lost_after_ms",
                problem,
                "a lease must be looked at before it is lost",
            );
        }
        if lease.hard_max_ms < lease.lost_after_ms {
            let problem = format!(
                "found {}, needs at least lost_after_ms, which is {}",
                lease.hard_max_ms, lease.lost_after_ms
            );
            t.fault("hard_max_ms", problem, "raise it, or lower lost_after_ms");
        }
        Some(lease)
    })
}

/// Reads `[arming]`: who arms (an operator, always), and the idle time that ends it, s.
fn arming(node: Node<'_>) -> Option<u32> {
    node.table(|t| {
        t.must("by", |by| {
            if by.as_str() == Some("auto_in_mock") {
                by.fault(
                    "`auto_in_mock` exists only with the in-process mock bridge",
                    "write \"operator\": this release has no mock bridge",
                );
                return None;
            }
            exactly("operator")(by)
        });
        t.must("idle_disarm_s", whole(1..=86_400))
    })
}

fn approval(node: Node<'_>) -> Option<Approval> {
    node.table(|t| {
        let comes = "each call is asked for by itself; other kinds of approval come later";
        let asks = t.must("mode", |mode| {
            if mode.as_str() == Some("per_arm") {
                mode.fault("`per_arm` is not read by this release", comes);
                return None;
            }
            word(&[("never", false), ("per_call", true)])(mode)
        });
        t.later("max_calls", comes);
        t.later("local_only", "no way but the control socket leads here yet");
        t.later(
            "default",
            "without a person's word a call is refused; there is no other default",
        );
        match asks? {
            false => {
                t.refuse(
                    "ttl_s",
                    "changes nothing: nobody is asked at this tier",
                    "remove it",
                );
                Some(Approval::Never)
            }
            true => Some(Approval::PerCall {
                ttl_s: t.must("ttl_s", whole(1..=TTL_S_MAX))?,
            }),
        }
    })
}

fn ceilings(node: Node<'_>) -> Option<BTreeMap<Kind, (f64, Place)>> {
    if node.as_str() == Some("inherit") {
        node.fault(
            "only emergency_override inherits its ceilings",
            "write a [ceilings] table with this tier's own numbers",
        );
        return None;
    }
    node.table(|t| {
        let read: BTreeMap<Kind, (f64, Place)> = Kind::CEILINGS
            .into_iter()
            .filter_map(|kind| {
                let ceiling = t.may(kind.ceiling_key()?, |node| {
                    let place = node.place();
                    Some((number(0.001..=1_000_000.0)(node)?, place))
                });
                Some((kind, ceiling?))
            })
            .collect();
        Some(read)
    })
}

/// Keys that belong to tiers in which something moves, and only there.
const MOTION_KEYS: [&str; 4] = ["motion_per_min", "lease", "arming", "ceilings"];

/// Judges the keys that follow from whether something moves at this tier.
fn fit_to_motion(t: &Table<'_>, tier: Tier, moves: Option<bool>) {
    for key in MOTION_KEYS {
        let inherited = key == "ceilings" && tier == Tier::EmergencyOverride;
        match moves {
            Some(true) if !t.has(key) && !inherited => {
                t.fault(key, "missing, and this tier moves", format!("add `{key}`"));
            }
            Some(false) if t.has(key) && !inherited => {
                t.fault(
                    key,
                    "changes nothing: no effect of this tier moves",
                    "remove it",
                );
            }
            Some(_) | None => {}
        }
    }
}

/// Puts the four together, when all are there, and judges each against the one below.
fn assemble(drafts: [Parsed<Draft>; 4]) -> Parsed<Tiers> {
    let mut faults = Vec::new();
    let [observe, safe, full, emergency] = drafts.map(|draft| {
        faults.extend(draft.faults);
        draft.value
    });
    if let (Some(lower), Some(upper)) = (&observe, &safe) {
        rise(lower, upper, &mut faults);
    }
    if let (Some(lower), Some(upper)) = (&safe, &full) {
        rise(lower, upper, &mut faults);
    }
    let value = (|| {
        let [observe, safe, full, mut emergency] =
            [observe?, safe?, full?, emergency?].map(|draft| TierProfile {
                ceilings: draft
                    .ceilings
                    .into_iter()
                    .map(|(kind, (most, _))| (kind, most))
                    .collect(),
                ..draft.profile
            });
        emergency.ceilings.clone_from(&full.ceilings);
        Some(Tiers([observe, safe, full, emergency]))
    })();
    Parsed { value, faults }
}

/// Reports every kind that the upper tier bounds less than the lower one, or not at all.
fn rise(lower: &Draft, upper: &Draft, faults: &mut Vec<ConfigError>) {
    let below = lower.profile.tier;
    for (kind, (least, _)) in &lower.ceilings {
        let key = kind.ceiling_key().unwrap_or_default();
        let (place, problem) = match upper.ceilings.get(kind) {
            Some((most, _)) if most >= least => continue,
            Some((most, place)) => (place, format!("found {most}, {below} permits {least}")),
            None => (&upper.ceilings_at, format!("missing, and {below} has it")),
        };
        faults.push(ConfigError {
            place: place.clone(),
            key: format!("ceilings.{key}"),
            problem,
            hint: format!("a ceiling must not fall from one tier to the next: at least {least}"),
        });
    }
}
