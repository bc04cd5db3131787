//! What a probe of a given length measured: how far the share of bad requests is from the target, and by how much
//! each batch of requests pushes it.
//!
//! Two probes of one search have the same requests, at other distances. What chance does to one it does to the
//! other, so errors are never combined as if they were independent: residuals are added batch by batch, and the
//! error is that of the sum (paired batch means).

/// The share of bad requests of the worst model, over the target, as a logarithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// ln(share / target).
    pub excess: f64,
    /// What each batch adds to it by chance; they add up to nothing.
    pub residuals: Vec<f64>,
    /// A batch has so many requests.
    pub size: u64,
}

impl Figure {
    /// Of counts by batch: requests, and the bad ones. `None` where so few are bad that a logarithm says nothing.
    pub fn of(batches: &[(u64, u64)], size: u64, share: f64, target: f64) -> Option<Figure> {
        let all = batches.iter().fold((0, 0), |sum, b| (sum.0 + b.0, sum.1 + b.1));
        if all.1 < BAD_LEAST || share <= 0.0 {
            return None;
        }
        let mean = all.1 as f64 / all.0 as f64;
        let of = |b: &(u64, u64)| (b.1 as f64 - mean * b.0 as f64) / all.1 as f64;
        let residuals = batches.iter().map(of).collect();
        Some(Figure { excess: libm::log(share / target), residuals, size: size.max(1) })
    }
}

/// With fewer bad requests than this, ln(share) is not nearly normal.
const BAD_LEAST: u64 = 8;

/// The sum of several figures' residuals, each times a weight, batch by batch.
pub(super) fn combined<'a>(parts: impl Iterator<Item = (f64, &'a Figure)> + Clone) -> Vec<f64> {
    let largest = parts.clone().map(|(_, f)| f.size).max().unwrap_or(1);
    let mut sum: Vec<f64> = Vec::new();
    for (weight, figure) in parts {
        let merged = (largest / figure.size).max(1) as usize;
        for (i, some) in figure.residuals.chunks(merged).enumerate() {
            if sum.len() <= i {
                sum.push(0.0);
            }
            sum[i] += weight * some.iter().sum::<f64>();
        }
    }
    sum
}
