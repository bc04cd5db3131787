//! The search for a rate or a number of devices in a scenario: its probes, and the run at the answer.

use super::goodput::{Search, Searched, over_in_warm_up};
use super::replication::Replication;
use orrery_results::metric;
use orrery_run::search::{self, How, Load, Probe, REQUESTS_ENDLESS};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::file::Arrivals;
use orrery_scenario::search::{capacity_per_s, subject};
use orrery_sim::time::Span;
use toml::Value;

/// Requests of the run at the answer, at most.
const RUN_REQUESTS: u64 = 2_000_000;

impl Searched for Scenario {
    type Policy = PolicySpec;

    fn for_probes(&self) -> Result<Scenario, SpecError> {
        self.file.searchable().map_err(|e| self.placed(e))?;
        Ok(self.keeping_gaps())
    }

    fn rate(&self) -> Result<f64, SpecError> {
        Scenario::rate(self)
    }

    fn is_finite(&self) -> bool {
        self.file.arrivals.as_ref().is_some_and(Arrivals::is_finite)
    }

    fn capacity_per_s(&self, policy: &PolicySpec, seed: u64) -> Result<Option<f64>, SpecError> {
        let setup = endless(self.clone()).setup(seed)?;
        Ok(capacity_per_s(self, &setup, Some(policy), None))
    }

    fn with_rate(&self, rate_per_s: f64) -> Result<Scenario, SpecError> {
        Scenario::with_rate(self, rate_per_s)
    }

    fn devices(&self) -> Result<u32, SpecError> {
        Ok(self.file.device.first().map_or(1, |d| d.count))
    }

    fn with_devices(&self, count: u32) -> Result<Scenario, SpecError> {
        self.with(&[("device[0].count".to_string(), Value::Integer(count.into()))])
    }

    fn probe(
        &self,
        search: &Search,
        policy: &PolicySpec,
        seed: u64,
        how: How,
    ) -> Result<Probe, SpecError> {
        let setup = endless(self.clone()).setup(seed)?;
        let load = if self.is_finite() {
            Load::Finite { bad_max: Vec::new() }
        } else {
            let capacity_per_s = capacity_per_s(self, &setup, Some(policy), None);
            Load::Steady { rate_per_s: Scenario::rate(self)?, capacity_per_s }
        };
        let rule = search.terms().rule(subject(self, &setup, policy, load), how);
        let warm_up = rule.warm_up;
        let probe = search::probe(&setup, policy, seed, rule)?;
        let remedy = "choose a longer one (a list: `replay.times`), or lower `warm_up_s`";
        match over_in_warm_up(self, ("arrivals", remedy), (&probe, how), warm_up)? {
            Some(error) => Err(self.placed(error)),
            None => Ok(probe),
        }
    }

    fn run_at(
        &self,
        search: &Search,
        policy: &PolicySpec,
        seed: u64,
    ) -> Result<Replication, SpecError> {
        let models = self.model_names().len() as u64;
        let mut limited = searched(self, search.run_warm_up_s());
        let warm_up_s = limited.file.warm_up_s;
        if let Some(arrivals) = &mut limited.file.arrivals {
            let counted = search.requests_per_model.saturating_mul(models).min(RUN_REQUESTS);
            let before = (warm_up_s * Scenario::rate(self)?) as u64;
            arrivals.requests = Some(counted.saturating_add(before));
        }
        let setup = limited.setup(seed)?;
        let metrics = setup.run(policy, seed)?;
        let mut replication = Replication::of(seed, &metrics, &self.scope_names());
        let sizes = metrics.batch_sizes();
        let batches: u64 = sizes.iter().sum();
        let queueing = metrics.total().queueing;
        for (q, name) in [
            (0.1, metric::BATCH_SIZE_P10),
            (0.5, metric::BATCH_SIZE_P50),
            (0.9, metric::BATCH_SIZE_P90),
        ] {
            if let Some(size) = quantile(sizes, q) {
                replication.push("all", name, size as f64, batches);
            }
        }
        for (q, name) in
            [(0.5, metric::QUEUEING_P50), (0.9, metric::QUEUEING_P90), (0.99, metric::QUEUEING_P99)]
        {
            let ns = queueing.quantile(q).ns() as f64;
            replication.push("all", name, ns, queueing.count());
        }
        Ok(replication)
    }

    fn model(&self, number: usize) -> Option<String> {
        Some(self.model_names().get(number).cloned().unwrap_or_default())
    }
}

/// The smallest size that at least a share `q` of the batches do not exceed; `sizes[i]` counts size
/// `i`.
fn quantile(sizes: &[u64], q: f64) -> Option<usize> {
    let all: u64 = sizes.iter().sum();
    let mut below = 0;
    sizes.iter().position(|n| {
        below += n;
        all > 0 && below as f64 >= q * all as f64
    })
}

/// A scenario whose arrivals do not end, with a warm-up of `least_s` or more; that of a list is its own.
pub(super) fn searched(scenario: &Scenario, least_s: f64) -> Scenario {
    let mut searched = endless(scenario.clone());
    if !scenario.is_finite() {
        searched.file.warm_up_s = searched.file.warm_up_s.max(least_s);
    }
    searched
}

/// The warm-up that a search has at least: a shorter one changes nothing.
///
/// # Errors
/// When the scenario cannot be set up.
pub fn least_warm_up_s(
    scenario: &Scenario,
    search: &Search,
    policies: &[PolicySpec],
) -> Result<f64, SpecError> {
    let setup = endless(scenario.clone()).setup(scenario.seed)?;
    let of = |policy: &PolicySpec| {
        let load = Load::Steady { rate_per_s: 1.0, capacity_per_s: None };
        let subject = subject(scenario, &setup, policy, load);
        let rule =
            search.terms().rule(search::Subject { warm_up: Span::ZERO, ..subject }, How::USUAL);
        rule.warm_up.as_secs_f64()
    };
    Ok(policies.iter().map(of).fold(search.run_warm_up_s(), f64::min))
}

/// A scenario whose arrivals do not end.
fn endless(mut scenario: Scenario) -> Scenario {
    scenario.file.until_s = None;
    if let Some(arrivals) = &mut scenario.file.arrivals {
        arrivals.requests = Some(REQUESTS_ENDLESS);
        arrivals.duration_s = None;
    }
    scenario
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_of_counts() {
        assert_eq!(quantile(&[0, 3, 1], 0.5), Some(1));
        assert_eq!(quantile(&[0, 1, 3], 0.5), Some(2));
        assert_eq!(quantile(&[0, 9, 1], 0.9), Some(1));
        assert_eq!(quantile(&[0, 0], 0.5), None);
    }
}
