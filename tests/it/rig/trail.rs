//! Order: one happening after the other.

use std::fmt::Debug;

/// A list of happenings, and how far a test has followed it.
#[derive(Debug)]
pub(crate) struct Trail<T> {
    all: Vec<T>,
    at: usize,
}

impl<T: Debug> Trail<T> {
    /// Begins at the first happening.
    pub(crate) fn of(all: Vec<T>) -> Self {
        Self { all, at: 0 }
    }

    /// Goes behind the next happening that fits, which must be there.
    pub(crate) fn then(&mut self, what: &str, fits: impl Fn(&T) -> bool) -> &T {
        let Some(found) = self.rest().iter().position(fits) else {
            panic!("no `{what}` among {:#?}", self.rest());
        };
        self.at += found + 1;
        &self.all[self.at - 1]
    }

    /// Asserts that nothing fits from here on.
    pub(crate) fn never(&self, what: &str, fits: impl Fn(&T) -> bool) {
        if let Some(found) = self.rest().iter().find(|&each| fits(each)) {
            panic!("`{what}` must not be: {found:?} among {:#?}", self.rest());
        }
    }

    /// Returns what was not followed yet.
    pub(crate) fn rest(&self) -> &[T] {
        &self.all[self.at..]
    }
}
