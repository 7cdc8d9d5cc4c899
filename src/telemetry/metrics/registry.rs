//! The exporter behind one small door: series by family and label values, text sorted.

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder as _};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use super::family::{Family, LabelSet, SENSOR_TOKENS, Shape};

/// Upper bounds of the buckets of all durations, s. Chosen: from a read to a long drive.
const BUCKETS_S: [f64; 7] = [0.01, 0.05, 0.2, 0.5, 2.0, 10.0, 60.0];

/// Upper bounds of the buckets of lengths, tokens: what a robot file may grant, and what it grants if it
/// says nothing.
const BUCKETS_TOKENS: [f64; 5] = [64.0, 128.0, 256.0, 1024.0, 4096.0];

const METADATA: Metadata<'static> = Metadata::new("octos_edge", Level::INFO, None);

/// The series of one process.
pub(super) struct Registry {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Registry {
    pub(super) fn new() -> Self {
        // The bounds are not empty, which is all that this step can complain about; without them
        // durations would be printed as summaries.
        let builder = with_buckets().unwrap_or_default();
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        Self { recorder, handle }
    }

    /// Describes all families and registers all their series with 0.
    pub(super) fn register_all(&self, families: &[&Family]) {
        for family in families {
            self.describe(family);
            for values in combinations(family.labels) {
                match family.shape {
                    Shape::Counter => self.counter(family, &values).increment(0),
                    Shape::Gauge => self.gauge(family, &values).set(0.0),
                    Shape::Histogram => drop(self.histogram(family, &values)),
                }
            }
        }
    }

    pub(super) fn describe_counter(&self, name: &'static str, help: &'static str) {
        self.recorder
            .describe_counter(name.into(), None, help.into());
    }

    pub(super) fn counter(&self, family: &Family, values: &[&str]) -> Counter {
        self.recorder
            .register_counter(&key(family, values), &METADATA)
    }

    pub(super) fn gauge(&self, family: &Family, values: &[&str]) -> Gauge {
        self.recorder
            .register_gauge(&key(family, values), &METADATA)
    }

    pub(super) fn histogram(&self, family: &Family, values: &[&str]) -> Histogram {
        self.recorder
            .register_histogram(&key(family, values), &METADATA)
    }

    /// Returns a counter whose labels are not in the list of families.
    pub(super) fn counter_of(
        &self,
        name: &'static str,
        labels: &[(&'static str, &str)],
    ) -> Counter {
        let labels = labels
            .iter()
            .map(|(key, value)| Label::new(*key, (*value).to_owned()));
        let key = Key::from_parts(name, labels.collect::<Vec<_>>());
        self.recorder.register_counter(&key, &METADATA)
    }

    /// Brings what the histograms took in since the last time into their buckets. Until then each
    /// observation holds memory.
    pub(super) fn fold(&self) {
        self.handle.run_upkeep();
    }

    /// Returns the text format, with one more block that was counted elsewhere. The exporter prints
    /// in the order of its hash maps; sorted text can be compared and diffed.
    pub(super) fn render(&self, more: Option<String>) -> String {
        let text = self.handle.render();
        let mut blocks: Vec<String> = text.split("\n\n").map(sorted_block).collect();
        blocks.extend(more);
        blocks.retain(|block| !block.is_empty());
        blocks.sort_unstable();
        let mut out = blocks.join("\n");
        out.push('\n');
        out
    }

    fn describe(&self, family: &Family) {
        let (name, help) = (family.name.into(), family.help.into());
        match family.shape {
            Shape::Counter => self.recorder.describe_counter(name, None, help),
            Shape::Gauge => self.recorder.describe_gauge(name, None, help),
            Shape::Histogram => self.recorder.describe_histogram(name, None, help),
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

fn key(family: &Family, values: &[&str]) -> Key {
    debug_assert_eq!(family.labels.len(), values.len(), "{}", family.name);
    let labels = family.labels.iter().zip(values);
    let labels = labels.map(|(set, value)| Label::new(set.key, (*value).to_owned()));
    Key::from_parts(family.name, labels.collect::<Vec<_>>())
}

fn with_buckets() -> Result<PrometheusBuilder, BuildError> {
    let lengths = Matcher::Full(SENSOR_TOKENS.name.to_owned());
    PrometheusBuilder::new()
        .set_buckets(&BUCKETS_S)?
        .set_buckets_for_metric(lengths, &BUCKETS_TOKENS)
}

/// All combinations of the values of some labels; one empty combination when there is no label.
fn combinations(labels: &[LabelSet]) -> Vec<Vec<&'static str>> {
    labels.iter().fold(vec![Vec::new()], |done, set| {
        let values = (set.values)();
        let extend = |prefix: &Vec<&'static str>, value: &&'static str| {
            let mut row = prefix.clone();
            row.push(value);
            row
        };
        done.iter()
            .flat_map(|prefix| values.iter().map(move |value| extend(prefix, value)))
            .collect()
    })
}

/// Sorts the series of one block; buckets of one histogram keep their order.
fn sorted_block(block: &str) -> String {
    let (head, mut series): (Vec<&str>, Vec<&str>) = block
        .lines()
        .filter(|line| !line.is_empty())
        .partition(|line| line.starts_with('#'));
    if head.iter().any(|line| line.ends_with(" histogram")) {
        series.sort_by_key(|line| own_labels(line));
    } else {
        series.sort_unstable();
    }
    let mut out = head
        .into_iter()
        .chain(series)
        .collect::<Vec<_>>()
        .join("\n");
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The labels of a line of a histogram, without its bucket.
fn own_labels(line: &str) -> &str {
    let labels = line.split_once('{').map_or("", |(_, rest)| rest);
    let labels = labels.split_once('}').map_or("", |(labels, _)| labels);
    labels
        .split("le=")
        .next()
        .unwrap_or("")
        .trim_end_matches(',')
}
