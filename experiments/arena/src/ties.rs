//! More seeds of the scenarios whose tie these may break.

use crate::board::Board;
use crate::fight::{Asked, Fought, How, Outcome, fight};
use crate::suite::Suite;
use orrery_scenario::SpecError;

/// Runs [`Asked::tie_seeds`] of every cell of the scenarios whose tie these may break. `None` where Ctrl-C stopped it.
///
/// All policies of a scenario have the same seeds, so that none is compared on luckier ones.
///
/// # Errors
/// As [`fight`].
pub fn break_ties(
    asked: &Asked,
    how: &How,
    mut cells: Vec<Vec<Fought>>,
) -> Result<Option<Vec<Vec<Fought>>>, SpecError> {
    let Some(most) = asked.tie_seeds else { return Ok(Some(cells)) };
    let board = Board::of(&cells);
    let may = |s: &usize| board.tie_may_break(*s, most as usize);
    let chosen: Vec<usize> = (0..cells.len()).filter(may).collect();
    let scenarios = chosen.iter().map(|s| asked.suite.scenarios[*s].clone()).collect();
    let suite = Suite { scenarios, ..asked.suite.clone() };
    let more = Asked { suite, seeds: most, ..asked.clone() };
    let Outcome::Whole(again) = fight(&more, how)? else { return Ok(None) };
    for (s, row) in chosen.into_iter().zip(again) {
        cells[s] = row;
    }
    Ok(Some(cells))
}
