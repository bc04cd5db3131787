//! What is compared: quantities and their values. It runs nothing.

use orrery_results::metric;

/// A quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Requests answered a second.
    Rate,
    /// Mean latency.
    Mean,
    /// Median latency.
    P50,
    /// 90 % quantile.
    P90,
    /// 99 % quantile.
    P99,
    /// Mean size of a batch.
    Batch,
    /// Share of requests without an answer.
    Drops,
}

/// All of them with their words, their metrics, and the units of a metric in one of ours.
pub const WHAT: [(What, &str, &str, f64); 7] = [
    (What::Rate, "answered, 1/s", metric::ANSWERED, 1.0),
    (What::Mean, "mean, ms", metric::LATENCY_MEAN, 1e6),
    (What::P50, "p50, ms", metric::LATENCY_P50, 1e6),
    (What::P90, "p90, ms", metric::LATENCY_P90, 1e6),
    (What::P99, "p99, ms", metric::LATENCY_P99, 1e6),
    (What::Batch, "mean batch", metric::MEAN_BATCH_SIZE, 1.0),
    (What::Drops, "drops, share", metric::DROP_SHARE, 1.0),
];

/// Values by [`What`]; `None` where nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// The values.
    pub all: [Option<f64>; 7],
    /// The answered requests behind them; 0 where nobody says.
    pub samples: u64,
}

impl Values {
    /// The value of a quantity.
    pub fn of(&self, what: What) -> Option<f64> {
        self.all[what as usize]
    }

    /// Whether one of them can be compared.
    pub fn is_measured(&self) -> bool {
        WHAT.iter().any(|w| self.error(self, w.0).is_some())
    }

    /// These values, as far as they are known there too.
    pub fn known_in(&self, other: &Values) -> Values {
        let all = std::array::from_fn(|i| self.all[i].filter(|_| other.all[i].is_some()));
        Values { all, samples: self.samples }
    }

    /// The error of ours against theirs: a share of theirs, of drops the difference.
    pub fn error(&self, theirs: &Values, what: What) -> Option<f64> {
        let (ours, theirs) = (self.of(what)?, theirs.of(what)?);
        match what {
            What::Drops => Some(ours - theirs),
            _ if theirs > 0.0 => Some(ours / theirs - 1.0),
            _ => None,
        }
    }
}

/// The mean of runs of some cases.
pub fn mean_of(runs: &[Vec<Values>]) -> Vec<Values> {
    let of = |case: usize| {
        let all = std::array::from_fn(|what| {
            let sum = runs.iter().map(|run| run[case].all[what]).sum::<Option<f64>>();
            sum.map(|sum| sum / runs.len() as f64)
        });
        Values { all, samples: runs.iter().map(|run| run[case].samples).sum() }
    };
    (0..runs.first().map_or(0, Vec::len)).map(of).collect()
}

/// What an assumption is judged by first: the level of the load and of the latencies.
pub const MIDDLE: &[What] = &[What::Rate, What::Mean, What::P50, What::Batch, What::Drops];
/// What is left then.
pub const TAIL: &[What] = &[What::P90, What::P99];
