//! The faults of one file, gathered while it is read.

use std::cell::RefCell;
use std::sync::Arc;

use super::super::{ConfigError, Place};

/// Most faults kept of one file; the rest is counted. Chosen: more than anybody reads.
const FAULTS_MAX: usize = 256;

/// Gathers faults and knows the lines of the file.
#[derive(Debug)]
pub(super) struct Faults {
    file: Arc<str>,
    guide: &'static str,
    /// Offset of the end of each line.
    line_ends: Vec<usize>,
    list: RefCell<Vec<ConfigError>>,
}

impl Faults {
    pub(super) fn new(file: &str, guide: &'static str, text: &str) -> Self {
        let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Self {
            file: Arc::from(file),
            guide,
            line_ends,
            list: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn add(&self, fault: ConfigError) {
        let mut list = self.list.borrow_mut();
        if list.len() < FAULTS_MAX {
            list.push(fault);
        } else if list.len() == FAULTS_MAX {
            list.push(ConfigError {
                key: String::new(),
                problem: format!("more than {FAULTS_MAX} faults, the rest is not listed"),
                hint: "correct these first".to_owned(),
                ..fault
            });
        }
    }

    pub(super) fn into_list(self) -> Vec<ConfigError> {
        self.list.into_inner()
    }

    pub(super) fn place(&self, line: u32) -> Place {
        Place {
            file: self.file.clone(),
            line,
        }
    }

    /// Returns the line, from 1, of a byte offset.
    pub(super) fn line_of(&self, at: usize) -> u32 {
        let before = self.line_ends.partition_point(|end| *end < at);
        u32::try_from(before).map_or(u32::MAX, |line| line.saturating_add(1))
    }

    /// Returns the document that describes the keys of this file.
    pub(super) fn guide(&self) -> &'static str {
        self.guide
    }
}
