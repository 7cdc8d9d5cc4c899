//! Numbers for dashboards: a reading of facts in the Prometheus text format.
//!
//! The recorder is held by value and never installed for the whole process, so two of them can live
//! side by side in a test. Every series exists from the start with 0, which tells "none" from "no
//! data", and none is added later: labels come from closed lists and from the robot file alone.
//! Names, ids and texts of a model never become a label.

mod apply;
mod family;
mod readings;
mod registry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use family::{OTHER_DOMAIN, OUTCOMES, UNKNOWN_TOOL};
pub use readings::{BucketReading, DiskReading, Probe, QueueName, QueueReading, Readings};
use registry::Registry;

use crate::config::RobotFile;
use crate::terms::{Fact, FactClass, RunState, Tier};

/// Most series of one process, buckets included. Above it the start is refused.
pub const SERIES_MAX: usize = 500;

/// What the labels need to know of the robot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RobotLabels {
    /// The ceiling of the robot file; `None` without a robot.
    pub ceiling: Option<Tier>,
    /// The robot's tools, with the tier that each needs.
    pub tools: BTreeMap<String, Option<Tier>>,
}

impl From<&RobotFile> for RobotLabels {
    fn from(robot: &RobotFile) -> Self {
        let tools = robot.tools.iter();
        Self {
            ceiling: Some(robot.max_tier),
            tools: tools
                .map(|tool| (tool.name.as_str().to_owned(), tool.tier))
                .collect(),
        }
    }
}

/// Returns the outcomes that a call of each name can have: a name without a tool is denied, a stop is
/// accepted.
fn tool_outcomes(
    tools: &BTreeMap<String, Option<Tier>>,
) -> impl Iterator<Item = (&str, &'static [&'static str])> {
    let of_robot = tools.iter().map(|(name, tier)| {
        let outcomes: &[&str] = if tier.is_none() { &["ok"] } else { &OUTCOMES };
        (name.as_str(), outcomes)
    });
    of_robot.chain([(UNKNOWN_TOOL, &["denied"][..])])
}

/// Why there are no metrics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricsError {
    /// The robot file has so many tools that the label `tool` grows out of bounds.
    #[error("{found} metric series for {tools} robot tools exceed {SERIES_MAX}")]
    TooManySeries {
        /// The series that there would be.
        found: usize,
        /// The robot's tools.
        tools: usize,
    },
}

impl MetricsError {
    /// Returns the way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooManySeries { .. } => {
                "name only the verbs that the agent needs in the robot file, or split the robot into two files"
            }
        }
    }
}

/// All metrics of one process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    tools: BTreeMap<String, Option<Tier>>,
}

impl Metrics {
    /// Registers every series with 0.
    ///
    /// # Errors
    /// [`MetricsError::TooManySeries`] above [`SERIES_MAX`].
    pub fn new(robot: RobotLabels) -> Result<Self, MetricsError> {
        let registry = Registry::new();
        registry.register_all(family::ALL);
        registry.describe_counter(family::TOOL_CALLS, family::TOOL_CALLS_HELP);
        for (name, outcomes) in tool_outcomes(&robot.tools) {
            for outcome in outcomes {
                registry
                    .counter_of(family::TOOL_CALLS, &[("tool", name), ("outcome", outcome)])
                    .increment(0);
            }
        }
        for outcome in OUTCOMES {
            let [domain, key] = &family::DOMAIN_CALLS;
            registry
                .counter_of(
                    family::TOOL_CALLS,
                    &[(domain.key, OTHER_DOMAIN), (key.key, outcome)],
                )
                .increment(0);
        }
        let metrics = Self {
            registry,
            tools: robot.tools,
        };
        metrics.set_start_values(robot.ceiling);
        let found = metrics.series().saturating_add(readings::BUCKETS_MAX);
        if found > SERIES_MAX {
            return Err(MetricsError::TooManySeries {
                found,
                tools: metrics.tools.len(),
            });
        }
        Ok(metrics)
    }

    /// Counts one fact.
    pub fn apply(&self, fact: &Fact) {
        apply::apply(self, fact);
    }

    /// Counts one record of the black box.
    pub fn recorded(&self, class: FactClass) {
        self.add(&family::RECORDS, &[family::class_label(class)], 1);
    }

    /// Counts one fact that the black box has no place for.
    pub fn dropped(&self, class: FactClass) {
        self.add(&family::RECORDS_DROPPED, &[family::class_label(class)], 1);
    }

    /// Says whether the black box can be written.
    pub fn set_blackbox_healthy(&self, healthy: bool) {
        self.set(&family::BLACKBOX_HEALTHY, &[], f64::from(u8::from(healthy)));
    }

    /// Frees what observations of durations hold. Called now and then, also when nobody scrapes.
    pub fn fold(&self) {
        self.registry.fold();
    }

    /// Returns all series that facts count, in the text format, sorted by name: the same numbers give
    /// the same bytes. What is read and not counted comes with [`Metrics::scrape`].
    pub fn render(&self) -> String {
        self.registry.render(None)
    }

    /// Returns the number of series, buckets included.
    pub fn series(&self) -> usize {
        let text = self.scrape(&Readings::default());
        text.lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .count()
    }

    fn set_start_values(&self, ceiling: Option<Tier>) {
        self.set(&family::BUILD_INFO, &[env!("CARGO_PKG_VERSION")], 1.0);
        self.set(&family::RUN_STATE, &[RunState::Boot.as_str()], 1.0);
        self.set(&family::BLACKBOX_HEALTHY, &[], 1.0);
        let ceiling = ceiling.unwrap_or(Tier::Observe);
        self.set(&family::TIER_IN_FORCE, &["ceiling"], apply::rank(ceiling));
    }

    fn add(&self, family: &family::Family, values: &[&str], by: u64) {
        self.registry.counter(family, values).increment(by);
    }

    fn change(&self, family: &family::Family, values: &[&str], by: f64) {
        self.registry.gauge(family, values).increment(by);
    }

    fn set(&self, family: &family::Family, values: &[&str], to: f64) {
        self.registry.gauge(family, values).set(to);
    }

    fn observe_ms(&self, family: &family::Family, values: &[&str], ms: u64) {
        let seconds = std::time::Duration::from_millis(ms).as_secs_f64();
        self.observe(family, values, seconds);
    }

    fn observe(&self, family: &family::Family, values: &[&str], value: f64) {
        self.registry.histogram(family, values).record(value);
    }
}
