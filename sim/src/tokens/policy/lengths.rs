//! Orloj's score (§4.4, Eq. 2) where the length of an answer is what nobody knows: the law of the lengths of
//! the answers that have ended, in the place of the law of execution times.
//!
//! Time is counted in tokens. A request that is admitted now has its first token after its prompt, and ends
//! after as many more as the law says, each as long as the last step. Its slack is what is left until the
//! time that its SLOs allow an answer of mean length.

use super::interface::Seen;
use crate::distribution::Histogram;
use crate::policy::score::ScoreTable;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// Lengths that the law is of: the last ones.
pub(in crate::tokens) const WINDOW: usize = 1_024;
/// The law is made anew after so many more ends; before the first, every score is 0.
pub(in crate::tokens) const RELEARN: usize = 64;
/// Bins of the law.
pub(in crate::tokens) const BINS: usize = 64;
/// Parameter of the anticipated delay's law, for a token. Orloj's is 1e-4 for a millisecond; a token takes some 40.
pub(in crate::tokens) const DELAY: f64 = 4e-3;
/// A token, as [`ScoreTable`] counts time.
pub(in crate::tokens) const TOKEN: Span = Span::from_ms(1);

/// The law of lengths, and the scores that follow from it.
#[derive(Debug, Default)]
pub struct Lengths {
    ended: VecDeque<u32>,
    since: usize,
    /// With the mean length.
    table: Option<(ScoreTable, f64)>,
}

impl Lengths {
    /// An answer of this length has ended.
    pub fn learn(&mut self, tokens_out: u32) {
        self.ended.push_back(tokens_out);
        if self.ended.len() > WINDOW {
            self.ended.pop_front();
        }
        self.since += 1;
        if self.since == RELEARN {
            self.since = 0;
            let all: Vec<Span> = self.ended.iter().map(|n| TOKEN * u64::from(*n)).collect();
            let law = Histogram::from_samples(&all, BINS);
            let mean = law.mean_ns() / TOKEN.ns() as f64;
            self.table = Some((ScoreTable::new(&law, DELAY), mean));
        }
    }

    /// The score of a request whose prompt takes `alone`, when a token takes `step`.
    pub fn score(&self, now: Time, seen: &Seen, alone: Span, step: Span) -> f64 {
        let Some((table, mean)) = &self.table else { return 0.0 };
        let by = seen.first_by() + seen.slo.each.scale(*mean);
        let slack = by.since(now).minus(alone).ns() as f64 / step.ns().max(1) as f64;
        table.at(Span::from_ns_f64(slack * TOKEN.ns() as f64))
    }
}
