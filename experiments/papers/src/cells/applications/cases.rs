//! Cases: from a row's name to its applications, by the table's rule.
//!
//! A case that the paper has no figure for is made by the same rule.

use super::tasks;
use super::{Cases, Family};
use orrery_scenario::SpecError;
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
}

impl Case {
    /// The case of that name.
    ///
    /// # Errors
    /// When the family knows no such name.
    pub fn make(cases: &Cases, name: &str) -> Result<Case, SpecError> {
        let (model, law) = match cases.family {
            Family::Modes => (cases.synthetic_model.clone(), modes(cases, name)?),
            Family::Widths => (cases.synthetic_model.clone(), widths(cases, name)?),
            Family::Tasks => task(cases, name)?,
            Family::Static => constant(cases, name)?,
        };
        Ok(Case { name: name.to_string(), model, law })
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

fn modes(cases: &Cases, name: &str) -> Result<ExecLaw, SpecError> {
    let allowed = || format!("N-modal with N of {}", NUMBERS.join(", "));
    let number = name.strip_suffix("-modal").and_then(|n| NUMBERS.iter().position(|x| *x == n));
    let n = number.ok_or_else(|| unknown(name, &allowed()))? + 1;
    let sd_ms = cases.sd_units * cases.unit_ms;
    let at = |i: usize| match n {
        1 => cases.single_at_units * cases.unit_ms,
        _ => i as f64 * cases.spacing_units * cases.unit_ms,
    };
    let modes = (1..=n).map(|i| Mode { weight: 1.0, mean_ms: at(i), sd_ms }).collect();
    Ok(ExecLaw::mixture(modes)?)
}

fn widths(cases: &Cases, name: &str) -> Result<ExecLaw, SpecError> {
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
    Ok(ExecLaw::mixture(vec![mode(1.0, a, b), mode(2.0, b, a)])?)
}

fn task(cases: &Cases, name: &str) -> Result<(String, ExecLaw), SpecError> {
    let tasks = tasks::all()?;
    let known = || tasks.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
    let task = tasks.iter().find(|t| t.name() == name).ok_or_else(|| unknown(name, &known()))?;
    let rule = SdRule { cap: cases.sd_cap, slope: cases.sd_slope };
    let law = ExecLaw::two_group(task.mean_exec_ms, task.p99_exec_ms, cases.short_share, rule)?;
    Ok((task.model.clone(), law))
}

fn constant(cases: &Cases, name: &str) -> Result<(String, ExecLaw), SpecError> {
    let model = name.split('-').next().unwrap_or(name);
    let known =
        || cases.static_ms.keys().map(|m| format!("{m}-DATASET")).collect::<Vec<_>>().join(", ");
    let ms = cases.static_ms.get(model).ok_or_else(|| unknown(name, &known()))?;
    Ok((model.to_string(), ExecLaw::constant(*ms)?))
}
