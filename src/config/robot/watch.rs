//! What is watched on the robot's side: its dead-man, its speed, its advert.

use super::json_path::{JsonPath, json_path};
use crate::config::reader::{Node, exactly, flag, number, whole, word};

/// Watches the observed speed.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedMonitor {
    /// Path of the speed in the state, m/s.
    pub path: JsonPath,
    /// Above this factor times the ceiling of linear speed the robot is stopped, 1.0 to 2.0.
    pub factor: f64,
}

/// Where the dead-man time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadmanSource {
    /// The advert; `fixed_ms` bounds from above what it may claim.
    Advert,
    /// `fixed_ms`, whatever the advert says.
    Fixed,
    /// The robot has none: motion only with `waive`.
    None,
}

/// The robot's dead-man.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadman {
    /// Where its time comes from.
    pub source: DeadmanSource,
    /// The time, or its upper bound, ms, 150 to 10 000.
    pub fixed_ms: u32,
    /// Whether motion is permitted without a dead-man.
    pub waive: bool,
}

/// What to do about adverted verbs that the file lacks. They are no tools either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvertUnknown {
    /// Nothing.
    Ignore,
    /// Record how many there are.
    Report,
}

const SOURCES: &[(&str, DeadmanSource)] = &[
    ("advert", DeadmanSource::Advert),
    ("fixed", DeadmanSource::Fixed),
    ("none", DeadmanSource::None),
];
const ADVERT_UNKNOWN: &[(&str, AdvertUnknown)] = &[
    ("ignore", AdvertUnknown::Ignore),
    ("report", AdvertUnknown::Report),
];

/// The shape of `deadman`.
pub(super) fn deadman(node: Node<'_>) -> Option<Deadman> {
    node.table(|t| {
        let source = t.must("source", word(SOURCES));
        let fixed_ms = t.must("fixed_ms", whole(150..=10_000));
        let waive = t.must("waive", |node| {
            // To waive means that a line of the board holds the motors instead; no board file of this
            // release has one, so the waiver would stand alone.
            if flag(node.clone())? {
                node.fault(
                    "found `true`, needs `false`",
                    "a waiver needs an enable line in pulse mode, which comes with the board room",
                );
                return None;
            }
            Some(false)
        });
        Some(Deadman {
            source: source?,
            fixed_ms: fixed_ms?,
            waive: waive?,
        })
    })
}

/// The shape of `[monitor]`.
pub(super) fn monitor(node: Node<'_>) -> Option<SpeedMonitor> {
    node.table(|t| t.must("speed", speed))
}

fn speed(node: Node<'_>) -> Option<SpeedMonitor> {
    node.table(|t| {
        t.must("stream", exactly("state"));
        let path = t.must("path", json_path);
        t.must("unit", exactly("m/s"));
        let factor = t.must("factor", number(1.0..=2.0));
        t.later(
            "derive",
            "a speed derived from positions comes with the vendor bridge",
        );
        Some(SpeedMonitor {
            path: path?,
            factor: factor?,
        })
    })
}

/// The shape of `advert_unknown`.
pub(super) fn advert_unknown(node: Node<'_>) -> Option<AdvertUnknown> {
    word(ADVERT_UNKNOWN)(node)
}
