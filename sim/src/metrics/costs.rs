//! What requests cost, by the cost functions of their applications. Nothing is counted where there are none.

use crate::penalty::Penalty;
use crate::request::{End, Request};
use crate::time::Time;

/// The cost functions of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    /// By application.
    by_app: Vec<Penalty>,
    others: Penalty,
}

impl Costs {
    pub fn new(by_app: Vec<Penalty>) -> Costs {
        Costs { by_app, others: Penalty::default() }
    }

    fn of(&self, request: &Request) -> &Penalty {
        self.by_app.get(request.app.index()).unwrap_or(&self.others)
    }

    /// What a request costs that is never answered, millionths.
    #[inline]
    pub fn at_stake(&self, request: &Request) -> u64 {
        if self.by_app.is_empty() { 0 } else { self.of(request).full() }
    }

    /// What of this a request did not cost that ended so.
    #[inline]
    pub fn saved(&self, now: Time, request: &Request, end: End) -> u64 {
        if self.by_app.is_empty() || !matches!(end, End::InTime | End::Late) {
            return 0;
        }
        let penalty = self.of(request);
        penalty.full() - penalty.cost(request.slo(), now - request.arrival)
    }
}
