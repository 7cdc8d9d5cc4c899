//! Order: one happening after the other.

use std::fmt::Debug;

/// A list of happenings, and how far a test has followed it.
#[derive(Debug)]
pub(crate) struct Trail<T> {
    rest: Vec<T>,
}

impl<T: Debug> Trail<T> {
    /// Begins at the first happening.
    pub(crate) fn of(all: Vec<T>) -> Self {
        Self { rest: all }
    }

    /// Goes behind the next happening that fits, which must be there, and returns it.
    pub(crate) fn then(&mut self, what: &str, fits: impl Fn(&T) -> bool) -> T {
        let Some(found) = self.rest.iter().position(fits) else {
            panic!("no `{what}` among {:#?}", self.rest);
        };
        let behind = self.rest.split_off(found + 1);
        let before = std::mem::replace(&mut self.rest, behind);
        before.into_iter().next_back().unwrap()
    }

    /// Asserts that nothing fits from here on.
    pub(crate) fn never(&self, what: &str, fits: impl Fn(&T) -> bool) {
        if let Some(found) = self.rest.iter().find(|&each| fits(each)) {
            panic!("`{what}` must not be: {found:?} among {:#?}", self.rest);
        }
    }

    /// Returns what was not followed yet.
    pub(crate) fn rest(&self) -> &[T] {
        &self.rest
    }
}
