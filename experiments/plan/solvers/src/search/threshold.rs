//! DRS: where DeepRecSys (Gupta et al., ISCA 2020) splits the queries of one pool. Those of a size
//! from the threshold on go to base instances, the others to auxiliary ones.
//!
//! ```text
//! hill climbing: for each threshold, ascending:
//!     evaluate it; stop when it carries less than the best so far
//! scan: evaluate them all
//! ```
//!
//! # Differences from the released code
//! - What a threshold carries is told by the caller; DeepRecSys finds it with a controller of the
//!   arrival rate of its own, at the 95th percentile.
//! - The thresholds are the caller's; DeepRecSys's examples walk 96, 128, 192, 256, 384, 512.

use crate::PlannerError;

/// A threshold and what was seen on the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The best threshold evaluated; of several, the smallest.
    pub threshold: u32,
    /// What it carries, in queries/s.
    pub allowable_per_s: f64,
    /// Each threshold evaluated and what it carries, in the order of evaluation.
    pub trials: Vec<(u32, f64)>,
}

/// Walks up the thresholds and stops at the first that carries less than the best before it.
///
/// # Errors
/// When the thresholds are not ascending or none is given, a value is no number from 0 on, or the
/// evaluation of one failed.
pub fn hill_climbing<E: From<PlannerError>>(
    thresholds: &[u32],
    allowable_per_s: impl FnMut(u32) -> Result<f64, E>,
) -> Result<Split, E> {
    walk(thresholds, true, allowable_per_s)
}

/// Evaluates every threshold.
///
/// # Errors
/// As [`hill_climbing`].
pub fn scan<E: From<PlannerError>>(
    thresholds: &[u32],
    allowable_per_s: impl FnMut(u32) -> Result<f64, E>,
) -> Result<Split, E> {
    walk(thresholds, false, allowable_per_s)
}

fn walk<E: From<PlannerError>>(
    thresholds: &[u32],
    stop_when_worse: bool,
    mut allowable_per_s: impl FnMut(u32) -> Result<f64, E>,
) -> Result<Split, E> {
    let (what, value) = ("number of thresholds", thresholds.len() as f64);
    let Some(&first) = thresholds.first() else {
        return Err(PlannerError::Number { what, value, allowed: "at least 1" }.into());
    };
    if let Some(w) = thresholds.windows(2).find(|w| w[0] >= w[1]) {
        let (what, value) = ("threshold", f64::from(w[1]));
        return Err(PlannerError::Number { what, value, allowed: "above the one before it" }.into());
    }
    let mut split = Split { threshold: first, allowable_per_s: -1.0, trials: Vec::new() };
    for &threshold in thresholds {
        let value = allowable_per_s(threshold)?;
        if !value.is_finite() || value < 0.0 {
            let (what, allowed) = ("throughput at a threshold", "a finite number, at least 0");
            return Err(PlannerError::Number { what, value, allowed }.into());
        }
        split.trials.push((threshold, value));
        if value > split.allowable_per_s {
            (split.threshold, split.allowable_per_s) = (threshold, value);
        } else if stop_when_worse && value < split.allowable_per_s {
            break;
        }
    }
    Ok(split)
}
