//! A league: what was asked, the cells that were run, and what follows from them.

use crate::board::{Best, Board, LEAST_LEAD, Line, mean_over};
use crate::fight::{Asked, Fought};
use crate::map::{Map, maps};
use crate::rates::Rates;
use crate::suite::Suite;
use orrery_results::metric;

/// In so many scenarios it is told where a policy loses most.
const LOST_SHOWN: usize = 5;

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

    /// The mean of the worst model's finish rate over the scenarios that have it.
    pub fn worst_model(&self, policy: usize) -> Option<f64> {
        mean_over(&self.cells, policy, metric::WORST_MODEL)
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
