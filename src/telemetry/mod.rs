//! Readings of facts: metrics, the black box and the log.
//!
//! Nothing here decides and nothing here is asked before a robot moves or stops; the only word back
//! to the rest of the house is [`Recorder::healthy`]. A fact is counted in the thread that raised it,
//! so a counter is right as soon as [`FactSink::raise`](crate::terms::FactSink::raise) returned, and
//! written to disk by one thread of its own.

mod blackbox;
mod exporter;
mod install;
mod log_lines;
mod metrics;
mod record;
mod recorder;
mod tell;

pub use blackbox::{
    ChainReport, Chosen, ExportLine, Fault, RecordHash, Selection, SelectionFilter, Tip,
    Verification, class_word, export_lines, record_kinds, select_records, verify_records,
};
pub use exporter::{Exporter, ExporterPlan, ListenAddr, ListenError};
pub use install::{LogFormat, LogHandle, LogPlan, TracingError, flush_log, install_tracing};
pub use metrics::{
    BucketReading, DiskReading, Metrics, MetricsError, Probe, QueueName, QueueReading, Readings,
    RobotLabels, SERIES_MAX,
};
pub use record::{Record, RecordError, read_records};
#[cfg(test)]
pub(crate) use recorder::{FileAct, Stepped, Watch};
pub use recorder::{Recorder, RecorderError, RecorderPlan, RecorderSink};
pub use tell::tell_fact;
