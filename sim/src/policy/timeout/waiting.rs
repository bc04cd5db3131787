//! A request that waits, and how the oldest ones become a batch. It knows no rule of when.

use crate::policy::Actions;
use crate::request::{Drop, Request, RequestId};
use crate::time::Time;
use std::collections::VecDeque;

/// A request that waits.
#[derive(Clone, Copy)]
pub struct Waiting {
    pub id: RequestId,
    pub arrival: Time,
    pub deadline: Time,
    pub items: u32,
}

impl Waiting {
    pub fn new(request: &Request) -> Waiting {
        let &Request { id, arrival, deadline, size: items, .. } = request;
        Waiting { id, arrival, deadline, items }
    }
}

/// Moves the oldest requests that fit a batch into it, one at least; expired ones are dropped. Returns how many there
/// were, and whether no more fit.
pub fn cut(
    waiting: &mut VecDeque<Waiting>,
    max_batch: u32,
    drop_expired: bool,
    (now, batch): (Time, &mut Vec<RequestId>),
    out: &mut Actions,
) -> (usize, bool) {
    let mut items = 0;
    let fit = waiting.iter().take_while(|w| {
        let is_first = items == 0;
        items += u64::from(w.items);
        is_first || items <= u64::from(max_batch)
    });
    let size = fit.count();
    batch.clear();
    for Waiting { id, deadline, .. } in waiting.drain(..size) {
        if drop_expired && deadline < now {
            out.why(id, || format!("its deadline passed {} ago", now - deadline));
            out.end(id, Drop::Expired);
        } else {
            batch.push(id);
        }
    }
    (size, items >= u64::from(max_batch))
}
