//! What a pair of a query and an instance costs: Eq. 5 and Eq. 8.

use super::config::{Config, Penalty};
use crate::matching::COST_MAX;
use crate::request::RequestId;
use crate::rng::{fnv1a, keyed_uniform};
use crate::time::{NS_PER_MS, Span, Time};

/// Weights are in so many parts.
const PARTS: f64 = 1e4;
/// Released code: what a pair costs that breaks the safety margin only.
const MARGIN_COST: Span = Span::from_ms(500);
/// Released code: what a pair costs that breaks the QoS.
const QOS_COST: Span = Span::from_ms(1_000);

impl Config {
    /// A profile's latency as it is believed.
    pub(super) fn rounded(&self, mean: Span) -> Span {
        if !self.whole_ms {
            return mean;
        }
        Span::from_ns((mean.ns() + NS_PER_MS / 2) / NS_PER_MS * NS_PER_MS)
    }

    /// A prediction with its error: Gaussian, and keyed by (seed, query, kind), so that the same query
    /// is mistaken in the same way each time that it is looked at.
    pub(super) fn disturbed(
        &self,
        latency: Span,
        seed: u64,
        query: RequestId,
        kind: usize,
    ) -> Span {
        const PURPOSES: [u64; 2] =
            [fnv1a("kairos prediction error"), fnv1a("kairos prediction error, second")];
        if self.noise == 0.0 {
            return latency;
        }
        let key = query.0 << 8 | kind as u64;
        let [u, v] = PURPOSES.map(|purpose| keyed_uniform(seed, purpose, key));
        let z = (-2.0 * libm::log(u)).sqrt() * libm::cos(std::f64::consts::TAU * v);
        latency.scale((1.0 + self.noise * z).max(0.0))
    }

    /// C_j in parts.
    pub(super) fn weight(&self, exact: f64) -> i64 {
        let parts = if self.hundredths { 100.0 } else { PARTS };
        let rounded = (exact * parts).round() * (PARTS / parts);
        // At least one part, so that time is never free; at most 100, for kinds faster than the base.
        rounded.clamp(1.0, 100.0 * PARTS) as i64
    }

    /// xi T_qos.
    fn within(&self, qos: Span) -> Span {
        qos.minus(qos.scale(self.margin))
    }

    /// What the costs of a row have in common at `now`.
    pub(super) fn terms(&self, row: &Row, now: Time) -> Terms {
        let waited = now - row.arrival;
        let no_limit = row.qos == Span::MAX;
        if no_limit || (self.penalty == Penalty::Constants && waited >= row.qos) {
            return Terms { fits_ns: i64::MAX, in_time_ns: i64::MAX, penalty_cost: 0, each: false };
        }
        let left_ns = |limit: Span| ns(limit) - ns(waited);
        let (penalty, each) = match self.penalty {
            Penalty::TenQos => (ns(row.qos).saturating_mul(10), true),
            Penalty::Constants => (PARTS as i64 * ns(QOS_COST), false),
        };
        Terms {
            fits_ns: left_ns(self.within(row.qos)),
            in_time_ns: left_ns(row.qos),
            penalty_cost: penalty,
            each,
        }
    }

    /// Whether, of one kind, an instance that is free later is never cheaper for this row.
    pub(super) fn grows_with_time(&self, row: &Row, weights: &[i64]) -> bool {
        match self.penalty {
            Penalty::TenQos => true,
            Penalty::Constants => {
                let most = weights.iter().copied().max().unwrap_or(0);
                row.qos == Span::MAX
                    || most.saturating_mul(ns(row.qos))
                        <= ns(MARGIN_COST).saturating_mul(PARTS as i64)
            }
        }
    }

    /// The first instant after `now` at which a query changes its class on an idle instance on which
    /// it `takes` so long.
    pub(super) fn next_change(&self, now: Time, arrival: Time, qos: Span, takes: Span) -> Time {
        const TICK: Span = Span::from_ns(1);
        let later = |at: Time| if at > now { at } else { Time::NEVER };
        // W + L > limit from one tick after arrival + limit - L.
        let passes = |limit: Span| {
            if limit < takes { Time::NEVER } else { later(arrival + limit.minus(takes) + TICK) }
        };
        let margin = passes(self.within(qos));
        match self.penalty {
            Penalty::TenQos => margin,
            Penalty::Constants => {
                // What is late already changes its class no more.
                let late = arrival + qos;
                let in_time = |at: Time| if at < late { at } else { Time::NEVER };
                in_time(margin).min(in_time(passes(qos))).min(later(late))
            }
        }
    }
}

/// What a query's costs are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub arrival: Time,
    pub qos: Span,
    pub model: usize,
}

/// What the costs of a row have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// The longest L within the margin; negative where none is.
    fits_ns: i64,
    /// The longest L within the QoS.
    in_time_ns: i64,
    penalty_cost: i64,
    /// Whether the penalty is times C_j, and the same within the margin.
    each: bool,
}

impl Terms {
    #[inline]
    pub(super) fn cost(&self, weight: i64, time_ns: i64) -> i64 {
        let cost = if time_ns <= self.fits_ns {
            weight.saturating_mul(time_ns)
        } else if self.each {
            weight.saturating_mul(self.penalty_cost)
        } else if time_ns <= self.in_time_ns {
            PARTS as i64 * ns(MARGIN_COST)
        } else {
            self.penalty_cost
        };
        cost.min(COST_MAX)
    }
}

fn ns(span: Span) -> i64 {
    i64::try_from(span.ns()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_predictions_are_gaussian_and_keyed_by_the_query() {
        let config = Config { noise: 0.05, ..Config::released() };
        let one = |id: u64| config.disturbed(Span::from_ms(1_000), 3, RequestId(id), 1).as_ms_f64();
        assert_eq!(one(7), one(7));
        assert_ne!(one(7), one(8));
        let n = 20_000;
        let errors: Vec<f64> = (0..n).map(|id| one(id) / 1_000.0 - 1.0).collect();
        let mean = errors.iter().sum::<f64>() / n as f64;
        let sd = (errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / n as f64).sqrt();
        // 4 sigma.
        assert!(mean.abs() < 4.0 * 0.05 / (n as f64).sqrt(), "{mean}");
        assert!((sd - 0.05).abs() < 4.0 * 0.05 / (2.0 * n as f64).sqrt(), "{sd}");
        let beyond = errors.iter().filter(|e| e.abs() > 0.1).count() as f64 / n as f64;
        assert!((0.040..0.051).contains(&beyond), "2 sigma: {beyond}");
        let none = Config::released().disturbed(Span::from_ms(9), 3, RequestId(7), 1);
        assert_eq!(none, Span::from_ms(9));
    }
}
