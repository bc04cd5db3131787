//! A measured load, replayed: ours beside theirs, and the one assumption that explains most of what is left.
//!
//! ```text
//!  SCENARIO ──┐                   as it is, with many seeds: is the error beyond their noise? (evidence.rs)
//!             ├─> case.rs: a ─────────┤ no: nothing is tried, nothing is recommended
//!  MEASURED ──┘   scenario a row      │ yes
//!                                     ├─> every other row: each assumption of assumption.rs alone (fit.rs)
//!                                     └─> the rows between: what the fitted value leaves
//!                                                             │
//!                         document.rs, rows.rs <──────────────┘
//! ```
//!
//! It changes one thing at a time, and says what that leaves on rows that it was not fitted on. Nothing here
//! knows a tool's format: `orrery_import` reads them.
//!
//! Invariant: nothing is recommended without evidence beyond noise, nor where two assumptions explain as much
//! (`tests::law`).

mod assumption;
mod case;
mod document;
mod errors;
mod evidence;
mod fit;
mod moved;
mod rows;
#[cfg(test)]
mod tests;
mod value;

pub use case::{Case, Measurements};
pub use evidence::{Evidence, Found, Noise};
pub use fit::{Fitted, Tried};
pub use moved::named_from;
pub use orrery_import::{ARRIVALS, Arriving, Options};
pub use value::{Values, WHAT};

use orrery_report::Progress;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use rayon::prelude::*;
use std::path::Path;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The policy; the scenario's first by default.
    pub policy: Option<PolicySpec>,
    /// Requests in a run at a rate or with clients.
    pub requests: u64,
    /// The seed.
    pub seed: u64,
}

/// A scenario beside measurements.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The scenario as it is.
    pub scenario: Scenario,
    /// Its policy.
    pub policy: PolicySpec,
    /// The name of the measurements.
    pub measured: String,
    /// What was asked.
    pub asked: Asked,
    /// What was measured, a row each.
    pub cases: Vec<Case>,
    /// Ours of the scenario as it is, by case.
    pub ours: Vec<Values>,
    /// What is assumed of the measurements, and which rows are left out.
    pub notes: Vec<String>,
    /// Each assumption alone; none where there is nothing to explain.
    pub tried: Vec<Tried>,
    /// Whether the errors are beyond noise, and what explains them.
    pub evidence: Evidence,
    /// The one that explains most, where one alone explains anything.
    pub best: Option<usize>,
    /// The scenario with it.
    pub recommended: Option<Scenario>,
}

/// Replays the measured load, and tries each assumption alone.
///
/// # Errors
/// When a row cannot be replayed with the scenario, or a run has no answer.
pub fn calibrate(
    scenario: &Scenario,
    measured: &Measurements,
    asked: Asked,
) -> Result<Calibration, SpecError> {
    let policy = match &asked.policy {
        Some(policy) => policy.clone(),
        None => scenario.policies()?.remove(0),
    };
    let (measured, mut notes) = case::replayable(scenario, measured)?;
    let cases = case::cases(scenario, &measured, &policy, &asked)?;
    notes.extend(case::unmeasured(&cases, asked.seed)?);
    notes.extend(case::without_effect(scenario, &measured, &policy, &asked));
    let all: Vec<usize> = (0..cases.len()).collect();
    let ours = fit::run(&cases, &all, &[], asked.seed)?;
    let mut evidence = Evidence::of(&cases, asked.seed)?;
    let mut tried = Vec::new();
    if let Some(judged) = evidence.judged() {
        let (assumptions, weights) = (assumption::all(), evidence.weights());
        let seeds = evidence.seeds(asked.seed);
        let progress = Progress::new(assumptions.len() as u64, "assumptions");
        let of = |a: &assumption::Assumption| {
            let tried = fit::tried(a, scenario, &policy, &cases, &seeds, &weights);
            progress.step();
            tried
        };
        tried = assumptions.par_iter().map(of).collect::<Result<_, _>>()?;
        evidence.choose(&cases, &mut tried, asked.seed, judged);
    }
    let best = match evidence.found {
        Found::One(i) => Some(i),
        _ => None,
    };
    let changes = best.and_then(|i| Some(tried[i].fitted.as_ref().ok()?.changes.clone()));
    let recommended = changes.map(|changes| scenario.with(&changes)).transpose()?;
    let (scenario, measured) = (scenario.clone(), measured.name);
    Ok(Calibration {
        scenario,
        policy,
        measured,
        asked,
        cases,
        ours,
        notes,
        tried,
        evidence,
        best,
        recommended,
    })
}

impl Calibration {
    /// The document: its text, its Markdown and its page.
    pub fn document(&self) -> orrery_report::Page {
        document::document(self)
    }

    /// The rows: ours and theirs, of the scenario as it is and with each assumption.
    ///
    /// # Errors
    /// When a file that was read cannot be read any more.
    pub fn rows(&self) -> Result<Vec<orrery_results::Row>, SpecError> {
        rows::rows(self)
    }

    /// The recommended scenario as a file for a folder.
    pub fn recommended_text(&self, folder: &Path) -> Option<String> {
        let (scenario, best) = (self.recommended.as_ref()?, &self.tried[self.best?]);
        let own = Path::new(scenario.origin().0).parent().unwrap_or(Path::new(""));
        Some(format!(
            "# orrery calibrate: {} with {}, fitted to {}.\n{}",
            self.scenario.name,
            best.words(),
            self.measured,
            moved::moved(&scenario.text(), own, folder)
        ))
    }

    /// What was tried, for JSON.
    pub fn in_json(&self) -> serde_json::Value {
        rows::in_json(self)
    }
}
