//! A request that waits, as the queues of Orloj know it.

use crate::request::RequestId;
use crate::time::{Span, Time};

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub id: RequestId,
    /// The table of its application.
    pub app: usize,
    /// D_r: its first deadline that it can still meet.
    pub deadline: Time,
    /// What it costs to be late.
    pub cost: EntryCost,
    /// The sizes whose queue it is in: bit i for the i-th size.
    pub viable: u32,
}

/// What it costs a request to be late. Requests of one application with equal costs and deadlines have equal
/// scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryCost {
    /// Which of the cost functions of the tables; 0 is one after its only deadline.
    pub function: u32,
    /// The SLO that its deadlines are parts of; zero where there is only one.
    pub slo: Span,
    /// Which step its deadline is of.
    pub step: u32,
}

impl Entry {
    /// Whether it is in the queue of a size.
    #[inline]
    pub fn is_in(&self, size: usize) -> bool {
        self.viable >> size & 1 == 1
    }
}
