//! How many items a request carries, where that is drawn: the sizes of queries on a pool.
//!
//! It is not how long they take; on a pool that follows from the size.

use crate::changed::Changed;
use crate::error::{TraceError, parameter, within};
use crate::exec_time::standard;
use crate::samples::Histogram;
use orrery_sim::request::{Arrival, SIZE_MAX, Source};
use orrery_sim::rng::Stream;

/// The largest query of Kairos's generator.
pub const KAIROS_MAX: u32 = 999;

/// A law of sizes. Build it with its constructors, which check the parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SizeLaw {
    /// Always the same.
    Constant(u32),
    /// What Kairos's released code draws as "production trace" (`helper.py`, `random_samp`): of 99
    /// parts 8 are uniform on 1..=99, 22 on 200..=599, 5 on 600..=999; the other 64 are lognormal (5.1,
    /// 0.2) where that falls in 100 to 200, rounded up, and otherwise uniform on 190..=199.
    Kairos,
    /// Lognormal, rounded up, and at most `max`.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// The largest size.
        max: u32,
    },
    /// Normal, rounded to the nearest, from 1 to `max`.
    Normal {
        /// Mean before clamping.
        mean: f64,
        /// Standard deviation before clamping.
        sd: f64,
        /// The largest size.
        max: u32,
    },
    /// Measured sizes, each with the frequency that it has.
    Empirical(Histogram),
}

impl SizeLaw {
    /// Always `size`.
    ///
    /// # Errors
    /// When it is not from 1 to [`SIZE_MAX`].
    pub fn constant(size: u32) -> Result<SizeLaw, TraceError> {
        Ok(SizeLaw::Constant(largest(size)?))
    }

    /// A lognormal law.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn log_normal(mu: f64, sigma: f64, max: u32) -> Result<SizeLaw, TraceError> {
        within("mu", mu, 0.0, 10.0)?;
        within("sigma", sigma, 0.0, 5.0)?;
        Ok(SizeLaw::LogNormal { mu, sigma, max: largest(max)? })
    }

    /// A normal law.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn normal(mean: f64, sd: f64, max: u32) -> Result<SizeLaw, TraceError> {
        within("mean", mean, 1.0, f64::from(SIZE_MAX))?;
        within("sd", sd, 0.0, f64::from(SIZE_MAX))?;
        Ok(SizeLaw::Normal { mean, sd, max: largest(max)? })
    }

    /// Measured sizes.
    ///
    /// # Errors
    /// When one is not from 1 to [`SIZE_MAX`].
    pub fn empirical(sizes: Histogram) -> Result<SizeLaw, TraceError> {
        let (least, most) = (sizes.quantile(0.0), sizes.quantile(1.0));
        if least == 0 || most > u64::from(SIZE_MAX) {
            let found = format!("sizes from {least} to {most}");
            let allowed = format!("sizes from 1 to {SIZE_MAX}");
            return Err(parameter("sizes", found, allowed, "remove or split the others"));
        }
        Ok(SizeLaw::Empirical(sizes))
    }

    /// The largest size that it can give.
    pub fn largest(&self) -> u32 {
        match self {
            SizeLaw::Constant(size) => *size,
            SizeLaw::Kairos => KAIROS_MAX,
            SizeLaw::LogNormal { max, .. } | SizeLaw::Normal { max, .. } => *max,
            SizeLaw::Empirical(sizes) => sizes.quantile(1.0) as u32,
        }
    }

    /// A size.
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        let bounded = |x: f64, max: u32| x.clamp(1.0, f64::from(max)) as u32;
        match self {
            SizeLaw::Constant(size) => *size,
            SizeLaw::Kairos => kairos(stream),
            SizeLaw::LogNormal { mu, sigma, max } => {
                bounded(libm::exp(mu + sigma * standard(stream)).ceil(), *max)
            }
            SizeLaw::Normal { mean, sd, max } => {
                bounded((mean + sd * standard(stream)).round(), *max)
            }
            SizeLaw::Empirical(sizes) => sizes.draw(stream) as u32,
        }
    }
}

/// Checks a size of requests, or the largest of several.
pub(crate) fn largest(size: u32) -> Result<u32, TraceError> {
    within("size", f64::from(size), 1.0, f64::from(SIZE_MAX))?;
    Ok(size)
}

fn kairos(stream: &mut Stream) -> u32 {
    let mut uniform = |from: u64, to: u64| (from + stream.below(to - from + 1)) as u32;
    match uniform(1, 99) {
        1..=8 => uniform(1, 99),
        9..=30 => uniform(200, 599),
        31..=35 => uniform(600, 999),
        _ => {
            let size = libm::exp(5.1 + 0.2 * standard(stream));
            if (100.0..=200.0).contains(&size) {
                size.ceil() as u32
            } else {
                190 + stream.below(10) as u32
            }
        }
    }
}

/// A source whose requests carry sizes drawn from laws, in place of their own: by application, from
/// the streams `("query sizes", app)`, so that sizes move neither arrivals nor anything else.
///
/// `laws` is by number of the application; `None` leaves its sizes as they are.
pub fn with_sizes(
    inner: Box<dyn Source>,
    laws: Vec<Option<SizeLaw>>,
    seed: u64,
) -> Box<dyn Source> {
    let of = |(app, law): (usize, Option<SizeLaw>)| {
        law.map(|law| (law, Stream::named(seed, "query sizes", app as u64)))
    };
    let mut laws: Vec<Option<(SizeLaw, Stream)>> = laws.into_iter().enumerate().map(of).collect();
    Box::new(Changed::new(inner, move |arrival: &mut Arrival| {
        if let Some(Some((law, stream))) = laws.get_mut(arrival.app.index()) {
            arrival.size = law.draw(stream);
        }
    }))
}

#[cfg(test)]
mod tests;
