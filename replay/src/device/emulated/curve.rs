//! Durations as a plain curve with noise, written down for the device alone.
//!
//! The curve is the device's own arithmetic: nothing here is shared with the simulator's laws, so a
//! fault in one of them shows as a difference between prediction and device.

use crate::device::{Job, Work};
use orrery_scenario::scenario::file::LatencyLaw;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time on the device of a batch of `k` items, the longest of which takes `l` alone.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Curve {
    /// `alpha k + beta`.
    Affine {
        /// For each item.
        alpha_us: f64,
        /// For each batch.
        beta_us: f64,
    },
    /// `c0 + c1 k l`.
    Eq3 {
        /// For each batch.
        c0_us: f64,
        /// For each item, as a share of `l`.
        c1: f64,
    },
    /// `(1 - c1 + c1 k) l`.
    Proportional {
        /// For each further item, as a share of `l`.
        c1: f64,
    },
    /// `c0 + k (c1 l + c2 l^2)`.
    Poly {
        /// For each batch.
        c0_us: f64,
        /// For each item, as a share of `l`.
        c1: f64,
        /// For each item and microsecond of `l`, as a share of `l`.
        c2_per_us: f64,
    },
    /// Microseconds by size and by `l`; a size or an `l` between two costs what the larger one does,
    /// beyond the last it grows in proportion.
    Grid {
        /// Values of `l`, growing.
        lengths_us: Vec<f64>,
        /// Rows of size and microseconds for each of `lengths_us`, sizes in increasing order.
        rows: Vec<(u32, Vec<f64>)>,
    },
    /// Rows of size and microseconds, sizes in increasing order; a size between two rows costs what the larger
    /// one does, beyond the last it grows in proportion.
    Table(Vec<(u32, f64)>),
}

impl Curve {
    /// The same numbers, in the device's own terms.
    pub fn of(law: &LatencyLaw) -> Curve {
        match law {
            LatencyLaw::Affine { alpha_ms, beta_ms } => {
                Curve::Affine { alpha_us: alpha_ms * 1e3, beta_us: beta_ms * 1e3 }
            }
            LatencyLaw::Eq3 { c0_ms, c1 } => Curve::Eq3 { c0_us: c0_ms * 1e3, c1: *c1 },
            LatencyLaw::Proportional { c1 } => Curve::Proportional { c1: *c1 },
            LatencyLaw::Poly { c0_ms, c1, c2_per_ms } => {
                Curve::Poly { c0_us: c0_ms * 1e3, c1: *c1, c2_per_us: c2_per_ms * 1e-3 }
            }
            LatencyLaw::Grid { lengths_ms, rows } => {
                let us = |row: &Vec<f64>| row.iter().map(|ms| ms * 1e3).collect();
                Curve::Grid {
                    lengths_us: us(lengths_ms),
                    rows: rows.iter().map(|r| (r.0, us(&r.1))).collect(),
                }
            }
            LatencyLaw::Table(rows) => {
                Curve::Table(rows.iter().map(|r| (r.0, r.1 * 1e3)).collect())
            }
            // Samples are no curve, and a checked scenario has numbers in place of every profile.
            LatencyLaw::Samples(_) | LatencyLaw::Measured(_) | LatencyLaw::Profile { .. } => {
                Curve::Table(Vec::new())
            }
        }
    }

    /// Nanoseconds, before noise.
    pub fn ns(&self, units: u32, longest: Span) -> f64 {
        let (k, l) = (f64::from(units), longest.ns() as f64);
        match self {
            Curve::Affine { alpha_us, beta_us } => 1e3 * (alpha_us * k + beta_us),
            Curve::Eq3 { c0_us, c1 } => 1e3 * c0_us + c1 * k * l,
            Curve::Proportional { c1 } => (1.0 + c1 * (k - 1.0)) * l,
            Curve::Poly { c0_us, c1, c2_per_us } => {
                1e3 * c0_us + k * (c1 * l + c2_per_us * l * (l / 1e3))
            }
            Curve::Grid { lengths_us, rows } => {
                let l_us = l / 1e3;
                let column = lengths_us.iter().position(|x| *x >= l_us);
                let row = rows.iter().find(|(size, _)| *size >= units).or(rows.last());
                let (Some((size, us)), Some(longest_us)) = (row, lengths_us.last()) else {
                    return 0.0;
                };
                let us = column.map_or(us.last(), |at| us.get(at)).copied().unwrap_or(0.0);
                let beyond = [k / f64::from(*size), l_us / longest_us];
                beyond.iter().fold(1e3 * us, |ns, more| ns * more.max(1.0))
            }
            Curve::Table(rows) => {
                let larger = rows.iter().find(|(size, _)| *size >= units).map(|(_, us)| *us);
                let last = rows.last().copied().unwrap_or((1, 0.0));
                1e3 * larger.unwrap_or(last.1 * k / f64::from(last.0))
            }
        }
    }

    /// What is wrong with its numbers.
    pub(super) fn fault(&self) -> Option<String> {
        let wrong = |x: f64| !(x.is_finite() && (0.0..=1e9).contains(&x));
        let numbers: Vec<f64> = match self {
            Curve::Affine { alpha_us, beta_us } => vec![*alpha_us, *beta_us],
            Curve::Eq3 { c0_us, c1 } => vec![*c0_us, *c1],
            Curve::Proportional { c1 } => vec![*c1],
            Curve::Poly { c0_us, c1, c2_per_us } => vec![*c0_us, *c1, *c2_per_us],
            Curve::Grid { lengths_us, rows } => {
                rows.iter().flat_map(|r| &r.1).chain(lengths_us).copied().collect()
            }
            Curve::Table(rows) => rows.iter().map(|r| r.1).collect(),
        };
        if let Some(x) = numbers.iter().find(|x| wrong(**x)) {
            return Some(format!("{x}, which is not a number from 0 to 1e9"));
        }
        if let Curve::Grid { lengths_us, rows } = self {
            let grow = lengths_us.windows(2).all(|w| w[0] < w[1])
                && rows.windows(2).all(|w| w[0].0 < w[1].0)
                && rows.first().is_some_and(|r| r.0 > 0);
            let whole =
                !lengths_us.is_empty() && rows.iter().all(|r| r.1.len() == lengths_us.len());
            return (!grow || !whole)
                .then(|| "a grid whose sizes or lengths do not grow, or with holes".into());
        }
        let Curve::Table(rows) = self else { return None };
        let grow = rows.windows(2).all(|w| w[0].0 < w[1].0) && rows.iter().all(|r| r.0 > 0);
        (rows.is_empty() || !grow)
            .then(|| "rows whose sizes do not increase from at least 1".into())
    }
}

/// What makes one batch unlike another of the same size.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Deviation of the logarithm of a lognormal factor whose median is 1.
    pub sigma: f64,
    /// The share of batches that take much longer.
    pub outlier_share: f64,
    /// How many times as long these take.
    pub outlier_factor: f64,
    /// The device is slower than its curve by this share (faster where it is negative).
    pub bias: f64,
}

impl Noise {
    /// The factor of an action, by (seed, the action's first request, its model).
    pub fn factor(&self, seed: u64, job: &Job) -> f64 {
        let (model, first) = match job.work {
            Work::Batch { model, first, .. } => (model.0, first.0),
            Work::Load { model, .. } => (model.0, job.action.0 | 1 << 47),
        };
        let mut factor = 1.0 + self.bias;
        if self.sigma == 0.0 && self.outlier_share == 0.0 {
            return factor;
        }
        let mut stream =
            Stream::named(seed, "emulated device", first ^ u64::from(model).rotate_left(48));
        let (u, v, w) = (stream.uniform(), stream.uniform(), stream.uniform());
        let z = (-2.0 * libm::log(1.0 - u)).sqrt() * libm::cos(std::f64::consts::TAU * v);
        factor *= libm::exp(self.sigma * z);
        if w < self.outlier_share { factor * self.outlier_factor.max(1.0) } else { factor }
    }

    /// What is wrong with its numbers: key, found, allowed.
    pub(super) fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let checks = [
            ("sigma", self.sigma, 0.0, 1.0, "a number from 0 to 1"),
            ("outlier_share", self.outlier_share, 0.0, 1.0, "a share from 0 to 1"),
            ("outlier_factor", self.outlier_factor, 0.0, 1e3, "a number from 1 to 1000"),
            ("bias", self.bias, -0.9, 10.0, "a share from -0.9 to 10"),
        ];
        let wrong = checks.into_iter().find(|c| !(c.1 >= c.2 && c.1 <= c.3));
        wrong.map(|c| (c.0, c.1, c.4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};
    use orrery_sim::time::Time;

    fn job(units: u32, longest: Span, first: u64) -> Job {
        Job {
            action: ActionId(first),
            device: DeviceId(0),
            kind: 0,
            executor: 0,
            began: Time::ZERO,
            fetch: Span::ZERO,
            work: Work::Batch {
                model: ModelId(0),
                units,
                longest,
                total: longest,
                first: RequestId(first),
            },
        }
    }

    #[test]
    fn curves_by_hand() {
        let l = Span::from_ms(10);
        let us = |curve: Curve, k| curve.ns(k, l) / 1e3;
        assert_eq!(us(Curve::Affine { alpha_us: 1e3, beta_us: 5e3 }, 16), 21e3);
        assert_eq!(us(Curve::Eq3 { c0_us: 2e3, c1: 0.5 }, 4), 22e3);
        assert_eq!(us(Curve::Proportional { c1: 0.5 }, 3), 20e3);
        let table = Curve::Table(vec![(1, 4e3), (4, 10e3)]);
        assert_eq!([1, 3, 8].map(|k| us(table.clone(), k)), [4e3, 10e3, 20e3]);
    }

    #[test]
    fn noise_has_median_one_its_share_of_outliers_and_its_bias() {
        let noise = Noise { sigma: 0.1, outlier_share: 0.02, outlier_factor: 5.0, bias: 0.05 };
        let n = 20_000;
        let factors: Vec<f64> =
            (0..n).map(|i| noise.factor(7, &job(1, Span::from_ms(1), i)) / 1.05).collect();
        let below = factors.iter().filter(|f| **f < 1.0).count() as f64 / n as f64;
        assert!((below - 0.49).abs() < 4.0 * 0.5 / (n as f64).sqrt(), "{below}");
        let far = factors.iter().filter(|f| **f > 2.5).count() as f64 / n as f64;
        assert!((far - 0.02).abs() < 4.0 * (0.02 * 0.98 / n as f64).sqrt(), "{far}");
        assert_eq!(
            noise.factor(7, &job(3, Span::ZERO, 5)),
            noise.factor(7, &job(1, Span::ZERO, 5))
        );
        assert_ne!(
            noise.factor(7, &job(1, Span::ZERO, 5)),
            noise.factor(8, &job(1, Span::ZERO, 5))
        );
    }
}
