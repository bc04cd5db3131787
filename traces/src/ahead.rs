//! A source that reads a file one arrival ahead: what it shows is what it gives.

use crate::error::TraceError;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::time::Time;

/// What reads arrivals one by one.
pub trait Reads {
    /// The next; `None` at the end.
    ///
    /// # Errors
    /// When it is damaged.
    fn read(&mut self) -> Result<Option<Arrival>, TraceError>;
}

/// The source. See the module's text.
#[derive(Debug)]
pub struct Ahead<R> {
    pub(crate) reader: R,
    pub(crate) next: Option<Arrival>,
    failure: Option<TraceError>,
}

impl<R: Reads> Ahead<R> {
    /// Reads the first arrival.
    pub(crate) fn new(mut reader: R) -> Result<Ahead<R>, TraceError> {
        Ok(Ahead { next: reader.read()?, reader, failure: None })
    }

    /// The error that ended the source, where one did.
    pub fn take_error(&mut self) -> Option<TraceError> {
        self.failure.take()
    }
}

impl<R: Reads> Source for Ahead<R> {
    fn peek(&mut self) -> Option<Time> {
        self.next.map(|a| a.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let arrival = self.next.take()?;
        match self.reader.read() {
            Ok(next) => self.next = next,
            Err(error) => self.failure = Some(error),
        }
        Some(arrival)
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.as_ref().map(TraceError::to_string)
    }
}
