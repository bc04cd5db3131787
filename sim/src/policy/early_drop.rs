//! How a Nexus backend forms a batch from a queue, and what it drops then: what its two policies
//! share.
//!
//! It knows no devices and plans nothing.

use super::Actions;
use super::edf_queue::EdfQueue;
use super::parameters::words;
use crate::request::{Drop, RequestId};
use crate::time::{Span, Time};

words! {
    /// What is dropped when a batch is formed.
    pub enum DropRule {
        /// Released default, policy 0.
        SlidingWindow = "sliding-window": "requests that would miss their deadline in the batch being formed",
        /// Policy 1.
        Earliest = "earliest":
            "requests that could not finish in time even alone; then the largest batch that fits the head",
        Elapsed = "elapsed": "expired requests",
        None = "none": "nothing",
    }
}

impl DropRule {
    /// Takes a batch from a queue into `taken`: at most `latency.len()` requests, whose latency as a
    /// batch of `i + 1` is `latency[i]`.
    pub(super) fn form_batch(
        self,
        now: Time,
        latency: &[Span],
        queue: &mut EdfQueue,
        taken: &mut Vec<RequestId>,
        out: &mut Actions,
    ) {
        taken.clear();
        match self {
            DropRule::SlidingWindow => sliding_window(now, latency, queue, taken, out),
            DropRule::Earliest => earliest(now, latency, queue, taken, out),
            DropRule::Elapsed => plain(latency.len(), now, queue, taken, out),
            DropRule::None => plain(latency.len(), Time::ZERO, queue, taken, out),
        }
    }
}

fn sliding_window(
    now: Time,
    latency: &[Span],
    queue: &mut EdfQueue,
    taken: &mut Vec<RequestId>,
    out: &mut Actions,
) {
    let mut n = queue.len().min(latency.len());
    while taken.len() < n {
        let finish = now + latency[n - 1];
        let Some((deadline, id)) = queue.pop() else { break };
        if deadline < finish {
            out.why(id, || {
                let late = finish - deadline;
                format!("early drop: a batch of {n} from now would end {late} after its deadline")
            });
            out.end(id, Drop::Infeasible);
        } else {
            taken.push(id);
        }
        n = n.min(taken.len() + queue.len());
    }
}

fn earliest(
    now: Time,
    latency: &[Span],
    queue: &mut EdfQueue,
    taken: &mut Vec<RequestId>,
    out: &mut Actions,
) {
    let mut head = Time::NEVER;
    while let Some((deadline, id)) = queue.head() {
        head = deadline;
        if deadline >= now + latency[0] {
            break;
        }
        queue.pop();
        out.why(id, || {
            let late = (now + latency[0]) - deadline;
            format!("even alone, from now, it would end {late} after its deadline")
        });
        out.end(id, Drop::Infeasible);
    }
    let fits = latency.iter().take_while(|&&l| now + l <= head).count();
    for _ in 0..fits.min(queue.len()) {
        taken.extend(queue.pop().map(|p| p.1));
    }
}

/// Up to a batch, dropping what expired before `now`.
fn plain(
    batch: usize,
    now: Time,
    queue: &mut EdfQueue,
    taken: &mut Vec<RequestId>,
    out: &mut Actions,
) {
    while taken.len() < batch {
        let Some((deadline, id)) = queue.pop() else { return };
        if deadline < now {
            out.why(id, || format!("its deadline passed {} ago", now - deadline));
            out.end(id, Drop::Expired);
        } else {
            taken.push(id);
        }
    }
}
