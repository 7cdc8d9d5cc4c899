//! What a node said in a replay: one JSON object a line, as dora writes them.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::terms::{Clock, Mono, Output, Wire, WireError};

/// The sending half of a node whose outputs go into a file.
pub struct SessionOutputs {
    out: Box<dyn Write + Send>,
    /// The clock whose times stand in the lines; `None` leaves them out.
    clock: Option<Arc<dyn Clock>>,
    written: u64,
    failed: Option<io::Error>,
}

impl SessionOutputs {
    /// Writes to `out`. With a clock each line says when, in seconds since its origin.
    pub fn new(out: Box<dyn Write + Send>, clock: Option<Arc<dyn Clock>>) -> Self {
        Self {
            out,
            clock,
            written: 0,
            failed: None,
        }
    }

    /// Brings out what is still held back and returns the number of outputs.
    ///
    /// # Errors
    /// The first that kept an output from being written.
    pub fn finish(&mut self) -> io::Result<u64> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.written)
    }

    fn line(&self, output: Output, payload: &str) -> Value {
        let mut line = Map::new();
        line.insert("id".to_owned(), output.as_str().into());
        if let Some(clock) = &self.clock {
            let since = clock.now().since(Mono::ZERO).as_secs_f64();
            line.insert("time_offset_secs".to_owned(), since.into());
        }
        line.insert("data".to_owned(), Value::Array(vec![payload.into()]));
        line.insert("data_type".to_owned(), "Utf8".into());
        line.into()
    }
}

impl Wire for SessionOutputs {
    fn send(
        &mut self,
        output: Output,
        payload: &str,
        _request_id: Option<&str>,
    ) -> Result<(), WireError> {
        let written = writeln!(self.out, "{}", self.line(output, payload));
        self.written = self.written.saturating_add(1);
        written.map_err(|error| {
            let told = WireError(error.to_string());
            self.failed.get_or_insert(error);
            told
        })
    }
}

impl fmt::Debug for SessionOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOutputs")
            .field("written", &self.written)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
