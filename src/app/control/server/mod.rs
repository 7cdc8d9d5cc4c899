//! The server's end of the control socket, on plain threads.
//!
//! One thread accepts, one serves each connection. `seats` says who may be connected, `pace` how much
//! a connection may say, `lines` how it is cut into lines, `talk` what is answered.

mod lines;
mod pace;
mod seats;
mod talk;

use std::fmt;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::peer::Peer;
use super::speaker::Speaker;
use super::words::{Answer, ElevationNews, Word};
use crate::terms::Clock;
use seats::Seats;

/// Folder in which the socket is made, beside its place. Its path is not longer than the socket's: a
/// socket has at most 107 bytes.
const NURSERY: &str = "c.new";
/// Pause after a connection that could not be accepted, for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Who carries out the words. Called on the connection's own thread.
pub(crate) trait Control: Send + Sync + fmt::Debug {
    /// Carries one word out. Stops must not wait for anything but the latch word.
    fn carry_out(&self, word: &Word, from: Speaker) -> Answer;

    /// Asks for a stop or estop and waits for nothing, not even for the disk. Called on the thread
    /// that accepts, when there is no room for a connection.
    fn stop_at_once(&self, word: &Word, from: Speaker) -> Answer;

    /// Raises a tier for as long as what is returned lives, and tells how it began. Called for a whole
    /// word of [`Word::Elevate`] by a peer who may say it.
    ///
    /// # Errors
    /// The answer, when it is refused.
    fn elevate(
        &self,
        word: &Word,
        from: Speaker,
    ) -> Result<(Box<dyn Holding>, ElevationNews), Answer>;

    /// Records that a word was not carried out: because of who said it, of its texts, or of how many came.
    fn refused(&self, word: &Word, why: &str, from: Speaker);
}

/// An Elevation that a connection holds; dropping it ends it.
pub(crate) trait Holding: Send + fmt::Debug {
    /// Takes what happened since the last look. The end comes last.
    fn news(&mut self) -> Vec<ElevationNews>;
}

/// The listening socket. Dropping it removes the socket file and ends the accepting thread.
#[derive(Debug)]
pub(crate) struct Server {
    path: PathBuf,
    closing: Arc<AtomicBool>,
}

impl Server {
    /// Listens at `path`, mode 0660. A stale socket there is replaced: the caller holds the lock of
    /// the robot, so nobody else listens.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub(crate) fn listen(
        path: &Path,
        control: Arc<dyn Control>,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let door = Door {
            listener: bind(path)?,
            control,
            clock,
            closing: Arc::default(),
            seats: Seats::default(),
            judge: Peer::of,
        };
        door.open(path)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes the accepting thread; whether it works or not, the process is ending.
        drop(UnixStream::connect(&self.path));
        drop(std::fs::remove_file(&self.path));
    }
}

/// Makes the socket where nobody else can reach it, sets its mode and moves it to its place. Bound in
/// its place it would be open to others, as the umask has it, until its mode is set; and a umask is one
/// for all threads.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let nursery = path.with_file_name(NURSERY);
    let socket = nursery.join("s");
    clear(&nursery, &socket)?;
    std::fs::DirBuilder::new().mode(0o700).create(&nursery)?;
    let listener = UnixListener::bind(&socket)?;
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o660))?;
    std::fs::rename(&socket, path)?;
    clear(&nursery, &socket)?;
    Ok(listener)
}

/// Removes the folder in which a socket is made, also one that an earlier life left.
fn clear(nursery: &Path, socket: &Path) -> io::Result<()> {
    for removed in [std::fs::remove_file(socket), std::fs::remove_dir(nursery)] {
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) | Ok(()) => {}
        }
    }
    Ok(())
}

/// What the accepting thread works with.
struct Door {
    listener: UnixListener,
    control: Arc<dyn Control>,
    clock: Arc<dyn Clock>,
    closing: Arc<AtomicBool>,
    seats: Seats,
    judge: fn(&UnixStream) -> Peer,
}

impl Door {
    fn open(self, path: &Path) -> io::Result<Server> {
        let server = Server {
            path: path.to_owned(),
            closing: Arc::clone(&self.closing),
        };
        thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || self.accept())?;
        Ok(server)
    }

    fn accept(&self) {
        for stream in self.listener.incoming() {
            if self.closing.load(Ordering::Acquire) {
                return;
            }
            match stream {
                Ok(stream) => self.seat(&Arc::new(stream)),
                Err(_) => thread::park_timeout(ACCEPT_PAUSE),
            }
        }
    }

    /// Gives a connection its seat and its thread; without them it can still say a stop.
    fn seat(&self, stream: &Arc<UnixStream>) {
        let peer = (self.judge)(stream);
        let Some(seat) = self.seats.take(peer, stream, self.clock.now()) else {
            return talk::stop_at_the_door((stream, peer), self.control.as_ref());
        };
        let (held, control) = (Arc::clone(stream), Arc::clone(&self.control));
        let clock = Arc::clone(&self.clock);
        let spawned = thread::Builder::new()
            .name("control-peer".to_owned())
            .spawn(move || talk::talk((&held, peer), &seat, control.as_ref(), clock.as_ref()));
        if spawned.is_err() {
            talk::stop_at_the_door((stream, peer), self.control.as_ref());
        }
    }
}

#[cfg(test)]
mod tests;
