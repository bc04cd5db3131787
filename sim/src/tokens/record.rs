//! What happens in a run: the records that metrics, log and auditor are given.

use super::request::{RequestId, TokenRequest};
use crate::time::Time;

/// One fact of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A request comes.
    Arrive {
        /// The request's number, in the order of arrival.
        request: RequestId,
        /// The request as it arrived.
        what: TokenRequest,
    },
    /// A request ends without an answer.
    Drop {
        /// The request's number, in the order of arrival.
        request: RequestId,
    },
    /// A request loses its blocks: it computes all of its tokens anew.
    Evict {
        /// The request's number, in the order of arrival.
        request: RequestId,
    },
    /// A step begins.
    Step {
        /// When it ends.
        end: Time,
        /// Who computes how many tokens in it.
        parts: Vec<(RequestId, u32)>,
    },
    /// A request gets its first token.
    First {
        /// The request's number, in the order of arrival.
        request: RequestId,
    },
    /// A request gets its last token and leaves.
    Done {
        /// The request's number, in the order of arrival.
        request: RequestId,
    },
    /// The run is over.
    Finish,
}

/// Watches a run. It cannot change it.
pub trait TokenObserver {
    /// The next fact; times never run backwards.
    fn record(&mut self, now: Time, record: &Record);

    /// Whether it has seen enough: the run ends there.
    fn stop(&self) -> bool {
        false
    }
}

impl<A: TokenObserver, B: TokenObserver> TokenObserver for (A, B) {
    fn record(&mut self, now: Time, record: &Record) {
        self.0.record(now, record);
        self.1.record(now, record);
    }

    fn stop(&self) -> bool {
        self.0.stop() || self.1.stop()
    }
}

/// Every record with its time.
impl TokenObserver for Vec<(Time, Record)> {
    fn record(&mut self, now: Time, record: &Record) {
        self.push((now, record.clone()));
    }
}
