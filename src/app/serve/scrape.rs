//! The scrape endpoint of a node: its socket, and what it reads of the parts.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use crate::app::exit::AppError;
use crate::robot::{Bridge, QueueMeters};
use crate::safety::{LATENESS_BOUNDS_US, Links, QueueMeter};
use crate::telemetry::{
    BucketReading, Exporter, ExporterPlan, ListenAddr, Metrics, Probe, QueueName, QueueReading,
    Readings,
};
use crate::terms::{Clock, RobotPort as _};

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
}

impl Gauges {
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
        }
    }
}
