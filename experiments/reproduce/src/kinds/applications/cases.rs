//! Cases: from a row's name to its applications, by the rule that names of its form follow. A case that
//! the paper has no figure for is made by the same rule.
//!
//! ```text
//! N-modal           N modes, evenly spaced                  Table 3
//! std-A, std-A/B    two modes of these widths, in units     Table 2
//! MODEL-DATASET     a real task, by its mean and P99        Table 5
//!                   a static model: a constant              Table 4
//! ```

use super::table::Cases;
use super::tasks;
use orrery_run::SpecError;
use orrery_traces::exec_time::{ExecLaw, Mode};
use orrery_traces::two_group::SdRule;

/// The applications of one row.
#[derive(Clone, Debug)]
pub struct Case {
    /// The row's name.
    pub name: String,
    /// The model it runs on.
    pub model: String,
    /// Execution times of all requests together.
    pub law: ExecLaw,
    /// Mean execution time alone if all its modes held equal shares, milliseconds.
    pub modes_mean_ms: f64,
}

/// The rule that a name follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `std-A` or `std-A/B`.
    Widths,
    /// `N-modal`.
    Modes,
    /// `MODEL-DATASET`.
    Named,
}

impl Rule {
    /// That of a name.
    pub fn of(name: &str) -> Rule {
        match name {
            _ if name.starts_with("std-") => Rule::Widths,
            _ if name.ends_with("-modal") => Rule::Modes,
            _ => Rule::Named,
        }
    }
}

impl Case {
    /// The case of that name.
    ///
    /// # Errors
    /// When no rule knows the name.
    pub fn make(cases: &Cases, name: &str) -> Result<Case, SpecError> {
        let modes = match Rule::of(name) {
            Rule::Widths => widths(cases, name)?,
            Rule::Modes => modes(cases, name)?,
            Rule::Named => {
                let (model, law) = named(cases, name)?;
                let modes_mean_ms = law.mean_ns() / 1e6;
                return Ok(Case { name: name.to_string(), model, law, modes_mean_ms });
            }
        };
        let modes_mean_ms = modes.iter().map(|m| m.mean_ms).sum::<f64>() / modes.len() as f64;
        let (model, law) = (cases.synthetic_model.clone(), ExecLaw::mixture(modes)?);
        Ok(Case { name: name.to_string(), model, law, modes_mean_ms })
    }

    /// Mean execution time alone, milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.law.mean_ns() / 1e6
    }

    /// The law's 99th percentile alone, milliseconds.
    pub fn p99_ms(&self) -> f64 {
        self.law.quantile_ns(0.99) / 1e6
    }
}

const NUMBERS: [&str; 8] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

fn unknown(name: &str, allowed: &str) -> SpecError {
    SpecError::value("case", name, allowed, "correct the name of the case")
}

fn modes(cases: &Cases, name: &str) -> Result<Vec<Mode>, SpecError> {
    let allowed = || format!("N-modal with N of {}", NUMBERS.join(", "));
    let number = name.strip_suffix("-modal").and_then(|n| NUMBERS.iter().position(|x| *x == n));
    let n = number.ok_or_else(|| unknown(name, &allowed()))? + 1;
    let sd_ms = cases.sd_units * cases.unit_ms;
    let at = |i: usize| match n {
        1 => cases.single_at_units * cases.unit_ms,
        _ => i as f64 * cases.spacing_units * cases.unit_ms,
    };
    Ok((1..=n).map(|i| Mode { weight: 1.0, mean_ms: at(i), sd_ms }).collect())
}

fn widths(cases: &Cases, name: &str) -> Result<Vec<Mode>, SpecError> {
    let wrong = || unknown(name, "std-A or std-A/B, with A and B in units");
    let text = name.strip_prefix("std-").ok_or_else(wrong)?;
    let (a, b) = text.split_once('/').unwrap_or((text, text));
    let width =
        |w: &str| w.parse::<f64>().ok().filter(|w| (0.0..=1e3).contains(w)).ok_or_else(wrong);
    let (a, b) = (width(a)?, width(b)?);
    // Unequal widths come with unequal peaks: the narrow one holds more.
    let share = |own: f64, other: f64| {
        if own == other {
            0.5
        } else if own < other {
            cases.narrow_share
        } else {
            1.0 - cases.narrow_share
        }
    };
    let mode = |i: f64, own: f64, other: f64| Mode {
        weight: share(own, other),
        mean_ms: i * cases.spacing_units * cases.unit_ms,
        sd_ms: own * cases.unit_ms,
    };
    Ok(vec![mode(1.0, a, b), mode(2.0, b, a)])
}

/// A real task of Table 1, or else a static model.
fn named(cases: &Cases, name: &str) -> Result<(String, ExecLaw), SpecError> {
    let tasks = tasks::all()?;
    if let Some(task) = tasks.iter().find(|t| t.name() == name) {
        let rule = SdRule { cap: cases.sd_cap, slope: cases.sd_slope };
        let (mean, p99) = (task.mean_exec_ms, task.p99_exec_ms);
        let law = ExecLaw::two_group(mean, p99, cases.short_share, rule)?;
        return Ok((task.model.clone(), law));
    }
    let model = name.split('-').next().unwrap_or(name);
    let known = || {
        let rules = ["N-modal", "std-A", "std-A/B"].map(str::to_string).into_iter();
        let tasks = tasks.iter().map(|t| t.name());
        let models = cases.static_ms.keys().map(|m| format!("{m}-DATASET"));
        rules.chain(tasks).chain(models).collect::<Vec<_>>().join(", ")
    };
    let ms = cases.static_ms.get(model).ok_or_else(|| unknown(name, &known()))?;
    Ok((model.to_string(), ExecLaw::constant(*ms)?))
}
