//! The scrape endpoint of a node: its socket, and what it reads of the parts.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::app::exit::AppError;
use crate::robot::{Bridge, Parts, QueueMeters};
use crate::safety::{LATENESS_BOUNDS_US, Links, QueueMeter};
use crate::telemetry::{
    BucketReading, DiskReading, Exporter, ExporterPlan, ListenAddr, Metrics, Probe, QueueName,
    QueueReading, Readings,
};
use crate::terms::{Clock, Mono, RobotPort as _};

/// A socket that listens and is not answered yet: whoever connects waits in the system's queue.
pub(super) type Bound = TcpListener;

/// Binds the socket. Early in a start, so that a wrong address is told before a robot is touched.
///
/// # Errors
/// [`AppError::Metrics`] when the system refuses the address.
pub(super) fn bind(address: Option<ListenAddr>) -> Result<Option<Bound>, AppError> {
    let Some(address) = address else {
        return Ok(None);
    };
    let socket = address.socket();
    let listener = TcpListener::bind(socket).map_err(|error| AppError::Metrics {
        problem: format!("metrics address `{socket}`: {error}"),
        hint: "another process may listen there; name a free port, or port 0 for any".to_owned(),
    })?;
    if address.is_public() {
        tracing::warn!(%socket, "metrics can be read from other machines, without a password");
    }
    Ok(Some(listener))
}

/// Reads atomics of the actuation path. Nobody there notices.
#[derive(Debug)]
pub(super) struct Gauges {
    pub(super) bridge: Arc<Bridge>,
    pub(super) links: Links,
    pub(super) queues: QueueMeters,
    pub(super) disk: DiskLook,
}

/// The disk is looked at this often at most, ms: each look lists the folder of the black box.
const DISK_LOOK_MS: u64 = 5_000;
/// Files of the folder that are counted; the black box has at most some more than a thousand.
const FILES_MAX: usize = 4096;

/// Looks at the disk of the black box, on the thread of a scrape. A disk that hangs keeps a scrape waiting,
/// and nobody else.
#[derive(Debug)]
pub(super) struct DiskLook {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<(Mono, Option<DiskReading>)>>,
}

impl DiskLook {
    pub(super) fn new(folder: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            folder,
            clock,
            last: Mutex::default(),
        }
    }

    fn read(&self) -> Option<DiskReading> {
        let now = self.clock.now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, reading)) = *last
            && now.ms_since(at) < DISK_LOOK_MS
        {
            return reading;
        }
        let reading = look(&self.folder).ok();
        *last = Some((now, reading));
        reading
    }
}

fn look(folder: &Path) -> io::Result<DiskReading> {
    let mut blackbox_bytes = 0_u64;
    for entry in std::fs::read_dir(folder)?.take(FILES_MAX) {
        // One that has just made room is gone.
        let size = entry?.metadata().map_or(0, |found| found.len());
        blackbox_bytes = blackbox_bytes.saturating_add(size);
    }
    let disk = rustix::fs::statvfs(folder)?;
    Ok(DiskReading {
        blackbox_bytes,
        free_bytes: disk.f_bavail.saturating_mul(disk.f_frsize),
    })
}

impl Gauges {
    /// Reads these parts and this disk.
    pub(super) fn of(parts: &Parts, disk: DiskLook) -> Self {
        Self {
            bridge: Arc::clone(&parts.bridge),
            links: parts.links.clone(),
            queues: parts.queues,
            disk,
        }
    }

    /// Begins to answer on a bound socket.
    ///
    /// # Errors
    /// [`AppError::Internal`] when the machine refuses a thread.
    pub(super) fn serve(
        self,
        listener: Bound,
        metrics: Arc<Metrics>,
        clock: Arc<dyn Clock>,
    ) -> Result<Exporter, AppError> {
        let plan = ExporterPlan {
            listener,
            metrics,
            probe: Arc::new(self),
            clock,
        };
        let exporter = Exporter::start(plan)
            .map_err(|error| AppError::Internal(format!("metrics endpoint: {error}")))?;
        let address = exporter.address();
        tracing::info!(url = %format!("http://{address}/metrics"), "metrics are served");
        Ok(exporter)
    }

    fn queues(&self) -> [(QueueName, QueueMeter); QueueName::ALL.len()] {
        let QueueMeters {
            orders,
            commands,
            reads,
            frames,
            tick_events,
            sender_events,
        } = self.queues;
        [
            (QueueName::Orders, orders),
            (QueueName::Commands, commands),
            (QueueName::Reads, reads),
            (QueueName::Frames, frames),
            (QueueName::TickEvents, tick_events),
            (QueueName::SenderEvents, sender_events),
        ]
    }
}

impl Probe for Gauges {
    fn read(&self) -> Readings {
        let counts = self.links.shared.lateness.counts();
        let posture = self.bridge.posture();
        let bounds = LATENESS_BOUNDS_US.into_iter().map(Duration::from_micros);
        let queues = self.queues().into_iter();
        Readings {
            bridge_up: posture.bridge_up,
            graph_timer_good: posture.graph_timer.is_good(),
            tick_lateness: BucketReading {
                buckets: bounds.zip(counts.buckets).collect(),
                beyond: counts.beyond,
                sum: counts.sum,
            },
            queues: queues
                .map(|(queue, meter)| QueueReading {
                    queue,
                    depth: meter.depth(),
                    full: meter.full(),
                })
                .collect(),
            disk: self.disk.read(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::VirtualClock;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test fills a folder of its own"
    )]
    fn the_box_is_measured_now_and_then_and_a_folder_that_is_gone_is_no_number() {
        let dir = tempfile::tempdir().unwrap();
        let clock = VirtualClock::default();
        let folder = dir.path().join("audit");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("safety-000001.jsonl"), [0; 700]).unwrap();
        std::fs::write(folder.join("head"), [0; 50]).unwrap();
        let disk = DiskLook::new(folder.clone(), Arc::new(clock.clone()));
        let bytes = || disk.read().map(|reading| reading.blackbox_bytes);
        assert_eq!(bytes(), Some(750));
        assert!(disk.read().is_some_and(|reading| reading.free_bytes > 0));
        std::fs::write(folder.join("trace-000001.jsonl"), [0; 250]).unwrap();
        assert_eq!(bytes(), Some(750), "not at each scrape");
        clock.go_to(Mono::from_ms(DISK_LOOK_MS));
        assert_eq!(bytes(), Some(1000));
        std::fs::remove_dir_all(folder).unwrap();
        clock.go_to(Mono::from_ms(2 * DISK_LOOK_MS));
        assert_eq!(bytes(), None);
    }
}
