//! [`ExecLaw`]: the laws that execution times alone on a device are drawn from.
//!
//! It is the truth, not a policy's estimate. Every time is at least [`FLOOR`]: a draw below it is
//! the floor (clamping, not redrawing), and means and quantiles are those of the clamped law.
//! Parameters are in milliseconds.

use crate::error::{TraceError, parameter, within};
use crate::rate::exponential;
use crate::samples::Histogram;
use orrery_sim::det::Det;
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_MS, Span};
use rand_distr::{Distribution, StandardNormal};

/// The shortest execution time.
pub const FLOOR: Span = Span::from_us(1);
/// The longest mean or deviation accepted, in milliseconds: a day.
const MS_MAX: f64 = 86_400e3;
const MS: f64 = NS_PER_MS as f64;
const FLOOR_NS: f64 = FLOOR.ns() as f64;
const SQRT_2PI: f64 = 2.506_628_274_631_000_7;

/// One mode of a mixture: a normal law and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Its share, relative to the other modes'.
    pub weight: f64,
    /// Its mean, in milliseconds.
    pub mean_ms: f64,
    /// Its standard deviation, in milliseconds.
    pub sd_ms: f64,
}

/// A law of execution times. Build it with its constructors, which check the parameters.
///
/// ```
/// use orrery_traces::exec_time::{ExecLaw, Mode};
///
/// // Orloj's multi-modal requests: short ones and long ones, as often.
/// let mode = |mean_ms| Mode { weight: 1.0, mean_ms, sd_ms: 1.0 };
/// let law = ExecLaw::mixture(vec![mode(10.0), mode(50.0)])?;
/// assert!((law.mean_ns() - 30e6).abs() < 1e3);
/// assert!(law.quantile_ns(0.99) > 50e6);
/// assert!(ExecLaw::constant(-1.0).unwrap_err().to_string().contains("-1"));
/// # Ok::<(), orrery_traces::TraceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExecLaw {
    /// Always the same.
    Constant(Span),
    /// Normal, clamped below at [`FLOOR`].
    Normal {
        /// Mean before clamping, in milliseconds.
        mean_ms: f64,
        /// Standard deviation before clamping, in milliseconds.
        sd_ms: f64,
    },
    /// Lognormal, by the mean and deviation of the time itself, not of its logarithm.
    LogNormal {
        /// Mean, in milliseconds.
        mean_ms: f64,
        /// Standard deviation, in milliseconds.
        sd_ms: f64,
    },
    /// Exponential, clamped below at [`FLOOR`].
    Exponential {
        /// Mean before clamping, in milliseconds.
        mean_ms: f64,
    },
    /// Several normal modes, each clamped below at [`FLOOR`]. Weights sum to 1.
    Mixture(Vec<Mode>),
    /// Measured samples, in nanoseconds.
    Empirical(Histogram),
    /// `base + per_token * tokens`, with the tokens drawn from a sample of lengths.
    Lengths {
        /// The lengths, in tokens.
        tokens: Histogram,
        /// For each request, in milliseconds.
        base_ms: f64,
        /// For each token, in milliseconds.
        per_token_ms: f64,
    },
}

impl ExecLaw {
    /// Always `ms` milliseconds.
    ///
    /// # Errors
    /// When `ms` is not from 0 to a day.
    pub fn constant(ms: f64) -> Result<ExecLaw, TraceError> {
        Ok(ExecLaw::Constant(Span::from_ms_f64(within("ms", ms, 0.0, MS_MAX)?).max(FLOOR)))
    }

    /// A normal law.
    ///
    /// # Errors
    /// When mean or deviation is not from 0 to a day.
    pub fn normal(mean_ms: f64, sd_ms: f64) -> Result<ExecLaw, TraceError> {
        within("mean_ms", mean_ms, 0.0, MS_MAX)?;
        within("sd_ms", sd_ms, 0.0, MS_MAX)?;
        Ok(ExecLaw::Normal { mean_ms, sd_ms })
    }

    /// A lognormal law with this mean and deviation.
    ///
    /// # Errors
    /// When the mean is not from 1 ns to a day, or the deviation not from 0 to a day.
    pub fn log_normal(mean_ms: f64, sd_ms: f64) -> Result<ExecLaw, TraceError> {
        within("mean_ms", mean_ms, 1e-6, MS_MAX)?;
        within("sd_ms", sd_ms, 0.0, MS_MAX)?;
        Ok(ExecLaw::LogNormal { mean_ms, sd_ms })
    }

    /// An exponential law.
    ///
    /// # Errors
    /// When the mean is not from 1 ns to a day.
    pub fn exponential(mean_ms: f64) -> Result<ExecLaw, TraceError> {
        Ok(ExecLaw::Exponential { mean_ms: within("mean_ms", mean_ms, 1e-6, MS_MAX)? })
    }

    /// A mixture of normal modes; the weights are divided by their sum.
    ///
    /// # Errors
    /// When there is no mode, a weight is not above 0, or a mode is no normal law.
    pub fn mixture(mut modes: Vec<Mode>) -> Result<ExecLaw, TraceError> {
        let sum: f64 = modes.iter().map(|m| m.weight).sum();
        for mode in &mut modes {
            within("weight", mode.weight, f64::MIN_POSITIVE, 1e12)?;
            ExecLaw::normal(mode.mean_ms, mode.sd_ms)?;
            mode.weight /= sum;
        }
        if modes.is_empty() {
            return Err(parameter("modes", "none", "at least one", "add a mode"));
        }
        Ok(ExecLaw::Mixture(modes))
    }

    /// Measured samples in nanoseconds: see [`Histogram::read_times`].
    pub fn empirical(samples: Histogram) -> ExecLaw {
        ExecLaw::Empirical(samples)
    }

    /// An affine law of token lengths: see [`Histogram::read`].
    ///
    /// # Errors
    /// When a coefficient is not from 0 to a day.
    pub fn lengths(
        tokens: Histogram,
        base_ms: f64,
        per_token_ms: f64,
    ) -> Result<ExecLaw, TraceError> {
        within("base_ms", base_ms, 0.0, MS_MAX)?;
        within("per_token_ms", per_token_ms, 0.0, MS_MAX)?;
        Ok(ExecLaw::Lengths { tokens, base_ms, per_token_ms })
    }

    /// Draws a time, at least [`FLOOR`].
    pub fn sample(&self, stream: &mut Stream) -> Span {
        self.sample_mode(stream).0
    }

    /// Draws a time and says which mode it came from: 0 unless the law is a mixture. Uses the same
    /// random numbers as [`ExecLaw::sample`].
    pub fn sample_mode(&self, stream: &mut Stream) -> (Span, usize) {
        let mut mode = 0;
        let ns = match self {
            ExecLaw::Constant(span) => return (*span, 0),
            ExecLaw::Normal { mean_ms, sd_ms } => (mean_ms + sd_ms * standard(stream)) * MS,
            ExecLaw::LogNormal { mean_ms, sd_ms } => {
                let (mu, sigma) = log_parameters(*mean_ms, *sd_ms);
                libm::exp(mu + sigma * standard(stream)) * MS
            }
            ExecLaw::Exponential { mean_ms } => mean_ms * exponential(stream) * MS,
            ExecLaw::Mixture(modes) => {
                mode = choose(modes, stream.uniform());
                (modes[mode].mean_ms + modes[mode].sd_ms * standard(stream)) * MS
            }
            ExecLaw::Empirical(samples) => samples.draw(stream) as f64,
            ExecLaw::Lengths { tokens, base_ms, per_token_ms } => {
                affine_ns(*base_ms, *per_token_ms, tokens.draw(stream))
            }
        };
        (Span::from_ns_f64(ns).max(FLOOR), mode)
    }

    /// The mean of the clamped law, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        match self {
            ExecLaw::Constant(span) => span.ns() as f64,
            ExecLaw::Normal { mean_ms, sd_ms } => clamped_mean_ns(*mean_ms, *sd_ms),
            ExecLaw::LogNormal { mean_ms, sd_ms } => clamped_log_mean_ns(*mean_ms, *sd_ms),
            ExecLaw::Exponential { mean_ms } => {
                FLOOR_NS + mean_ms * MS * libm::exp(-FLOOR_NS / (mean_ms * MS))
            }
            ExecLaw::Mixture(modes) => {
                modes.iter().map(|m| m.weight * clamped_mean_ns(m.mean_ms, m.sd_ms)).sum()
            }
            ExecLaw::Empirical(samples) => samples.mean_of(|ns| (ns as f64).max(FLOOR_NS)),
            ExecLaw::Lengths { tokens, base_ms, per_token_ms } => {
                tokens.mean_of(|n| affine_ns(*base_ms, *per_token_ms, n).max(FLOOR_NS))
            }
        }
    }

    /// The share of draws that are clamped to [`FLOOR`]; zero of a constant, which is what was asked for.
    pub fn clamped_share(&self) -> f64 {
        match self {
            ExecLaw::Constant(_) => 0.0,
            law => law.cdf_ns(FLOOR_NS),
        }
    }

    /// The probability that a time is at most `ns` nanoseconds.
    pub fn cdf_ns(&self, ns: f64) -> f64 {
        if ns < FLOOR_NS {
            return 0.0;
        }
        match self {
            ExecLaw::Constant(span) => f64::from(span.ns() as f64 <= ns),
            ExecLaw::Normal { mean_ms, sd_ms } => normal_cdf(ns, mean_ms * MS, sd_ms * MS),
            ExecLaw::LogNormal { mean_ms, sd_ms } => {
                let (mu, sigma) = log_parameters(*mean_ms, *sd_ms);
                normal_cdf(libm::log(ns / MS), mu, sigma)
            }
            ExecLaw::Exponential { mean_ms } => -libm::expm1(-ns / (mean_ms * MS)),
            ExecLaw::Mixture(modes) => {
                modes.iter().map(|m| m.weight * normal_cdf(ns, m.mean_ms * MS, m.sd_ms * MS)).sum()
            }
            ExecLaw::Empirical(samples) => samples.share_of(|x| x as f64 <= ns),
            ExecLaw::Lengths { tokens, base_ms, per_token_ms } => {
                tokens.share_of(|n| affine_ns(*base_ms, *per_token_ms, n) <= ns)
            }
        }
    }

    /// The smallest time, in nanoseconds, that a share `q` of the law does not exceed. `q` is taken
    /// into [0, 1 - 1e-12]. Continuous laws are solved by bisection on [`ExecLaw::cdf_ns`].
    pub fn quantile_ns(&self, q: f64) -> f64 {
        match self {
            ExecLaw::Constant(span) => span.ns() as f64,
            ExecLaw::Empirical(samples) => (samples.quantile(q) as f64).max(FLOOR_NS),
            ExecLaw::Lengths { tokens, base_ms, per_token_ms } => {
                affine_ns(*base_ms, *per_token_ms, tokens.quantile(q)).max(FLOOR_NS)
            }
            _ => self.quantile_by_bisection_ns(q.clamp(0.0, 1.0 - 1e-12)),
        }
    }

    /// The law in one line, such as `normal(mean_ms=50,sd_ms=10)`.
    pub fn name(&self) -> String {
        match self {
            ExecLaw::Constant(span) => format!("constant(ms={})", span.as_ms_f64()),
            ExecLaw::Normal { mean_ms, sd_ms } => {
                format!("normal(mean_ms={mean_ms},sd_ms={sd_ms})")
            }
            ExecLaw::LogNormal { mean_ms, sd_ms } => {
                format!("lognormal(mean_ms={mean_ms},sd_ms={sd_ms})")
            }
            ExecLaw::Exponential { mean_ms } => format!("exponential(mean_ms={mean_ms})"),
            ExecLaw::Mixture(modes) => {
                let mode = |m: &Mode| format!("{}*normal({},{})", m.weight, m.mean_ms, m.sd_ms);
                format!("mixture({})", modes.iter().map(mode).collect::<Vec<_>>().join(";"))
            }
            ExecLaw::Empirical(samples) => format!("empirical(samples={})", samples.count()),
            ExecLaw::Lengths { tokens, base_ms, per_token_ms } => {
                let n = tokens.count();
                format!("lengths(base_ms={base_ms},per_token_ms={per_token_ms},samples={n})")
            }
        }
    }

    /// The modes as laws of their own, each with its share: one (the law itself) unless a mixture.
    pub fn modes(&self) -> Vec<(f64, ExecLaw)> {
        match self {
            ExecLaw::Mixture(modes) => modes
                .iter()
                .map(|m| (m.weight, ExecLaw::Normal { mean_ms: m.mean_ms, sd_ms: m.sd_ms }))
                .collect(),
            other => vec![(1.0, other.clone())],
        }
    }

    fn quantile_by_bisection_ns(&self, q: f64) -> f64 {
        let (mut low, mut high) = (FLOOR_NS, 2.0 * FLOOR_NS);
        if self.cdf_ns(low) >= q {
            return low;
        }
        while self.cdf_ns(high) < q && high < 1e30 {
            (low, high) = (high, 2.0 * high);
        }
        // 200 halvings end long after neighbouring floats are reached.
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.cdf_ns(middle) < q {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// The mode that a uniform number on [0, 1) falls to.
fn choose(modes: &[Mode], u: f64) -> usize {
    let mut up_to = 0.0;
    for (i, mode) in modes.iter().enumerate() {
        up_to += mode.weight;
        if u < up_to {
            return i;
        }
    }
    modes.len() - 1
}

/// A draw from the standard normal distribution.
pub(crate) fn standard(stream: &mut Stream) -> f64 {
    let z: Det = StandardNormal.sample(stream);
    z.0
}

fn affine_ns(base_ms: f64, per_token_ms: f64, tokens: u64) -> f64 {
    (base_ms + per_token_ms * tokens as f64) * MS
}

/// The mean and deviation of the logarithm of a lognormal time in milliseconds.
fn log_parameters(mean_ms: f64, sd_ms: f64) -> (f64, f64) {
    let ratio = sd_ms / mean_ms;
    let variance = libm::log1p(ratio * ratio);
    (libm::log(mean_ms) - 0.5 * variance, variance.sqrt())
}

/// Φ((x - mean) / sd); a step where `sd` is 0.
pub(crate) fn normal_cdf(x: f64, mean: f64, sd: f64) -> f64 {
    if sd == 0.0 {
        return f64::from(x >= mean);
    }
    0.5 * libm::erfc((mean - x) / sd * std::f64::consts::FRAC_1_SQRT_2)
}

/// E[max(N, floor)] for a normal N.
fn clamped_mean_ns(mean_ms: f64, sd_ms: f64) -> f64 {
    let (mean, sd) = (mean_ms * MS, sd_ms * MS);
    if sd == 0.0 {
        return mean.max(FLOOR_NS);
    }
    let z = (FLOOR_NS - mean) / sd;
    let below = normal_cdf(z, 0.0, 1.0);
    FLOOR_NS * below + mean * (1.0 - below) + sd * libm::exp(-0.5 * z * z) / SQRT_2PI
}

/// E[max(L, floor)] for a lognormal L.
fn clamped_log_mean_ns(mean_ms: f64, sd_ms: f64) -> f64 {
    let (mu, sigma) = log_parameters(mean_ms, sd_ms);
    if sigma == 0.0 {
        return (mean_ms * MS).max(FLOOR_NS);
    }
    let log_floor = libm::log(FLOOR_NS / MS);
    let below = normal_cdf(log_floor, mu, sigma);
    FLOOR_NS * below + mean_ms * MS * normal_cdf(mu + sigma * sigma, log_floor, sigma)
}

#[cfg(test)]
mod tests;
