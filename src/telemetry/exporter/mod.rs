//! The scrape endpoint: `GET /metrics` in the text format of Prometheus, or in OpenMetrics for a
//! scraper that asks for it, on plain threads.
//!
//! A robot has one or two scrapers, so this is a responder and no web server: one request a
//! connection, no body, no compression. It needs no async runtime, so a stop that keeps every worker busy
//! does not keep it from answering, and it adds no library.
//!
//! Bounds: [`PEERS_MAX`] connections, of which the oldest goes when one more comes, so that whoever
//! sits on connections keeps nobody out; 8 KiB of request; one time for a whole
//! connection. Nothing of the actuation path is asked or waited for: a scrape reads atomics.

mod address;
mod format;
mod peer;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use address::{ListenAddr, ListenError};
use peer::Peer;

use super::{Metrics, Probe};
use crate::terms::Clock;

/// Connections at once. One more closes the oldest.
const PEERS_MAX: usize = 8;
/// Longest life of a connection. Chosen: half of the usual time-out of a scraper.
const PEER_WITHIN: Duration = Duration::from_secs(5);
/// Pause after the system refused a connection (no descriptor, no thread).
const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// What the endpoint serves.
#[derive(Debug)]
pub struct ExporterPlan {
    /// The socket, bound by `app`.
    pub listener: TcpListener,
    /// What facts counted.
    pub metrics: Arc<Metrics>,
    /// What is read when somebody asks.
    pub probe: Arc<dyn Probe>,
    /// Measures the life of a connection.
    pub clock: Arc<dyn Clock>,
}

/// The endpoint, and the owner of its threads.
#[derive(Debug)]
pub struct Exporter {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// What every connection works with.
#[derive(Debug)]
struct Source {
    metrics: Arc<Metrics>,
    probe: Arc<dyn Probe>,
    clock: Arc<dyn Clock>,
    within: Duration,
}

impl Exporter {
    /// Starts to answer.
    ///
    /// # Errors
    /// When the socket has no address, or the system has no thread left.
    pub fn start(plan: ExporterPlan) -> io::Result<Self> {
        Self::start_with(plan, PEER_WITHIN)
    }

    /// As [`Exporter::start`], with another life of a connection.
    fn start_with(plan: ExporterPlan, within: Duration) -> io::Result<Self> {
        let address = plan.listener.local_addr()?;
        let closing = Arc::new(AtomicBool::new(false));
        let accepting = Accepting {
            listener: plan.listener,
            source: Arc::new(Source {
                metrics: plan.metrics,
                probe: plan.probe,
                clock: plan.clock,
                within,
            }),
            closing: Arc::clone(&closing),
            peers: Vec::new(),
        };
        let thread = thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || accepting.run())?;
        Ok(Self {
            address,
            closing,
            thread,
        })
    }

    /// Returns where it answers, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every connection and joins the threads.
    pub fn finish(self) {
        self.closing.store(true, Ordering::Release);
        // Wakes the accepting thread. When nobody can connect, it is not waiting either.
        drop(TcpStream::connect_timeout(
            &reachable(self.address),
            REFUSED_PAUSE,
        ));
        if self.thread.join().is_err() {
            tracing::error!("the thread that serves metrics had panicked");
        }
    }
}

/// The thread that owns all connections.
struct Accepting {
    listener: TcpListener,
    source: Arc<Source>,
    closing: Arc<AtomicBool>,
    /// Oldest first.
    peers: Vec<Open>,
}

/// A connection that is being answered.
struct Open {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Accepting {
    fn run(mut self) {
        loop {
            let accepted = self.listener.accept();
            if self.closing.load(Ordering::Acquire) {
                break;
            }
            self.peers.retain(|peer| !peer.thread.is_finished());
            let opened = accepted.and_then(|(stream, _)| self.open(stream));
            if let Err(error) = opened {
                tracing::warn!(%error, "a scrape could not be answered");
                thread::park_timeout(REFUSED_PAUSE);
            }
        }
        self.peers.into_iter().for_each(Open::close);
    }

    fn open(&mut self, stream: TcpStream) -> io::Result<()> {
        if self.peers.len() >= PEERS_MAX {
            self.peers.remove(0).close();
        }
        let peer = Peer::new(stream.try_clone()?, Arc::clone(&self.source));
        let thread = thread::Builder::new()
            .name("metrics-peer".to_owned())
            .spawn(move || peer.answer())?;
        self.peers.push(Open { stream, thread });
        Ok(())
    }
}

impl Open {
    /// Ends the connection: whatever its thread waits for is over then.
    fn close(self) {
        drop(self.stream.shutdown(Shutdown::Both));
        // A thread that panicked has told the log.
        drop(self.thread.join());
    }
}

/// Returns the address at which this machine reaches a socket that listens everywhere.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}
