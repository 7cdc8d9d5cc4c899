//! One connection: a request in, a response out, and its end.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::Source;
use super::format::Format;
use crate::terms::Mono;

/// Longest request, bytes. Chosen: four times what a scraper sends with all its headers.
pub(super) const HEADER_BYTES_MAX: usize = 8 * 1024;
/// Most bytes that are read and thrown away after the response, so that the peer gets it whole.
const REST_BYTES_MAX: usize = 64 * 1024;

/// Time to tell a slow peer that it was too slow.
const LAST_WORD: Duration = Duration::from_secs(1);

const PLAIN: &str = "text/plain; charset=utf-8";

/// A connection and the time until which it lives.
pub(super) struct Peer {
    stream: TcpStream,
    source: Arc<Source>,
    end_ns: u64,
}

/// What is sent back.
struct Response {
    status: &'static str,
    kind: &'static str,
    body: String,
}

/// Why there is no request.
enum Bad {
    TooLong,
    TooSlow,
    Gone,
}

impl Peer {
    pub(super) fn new(stream: TcpStream, source: Arc<Source>) -> Self {
        let within = source.within;
        let mut peer = Self {
            stream,
            source,
            end_ns: 0,
        };
        peer.end_ns = peer.end_in(within);
        peer
    }

    /// Reads the request and answers it. A peer that went away or takes nothing is let go.
    pub(super) fn answer(mut self) {
        let response = match self.request() {
            Ok(head) => self.response(&head),
            Err(Bad::TooLong) => plain(
                "431 Request Header Fields Too Large",
                format!("a request of at most {HEADER_BYTES_MAX} bytes is read"),
            ),
            Err(Bad::TooSlow) => {
                self.end_ns = self.end_in(LAST_WORD);
                plain("408 Request Timeout", "no whole request came in time")
            }
            Err(Bad::Gone) => return self.close(),
        };
        // Nobody is left to be told when one of these fails.
        drop(self.send(&response).and_then(|()| self.part()));
        self.close();
    }

    /// Ends the connection for the other side too: the accepting thread holds it as well.
    fn close(self) {
        drop(self.stream.shutdown(Shutdown::Both));
    }

    /// Returns the head of the request, up to its empty line.
    fn request(&mut self) -> Result<Vec<u8>, Bad> {
        let mut head = Vec::new();
        let mut chunk = [0_u8; 1024];
        loop {
            let read = self.read(&mut chunk).map_err(|error| {
                let slow = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
                if slow.contains(&error.kind()) {
                    Bad::TooSlow
                } else {
                    Bad::Gone
                }
            })?;
            head.extend_from_slice(chunk.get(..read).unwrap_or_default());
            if ends_head(&head) {
                return Ok(head);
            }
            if head.len() > HEADER_BYTES_MAX {
                return Err(Bad::TooLong);
            }
            if read == 0 {
                return Err(Bad::Gone);
            }
        }
    }

    fn response(&self, head: &[u8]) -> Response {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.trim_end_matches('\r').split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return plain("400 Bad Request", "a request line has three words");
        };
        if !version.starts_with("HTTP/1.") {
            return plain("505 HTTP Version Not Supported", "HTTP/1.1 is spoken here");
        }
        let path = target.split('?').next().unwrap_or_default();
        match (path, method) {
            ("/metrics", "GET") => self.metrics(Format::asked_in(head)),
            ("/metrics", _) => plain("405 Method Not Allowed", "only GET is answered"),
            (_, _) => plain("404 Not Found", "there is /metrics and nothing else"),
        }
    }

    fn metrics(&self, format: Format) -> Response {
        let text = self.source.metrics.scrape(&self.source.probe.read());
        Response {
            status: "200 OK",
            kind: format.content_type(),
            body: format.of(text),
        }
    }

    fn send(&mut self, response: &Response) -> io::Result<()> {
        let Response { status, kind, body } = response;
        let allow = if status.starts_with("405") {
            "Allow: GET\r\n"
        } else {
            ""
        };
        let text = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            self.stream.set_write_timeout(Some(self.left()?))?;
            match self.stream.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the peer has taken the response: to close on what it still sends would take the
    /// response back.
    fn part(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        let mut chunk = [0_u8; 1024];
        for _ in 0..REST_BYTES_MAX / chunk.len() {
            if self.read(&mut chunk)? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            match self.stream.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    fn end_in(&self, time: Duration) -> u64 {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.source.clock.now().as_ns().saturating_add(time)
    }

    /// Returns the time that this connection has left.
    fn left(&self) -> io::Result<Duration> {
        let left = Mono::from_ns(self.end_ns).since(self.source.clock.now());
        if left.is_zero() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(left)
        }
    }
}

fn plain(status: &'static str, body: impl Into<String>) -> Response {
    let mut body = body.into();
    body.push('\n');
    Response {
        status,
        kind: PLAIN,
        body,
    }
}

/// Returns whether a request ends here: an empty line. A lone line feed is taken for one, as old
/// hands type it.
fn ends_head(head: &[u8]) -> bool {
    let ends = |end: &[u8]| head.windows(end.len()).any(|window| window == end);
    ends(b"\r\n\r\n") || ends(b"\n\n")
}
