//! One row: a key, another value for it, and what is seen of that.

use std::collections::BTreeSet;

use super::site::{Change, Site, at, table, value};
use crate::config::{BETWEEN, FileKind, place_of};

pub(super) const OBSERVE: &str = "tiers/observe.toml";
pub(super) const SAFE: &str = "tiers/safe_motion.toml";
pub(super) const FULL: &str = "tiers/full_actuation.toml";
pub(super) const OVERRIDE: &str = "tiers/emergency_override.toml";
pub(super) const ROVER: &str = "tiers/robots/rover-sim.toml";
pub(super) const BOARD: &str = "boards/sim.toml";
pub(super) const POLICY: &str = "octos-edge.toml";
pub(super) const PLAY: &str = "dataflows/scenarios/play.toml";

/// Looks at an installation, or lets its robot run.
pub(super) type Look = fn(&Site) -> String;

/// One row.
pub(super) struct Row {
    /// The key that it is about.
    change: Change,
    /// What else is different, before and after.
    given: Vec<Change>,
    /// What must change together with the key, or the file would not load.
    along: Vec<Change>,
    /// The look, what it gives before and what after.
    seen: Option<(Look, &'static str, &'static str)>,
}

impl Row {
    /// A row about the key at `path` of `file`; `to` is its other value in TOML, empty to take it away.
    pub(super) fn of(file: &'static str, path: &'static str, to: &'static str) -> Self {
        Self {
            change: (file, path, to),
            given: Vec::new(),
            along: Vec::new(),
            seen: None,
        }
    }

    pub(super) fn given(
        mut self,
        file: &'static str,
        path: &'static str,
        to: &'static str,
    ) -> Self {
        self.given.push((file, path, to));
        self
    }

    pub(super) fn along(
        mut self,
        file: &'static str,
        path: &'static str,
        to: &'static str,
    ) -> Self {
        self.along.push((file, path, to));
        self
    }

    pub(super) fn seen(mut self, look: Look, was: &'static str, becomes: &'static str) -> Self {
        self.seen = Some((look, was, becomes));
        self
    }

    /// The installation keeps the old value, or does not load with the new one: `fault` is told then.
    pub(super) fn faulty(self, fault: &'static str) -> Self {
        self.seen(Site::faults, "", fault)
    }

    /// Looks before and after.
    ///
    /// # Errors
    /// What is seen and should not be.
    pub(super) fn judge(&self) -> Result<(), String> {
        let (look, was, becomes) = self.seen.unwrap_or_else(|| panic!("{}", self.name()));
        if was == becomes {
            return Err(format!("{}: changes nothing", self.name()));
        }
        let changes = [&self.given, &self.along, &vec![self.change]];
        let changes: Vec<Change> = changes.into_iter().flatten().copied().collect();
        let looked = |changes: &[Change]| {
            let look = || look(&Site::new(changes));
            std::panic::catch_unwind(look).unwrap_or_else(|_| "it panics".to_owned())
        };
        let (before, after) = (looked(&self.given), looked(&changes));
        let mut wrong = String::new();
        if !fits(&before, was) {
            wrong.push_str(&format!("\n    is `{before}`, not `{was}`"));
        }
        if !fits(&after, becomes) {
            wrong.push_str(&format!("\n    becomes `{after}`, not `{becomes}`"));
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("{}:{wrong}", self.name())),
        }
    }

    pub(super) fn name(&self) -> String {
        let (file, path, to) = self.change;
        format!("{file}: {path} = {to}")
    }

    pub(super) fn kind(&self) -> FileKind {
        kind_of(self.change.0)
    }

    /// The place of the key in the schema.
    pub(super) fn place(&self) -> Option<String> {
        let path = self.change.1.replace('/', &BETWEEN.to_string());
        place_of(self.kind(), &path)
    }

    /// The words that the key has before or after, and not both times.
    pub(super) fn words(&self) -> BTreeSet<String> {
        let (file, path, to) = self.change;
        let before = at(&table(file, &self.given), path).map(|value| words(&value));
        let before = before.unwrap_or_default();
        let after = match to {
            "" => BTreeSet::new(),
            to => words(&value(to)),
        };
        before.symmetric_difference(&after).cloned().collect()
    }
}

/// A long answer is quoted by its beginning, with `…` at the end.
fn fits(found: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('…') {
        Some(begin) => found.starts_with(begin),
        None => found == wanted,
    }
}

fn words(value: &toml::Value) -> BTreeSet<String> {
    let one = std::slice::from_ref(value);
    let all = value.as_array().map_or(one, Vec::as_slice);
    all.iter()
        .filter_map(|one| one.as_str().map(str::to_owned))
        .collect()
}

pub(super) fn kind_of(file: &str) -> FileKind {
    match file {
        ROVER => FileKind::Robot,
        BOARD => FileKind::Board,
        POLICY => FileKind::Policy,
        PLAY => FileKind::Scenario,
        tier => {
            assert!(tier.starts_with("tiers/"), "{tier}");
            FileKind::Tier
        }
    }
}

/// A file of a kind that has all keys of the kind that must be there.
pub(super) fn file_of(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Tier => SAFE,
        FileKind::Robot => ROVER,
        FileKind::Board => BOARD,
        FileKind::Scenario => PLAY,
        FileKind::Policy => POLICY,
    }
}
