//! Ribbon's engine (Li et al., SC 2021): Bayesian optimisation over counts, here for throughput, as
//! one of the searches that Kairos's Fig. 11 compares Kairos+ with.
//!
//! ```text
//! evaluate a few random pools
//! as long as pools are open:
//!     fit a Gaussian process to what is known
//!     evaluate the open pool of the highest expected improvement
//! ```
//!
//! # Differences from the paper
//! - Kairos's paper does not tell what the process is fitted to. Ribbon's own score is about cost
//!   at a given load; here it is throughput over the best so far.
//! - Ribbon rounds a real point to a pool inside the kernel; here only pools are asked for.
//! - Of pools of the same expected improvement the least certain is taken, then the first.

use super::{Evaluate, Explorer, Found, Look, Rules, SearchError};
use crate::gaussian_process::{GaussianProcess, expected_improvement};
use crate::{PlannerError, Space};
use orrery_sim::rng::Stream;

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bayesian {
    /// How many random pools come first; at least 1. Ribbon's code: 2.
    pub initial: usize,
    /// By how much a pool must be above the best before it counts as an improvement: a fraction of
    /// the best throughput.
    pub xi: f64,
}

/// Ribbon's code: two random pools, xi of 0.1.
impl Default for Bayesian {
    fn default() -> Bayesian {
        Bayesian { initial: 2, xi: 0.1 }
    }
}

/// Searches with the stream `planner-bayesian` of the seed, until all pools are evaluated or ruled
/// out, or no evaluation is left: a Gaussian process is never sure.
///
/// # Errors
/// When the parameters are wrong or a pool cannot be evaluated.
pub fn bayesian<V: Evaluate>(
    space: &Space,
    parameters: &Bayesian,
    seed: u64,
    rules: Rules,
    evaluator: &mut V,
) -> Result<Found, SearchError<V::Error>> {
    parameters.check()?;
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    let mut stream = Stream::named(seed, "planner-bayesian", 0);
    let mut known: Vec<(usize, f64)> = Vec::new();
    while explorer.may_go_on() {
        let best = known.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let scale = if best > 0.0 { best } else { 1.0 };
        let scaled: Vec<(usize, f64)> =
            known.iter().map(|(i, value)| (*i, value / scale)).collect();
        let next = next(&explorer, parameters, &scaled, &mut stream);
        if let Look::Value(value) = explorer.look(next)? {
            known.push((next, value));
        }
    }
    Ok(explorer.finish(false))
}

/// The pool to evaluate next; at least one is open.
fn next<V: Evaluate>(
    explorer: &Explorer<V>,
    parameters: &Bayesian,
    known: &[(usize, f64)],
    stream: &mut Stream,
) -> usize {
    let pools = explorer.space.pools();
    let open: Vec<usize> = (0..pools.len()).filter(|i| explorer.is_open(*i)).collect();
    if known.len() < parameters.initial {
        return open[stream.below(open.len() as u64) as usize];
    }
    let point = |i: usize| pools[i].0.iter().map(|n| f64::from(*n)).collect::<Vec<f64>>();
    let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let process = GaussianProcess::fit(known.iter().map(|(i, _)| point(*i)).collect(), &values);
    let mut chosen: Option<(f64, f64, usize)> = None;
    for i in open {
        let (mean, deviation) = process.predict(&point(i));
        let gain = expected_improvement(mean, deviation, best, parameters.xi);
        let better = |(most, widest, _)| gain > most || gain == most && deviation > widest;
        if chosen.is_none_or(better) {
            chosen = Some((gain, deviation, i));
        }
    }
    chosen.expect("a pool is open").2
}

impl Bayesian {
    pub(crate) fn check(&self) -> Result<(), PlannerError> {
        if self.initial == 0 {
            return Err(PlannerError::Number {
                what: "initial",
                value: 0.0,
                allowed: "at least 1",
            });
        }
        if !self.xi.is_finite() || self.xi < 0.0 {
            let (what, allowed) = ("xi", "a finite number, at least 0");
            return Err(PlannerError::Number { what, value: self.xi, allowed });
        }
        Ok(())
    }
}
