//! A table whose keys are being read.

use toml::de::{DeTable, DeValue};

use super::node::Node;
use crate::config::{ConfigError, Place};
use crate::terms::nearest;

/// A table, and the keys that were asked for so far.
#[derive(Debug)]
pub(crate) struct Table<'d> {
    node: Node<'d>,
    entries: &'d DeTable<'d>,
    known: Vec<&'static str>,
}

impl<'d> Node<'d> {
    /// Reads the value as a table: every key that `resolve` does not ask for is a fault.
    pub(crate) fn table<T>(self, resolve: impl FnOnce(&mut Table<'d>) -> Option<T>) -> Option<T> {
        let DeValue::Table(entries) = self.value else {
            return self.unfit("a table");
        };
        let mut table = Table::new(self, entries);
        let value = resolve(&mut table);
        table.close();
        value
    }
}

impl<'d> Table<'d> {
    pub(super) fn new(node: Node<'d>, entries: &'d DeTable<'d>) -> Self {
        Self {
            node,
            entries,
            known: Vec::new(),
        }
    }

    /// Reads a key that must be there.
    pub(crate) fn must<T>(
        &mut self,
        key: &'static str,
        shape: impl FnOnce(Node<'d>) -> Option<T>,
    ) -> Option<T> {
        if !self.has(key) {
            let hint = format!("add `{key}`; {} describes it", self.node.guide());
            self.fault(key, "missing", hint);
        }
        self.may(key, shape)
    }

    /// Reads a key that may be left out. `None` also when its value is at fault: [`Table::has`] tells
    /// the two apart.
    pub(crate) fn may<T>(
        &mut self,
        key: &'static str,
        shape: impl FnOnce(Node<'d>) -> Option<T>,
    ) -> Option<T> {
        self.known.push(key);
        #[cfg(test)]
        super::watch::note(self.node.path(), key);
        let value = self.entries.get(key)?.get_ref();
        shape(self.node.entry(key, self.entries, value))
    }

    /// Reports a key that later releases read.
    pub(crate) fn later(&mut self, key: &'static str, hint: &str) {
        self.refuse(key, "is not read by this release", hint);
    }

    /// Reports a key that does not belong here, if it is there.
    pub(crate) fn refuse(&mut self, key: &'static str, problem: &str, hint: &str) {
        if self.has(key) {
            // Known from now on, so that it is reported once; never proposed: it is there already.
            self.known.push(key);
            self.fault(key, problem, hint);
        }
    }

    /// Returns whether the table has this key, whatever its value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Reports a fault of a key; of the table when it lacks the key.
    pub(crate) fn fault(&self, key: &str, problem: impl Into<String>, hint: impl Into<String>) {
        self.node.report(ConfigError {
            place: self.place_of(key),
            key: self.node.path_of(key),
            problem: problem.into(),
            hint: hint.into(),
        });
    }

    /// Reports a fault of the table as a whole.
    pub(crate) fn fault_here(&self, problem: impl Into<String>, hint: impl Into<String>) {
        self.node.fault(problem, hint);
    }

    /// Returns where the table stands.
    pub(crate) fn place(&self) -> Place {
        self.node.place()
    }

    /// Returns the place of the file as a whole.
    pub(crate) fn file(&self) -> Place {
        Place {
            line: 0,
            ..self.node.place()
        }
    }

    /// Returns where a key stands; the table when it lacks the key.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        let line = self.node.line_of_key(key, self.entries);
        Place {
            line,
            ..self.node.place()
        }
    }

    /// Reports every key that nobody asked for.
    pub(super) fn close(self) {
        let strangers = self
            .entries
            .keys()
            .map(|key| key.get_ref().as_ref())
            .filter(|key| !self.known.contains(key));
        for key in strangers {
            let missing = self.known.iter().copied().filter(|known| !self.has(known));
            let hint = match nearest(key, missing) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", self.known.join(", ")),
            };
            self.fault(key, "unknown key", hint);
        }
    }
}
