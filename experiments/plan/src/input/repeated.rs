//! How much real systems vary: MLPerf submissions that were run several times at one rate, as a law of execution times.
//!
//! Each run's median latency is taken as a share of the median of its submission. Of all these shares a hundred
//! quantiles are the law: each batch takes one of them times what its profile says. That is between runs, not between
//! the batches of one, for which nothing is published; and a run's latencies contain what its queue made of a slower
//! device. The law is derived here: not verified by MLCommons Association.

use orrery_sim::stats::median;
use std::sync::LazyLock;

/// As a what-if says it: `noise=mlperf`.
pub const NAME: &str = "mlperf";

/// `data/ATTRIBUTION.md` says whose they are.
const RUNS: &str = include_str!("../../data/noise/mlperf_repeated_runs.csv");

/// So many quantiles stand for all runs.
const QUANTILES: usize = 100;

/// The law: factors that are equally likely.
pub fn factors() -> &'static [f64] {
    static FACTORS: LazyLock<Vec<f64>> = LazyLock::new(|| quantiles(&shares(RUNS)));
    &FACTORS
}

/// Each run's median latency relative to its submission's, rising.
fn shares(text: &str) -> Vec<f64> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let column = reader.headers().ok().and_then(|head| head.iter().position(|h| h == "p50_ms"));
    let mut shares = Vec::new();
    for row in reader.records().flatten() {
        let cell = column.and_then(|at| row.get(at)).unwrap_or_default();
        let mut runs: Vec<f64> = cell.split_whitespace().filter_map(|ms| ms.parse().ok()).collect();
        runs.sort_by(f64::total_cmp);
        let Some(median) = median(&runs) else { continue };
        shares.extend(runs.iter().map(|ms| ms / median));
    }
    shares.sort_by(f64::total_cmp);
    shares
}

fn quantiles(sorted: &[f64]) -> Vec<f64> {
    // The middle of each hundredth; four digits are more than five runs say.
    let at = |i: usize| sorted.get((2 * i + 1) * sorted.len() / (2 * QUANTILES)).copied();
    (0..QUANTILES).filter_map(at).map(|share| (share * 1e4).round() / 1e4).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_a_share_of_its_submission_s_median() {
        let text = "system,p50_ms,p90_ms\na,2 1 3,9 9 9\nb,10 30 20 40,1 1 1 1\n";
        assert_eq!(shares(text), [0.4, 0.5, 0.8, 1.0, 1.2, 1.5, 1.6]);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        let some = quantiles(&many);
        assert_eq!((some.len(), some[0], some[50], some[99]), (100, 5.0, 505.0, 995.0));
    }

    /// What docs/plan.md says of the runs, counted again.
    #[test]
    fn the_runs_are_all_there_and_vary_as_the_documents_say() {
        assert_eq!(shares(RUNS).len(), 938);
        let factors = factors();
        assert_eq!(factors.len(), QUANTILES);
        let mean = factors.iter().sum::<f64>() / QUANTILES as f64;
        let square = factors.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>();
        let sd = libm::sqrt(square / QUANTILES as f64);
        assert!((mean - 1.0).abs() < 1e-3 && (sd - 0.033).abs() < 5e-4, "{mean} {sd}");
        assert_eq!(
            (factors[4], factors[50], factors[95], factors[99]),
            (0.96, 1.0, 1.0363, 1.2277)
        );
    }
}
