//! What a pair of a query and an instance costs: Kairos's parameters, Eq. 5 and Eq. 8.

use crate::matching::COST_MAX;
use crate::policy::pool::Learn;
use crate::request::RequestId;
use crate::rng::{fnv1a, keyed_uniform};
use crate::time::{NS_PER_MS, Span, Time};

/// Weights are in so many parts.
const PARTS: f64 = 1e4;
/// Released code: what a pair costs that breaks the safety margin only.
const MARGIN_COST: Span = Span::from_ms(500);
/// Released code: what a pair costs that breaks the QoS.
const QOS_COST: Span = Span::from_ms(1_000);

/// Which queries are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All that wait (paper).
    All,
    /// The oldest, twice as many as there are instances (released code).
    TwiceInstances,
}

/// What a pair costs that violates the QoS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// `C_j 10 T_qos`, for a query that is late already too (Eq. 8).
    TenQos,
    /// 1000 ms, or 500 ms if only the margin is broken, whatever C_j is; a query that is late already
    /// costs what any other does (released code).
    Constants,
}

/// The order of the columns, by which ties are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Idle instances first, by the list, then the busy ones by the instant at which they are to be
    /// free: of equal sums, the oldest query is served at once.
    IdleFirst,
    /// The list's order for all, as the released code has its columns.
    Listed,
}

/// Kairos's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Where latencies are known from.
    pub learn: Learn,
    /// Which queries are matched.
    pub rows: Rows,
    /// What a pair costs that violates the QoS.
    pub penalty: Penalty,
    /// The order of the columns.
    pub ties: Ties,
    /// Whether C_j is rounded to hundredths, rather than ten-thousandths.
    pub hundredths: bool,
    /// Whether the profile's latencies are rounded to whole ms.
    pub whole_ms: bool,
    /// 1 - xi: the share of the QoS that is kept as a margin (§5.1 "Remarks").
    pub margin: f64,
    /// Standard deviation of the error of each prediction, as a share of it (paper, Fig. 16b); 0 for
    /// none.
    pub noise: f64,
}

impl Config {
    /// As the paper's text has it.
    pub fn paper() -> Config {
        Config {
            learn: Learn::Online,
            rows: Rows::All,
            penalty: Penalty::TenQos,
            ties: Ties::IdleFirst,
            hundredths: false,
            whole_ms: false,
            margin: 0.02,
            noise: 0.0,
        }
    }

    /// As the released code has it: `kairos_query_distributor.py`.
    pub fn released() -> Config {
        Config {
            learn: Learn::Offline,
            rows: Rows::TwiceInstances,
            penalty: Penalty::Constants,
            ties: Ties::IdleFirst,
            hundredths: true,
            whole_ms: true,
            margin: 0.02,
            noise: 0.0,
        }
    }

    pub(super) fn name(&self) -> String {
        let learn = match self.learn {
            Learn::Offline => "offline",
            Learn::Online => "online",
        };
        let rows = match self.rows {
            Rows::All => "all",
            Rows::TwiceInstances => "twice",
        };
        let penalty = match self.penalty {
            Penalty::TenQos => "ten-qos",
            Penalty::Constants => "constants",
        };
        let ties = match self.ties {
            Ties::IdleFirst => "idle-first",
            Ties::Listed => "listed",
        };
        let Config { hundredths, whole_ms, margin, noise, .. } = self;
        format!(
            "kairos[learn={learn},rows={rows},penalty={penalty},ties={ties},hundredths={hundredths},\
             whole_ms={whole_ms},margin={margin},noise={noise}]"
        )
    }

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
