//! Latency models: how long a batch really takes.
//!
//! This is the truth that devices obey, not what a policy believes (see `profile`). A batch of `k`
//! items pays for the longest of its requests, because inputs are padded to it (Orloj, Eq. 4).

mod replay;

pub use replay::{Replay, SampleTable};

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

    /// The law as `a + b · longest`, for laws of that form: (a in ns, b). `None` for a law that
    /// does not depend on the requests.
    pub fn linear_in_longest(&self, k: u32) -> Option<(f64, f64)> {
        match self {
            Latency::Eq3 { c0, c1 } => Some((c0.ns() as f64, c1 * f64::from(k))),
            Latency::Proportional { c1 } => Some((0.0, 1.0 - c1 + c1 * f64::from(k))),
            Latency::Affine { .. } | Latency::Table(_) | Latency::Samples(_) => None,
        }
    }
}

fn table(rows: &[(u32, Span)], k: u32) -> Span {
    if let Some(&(_, latency)) = rows.iter().find(|r| r.0 >= k) {
        return latency;
    }
    let &(size, latency) = rows.last().expect("a measured table has at least one row");
    latency.scale(f64::from(k) / f64::from(size))
}

/// Noise on a batch's latency: a factor that depends on (seed, the first request's id) alone, so
/// that every policy meets the same noise on the same request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Noise {
    /// None.
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
