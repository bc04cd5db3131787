//! What the requests of a log cost, where it says their cost functions.

use super::Auditor;
use crate::penalty::MILLION;
use crate::request::{End, Request};

impl Auditor {
    /// Adds what a request cost that ends so, now: the cost of the last deadline that it missed. One that
    /// is not answered has missed all.
    pub(super) fn pay(&mut self, request: &Request, end: End) {
        let Some(penalty) = self.terms.penalties.get(request.app.index()) else { return };
        let answered = matches!(end, End::InTime | End::Late);
        // A deadline is the SLO times millionths, to the nearest nanosecond: compared without a division.
        let million = u128::from(MILLION);
        let took = u128::from(self.now.since(request.arrival).ns()) * million;
        let slo = u128::from(request.slo().ns());
        let mut cost = 0;
        for step in penalty.steps() {
            let missed = took > slo * u128::from(step.deadline) + million / 2;
            if missed || !answered {
                cost = step.cost;
            }
        }
        *self.report.cost.get_or_insert(0) += u128::from(cost);
    }
}
