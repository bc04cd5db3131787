//! The highest rate of each policy with at most 1 % bad requests, in the scenarios in which one can be asked for.
//!
//! The search is that of `orrery goodput`; only its bracket is wider and its probes are shorter.

use crate::fight::{Asked, Fought, How, Outcome, fight};
use crate::suite::Suite;
use orrery_results::metric;
use orrery_run::SpecError;
use orrery_scenario::Scenario;
use orrery_sim::stats::mean;
use orrery_sweep::goodput::{Search, Searched};

/// Searches of each cell.
pub const SEEDS: u32 = 3;
/// A probe of so many models' requests is still a matter of seconds.
pub const MODELS_MOST: usize = 5;

/// What was found.
#[derive(Clone, Debug)]
pub struct Rates {
    /// The scenarios, by their place in the suite.
    pub scenarios: Vec<usize>,
    /// Their cells, by policy.
    pub cells: Vec<Vec<Fought>>,
}

/// How it is searched.
pub fn search() -> Search {
    Search { requests_per_model: 5_000, tolerance: 0.02, ..Search::default() }
}

/// Whether a scenario has a rate that can be searched for in seconds: a process of a few models, no trace.
fn is_asked(scenario: &Scenario) -> bool {
    let is_process = scenario.file.arrivals.as_ref().is_some_and(|a| a.trace.is_none());
    is_process
        && !Searched::is_finite(scenario)
        && scenario.rate().is_ok()
        && scenario.model_names().len() <= MODELS_MOST
}

/// What is searched of what is asked.
pub(crate) fn searched(asked: &Asked) -> (Vec<usize>, Asked) {
    let all = &asked.suite.scenarios;
    let own: Vec<usize> = (0..all.len()).filter(|s| is_asked(&all[*s].scenario)).collect();
    let scenarios = own.iter().map(|s| all[*s].clone()).collect();
    let suite = Suite { scenarios, ..asked.suite.clone() };
    (own, Asked { search: Some(search()), ..Asked::of(suite, asked.policies.clone(), SEEDS) })
}

/// Searches. `None` where Ctrl-C stopped it.
///
/// # Errors
/// As [`fight`].
pub fn rates(asked: &Asked, how: &How) -> Result<Option<Rates>, SpecError> {
    let (scenarios, asked) = searched(asked);
    Ok(match fight(&asked, how)? {
        Outcome::Whole(cells) => Some(Rates { scenarios, cells }),
        _ => None,
    })
}

/// Runs a part of the searches: so many cells. `None` where Ctrl-C stopped it.
///
/// # Errors
/// As [`fight`].
pub fn part(asked: &Asked, how: &How) -> Result<Option<usize>, SpecError> {
    match fight(&searched(asked).1, how)? {
        Outcome::Part(cells) => Ok(Some(cells)),
        _ => Ok(None),
    }
}

/// The mean rate of a cell, where every seed has one.
pub fn rate(cell: &Fought) -> Option<f64> {
    cell.values(metric::PEAK).as_deref().and_then(mean)
}

impl Rates {
    /// The best rate of each scenario, of the policies that are not `beside` the league.
    pub fn bests(&self, beside: &[bool]) -> Vec<f64> {
        let own = |row: &Vec<Fought>| {
            let all = row.iter().zip(beside).filter(|(_, beside)| !**beside);
            all.filter_map(|(cell, _)| rate(cell)).fold(0.0, f64::max)
        };
        self.cells.iter().map(own).collect()
    }
}
