//! Whether an error is evidence: what runs differ by that differ in their seed alone, and which assumption is left
//! when that is taken into account.
//!
//! ```text
//!  the scenario as it is ──┬─ its seed ───────> ours
//!                          └─ 12 other seeds ─> as if each had been measured: errors without a cause
//!  error of ours against theirs: within those? ──> nothing is recommended
//!                                beyond?       ──> the assumption that leaves least, if no other leaves as little
//! ```

use crate::case::Case;
use crate::errors::{self, Part};
use crate::fit::Tried;
use crate::value::{MIDDLE, TAIL, Values, What};
use orrery_scenario::SpecError;
use rayon::prelude::*;

/// Runs with other seeds.
const RUNS: u64 = 12;
/// The first of their seeds, after that of the calibration.
const FIRST: u64 = 10_001;
/// What the digits of a file and a repeated measurement leave.
const RESOLUTION: f64 = 0.005;
/// Errors as near as this are not told apart by any measurement.
const SAME: f64 = 0.001;
/// An error of the middle that is as small as a repeated measurement's: the tail is looked at then.
const GOOD: f64 = 0.02;
/// An assumption explains something where it leaves less than this share of the error.
const EXPLAINS: f64 = 0.9;

/// The mean error of ours against runs that differ in their seed alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The mean over the runs.
    pub mean: f64,
    /// Their standard deviation.
    pub spread: f64,
    /// An error up to this one is within the noise.
    pub limit: f64,
}

/// What the errors are evidence for.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// For nothing: they are within the noise.
    Nothing,
    /// For something that no assumption explains.
    Unexplained,
    /// For one of these assumptions, which the rows do not tell apart.
    Several(Vec<usize>),
    /// For this one.
    One(usize),
}

/// The noise, and what is beyond it.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// In rate, mean, median, batch and drops.
    pub middle: Noise,
    /// In p90 and p99.
    pub tail: Noise,
    /// What is found.
    pub found: Found,
}

impl Evidence {
    /// The noise of the scenario as it is; nothing is found yet.
    ///
    /// # Errors
    /// When a run has no answer.
    pub fn of(cases: &[Case], ours: &[Values], seed: u64) -> Result<Evidence, SpecError> {
        let run = |i: u64| {
            let seed = seed.wrapping_add(FIRST + i);
            cases.iter().map(|case| case.repeated(seed)).collect::<Result<Vec<_>, _>>()
        };
        let runs: Vec<Vec<Values>> =
            (0..RUNS).into_par_iter().map(run).collect::<Result<_, _>>()?;
        let noise = |of| noise(cases, ours, &runs, of);
        Ok(Evidence { middle: noise(MIDDLE), tail: noise(TAIL), found: Found::Nothing })
    }

    fn noise(&self, of: &[What]) -> &Noise {
        if of == MIDDLE { &self.middle } else { &self.tail }
    }

    /// What the scenario is to be judged by: what is beyond the noise, the middle first where it is not small.
    pub fn judged(&self, cases: &[Case], ours: &[Values]) -> Option<&'static [What]> {
        let error = |of| errors::error(cases, ours, Part::All, of).mean;
        let is_beyond = |of: &&'static [What]| error(of) > self.noise(of).limit;
        let is_large = error(MIDDLE) > GOOD;
        let order = if is_large { [MIDDLE, TAIL] } else { [TAIL, MIDDLE] };
        order.into_iter().find(is_beyond)
    }

    /// The assumption that leaves the least of what is judged, and more than noise less than there is as it is.
    pub fn choose(&mut self, cases: &[Case], ours: &[Values], tried: &[Tried], of: &[What]) {
        let error = |ours: &[Values], of| errors::error(cases, ours, Part::All, of).mean;
        let other = if of == MIDDLE { TAIL } else { MIDDLE };
        let left = |i: usize, of| match &tried[i].fitted {
            Ok(fitted) => error(&fitted.ours, of),
            Err(_) => f64::INFINITY,
        };
        let margin = |of| SAME.max(3.0 * self.noise(of).spread);
        let (now, gain) = (error(ours, of), 3.0 * self.noise(of).spread);
        // A tail that is better at the cost of the middle explains nothing.
        let middle_max = error(ours, MIDDLE).max(self.middle.limit);
        let explains = |&i: &usize| {
            let left_of = left(i, of);
            left_of < EXPLAINS * now && now - left_of > gain && left(i, MIDDLE) <= middle_max
        };
        let mut best: Vec<usize> = (0..tried.len()).filter(explains).collect();
        for of in [of, other] {
            let least = best.iter().map(|&i| left(i, of)).fold(f64::INFINITY, f64::min);
            best.retain(|&i| left(i, of) <= least + margin(of));
        }
        self.found = match best[..] {
            [] => Found::Unexplained,
            [one] => Found::One(one),
            _ => Found::Several(best),
        };
    }
}

fn noise(cases: &[Case], ours: &[Values], runs: &[Vec<Values>], of: &[What]) -> Noise {
    let error = |run: &Vec<Values>| {
        let known = |(case, values): (&Case, &Values)| values.known_in(&case.theirs);
        let theirs: Vec<Values> = cases.iter().zip(run).map(known).collect();
        errors::between(&theirs, ours, of).mean
    };
    let all: Vec<f64> = runs.iter().map(error).collect();
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let spread = libm::sqrt(all.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / (n - 1.0));
    let largest = all.iter().copied().fold(RESOLUTION, f64::max);
    Noise { mean, spread, limit: largest.max(mean + 3.0 * spread) }
}
