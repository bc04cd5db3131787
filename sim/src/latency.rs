//! Latency models: how long a batch really takes.
//!
//! This is the truth that devices obey, not what a policy believes (see `profile`). A batch of `k`
//! items pays for the longest of its requests, because inputs are padded to it (Orloj, Eq. 4).

mod replay;

pub use replay::{Replay, SampleTable};

use crate::distribution::Histogram;
use crate::request::RequestId;
use crate::rng::{fnv1a, keyed_uniform};
use crate::time::Span;

/// The latency of a batch as a function of its size and of its longest request.
///
/// ```
/// use orrery_sim::latency::Latency;
/// use orrery_sim::time::Span;
///
/// let ms = Span::from_ms;
/// let resnet50 = Latency::Affine { alpha: ms(1), beta: ms(5) };
/// assert_eq!(resnet50.batch(8, ms(6)), ms(13));
/// // A batch of one takes what its request takes alone; each further item adds a tenth of that.
/// let bert = Latency::Proportional { c1: 0.1 };
/// assert_eq!(bert.batch(1, ms(20)), ms(20));
/// assert_eq!(bert.batch(11, ms(20)), ms(40));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// `alpha · k + beta`, whatever the requests are (Symphony, §2).
    Affine {
        /// Cost of one more item.
        alpha: Span,
        /// Cost of a batch.
        beta: Span,
    },
    /// Orloj, Eq. 3 with Eq. 4: `c0 + c1 · k · max l`.
    Eq3 {
        /// Constant cost of a batch.
        c0: Span,
        /// Cost of one item, as a share of the longest request's execution time.
        c1: f64,
    },
    /// Eq. 3 with c0 proportional to l, so that a batch of one takes exactly l:
    /// `(1 - c1 + c1 · k) · max l`.
    Proportional {
        /// Marginal cost of one more item, as a share of the longest request's execution time.
        c1: f64,
    },
    /// `c0 + k · (c1 · l + c2 · l²)` with l the longest: attention compares every token with every other.
    Poly {
        /// Constant cost of a batch.
        c0: Span,
        /// Cost of one item, as a share of the longest request's execution time.
        c1: f64,
        /// Cost of one item for each second of the longest request's time, as a share of that time.
        c2_per_s: f64,
    },
    /// Measured: latency by batch size and by the longest request's time.
    Grid(Grid),
    /// Measured: latency by batch size; a size that was not measured costs what the next larger one
    /// does (a padded kernel), and beyond the last it grows in proportion.
    Table(Vec<(u32, Span)>),
    /// Measured samples, one of which is replayed for each batch.
    Samples(Replay),
}

impl Latency {
    /// The latency of a batch of `k` items whose longest request takes `longest` alone.
    #[inline]
    pub fn batch(&self, k: u32, longest: Span) -> Span {
        let k64 = u64::from(k);
        match self {
            Latency::Affine { alpha, beta } => *beta + *alpha * k64,
            Latency::Eq3 { c0, c1 } => *c0 + longest.scale(c1 * f64::from(k)),
            Latency::Proportional { c1 } => longest.scale(1.0 - c1 + c1 * f64::from(k)),
            Latency::Poly { c0, c1, c2_per_s } => {
                *c0 + longest.scale(f64::from(k) * (c1 + c2_per_s * longest.as_secs_f64()))
            }
            Latency::Grid(grid) => grid.batch(k, longest),
            Latency::Table(rows) => table(rows, k),
            Latency::Samples(replay) => replay.mean(k),
        }
    }

    /// The latency of this very batch, known by its first request: of samples the one that is
    /// replayed, of any other law what [`Latency::batch`] says. `batch` of samples is their mean.
    #[inline]
    pub fn of_batch(&self, k: u32, longest: Span, first: RequestId) -> Span {
        match self {
            Latency::Samples(replay) => replay.sample(k, first),
            law => law.batch(k, longest),
        }
    }

    /// The law as `a + b · longest`, for laws of that form: (a in ns, b). `None` for any other.
    pub fn linear_in_longest(&self, k: u32) -> Option<(f64, f64)> {
        match self {
            Latency::Eq3 { c0, c1 } => Some((c0.ns() as f64, c1 * f64::from(k))),
            Latency::Proportional { c1 } => Some((0.0, 1.0 - c1 + c1 * f64::from(k))),
            _ => None,
        }
    }

    /// Whether the requests of a batch change what it takes, and not only their number.
    pub fn depends_on_longest(&self) -> bool {
        match self {
            Latency::Eq3 { .. } | Latency::Proportional { .. } => true,
            Latency::Poly { .. } | Latency::Grid(_) => true,
            Latency::Affine { .. } | Latency::Table(_) | Latency::Samples(_) => false,
        }
    }

    /// The distribution of the latency of batches of `k` items whose longest request follows `longest`
    /// (Orloj, Eq. 9).
    pub fn distribution(&self, k: u32, longest: &Histogram) -> Histogram {
        if let Some((a, b)) = self.linear_in_longest(k) {
            return longest.affine(a, b);
        }
        let at = |ns: f64| self.batch(k, Span::from_ns_f64(ns)).ns() as f64;
        match self {
            Latency::Poly { .. } => longest.growing(at),
            Latency::Grid(grid) => {
                let steps = grid.lengths.iter().map(|l| l.ns() as f64);
                longest.steps(steps, |ns| at(ns) as u64)
            }
            _ => Histogram::constant(self.batch(k, Span::ZERO)),
        }
    }
}

/// Latencies by batch size and by the time alone of the longest request.
///
/// An engine pads: a size or a length between two rows costs what the larger one does. Beyond the last
/// it grows in proportion.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The longest request's times, growing; at least one.
    pub lengths: Vec<Span>,
    /// By batch size, growing, at least one: a latency for each length.
    pub rows: Vec<(u32, Vec<Span>)>,
}

impl Grid {
    fn batch(&self, k: u32, longest: Span) -> Span {
        let column = self.lengths.partition_point(|l| *l < longest);
        let last = self.lengths.len() - 1;
        let row = self.rows.partition_point(|r| r.0 < k).min(self.rows.len() - 1);
        let (size, latencies) = &self.rows[row];
        let latency = latencies[column.min(last)];
        let more_items = f64::from(k) / f64::from(*size);
        let longer = longest.ns() as f64 / self.lengths[last].ns().max(1) as f64;
        let factor = more_items.max(1.0) * longer.max(1.0);
        if factor > 1.0 { latency.scale(factor) } else { latency }
    }
}

fn table(rows: &[(u32, Span)], k: u32) -> Span {
    if let Some(&(_, latency)) = rows.get(rows.partition_point(|r| r.0 < k)) {
        return latency;
    }
    let &(size, latency) = rows.last().expect("a measured table has at least one row");
    latency.scale(f64::from(k) / f64::from(size))
}

/// Noise on a batch's latency: a factor that depends on (seed, the first request's id) alone, so
/// that every policy meets the same noise on the same request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Noise {
    /// Latencies are exact.
    #[default]
    None,
    /// A factor uniform on `1 ± spread`.
    Uniform {
        /// Half the width, below 1.
        spread: f64,
        /// The run's seed.
        seed: u64,
    },
    /// A factor `exp(sigma · Z)` with Z standard normal: median 1.
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// The run's seed.
        seed: u64,
    },
}

impl Noise {
    /// The latency with the noise keyed by `key`.
    #[inline]
    pub fn apply(&self, latency: Span, key: u64) -> Span {
        const PURPOSE: u64 = fnv1a("noise");
        const PURPOSE_2: u64 = fnv1a("noise, second");
        match *self {
            Noise::None => latency,
            Noise::Uniform { spread, seed } => {
                let u = keyed_uniform(seed, PURPOSE, key);
                latency.scale(1.0 + spread * (2.0 * u - 1.0))
            }
            Noise::Lognormal { sigma, seed } => {
                let (u, v) =
                    (keyed_uniform(seed, PURPOSE, key), keyed_uniform(seed, PURPOSE_2, key));
                let z = (-2.0 * libm::log(u)).sqrt() * libm::cos(std::f64::consts::TAU * v);
                latency.scale(libm::exp(sigma * z))
            }
        }
    }
}

/// Noise on the batches of one model as it was measured, or on loads: a lognormal factor, and for
/// some a large one. For batches both depend on (seed, the first request's id) alone, for loads on
/// (seed, the action's id).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchNoise {
    /// Standard deviation of the logarithm of a factor whose median is 1.
    pub sigma: f64,
    /// The share of batches that take one of `outlier_factors` in its place.
    pub outlier_share: f64,
    /// All equally likely; none where there are no outliers.
    pub outlier_factors: Vec<f64>,
    /// The seed of the draws.
    pub seed: u64,
}

impl BatchNoise {
    /// The latency with the noise keyed by `key`.
    pub fn apply(&self, latency: Span, key: u64) -> Span {
        const PURPOSES: [u64; 3] = [
            fnv1a("profile noise"),
            fnv1a("profile noise, second"),
            fnv1a("profile noise, outlier"),
        ];
        self.drawn(latency, key, PURPOSES)
    }

    /// The time of a load with the noise keyed by `key`, from streams of its own.
    pub fn apply_to_load(&self, time: Span, key: u64) -> Span {
        const PURPOSES: [u64; 3] =
            [fnv1a("load noise"), fnv1a("load noise, second"), fnv1a("load noise, outlier")];
        self.drawn(time, key, PURPOSES)
    }

    fn drawn(&self, latency: Span, key: u64, purposes: [u64; 3]) -> Span {
        if self.sigma == 0.0 && self.outlier_share == 0.0 {
            return latency;
        }
        let [u, v, w] = purposes.map(|purpose| keyed_uniform(self.seed, purpose, key));
        if w < self.outlier_share && !self.outlier_factors.is_empty() {
            // What is left of the draw says which.
            let n = self.outlier_factors.len();
            let which = (w / self.outlier_share * n as f64) as usize;
            return latency.scale(self.outlier_factors[which.min(n - 1)]);
        }
        if self.sigma == 0.0 {
            return latency;
        }
        let z = (-2.0 * libm::log(u)).sqrt() * libm::cos(std::f64::consts::TAU * v);
        latency.scale(libm::exp(self.sigma * z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_by_hand() {
        let ms = Span::from_ms;
        let affine = Latency::Affine { alpha: ms(1), beta: ms(5) };
        assert_eq!(affine.batch(16, ms(99)), ms(21));
        let eq3 = Latency::Eq3 { c0: ms(2), c1: 0.5 };
        assert_eq!(eq3.batch(4, ms(10)), ms(22));
        let proportional = Latency::Proportional { c1: 0.1 };
        assert_eq!(proportional.batch(1, ms(10)), ms(10));
        assert_eq!(proportional.batch(11, ms(10)), ms(20));
        let table = Latency::Table(vec![(1, ms(4)), (2, ms(6)), (4, ms(10))]);
        assert_eq!(table.batch(2, ms(0)), ms(6));
        assert_eq!(table.batch(3, ms(0)), ms(10));
        assert_eq!(table.batch(8, ms(0)), ms(20));
        // 2 ms, and for each item half the longest and a hundredth of it for each millisecond.
        let poly = Latency::Poly { c0: ms(2), c1: 0.5, c2_per_s: 10.0 };
        assert_eq!(poly.batch(4, ms(10)), ms(2 + 4 * (5 + 1)));
        let grid = Latency::Grid(grid());
        assert_eq!([1, 10].map(|l| grid.batch(1, ms(l))), [ms(3); 2], "padded to 10");
        assert_eq!(grid.batch(2, ms(11)), ms(9), "to 20, and to a batch of 3");
        assert_eq!(grid.batch(6, ms(5)), ms(8), "twice a batch of 3");
        assert_eq!(grid.batch(3, ms(40)), ms(18), "twice the last length");
    }

    fn grid() -> Grid {
        let ms = Span::from_ms;
        let rows = vec![(1, vec![ms(3), ms(5)]), (3, vec![ms(4), ms(9)])];
        Grid { lengths: vec![ms(10), ms(20)], rows }
    }

    /// Against many draws.
    #[test]
    fn the_distribution_of_a_batch_is_that_of_its_draws() {
        let (low, high) = (2e6, 30e6);
        let edges = (0..=400).map(|i| low + f64::from(i) / 400.0 * (high - low)).collect();
        let longest = Histogram::from_masses(edges, (0..400).map(|_| 1.0));
        let laws = [
            Latency::Poly { c0: Span::from_ms(2), c1: 0.5, c2_per_s: 10.0 },
            Latency::Grid(grid()),
            Latency::Eq3 { c0: Span::from_ms(2), c1: 0.3 },
            Latency::Table(vec![(4, Span::from_ms(4))]),
        ];
        let n = 10_000;
        let draw = |i: u32| low + (f64::from(i) + 0.5) / f64::from(n) * (high - low);
        for law in laws {
            let says = law.distribution(3, &longest);
            let batch = |i| law.batch(3, Span::from_ns_f64(draw(i))).ns() as f64;
            let mean = (0..n).map(batch).sum::<f64>() / f64::from(n);
            assert!(
                (says.mean_ns() / mean - 1.0).abs() < 0.005,
                "{law:?}: {} {mean}",
                says.mean_ns()
            );
            for q in [0.2, 0.5, 0.9] {
                let exact = batch((q * f64::from(n)) as u32);
                let said = says.quantile_ns(q);
                assert!((said / exact - 1.0).abs() < 0.01, "{law:?}, {q}: {said} {exact}");
            }
        }
    }

    #[test]
    fn the_linear_form_is_the_law() {
        let longest = Span::from_ms(7);
        let laws =
            [Latency::Eq3 { c0: Span::from_ms(2), c1: 0.3 }, Latency::Proportional { c1: 0.1 }];
        for law in laws {
            for k in [1, 2, 16] {
                let (a, b) = law.linear_in_longest(k).unwrap();
                let linear = Span::from_ns_f64(a + b * longest.ns() as f64);
                assert!(linear.ns().abs_diff(law.batch(k, longest).ns()) <= 1);
            }
        }
    }

    #[test]
    fn measured_noise_has_its_spread_and_its_outliers() {
        let noise = BatchNoise {
            sigma: 0.05,
            outlier_share: 0.02,
            outlier_factors: vec![2.0, 6.0],
            seed: 3,
        };
        let l = Span::from_ms(10);
        let n = 100_000;
        let factors: Vec<f64> = (0..n).map(|k| noise.apply(l, k).as_ms_f64() / 10.0).collect();
        let (usual, outliers): (Vec<f64>, Vec<f64>) = factors.iter().partition(|f| **f < 1.5);
        assert!((outliers.len() as f64 / n as f64 / 0.02 - 1.0).abs() < 0.1);
        let large = outliers.iter().filter(|f| **f > 5.0).count() as f64;
        assert!((large / outliers.len() as f64 - 0.5).abs() < 0.05);
        let square = usual.iter().map(|f| libm::log(*f) * libm::log(*f)).sum::<f64>();
        let sigma = (square / usual.len() as f64).sqrt();
        assert!((sigma / 0.05 - 1.0).abs() < 0.02, "{sigma}");
        assert_eq!(BatchNoise::default().apply(l, 7), l);
    }

    #[test]
    fn noise_depends_on_the_request_and_not_on_the_order() {
        let noise = Noise::Uniform { spread: 0.2, seed: 1 };
        let l = Span::from_ms(10);
        assert_eq!(noise.apply(l, 7), noise.apply(l, 7));
        assert_ne!(noise.apply(l, 7), noise.apply(l, 8));
        let mean = (0..10_000).map(|k| noise.apply(l, k).as_ms_f64()).sum::<f64>() / 1e4;
        assert!((mean - 10.0).abs() < 4.0 * 2.0 / 3.0f64.sqrt() / 100.0);
        let lognormal = Noise::Lognormal { sigma: 0.3, seed: 1 };
        let below = (0..10_000).filter(|&k| lognormal.apply(l, k) < l).count();
        assert!((4_800..5_200).contains(&below), "the median is 1");
    }
}
