//! Whether an error is evidence: what runs differ by that differ in their seed alone, and which assumption is left
//! when that is taken into account.
//!
//! ```text
//!  the scenario as it is, 16 seeds ─┬─ their mean ─> ours
//!                                   └─ each of them as if it had been measured, against the mean of the others:
//!                                      errors without a cause
//!  error of ours against theirs: within those? ──> nothing is recommended
//!                                beyond?       ──> the assumption that leaves least, if no other leaves as little
//! ```
//!
//! A quantity counts the less, the more its runs differ.

use crate::assumption::Changes;
use crate::case::Case;
use crate::fit::Tried;
use crate::value::{MIDDLE, TAIL, Values, What, mean_of};
use orrery_run::SpecError;
use rayon::prelude::*;

/// Runs of each scenario.
pub const RUNS: u64 = 16;
/// Seeds that a value is fitted with.
const FITTED: u64 = 4;
/// The first of their seeds, after that of the calibration.
const FIRST: u64 = 10_001;
/// What the digits of a file and a repeated measurement leave.
const RESOLUTION: f64 = 0.005;
/// Errors as near as this are not told apart by any measurement.
const SAME: f64 = 0.001;
/// The deviation of a quantity at which it counts half.
const HALF: f64 = 0.005;
/// An error of the middle that is as small as a repeated measurement's: the tail is looked at then.
const GOOD: f64 = 0.02;
/// An assumption explains something where it leaves less than this share of the error.
const EXPLAINS: f64 = 0.9;

/// The weighted mean error of a run against others that differ from it in their seed alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The mean over the runs.
    pub mean: f64,
    /// Their standard deviation.
    pub spread: f64,
    /// An error up to this one is within the noise.
    pub limit: f64,
    /// The error against the measurement.
    pub error: f64,
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
    /// In rate, mean, median, batch and drops, where one of them was measured.
    pub middle: Option<Noise>,
    /// In p90 and p99, where one of them was measured.
    pub tail: Option<Noise>,
    /// What is found.
    pub found: Found,
    /// The runs of the scenario as it is, by run and by case.
    runs: Vec<Vec<Values>>,
}

impl Evidence {
    /// The noise of the scenario as it is; nothing is found yet.
    ///
    /// # Errors
    /// When a run has no answer.
    pub fn of(cases: &[Case], seed: u64) -> Result<Evidence, SpecError> {
        let runs = repeated(cases, &Vec::new(), seed)?;
        let noise = |of| noise(cases, &runs, &weights(&[&runs]), of);
        let (middle, tail) = (noise(MIDDLE), noise(TAIL));
        Ok(Evidence { middle, tail, found: Found::Nothing, runs })
    }

    /// The seeds that values are fitted with: one tells all where runs do not differ.
    pub fn seeds(&self, seed: u64) -> Vec<u64> {
        let is_steady = [self.middle, self.tail].iter().flatten().all(|noise| noise.mean < 1e-6);
        let more = if is_steady { 0 } else { FITTED - 1 };
        [seed].into_iter().chain((0..more).map(|i| seed.wrapping_add(FIRST + i))).collect()
    }

    /// How much each quantity of each case counts.
    pub fn weights(&self) -> Vec<[f64; 7]> {
        weights(&[&self.runs])
    }

    fn noise(&self, of: &[What]) -> Option<Noise> {
        if of == MIDDLE { self.middle } else { self.tail }
    }

    /// What the scenario is to be judged by: what is beyond the noise, the middle first where it is not small.
    pub fn judged(&self) -> Option<&'static [What]> {
        let is_large = self.middle.is_some_and(|noise| noise.error > GOOD);
        let order = if is_large { [MIDDLE, TAIL] } else { [TAIL, MIDDLE] };
        order.into_iter().find(|of| self.noise(of).is_some_and(|noise| noise.error > noise.limit))
    }

    /// The assumption that leaves the least of what is judged, and more than noise less than there is as it is.
    /// One whose runs fail is not tried.
    pub fn choose(&mut self, cases: &[Case], tried: &mut [Tried], seed: u64, of: &'static [What]) {
        let runs = |t: &mut Tried| {
            let runs = repeated(cases, &t.fitted.as_ref().ok()?.changes, seed);
            runs.inspect_err(|e| t.fitted = Err(format!("its runs with other seeds fail: {e}")))
                .ok()
        };
        let runs: Vec<Option<Vec<Vec<Values>>>> = tried.iter_mut().map(runs).collect();
        // A quantity that differs from run to run with one of them counts less for all.
        let all: Vec<&Vec<Vec<Values>>> = runs.iter().flatten().chain([&self.runs]).collect();
        let (weights, alike) = (weights(&all), vec![[1.0; 7]; cases.len()]);
        // What was not measured has no error and no noise, and nothing is worse in it.
        let noise = |of| noise(cases, &self.runs, &weights, of);
        let spread = |of| noise(of).map_or(0.0, |noise| noise.spread);
        let (judged, other) = if of == MIDDLE { (MIDDLE, TAIL) } else { (TAIL, MIDDLE) };
        let held_out: Vec<bool> = cases.iter().map(|case| !case.is_fitted).collect();
        let of_held_out = |weights: &[[f64; 7]]| -> Vec<[f64; 7]> {
            let own = weights.iter().zip(&held_out);
            own.map(|(weights, held)| if *held { *weights } else { [0.0; 7] }).collect()
        };
        let error = |runs: &Vec<Vec<Values>>, weights: &[[f64; 7]], of| {
            error(cases, &mean_of(runs), weights, of).unwrap_or(0.0)
        };
        let left = |i: usize, weights: &[[f64; 7]], of| {
            runs[i].as_ref().map_or(f64::INFINITY, |runs| error(runs, weights, of))
        };
        let now = |weights: &[[f64; 7]], of| error(&self.runs, weights, of);
        let (as_it_is, gain) = (now(&weights, judged), 3.0 * spread(judged));
        let is_no_worse = |i: usize, weights: &[[f64; 7]], of| {
            let limit = noise(of).map_or(0.0, |noise| noise.limit);
            left(i, weights, of) <= now(weights, of).max(limit)
        };
        // A tail that is better at the cost of the middle explains nothing, nor what is better in the weights alone,
        // nor what is better at the cost of rows that it was not fitted on.
        let explains = |&i: &usize| {
            let left_of = left(i, &weights, judged);
            left_of < EXPLAINS * as_it_is
                && as_it_is - left_of > gain
                && is_no_worse(i, &weights, MIDDLE)
                && left(i, &alike, judged) < now(&alike, judged)
                && [&weights, &alike].into_iter().all(|weights| {
                    let held_out = of_held_out(weights);
                    [judged, MIDDLE].into_iter().all(|of| is_no_worse(i, &held_out, of))
                })
        };
        let mut best: Vec<usize> = (0..tried.len()).filter(explains).collect();
        for of in [judged, other] {
            let margin = SAME.max(2.0 * spread(of));
            let least = best.iter().map(|&i| left(i, &weights, of)).fold(f64::INFINITY, f64::min);
            best.retain(|&i| left(i, &weights, of) <= least + margin);
        }
        self.found = match best[..] {
            [] => Found::Unexplained,
            [one] if !cases.iter().all(|case| case.is_at_once) => Found::One(one),
            _ => Found::Several(best),
        };
    }
}

/// Runs of the cases with keys changed, each as long as the measurement: by run, by case.
fn repeated(cases: &[Case], changes: &Changes, seed: u64) -> Result<Vec<Vec<Values>>, SpecError> {
    let run = |i: u64| {
        let seed = seed.wrapping_add(FIRST + i);
        cases.iter().map(|case| case.repeated(changes, seed)).collect()
    };
    (0..RUNS).into_par_iter().map(run).collect()
}

/// How much each quantity of each case counts, by the largest deviation of several scenarios' runs.
fn weights(scenarios: &[&Vec<Vec<Values>>]) -> Vec<[f64; 7]> {
    let share = |runs: &Vec<Vec<Values>>, case: usize, what: usize| {
        let all = runs.iter().filter_map(|run| run[case].all[what]);
        let (mean, spread) = spread(&all.collect::<Vec<_>>());
        if what == What::Drops as usize { spread } else { spread / mean.max(1e-9) }
    };
    let of = |case: usize, what: usize| {
        let all = scenarios.iter().map(|runs| share(runs, case, what));
        1.0 / (HALF + all.fold(0.0, f64::max))
    };
    let cases = scenarios.first().and_then(|runs| runs.first()).map_or(0, Vec::len);
    (0..cases).map(|case| std::array::from_fn(|what| of(case, what))).collect()
}

/// The mean and the standard deviation.
fn spread(all: &[f64]) -> (f64, f64) {
    let n = all.len().max(2) as f64;
    let mean = all.iter().sum::<f64>() / n;
    let squares = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    (mean, libm::sqrt(squares / (n - 1.0)))
}

/// The weighted mean error against what was measured; none where nothing was.
fn error(cases: &[Case], ours: &[Values], weights: &[[f64; 7]], of: &[What]) -> Option<f64> {
    between(cases.iter().map(|case| case.theirs), ours, weights, of)
}

fn between(
    theirs: impl Iterator<Item = Values>,
    ours: &[Values],
    weights: &[[f64; 7]],
    of: &[What],
) -> Option<f64> {
    let (mut sum, mut all) = (0.0, 0.0);
    for ((theirs, ours), weights) in theirs.zip(ours).zip(weights) {
        for &what in of {
            let Some(error) = ours.error(&theirs, what) else { continue };
            sum += weights[what as usize] * error.abs();
            all += weights[what as usize];
        }
    }
    (all > 0.0).then(|| sum / all)
}

/// The noise of a scenario's runs: each as if it had been measured, against the mean of the others; none where nothing
/// was measured.
fn noise(cases: &[Case], runs: &[Vec<Values>], weights: &[[f64; 7]], of: &[What]) -> Option<Noise> {
    let without = |i: usize| {
        let others = (0..runs.len()).filter(|j| *j != i).map(|j| runs[j].clone());
        let theirs = cases.iter().zip(&runs[i]).map(|(case, run)| run.known_in(&case.theirs));
        between(theirs, &mean_of(&others.collect::<Vec<_>>()), weights, of)
    };
    let all: Vec<f64> = (0..runs.len()).map(without).collect::<Option<_>>()?;
    let (mean, spread) = spread(&all);
    let largest = all.iter().copied().fold(RESOLUTION, f64::max);
    let error = error(cases, &mean_of(runs), weights, of)?;
    Some(Noise { mean, spread, limit: largest.max(mean + 5.0 * spread), error })
}
