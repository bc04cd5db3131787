//! A job, and what jobs share: a GPU's memory and compute, or workers.

use crate::time::{Span, Time};
use std::fmt;

/// The number of a job: its place in the list that the run was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct JobId(pub u32);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}", self.0)
    }
}

/// Memory, in bytes.
pub type Bytes = u64;
/// A share of something, in parts per million.
pub type Ppm = u32;
/// One, in parts per million.
pub const WHOLE: Ppm = 1_000_000;
/// A megabyte, as files count memory.
pub const MB: Bytes = 1_000_000;

/// A job: `iterations` iterations of `iteration` each when it is alone on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// When it is submitted; with a `stage` above 0 it also waits for the stage before.
    pub submitted: Time,
    /// Its stage: it is submitted when every job of the stage before has ended (a rung of successive
    /// halving, a TrialGroup). Stages are numbered from 0 without gaps.
    pub stage: u32,
    /// How many iterations it runs; at least 1.
    pub iterations: u64,
    /// The time of an iteration, alone on a device; at least 1 ns.
    pub iteration: Span,
    /// Memory that it holds from admission to its end.
    pub persistent: Bytes,
    /// Memory that it holds while one of its iterations runs.
    pub ephemeral: Bytes,
    /// How much of a GPU an iteration keeps busy, 1 to [`WHOLE`].
    pub busy: Ppm,
}

impl Default for Job {
    fn default() -> Job {
        Job {
            submitted: Time::ZERO,
            stage: 0,
            iterations: 1,
            iteration: Span::from_secs(1),
            persistent: 0,
            ephemeral: 0,
            busy: WHOLE,
        }
    }
}

impl Job {
    /// All its work: the time that it takes alone on a device. Saturates.
    pub fn work(&self) -> Span {
        self.iteration * self.iterations
    }
}

/// How much longer a run takes than its work: `numerator / denominator`, a positive fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slowdown {
    /// Above the line; at least 1.
    pub numerator: u64,
    /// Below the line; at least 1.
    pub denominator: u64,
}

impl Slowdown {
    /// As long as the work.
    pub const NONE: Slowdown = Slowdown { numerator: 1, denominator: 1 };

    /// The time that this much work takes, rounded up to whole nanoseconds.
    pub fn time_of(self, work: Span) -> Span {
        let product = u128::from(work.ns()) * u128::from(self.numerator);
        let time = product.div_ceil(u128::from(self.denominator));
        Span::from_ns(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// The whole nanoseconds of work that are done in this time.
    pub fn work_in(self, time: Span) -> Span {
        let product = u128::from(time.ns()) * u128::from(self.denominator);
        let work = product / u128::from(self.numerator);
        Span::from_ns(u64::try_from(work).unwrap_or(u64::MAX))
    }
}

/// How wide a job runs: a part of a worker, or whole workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// One of so many equal parts of a worker; at least 2.
    Part(u32),
    /// So many whole workers; at least 1.
    Workers(u32),
}

impl Width {
    /// `1/parts`, which is a whole worker where `parts` is 1.
    pub fn part(parts: u32) -> Width {
        if parts <= 1 { Width::Workers(1) } else { Width::Part(parts) }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Width::Part(parts) => write!(f, "1/{parts}"),
            Width::Workers(count) => count.fmt(f),
        }
    }
}

/// How long a job takes at a width, in place of its time on one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// By the number of parts, from 1.
    parts: Vec<Slowdown>,
    /// By the number of workers, from 1.
    workers: Vec<Slowdown>,
    /// `alpha` of Eq. 3.2 in millionths; without it, work is conserved.
    alpha: Option<u64>,
    /// `beta` of Eq. 3.2 in millionths.
    beta: u64,
}

/// Parts of a worker that a curve knows at most.
pub const PARTS_MAX: u32 = 64;

impl Curve {
    /// Work is conserved: `c` jobs on one worker take `c` times as long, `k` workers take a `k`-th.
    pub fn conserving(workers: u32) -> Curve {
        let ratio = |numerator, denominator| Slowdown { numerator, denominator };
        Curve {
            parts: (1..=u64::from(PARTS_MAX)).map(|c| ratio(c, 1)).collect(),
            workers: (1..=u64::from(workers)).map(|k| ratio(1, k)).collect(),
            alpha: None,
            beta: WHOLE.into(),
        }
    }

    /// Fluid, Eq. 3.2: `alpha^(c-1)` for a part of `1/c`, `beta^(k-1) / k` for `k` workers, each
    /// rounded to a millionth. Both bases are at least 1.
    pub fn eq_3_2(alpha: f64, beta: f64, workers: u32) -> Curve {
        let millionths = |base: f64, power: u32| {
            // Repeated products of doubles: the same on every platform. Beyond 10^12 it stays there.
            let value = (0..power).fold(1.0, |product: f64, _| (product * base).min(1e12));
            (value * f64::from(WHOLE) + 0.5) as u64
        };
        let one = u64::from(WHOLE);
        let part = |c: u32| Slowdown { numerator: millionths(alpha, c - 1), denominator: one };
        let wide = |k: u32| Slowdown {
            numerator: millionths(beta, k - 1),
            denominator: one * u64::from(k),
        };
        Curve {
            parts: (1..=PARTS_MAX).map(part).collect(),
            workers: (1..=workers).map(wide).collect(),
            alpha: Some(millionths(alpha, 1)),
            beta: millionths(beta, 1),
        }
    }

    /// Fluid, Eq. 3.1: the most trials on a worker for which the last one's marginal benefit `1 - (p-1)/p *
    /// T(p)/T(p-1)` is above a threshold, given in parts per million. Under Eq. 3.2 `T(p)/T(p-1)` is
    /// `alpha`; where work is conserved it is `p/(p-1)`, so packing has no benefit.
    pub fn packed(&self, threshold: Ppm) -> u32 {
        let Some(alpha) = self.alpha else { return 1 };
        let pays = |p: &u32| {
            let (p, one) = (u64::from(*p), u64::from(WHOLE));
            p * one > (p - 1) * alpha + p * u64::from(threshold)
        };
        (2..=PARTS_MAX).take_while(pays).last().unwrap_or(1)
    }

    /// The widest trial, in workers, for which Eq. 3.2 allows this `beta`: below `1 + 1/d`, so that a
    /// further worker would still shorten a run; 1 if there is none.
    pub fn widest(&self) -> u32 {
        let allowed = |d: &u32| u64::from(*d) * self.beta < u64::from(*d + 1) * u64::from(WHOLE);
        (1..=self.workers.len() as u32).take_while(allowed).last().unwrap_or(1)
    }

    /// The slowdown at a width.
    ///
    /// # Panics
    /// When the curve has no such width.
    pub fn at(&self, width: Width) -> Slowdown {
        match width {
            Width::Part(parts) => self.parts[parts as usize - 1],
            Width::Workers(count) => self.workers[count as usize - 1],
        }
    }
}

/// What jobs share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// A GPU's memory, for lanes.
    pub memory: Bytes,
    /// Workers, for widths.
    pub workers: u32,
    /// What a width does to a job's time.
    pub curve: Curve,
}

impl Cluster {
    /// One GPU with this memory, in MB.
    pub fn gpu(memory_mb: u64) -> Cluster {
        Cluster { memory: memory_mb * MB, workers: 1, curve: Curve::conserving(1) }
    }

    /// Workers whose work is conserved at every width.
    pub fn workers(workers: u32) -> Cluster {
        Cluster { memory: 0, workers, curve: Curve::conserving(workers) }
    }
}
