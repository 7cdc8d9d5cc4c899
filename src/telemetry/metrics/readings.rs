//! What is no fact but is read when somebody asks: queues, the pace of the tick, the bridge.
//!
//! The parts of the actuation path keep these as atomics. Whoever scrapes reads them; nobody there
//! waits for a scrape, and nothing there allocates for it.

use std::fmt;
use std::time::Duration;

use super::Metrics;
use super::family;

/// A queue of the actuation path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueName {
    /// Operator's orders to the safety thread.
    Orders,
    /// Commands of tools to the safety thread.
    Commands,
    /// Reads of tools to the sending thread.
    Reads,
    /// Frames of the safety thread to the sending thread.
    Frames,
    /// Safety events of the safety thread to the recorder.
    TickEvents,
    /// Safety events of the sending thread to the recorder.
    SenderEvents,
}

impl QueueName {
    /// All queues.
    pub const ALL: [Self; 6] = [
        Self::Orders,
        Self::Commands,
        Self::Reads,
        Self::Frames,
        Self::TickEvents,
        Self::SenderEvents,
    ];

    /// Returns the label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Commands => "commands",
            Self::Reads => "reads",
            Self::Frames => "frames",
            Self::TickEvents => "tick_events",
            Self::SenderEvents => "sender_events",
        }
    }
}

/// One look at a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueReading {
    /// Which.
    pub queue: QueueName,
    /// Items that wait.
    pub depth: u64,
    /// Items that found it full since the start.
    pub full: u64,
}

/// Most buckets of a histogram that somebody else counts; the bound of all series knows them.
pub(super) const BUCKETS_MAX: usize = 8;

/// Durations that somebody else counted into buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BucketReading {
    /// Upper bound of each bucket, rising, with the number of durations in this bucket alone; at most
    /// 8, of which the last are dropped.
    pub buckets: Vec<(Duration, u64)>,
    /// Durations above the last bound.
    pub beyond: u64,
    /// All durations together.
    pub sum: Duration,
}

/// One look at all that is read and not raised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readings {
    /// Whether the robot's node answers.
    pub bridge_up: bool,
    /// Whether the timer of the dataflow admits motion: it ticks, or there is none.
    pub graph_timer_good: bool,
    /// How late the safety ticks came.
    pub tick_lateness: BucketReading,
    /// The queues.
    pub queues: Vec<QueueReading>,
    /// The disk of the black box; `None` when it cannot be looked at.
    pub disk: Option<DiskReading>,
}

/// One look at the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskReading {
    /// Size of the black box, bytes.
    pub blackbox_bytes: u64,
    /// Room that is left on its disk, bytes.
    pub free_bytes: u64,
}

/// Takes the readings. Called on the thread of a scrape; it must not wait for the actuation path.
pub trait Probe: Send + Sync + fmt::Debug {
    /// Returns how things stand now.
    fn read(&self) -> Readings;
}

impl Metrics {
    /// Returns all series with the readings of now, as a scrape gives them.
    pub fn scrape(&self, readings: &Readings) -> String {
        let up = f64::from(u8::from(readings.bridge_up));
        self.set(&family::BRIDGE_UP, &[family::DORA_BRIDGE], up);
        let timer = f64::from(u8::from(readings.graph_timer_good));
        self.set(&family::GRAPH_TIMER_UP, &[], timer);
        for reading in &readings.queues {
            let queue = [reading.queue.as_str()];
            self.set(&family::QUEUE_DEPTH, &queue, bounded(reading.depth));
            self.registry
                .counter(&family::QUEUE_FULL, &queue)
                .absolute(reading.full);
        }
        let disk = readings.disk;
        let bytes = |of: fn(DiskReading) -> u64| disk.map_or(f64::NAN, |disk| whole(of(disk)));
        self.set(
            &family::BLACKBOX_BYTES,
            &[],
            bytes(|disk| disk.blackbox_bytes),
        );
        self.set(&family::DISK_FREE, &[], bytes(|disk| disk.free_bytes));
        let lateness = histogram(
            family::TICK_LATENESS,
            family::TICK_LATENESS_HELP,
            &readings.tick_lateness,
        );
        self.registry.render(Some(lateness))
    }
}

/// A depth is a few hundred at most, where every number is exact.
fn bounded(depth: u64) -> f64 {
    u32::try_from(depth).map_or(f64::INFINITY, f64::from)
}

/// Bytes of a disk: exact below 9 PB, and near enough above.
fn whole(bytes: u64) -> f64 {
    bytes as f64
}

/// Returns the block of one histogram without labels.
pub(super) fn histogram(name: &str, help: &str, reading: &BucketReading) -> String {
    let mut text = format!("# HELP {name} {help}\n# TYPE {name} histogram\n");
    let mut count = 0_u64;
    let mut line = |label: &str, value: String| {
        text.push_str(&format!("{name}{label} {value}\n"));
    };
    for (bound, own) in reading.buckets.iter().take(BUCKETS_MAX) {
        count = count.saturating_add(*own);
        let label = format!("_bucket{{le=\"{}\"}}", bound.as_secs_f64());
        line(&label, count.to_string());
    }
    count = count.saturating_add(reading.beyond);
    line("_bucket{le=\"+Inf\"}", count.to_string());
    line("_sum", reading.sum.as_secs_f64().to_string());
    line("_count", count.to_string());
    text
}
