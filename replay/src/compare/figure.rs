//! The figure of prediction errors, as Clockwork's Fig. 10.

use super::errors::{Errors, Signed};
use crate::error::Error;
use orrery_plots::{Figure, error_cdf};
use orrery_results::DistributionRow;

/// Points of a curve: each thousandth, and finer at the top.
fn shares() -> Vec<f64> {
    let mut shares: Vec<f64> = (1..=99).map(|i| f64::from(i) / 100.0).collect();
    let tail = [0.99, 0.999, 0.9999].into_iter();
    shares
        .extend(tail.flat_map(|t: f64| (1..=9).map(move |i| t + (1.0 - t) * f64::from(i) / 10.0)));
    shares.push(1.0);
    shares
}

fn rows(title: &str, case: &str, policy: &str, ns: &[u64]) -> Vec<DistributionRow> {
    let mut sorted = ns.to_vec();
    sorted.sort_unstable();
    let n = sorted.len();
    let point = |share: f64| {
        let rank = ((share * n as f64).ceil() as usize).clamp(1, n);
        (sorted[rank - 1], rank as f64 / n as f64)
    };
    let mut points: Vec<(u64, f64)> =
        if n == 0 { Vec::new() } else { shares().into_iter().map(point).collect() };
    points.dedup();
    let row = |(x, share): (u64, f64)| DistributionRow {
        experiment: title.to_string(),
        case: case.to_string(),
        axes: String::new(),
        policy: policy.to_string(),
        scope: "all".to_string(),
        quantity: "error_ns".to_string(),
        x: x as f64,
        share,
        samples: n as u64,
        requests: n as u64,
    };
    points.into_iter().map(row).collect()
}

/// Draws the errors of runs, all batches together.
///
/// # Errors
/// When there are no errors to draw.
pub fn figure(title: &str, errors: &Errors) -> Result<Figure, Error> {
    let mut all = Vec::new();
    let signed = |case: &str, s: &Signed| {
        let mut both = rows(title, case, "overprediction", &s.over);
        both.extend(rows(title, case, "underprediction", &s.under));
        both
    };
    all.extend(signed("time on the device", &errors.duration));
    all.extend(signed("completion", &errors.completion));
    Ok(error_cdf(&all)?)
}
