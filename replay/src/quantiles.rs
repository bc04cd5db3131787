//! Quantiles and medians, once for all figures.

use serde::{Deserialize, Serialize};

/// The least of sorted values that a share `q` of them does not exceed; the default of none.
pub fn quantile<T: Copy + Default>(sorted: &[T], q: f64) -> T {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    let at = rank.clamp(1, sorted.len().max(1)) - 1;
    sorted.get(at).copied().unwrap_or_default()
}

/// The median of values, the mean of the two middle ones; 0 of none. Sorts them.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
    }
}

/// Quantiles of lengths of time. Older files have no p90.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Quantiles {
    pub count: u64,
    pub p50_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<u64>,
    pub p99_ns: u64,
    pub max_ns: u64,
}

impl Quantiles {
    /// Of values in any order. Exact.
    pub fn of(mut ns: Vec<u64>) -> Quantiles {
        ns.sort_unstable();
        let [p50_ns, p90_ns, p99_ns, max_ns] = [0.5, 0.9, 0.99, 1.0].map(|q| quantile(&ns, q));
        Quantiles { count: ns.len() as u64, p50_ns, p90_ns: Some(p90_ns), p99_ns, max_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        assert_eq!([0.0, 0.5, 0.51, 1.0].map(|q| quantile(&[1, 2, 3, 4], q)), [1, 2, 3, 4]);
        assert_eq!((quantile::<u64>(&[], 0.5), median(&mut [])), (0, 0.0));
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0])), (2.0, 2.5));
        let all = Quantiles::of((1..=200).rev().collect());
        assert_eq!((all.count, all.p50_ns, all.p90_ns, all.p99_ns), (200, 100, Some(180), 198));
    }
}
