//! A league: what was asked, the cells that were run, and what follows from them.

use crate::board::{Best, Board, LEAST_LEAD, Line, mean_over};
use crate::fight::{Asked, Fought};
use crate::map::{Map, maps};
use crate::rates::Rates;
use crate::suite::Suite;
use orrery_results::metric;
use orrery_sim::stats;

/// In so many scenarios it is told where a policy loses most.
const LOST_SHOWN: usize = 5;

/// The axis whose values have a table of their own.
const FAMILY: &str = "family";

/// A league.
#[derive(Clone, Debug)]
pub struct League {
    /// Its name in rows and of files.
    pub id: String,
    /// What was asked.
    pub asked: Asked,
    /// How its policies are called: as they are given, or by their systems where parameters were tuned.
    pub names: Vec<String>,
    /// The policies that are beside the shipped ones: where they lose is told in detail.
    pub own: Vec<usize>,
    /// The cells, by scenario and policy.
    pub cells: Vec<Vec<Fought>>,
    /// Their scores.
    pub board: Board,
    /// The best of each scenario.
    pub bests: Vec<Option<Best>>,
    /// The table.
    pub lines: Vec<Line>,
    /// The maps.
    pub maps: Vec<Map>,
    /// The highest rates, where they were searched for.
    pub rates: Option<Rates>,
}

impl League {
    /// What follows from cells that were run.
    pub fn of(asked: Asked, own: Vec<usize>, cells: Vec<Vec<Fought>>) -> League {
        let id = League::id_of(&asked.suite);
        let board = Board::of(&cells);
        let names = board.names.clone();
        let bests = (0..cells.len()).map(|s| board.best(&[s])).collect();
        let (lines, maps) = (board.league(), maps(&asked.suite, &board));
        League { id, asked, names, own, cells, board, bests, lines, maps, rates: None }
    }

    /// The id of the released league on a suite.
    pub fn id_of(suite: &Suite) -> String {
        let quick = if suite.is_quick { "-quick" } else { "" };
        format!("arena-{}{quick}", suite.name)
    }

    /// The name of a policy.
    pub fn name(&self, policy: usize) -> &str {
        self.names.get(policy).map_or("", String::as_str)
    }

    /// Where a policy loses most, and how much.
    pub fn losses(&self, policy: usize) -> Vec<(usize, f64)> {
        let mut behind = self.behind(policy);
        behind.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        behind.into_iter().take(LOST_SHOWN).filter(|b| b.1 >= LEAST_LEAD).collect()
    }

    /// The mean of the worst application's finish rate over the scenarios of at most 100.
    pub fn worst_app(&self, policy: usize) -> Option<f64> {
        mean_over(&self.cells, policy, metric::WORST_APP)
    }

    /// The scenarios of each value of the axis `family`, in the suite's order; none where it has no such axis.
    pub fn families(&self) -> Vec<(&str, Vec<usize>)> {
        let mut families: Vec<(&str, Vec<usize>)> = Vec::new();
        for (s, asked) in self.asked.suite.scenarios.iter().enumerate() {
            let Some(family) = asked.at(FAMILY) else { continue };
            match families.iter_mut().find(|f| f.0 == family) {
                Some(known) => known.1.push(s),
                None => families.push((family, vec![s])),
            }
        }
        families
    }

    /// The mean distance of a policy to the best one of each of these scenarios; none if it did not run them all.
    pub fn regret(&self, policy: usize, scenarios: &[usize]) -> Option<f64> {
        let behind = self.behind(policy);
        let of = |s: &usize| behind.iter().find(|b| b.0 == *s).map(|b| b.1);
        let all: Option<Vec<f64>> = scenarios.iter().map(of).collect();
        all.and_then(|all| stats::mean(&all))
    }

    /// How far behind the best a policy is in each scenario that it ran.
    pub fn behind(&self, policy: usize) -> Vec<(usize, f64)> {
        let of = |s: usize| {
            let best = self.bests[s].as_ref()?;
            Some((s, self.board.standing(s, policy, best)?.1))
        };
        (0..self.cells.len()).filter_map(of).collect()
    }
}
