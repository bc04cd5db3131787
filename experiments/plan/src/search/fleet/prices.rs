//! The prices at which another fleet is the answer: of one kind, while all other prices stay.
//!
//! ```text
//!  cost of a fleet = what its machines of the kind cost, times the factor of the price + all others: a line
//!  begin far away ──the cheapest fleet there──> where its line meets the answer's ──the cheapest fleet there──> ...
//! ```
//!
//! Every step is a fleet that is cheaper than the one before, so that it ends. Clusters of the cheapest fleet that are not
//! known are simulated with one seed, as the search does it; how many machines they have does not depend on prices.

use super::known::Knowledge;
use crate::search::solved::{Edge, PriceRange};
use orrery_scenario::SpecError;
use orrery_solvers::Price;
use orrery_solvers::fleet::{Assigned, Clusters, Known, cheapest};

/// So many times the price is as far as is looked.
const DEAREST: f64 = 1e3;
/// At most so many fleets are tried for one price.
const STEPS_MAX: u32 = 64;
/// Costs that differ by so little, in dollars, are the same: a fleet's is rounded to millionths for each cluster.
const SAME_USD: f64 = 1e-4;

/// The prices between which `best` is the answer, by kind. For all of them together at most as many clusters are simulated
/// as for the answer.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn ranges(known: &mut Knowledge<'_>, best: &Assigned) -> Result<Vec<PriceRange>, SpecError> {
    let kinds = (0..known.problem.sales.len()).filter(|k| known.problem.counts_max[*k] > 0);
    let kinds: Vec<usize> = kinds.filter(|kind| is_a_home(known, *kind)).collect();
    let most = known.asked.len() * 2;
    let mut ranges = Vec::new();
    for kind in kinds {
        let now_usd_per_hour = each_usd(known, best, kind);
        let mut whole = true;
        let mut edge = |from: f64| -> Result<Option<Edge>, SpecError> {
            let Turned { other, exact } = turn(known, best, (kind, from), most)?;
            whole &= exact || other.is_some();
            Ok(other.map(|(factor, other)| Edge {
                at_usd_per_hour: now_usd_per_hour * factor,
                other: known.in_words(&other),
                exact,
            }))
        };
        let below = edge(0.0)?;
        let above = edge(DEAREST)?;
        ranges.push(PriceRange { kind, now_usd_per_hour, below, above, whole });
    }
    Ok(ranges)
}

fn is_a_home(known: &Knowledge<'_>, kind: usize) -> bool {
    known.homes.needs.iter().any(|model| model[kind].is_some())
}

/// What one device of a kind costs: of those of the answer, or the least where it has none.
fn each_usd(known: &Knowledge<'_>, best: &Assigned, kind: usize) -> f64 {
    let problem = known.problem;
    let own = best.clusters(problem.sales.len()).into_iter().find(|cluster| cluster.0 == kind);
    match own.and_then(|cluster| known.peak(cluster)) {
        Some(n) if n > 0 => problem.cost_of_kind(kind, n).as_usd_per_hour() / f64::from(n),
        _ => problem.least_usd(kind),
    }
}

/// What another price changes.
struct Turned {
    /// Another fleet, and the factor of the price from which on it is cheaper.
    other: Option<(f64, Assigned)>,
    /// Whether all that might be cheaper before was simulated.
    exact: bool,
}

/// Where, from today's price towards a factor of it, another fleet is the cheapest.
fn turn(
    known: &mut Knowledge<'_>,
    best: &Assigned,
    (kind, from): (usize, f64),
    most: usize,
) -> Result<Turned, SpecError> {
    let (mut factor, mut found) = (from, None);
    let (mut only_known, mut exact) = (known.only_known, true);
    for _ in 0..STEPS_MAX {
        let at = At { known, kind, factor };
        let next = if only_known { known.cheapest_at(&at, &[]) } else { cheapest(&at, &[]) };
        let Some(next) = next else {
            return Ok(Turned { other: found, exact: false });
        };
        let open = known.unasked(&next.clusters(known.kinds()));
        if !open.is_empty() {
            if known.is_enough() || known.asked.len() + open.len() > most {
                only_known = true;
            } else {
                known.ask(&open)?;
            }
            continue;
        }
        exact &= next.proven;
        let at = At { known, kind, factor };
        let (own, other) = (at.cost(best), at.cost(&next));
        let is_cheaper = other.0 * factor + other.1 < own.0 * factor + own.1 - SAME_USD;
        if !is_cheaper {
            return Ok(Turned { other: found, exact: exact && known.is_by_bounds() });
        }
        let (low, high) = if from < 1.0 { (from, 1.0) } else { (1.0, from) };
        factor = ((other.1 - own.1) / (own.0 - other.0)).clamp(low, high);
        found = Some((factor, next));
    }
    // More fleets than are tried.
    Ok(Turned { other: found, exact: false })
}

/// What is known, with another price of one kind.
struct At<'a, 'b> {
    known: &'a Knowledge<'b>,
    kind: usize,
    factor: f64,
}

impl At<'_, '_> {
    fn priced(&self, kind: usize, price: Price) -> Price {
        let times = |price: Price| {
            let micro = price.as_micro_usd_per_hour() as f64 * self.factor;
            Price::micro_usd_per_hour(micro.round() as u64)
        };
        if kind == self.kind { times(price) } else { price }
    }

    /// At today's prices in dollars per hour: what a fleet's machines of the kind cost, and what the others do.
    fn cost(&self, fleet: &Assigned) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (kind, set) in fleet.clusters(self.kinds()) {
            let Known::Costs(cost) = self.known.known(kind, set) else { continue };
            let sum = if kind == self.kind { &mut sums.0 } else { &mut sums.1 };
            *sum += cost.as_usd_per_hour();
        }
        sums
    }
}

impl Clusters for At<'_, '_> {
    fn models(&self) -> usize {
        self.known.models()
    }

    fn kinds(&self) -> usize {
        self.known.kinds()
    }

    fn least(&self, kind: usize, models: u64) -> Option<Price> {
        Some(self.priced(kind, self.known.least(kind, models)?))
    }

    fn known(&self, kind: usize, models: u64) -> Known {
        match self.known.known(kind, models) {
            Known::Costs(cost) => Known::Costs(self.priced(kind, cost)),
            other => other,
        }
    }

    fn share_usd(&self, model: usize, kind: usize) -> Option<f64> {
        let factor = if kind == self.kind { self.factor } else { 1.0 };
        Some(self.known.share_usd(model, kind)? * factor)
    }
}
