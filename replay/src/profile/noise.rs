//! How far batches of one kind are from each other, by the device's own clock.

use crate::quantiles::median;
use orrery_scenario::scenario::disturbance::BatchNoise;
use orrery_sim::time::Span;

/// A batch that takes more than this many times its median is an outlier.
pub const OUTLIER: f64 = 1.5;
/// Factors kept of the outliers: their quantiles.
const FACTORS: usize = 50;

/// The noise of batches that were run under the same conditions: a list for each.
pub fn noise<'a>(points: impl Iterator<Item = &'a [Span]>) -> BatchNoise {
    let mut ratios: Vec<f64> = Vec::new();
    for point in points {
        let mut all: Vec<f64> = point.iter().map(|d| d.ns() as f64).collect();
        let middle = median(&mut all);
        ratios.extend(all.iter().filter(|_| middle > 0.0).map(|d| d / middle));
    }
    ratios.sort_by(f64::total_cmp);
    let usual = ratios.partition_point(|r| *r <= OUTLIER);
    let (usual, outliers) = ratios.split_at(usual);
    if usual.is_empty() {
        return BatchNoise::default();
    }
    let at = |list: &[f64], q: f64| list[((q * list.len() as f64) as usize).min(list.len() - 1)];
    // Half the distance of the quantiles between which a normal law has 68.27 %.
    let sigma = 0.5 * (libm::log(at(usual, 0.841_345)) - libm::log(at(usual, 0.158_655)));
    let kept = outliers.len().min(FACTORS);
    let factor = |i: usize| at(outliers, (i as f64 + 0.5) / kept as f64);
    BatchNoise {
        sigma: sigma.max(0.0),
        outlier_share: outliers.len() as f64 / ratios.len() as f64,
        outlier_factors: (0..kept).map(factor).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_that_is_drawn_is_found_again() {
        let truth = orrery_sim::latency::BatchNoise {
            sigma: 0.03,
            outlier_share: 0.005,
            outlier_factors: vec![2.0, 4.0],
            seed: 5,
        };
        let batch = |ms, i| truth.apply(Span::from_ms(ms), i);
        let points: Vec<Vec<Span>> =
            (0..40).map(|p| (0..100).map(|i| batch(1 + p, p * 1_000 + i)).collect()).collect();
        let found = noise(points.iter().map(Vec::as_slice));
        assert!((found.sigma / 0.03 - 1.0).abs() < 0.06, "{found:?}");
        assert!((found.outlier_share / 0.005 - 1.0).abs() < 0.5, "{found:?}");
        let factors = found.outlier_factors;
        assert!(factors.iter().all(|f| (f / 2.0 - 1.0).abs() < 0.1 || (f / 4.0 - 1.0).abs() < 0.1));
        let same = [Span::from_ms(3); 5];
        assert_eq!(noise([same.as_slice()].into_iter()), BatchNoise::default());
        assert_eq!(noise(std::iter::empty()), BatchNoise::default());
    }
}
