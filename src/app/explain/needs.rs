//! What a robot must be for a call of a tool to be admitted, and what bounds the call: sentences for
//! people, from the files alone.

use crate::app::load::Rulebook;
use crate::config::{Approval, EffectWord, TierProfile, ToolDef, Verb};
use crate::terms::counted;

/// Returns the sentences, in the order in which the gate asks.
pub(super) fn needs(def: &ToolDef, book: &Rulebook) -> Vec<String> {
    let Some(tier) = def.tier.filter(|_| def.effect != EffectWord::Stop) else {
        return vec!["nothing: it acts at once, in every state, at every tier".to_owned()];
    };
    let profile = book.tiers.of(tier);
    let mut needs = Vec::new();
    if let Approval::PerCall { ttl_s } = profile.approval {
        needs.push(format!("a person's word for each call, within {ttl_s} s"));
    }
    if matches!(def.verb, Verb::Wire(_)) {
        needs.push("a robot that answers".to_owned());
    }
    match def.effect {
        EffectWord::Move | EffectWord::Hold | EffectWord::Config => {
            needs.extend(of_motion(def, book));
        }
        EffectWord::Observe | EffectWord::Stop => {}
    }
    needs.extend(bounds(def, profile));
    needs
}

fn of_motion(def: &ToolDef, book: &Rulebook) -> Vec<String> {
    let mut needs = vec!["an operator who armed the robot, and no estop since".to_owned()];
    if let Some(ms) = def.freshness_ms {
        needs.push(format!("a state of the robot at most {ms} ms old"));
    }
    if let Some(place) = book.robot.workspace.as_ref().filter(|_| def.effect.moves()) {
        needs.push(format!(
            "a position at most {} ms old, inside the workspace `{}` by {} m",
            place.max_age_ms, place.frame, place.margin_m
        ));
    }
    needs.push(format!("nothing else that moves `{}`", def.device));
    needs
}

fn bounds(def: &ToolDef, profile: &TierProfile) -> Vec<String> {
    let mut bounds = vec![format!(
        "at most {} a second, {} at once",
        counted(def.rate_per_s, "call"),
        def.burst
    )];
    if !def.effect.moves() {
        bounds.push(format!("an end within {} ms", def.timeout_ms));
        return bounds;
    }
    if let Some(per_min) = profile.motion_per_min {
        bounds.push(format!(
            "at most {} of the robot in any minute",
            counted(per_min, "motion call")
        ));
    }
    if let Some(bound) = &def.speed_bound {
        bounds.push(format!(
            "a robot that moves at most {} m/s by itself (source: {})",
            bound.mps, bound.source
        ));
    }
    let hard_max_ms = profile.lease.map_or(u32::MAX, |lease| lease.hard_max_ms);
    bounds.push(format!(
        "an end within {} ms, under a lease that progress renews",
        def.timeout_ms.min(hard_max_ms)
    ));
    bounds
}
