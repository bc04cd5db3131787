//! Jobs by a rule: random lengths of measured workloads (Salus, Table 2.1), and successive halving (Fluid,
//! Table 3.2).

use crate::defaults::one;
use crate::range::within;
use orrery_run::SpecError;
use orrery_sim::jobs::job::{Job, MB, WHOLE};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most jobs of a rule.
const COUNT_MAX: u32 = 1_000_000;
/// The dissertation's measured workloads.
const WORKLOADS: &str = include_str!("../../data/salus_workloads.csv");
/// Two printed pairs of peak and persistent memory, in MB: googlenet_25 and resnet152_75 (§2.2.1; the
/// peaks are measured). Between and beyond them, persistent memory is assumed to be linear in the peak.
const PERSISTENT: [(f64, f64); 2] = [(756.1, 110.9), (12_725.7, 822.2)];

/// `[jobs.generate]`: jobs of lognormal lengths, submitted whole seconds apart, each of one of the 33
/// measured workloads with equal chances.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// Number of jobs.
    pub count: u32,
    /// The work of all jobs together, in minutes on one GPU.
    pub work_min: f64,
    /// Standard deviation of the logarithm of a job's length.
    pub sigma: f64,
    /// How much earlier long jobs come: keys are log(uniform) / length^this, the largest first; 0 is a
    /// random order.
    #[serde(default)]
    pub order_exponent: f64,
    /// Mean seconds between submissions, which is also their variance.
    pub gap_mean_s: f64,
    /// The part of a GPU that an iteration keeps busy.
    #[serde(default = "one::<f64>")]
    pub busy: f64,
    /// Factor of all persistent memory.
    #[serde(default = "one::<f64>")]
    pub persistent_scale: f64,
}

/// `[jobs.halving]`: rungs of equal trials; from rung to rung, one in `factor` goes on.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Halving {
    /// Trials of the first rung.
    pub trials: u32,
    /// Of so many trials, one goes on.
    #[serde(default = "two")]
    pub factor: u32,
    /// Number of rungs.
    #[serde(default = "one::<u32>")]
    pub rungs: u32,
    /// Time of a trial in a rung, on one worker.
    pub rung_s: f64,
    /// Iterations of a trial in a rung.
    #[serde(default = "steps")]
    pub iterations: u64,
}

fn two() -> u32 {
    2
}
fn steps() -> u64 {
    100
}

/// A measured workload: time of an iteration and peak memory.
struct Workload {
    iteration_ms: f64,
    peak_mb: f64,
}

fn workloads() -> Vec<Workload> {
    let mut lines = WORKLOADS.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    // A shipped file: only a bug can damage it, and its test reads it.
    let at =
        |name: &str| head.iter().position(|h| *h == name).expect("a column of the shipped file");
    let (iteration, peak) = (at("iteration_ms"), at("peak_mb"));
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse().expect("a number of the shipped file");
        Workload { iteration_ms: number(iteration), peak_mb: number(peak) }
    };
    lines.map(line).collect()
}

fn persistent_mb(peak_mb: f64) -> f64 {
    let [(x0, y0), (x1, y1)] = PERSISTENT;
    y0 + (peak_mb - x0) * (y1 - y0) / (x1 - x0)
}

/// Box and Muller's way: two draws for each number, whatever they are.
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - stream.uniform())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * stream.uniform())
}

impl Generate {
    fn check(&self) -> Result<(), SpecError> {
        if !(1..=COUNT_MAX).contains(&self.count) {
            let allowed = format!("a whole number from 1 to {COUNT_MAX}");
            return Err(SpecError::value("generate.count", self.count, allowed, "correct it"));
        }
        within("generate.work_min", self.work_min, 1e-3, 1e8, " min")?;
        within("generate.sigma", self.sigma, 0.0, 5.0, "")?;
        within("generate.order_exponent", self.order_exponent, 0.0, 10.0, "")?;
        within("generate.gap_mean_s", self.gap_mean_s, 1.0, 1e5, " s")?;
        within("generate.busy", self.busy, 1e-6, 1.0, "")?;
        within("generate.persistent_scale", self.persistent_scale, 0.0, 100.0, "")
    }

    /// The jobs of a seed.
    ///
    /// # Errors
    /// When a value is wrong.
    pub fn jobs(&self, seed: u64) -> Result<Vec<Job>, SpecError> {
        self.check()?;
        let (workloads, lengths) = (workloads(), self.lengths_s(seed));
        let mut gaps = Stream::named(seed, "job gaps", 0);
        let mut which = Stream::named(seed, "job workloads", 0);
        let mut at = Time::ZERO;
        let job = |length_s: f64| {
            let Workload { iteration_ms, peak_mb } =
                workloads[which.below(workloads.len() as u64) as usize];
            let persistent = persistent_mb(peak_mb).max(0.0);
            let bytes = |mb: f64| (mb * MB as f64 + 0.5) as u64;
            let made = Job {
                submitted: at,
                stage: 0,
                iterations: ((length_s * 1e3 / iteration_ms + 0.5) as u64).max(1),
                iteration: Span::from_ms_f64(iteration_ms),
                persistent: bytes(persistent * self.persistent_scale),
                ephemeral: bytes(peak_mb - persistent),
                busy: ((self.busy * f64::from(WHOLE) + 0.5) as u32).max(1),
            };
            let gap = self.gap_mean_s + normal(&mut gaps) * self.gap_mean_s.sqrt();
            at += Span::from_secs_f64(libm::round(gap).max(1.0));
            made
        };
        Ok(lengths.into_iter().map(job).collect())
    }

    /// Lengths in the order of submission: all work together is `work_min`.
    fn lengths_s(&self, seed: u64) -> Vec<f64> {
        let mut draw = Stream::named(seed, "job lengths", 0);
        let mut order = Stream::named(seed, "job order", 0);
        let length = |_| libm::exp(self.sigma * normal(&mut draw));
        let lengths: Vec<f64> = (0..self.count).map(length).collect();
        let key = |x: f64, order: &mut Stream| {
            libm::log(1.0 - order.uniform()) / libm::pow(x, self.order_exponent)
        };
        let mut keyed: Vec<(f64, f64)> =
            lengths.iter().map(|x| (key(*x, &mut order), *x)).collect();
        keyed.sort_by(|a, b| b.0.total_cmp(&a.0));
        let scale = self.work_min * 60.0 / lengths.iter().sum::<f64>();
        keyed.into_iter().map(|(_, x)| x * scale).collect()
    }
}

impl Halving {
    /// The trials, rung by rung.
    ///
    /// # Errors
    /// When a value is wrong.
    pub fn jobs(&self) -> Result<Vec<Job>, SpecError> {
        let count = |key: &str, found: u64, least: u64, most: u64| {
            if (least..=most).contains(&found) {
                return Ok(());
            }
            let allowed = format!("a whole number from {least} to {most}");
            Err(SpecError::value(format!("halving.{key}"), found, allowed, "correct it"))
        };
        count("trials", self.trials.into(), 1, COUNT_MAX.into())?;
        count("factor", self.factor.into(), 2, COUNT_MAX.into())?;
        count("rungs", self.rungs.into(), 1, 64)?;
        count("iterations", self.iterations, 1, 1_000_000_000)?;
        within("halving.rung_s", self.rung_s, 1e-3, 1e8, " s")?;
        let iteration = Span::from_secs_f64(self.rung_s / self.iterations as f64);
        if iteration == Span::ZERO {
            let allowed = "iterations of at least a nanosecond";
            return Err(SpecError::value(
                "halving.iterations",
                self.iterations,
                allowed,
                "use fewer",
            ));
        }
        let mut jobs = Vec::new();
        let mut trials = self.trials;
        for stage in 0..self.rungs {
            let trial = Job { stage, iterations: self.iterations, iteration, ..Job::default() };
            jobs.extend(std::iter::repeat_n(trial, trials as usize));
            trials = (trials / self.factor).max(1);
        }
        Ok(jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_shipped_workloads_are_the_33_of_the_attribution() {
        let all = workloads();
        assert_eq!(all.len(), 33);
        assert!(all.iter().all(|w| w.iteration_ms > 20.0 && w.peak_mb < 13_000.0));
        let hash: String =
            Sha256::digest(WORKLOADS).iter().map(|byte| format!("{byte:02x}")).collect();
        let attribution = include_str!("../../data/ATTRIBUTION.md");
        assert!(attribution.contains(&hash), "{hash}");
    }

    #[test]
    fn lengths_sum_up_to_the_work_and_long_jobs_come_early() {
        let rule = |order_exponent| Generate {
            count: 400,
            work_min: 300.0,
            sigma: 1.2,
            order_exponent,
            gap_mean_s: 30.0,
            busy: 1.0,
            persistent_scale: 1.0,
        };
        let lengths = rule(0.44).lengths_s(1);
        assert!((lengths.iter().sum::<f64>() - 18_000.0).abs() < 1e-6);
        let early = |exponent: f64| rule(exponent).lengths_s(1)[..200].iter().sum::<f64>();
        assert!(early(2.0) > 1.2 * early(0.0), "{} {}", early(2.0), early(0.0));
        let jobs = rule(0.44).jobs(1).unwrap();
        let last = jobs.last().unwrap().submitted.as_secs_f64();
        assert!((last / 399.0 - 30.0).abs() < 4.0 * (30.0f64 / 399.0).sqrt(), "{last}");
        assert!(jobs.iter().all(|j| j.submitted.ns() % 1_000_000_000 == 0));
        assert_eq!(jobs, rule(0.44).jobs(1).unwrap());
    }

    #[test]
    fn rungs_shrink_by_the_factor() {
        let halving = Halving { trials: 27, factor: 2, rungs: 5, rung_s: 1.0, iterations: 10 };
        let jobs = halving.jobs().unwrap();
        let of = |stage: u32| jobs.iter().filter(|j| j.stage == stage).count();
        assert_eq!([0, 1, 2, 3, 4].map(of), [27, 13, 6, 3, 1]);
        assert!(jobs.iter().all(|j| j.work() == Span::from_secs(1)));
    }
}
