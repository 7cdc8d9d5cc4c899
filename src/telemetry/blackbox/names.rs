//! Names of the files of the box.

use crate::terms::FactClass;

/// The file that knows how far the chains have come.
pub(super) const HEAD: &str = "head";
/// The file that takes safety records when the disk is full.
pub(super) const RESERVE: &str = "reserve";

/// The classes, safety first.
pub(in crate::telemetry) const CLASSES: [FactClass; 3] =
    [FactClass::Safety, FactClass::Audit, FactClass::Trace];

/// Numbers beyond this are no segments of ours: years of one segment a second.
pub(super) const NUMBER_MAX: u64 = 999_999_999;

/// A segment: `safety-000001.jsonl`, and so on for each class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::telemetry) struct SegmentName {
    /// First, so that names of a class sort by it.
    pub(in crate::telemetry) number: u64,
    pub(in crate::telemetry) name: String,
}

impl SegmentName {
    pub(super) fn new(class: FactClass, number: u64) -> Self {
        Self {
            number,
            name: format!("{}-{number:06}.jsonl", word(class)),
        }
    }

    /// Parses the name of a segment of this class.
    pub(super) fn parse(class: FactClass, name: &str) -> Option<Self> {
        let rest = name.strip_prefix(word(class))?.strip_prefix('-')?;
        let digits = rest.strip_suffix(".jsonl")?;
        let number: u64 = digits.parse().ok()?;
        let own = Self::new(class, number);
        // One number, one name: `+1` and `0000001` are not ours.
        (number <= NUMBER_MAX && own.name == name).then_some(own)
    }
}

/// Returns the word of a class in names, records and options.
pub(super) fn word(class: FactClass) -> &'static str {
    match class {
        FactClass::Safety => "safety",
        FactClass::Audit => "audit",
        FactClass::Trace => "trace",
    }
}

/// One of each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::telemetry) struct PerClass<T> {
    pub(in crate::telemetry) safety: T,
    pub(in crate::telemetry) audit: T,
    pub(in crate::telemetry) trace: T,
}

impl<T> PerClass<T> {
    pub(in crate::telemetry) fn of(&self, class: FactClass) -> &T {
        match class {
            FactClass::Safety => &self.safety,
            FactClass::Audit => &self.audit,
            FactClass::Trace => &self.trace,
        }
    }

    pub(in crate::telemetry) fn of_mut(&mut self, class: FactClass) -> &mut T {
        match class {
            FactClass::Safety => &mut self.safety,
            FactClass::Audit => &mut self.audit,
            FactClass::Trace => &mut self.trace,
        }
    }
}
