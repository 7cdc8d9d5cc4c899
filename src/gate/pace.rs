//! What was spent: rates of all tools, motion calls of the last minute, last accepted numbers.
//!
//! Everything is sized when the pace is made; neither asking nor spending allocates. Only
//! [`admit`](super::admit) spends, and only for a call that it grants. Time is the time of the postures;
//! should one be older than the one before, rates are only stricter for it.
#![deny(clippy::arithmetic_side_effects)]

use super::{RobotRules, ToolRules};
use crate::terms::Mono;

/// Most arguments of one tool that have a `max_step`.
pub(super) const STEPS_MAX: usize = 32;
/// The span over which motion calls are counted, ms.
const MOTION_WINDOW_MS: u64 = 60_000;
/// Most motion calls per minute that are kept; a tier file permits at most 600.
const MOTION_PER_MIN_MAX: u32 = 600;

/// One optional number for each stepped argument of a tool, by slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Steps(heapless::Vec<Option<f64>, STEPS_MAX>);

impl Steps {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Sets one slot. Slots are given out in order by the rules, which hold at most [`STEPS_MAX`].
    pub(super) fn set(&mut self, slot: usize, number: Option<f64>) {
        if slot >= self.0.len() {
            let length = slot.saturating_add(1).min(STEPS_MAX);
            if self.0.resize(length, None).is_err() {
                return;
            }
        }
        if let Some(place) = self.0.get_mut(slot) {
            *place = number;
        }
    }

    pub(super) fn get(&self, slot: usize) -> Option<f64> {
        self.0.get(slot).copied().flatten()
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes every number that `newer` has.
    fn overlay(&mut self, newer: &Self) {
        for (slot, number) in newer.0.iter().enumerate() {
            if number.is_some() {
                self.set(slot, *number);
            }
        }
    }
}

/// The numbers from which the steps of the next call of one tool count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepBase(Steps);

impl StepBase {
    /// Counts every step from 0: the robot was stopped.
    pub fn at_rest() -> Self {
        Self::default()
    }

    /// Returns the last accepted number of one stepped argument, 0 when there is none.
    pub(super) fn last(&self, slot: usize) -> f64 {
        self.0.get(slot).unwrap_or(0.0)
    }
}

/// A rate as the distance of two calls in the long run, and how many may come at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rate {
    pub interval_ns: u64,
    pub burst: u32,
}

impl Rate {
    /// How far ahead of its time a call may come, ns.
    fn slack_ns(self) -> u64 {
        let others = u64::from(self.burst).saturating_sub(1);
        self.interval_ns.saturating_mul(others)
    }
}

/// The rates of one tool, as admission asks for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tempo {
    pub rate: Rate,
    /// For a motion tool: how many motion calls of the robot a minute may have before this one is
    /// one too many. `None` for all others.
    pub motion_per_min: Option<u32>,
}

/// What was spent so far on one robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    tools: Vec<Spent>,
    motions: Window,
}

/// What one tool has spent.
#[derive(Debug, Clone, Default, PartialEq)]
struct Spent {
    /// When the next call would be due if all calls so far had kept their distance, ns.
    due_ns: u64,
    /// The stop epoch of `last`.
    epoch: u32,
    last: Steps,
}

impl Pace {
    /// Makes the pace of a robot of which nothing was called yet.
    pub fn new(rules: &RobotRules) -> Self {
        let tempos = rules.tools().iter().map(|tool| tool.tempo);
        let motions = tempos.filter_map(|tempo| tempo.motion_per_min).max();
        Self {
            tools: vec![Spent::default(); rules.tools().len()],
            motions: Window::of(motions.unwrap_or(0)),
        }
    }

    /// Makes the pace of a process without a robot: nothing that has rules passes.
    pub fn without_robot() -> Self {
        Self {
            tools: Vec::new(),
            motions: Window::of(0),
        }
    }

    /// Returns the numbers from which the steps of `tool` count under the stop epoch of now: its last
    /// accepted ones, or 0 when a stop came since.
    pub fn base(&self, tool: &ToolRules, epoch: u32) -> StepBase {
        match self.spent(tool.index()) {
            Some(spent) if spent.epoch == epoch => StepBase(spent.last.clone()),
            Some(_) | None => StepBase::at_rest(),
        }
    }

    /// Returns how long a call of this tool must wait by its rates, ms; `None` when it need not.
    pub(super) fn wait_ms(&self, tool: u16, tempo: Tempo, now: Mono) -> Option<u64> {
        let by_rate = match self.spent(tool) {
            Some(spent) => early_ns(spent.due_ns, tempo.rate, now),
            None => Some(u64::MAX),
        };
        let by_rate = by_rate.map(|ns| ns.div_ceil(1_000_000));
        let by_motion = tempo
            .motion_per_min
            .and_then(|max| self.motions.wait_ms(max, now));
        by_rate.max(by_motion)
    }

    /// Spends one call.
    pub(super) fn spend(&mut self, tool: u16, tempo: Tempo, now: Mono) {
        if let Some(spent) = self.tools.get_mut(usize::from(tool)) {
            let from = spent.due_ns.max(now.as_ns());
            spent.due_ns = from.saturating_add(tempo.rate.interval_ns);
        }
        if tempo.motion_per_min.is_some() {
            self.motions.push(now);
        }
    }

    /// Keeps the accepted numbers of a call for the steps of the next one.
    pub(super) fn accept(&mut self, tool: u16, epoch: u32, steps: &Steps) {
        if let Some(spent) = self.tools.get_mut(usize::from(tool)) {
            if spent.epoch != epoch {
                spent.last.clear();
                spent.epoch = epoch;
            }
            spent.last.overlay(steps);
        }
    }

    fn spent(&self, tool: u16) -> Option<&Spent> {
        self.tools.get(usize::from(tool))
    }
}

/// Returns by how much a call at `now` is too early, ns; `None` when it is not.
fn early_ns(due_ns: u64, rate: Rate, now: Mono) -> Option<u64> {
    let earliest = due_ns.saturating_sub(rate.slack_ns());
    earliest.checked_sub(now.as_ns()).filter(|early| *early > 0)
}

/// The times of the last motion calls, in a ring.
#[derive(Debug, Clone, PartialEq)]
struct Window {
    times: Box<[Option<Mono>]>,
    next: usize,
}

impl Window {
    fn of(calls: u32) -> Self {
        let room = usize::try_from(calls.min(MOTION_PER_MIN_MAX)).unwrap_or(0);
        Self {
            times: vec![None; room].into_boxed_slice(),
            next: 0,
        }
    }

    fn push(&mut self, now: Mono) {
        if let Some(place) = self.times.get_mut(self.next) {
            *place = Some(now);
            self.next = self.next.saturating_add(1);
        }
        if self.next >= self.times.len() {
            self.next = 0;
        }
    }

    /// Returns how long to wait until fewer than `max` calls lie within the last minute.
    fn wait_ms(&self, max: u32, now: Mono) -> Option<u64> {
        let back = usize::try_from(max).unwrap_or(usize::MAX);
        let room = self.times.len();
        if back == 0 || back > room {
            return Some(MOTION_WINDOW_MS);
        }
        let place = self.next.saturating_add(room).saturating_sub(back);
        let place = place.checked_rem(room).unwrap_or(0);
        let at = self.times.get(place).copied().flatten()?;
        MOTION_WINDOW_MS
            .checked_sub(now.ms_since(at))
            .filter(|wait| *wait > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_waits_for_the_oldest_of_its_calls() {
        let mut window = Window::of(3);
        for at in [0, 10_000, 20_000] {
            assert_eq!(window.wait_ms(3, Mono::from_ms(at)), None);
            window.push(Mono::from_ms(at));
        }
        assert_eq!(window.wait_ms(3, Mono::from_ms(30_000)), Some(30_000));
        assert_eq!(window.wait_ms(2, Mono::from_ms(30_000)), Some(40_000));
        assert_eq!(window.wait_ms(3, Mono::from_ms(59_999)), Some(1));
        assert_eq!(window.wait_ms(3, Mono::from_ms(60_000)), None);
        assert_eq!(
            window.wait_ms(4, Mono::from_ms(60_000)),
            Some(60_000),
            "more than it can see"
        );
        assert_eq!(Window::of(0).wait_ms(0, Mono::ZERO), Some(60_000));
    }

    #[test]
    fn a_burst_comes_at_once_and_then_the_interval_rules() {
        let rate = Rate {
            interval_ns: 1_000_000_000,
            burst: 2,
        };
        assert_eq!(early_ns(0, rate, Mono::ZERO), None);
        assert_eq!(
            early_ns(1_000_000_000, rate, Mono::ZERO),
            None,
            "the second of the burst"
        );
        assert_eq!(
            early_ns(2_000_000_000, rate, Mono::ZERO),
            Some(1_000_000_000)
        );
        assert_eq!(early_ns(2_000_000_000, rate, Mono::from_ms(1000)), None);
    }

    #[test]
    fn slots_beyond_the_bound_are_ignored() {
        let mut steps = Steps::new();
        steps.set(2, Some(0.5));
        steps.set(STEPS_MAX, Some(9.0));
        assert_eq!(
            (steps.get(0), steps.get(2), steps.get(STEPS_MAX)),
            (None, Some(0.5), None)
        );
    }
}
