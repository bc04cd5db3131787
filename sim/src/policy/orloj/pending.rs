//! The queues Q_bs of a model, one for each batch size, and what leaves them: the interface of both forms.
//!
//! It chooses no size.

use super::entry::Entry;
use super::tables::Tables;
use crate::request::RequestId;
use crate::time::Time;
use std::cmp::Ordering;

/// The mark of a request that is in the queue of each of so many sizes.
pub(super) fn every(sizes: usize) -> u32 {
    ((1u64 << sizes) - 1) as u32
}

/// The pending requests of a model. Both forms make the same decisions.
pub(super) trait Pending: Send {
    /// Adds a request to every queue. Ids only grow.
    fn insert(&mut self, entry: Entry);

    /// The tables were made anew; `tables[i]` is where the `i`-th of the former ones is now.
    fn renewed(&mut self, tables: &[usize]);

    /// Lines 1-14: brings scores up to date, and removes requests from the queues of sizes that they can no
    /// longer meet; `out` gets those that are in no queue any more, in the order of ids.
    fn expire(&mut self, now: Time, tables: &Tables, out: &mut Vec<RequestId>);

    /// For each size, how many requests its queue holds and the earliest of their deadlines. `out` has a
    /// place for each size, which says that there is none.
    fn census(&mut self, out: &mut [(u32, Time)]);

    /// Line 22, after `expire` at the same instant: takes the `k` requests with the highest scores out of
    /// the queue of a size, which has as many. `out` gets them in the order of ids.
    fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &Tables,
        out: &mut Vec<RequestId>,
    );

    /// All that are pending, in the order of ids, and whether they are in the queue of a size: for reasons.
    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool));
}

/// Score, deadline, id.
pub(super) type Scored = (f64, Time, RequestId);

/// Highest score first; ties by deadline, then by id.
pub(super) fn higher_score(a: &Scored, b: &Scored) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
}
