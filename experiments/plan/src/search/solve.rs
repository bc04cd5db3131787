//! One plan, solved: every group of models, in parallel.

use crate::input::file::{PlanFile, Pools, Source};
use crate::input::problem::{Group, Problem};
use crate::input::what_if;
use crate::search::runs::Runs;
use crate::search::solved::Solved;
use crate::search::too_few::too_few;
use crate::search::{clusters, fleet, pools};
use orrery_report::Progress;
use orrery_scenario::SpecError;
use rayon::prelude::*;

/// Answers a plan.
///
/// # Errors
/// When the plan is wrong or a pool cannot be simulated.
pub fn solve(
    plan: &PlanFile,
    source: &Source,
    what_if: Option<&str>,
    frontier: bool,
) -> Result<Solved, SpecError> {
    let problem = Problem::new(plan, source)?;
    solve_problem(problem, what_if, frontier)
}

pub(crate) fn solve_problem(
    problem: Problem,
    what_if: Option<&str>,
    frontier: bool,
) -> Result<Solved, SpecError> {
    let progress = Progress::estimated("simulations");
    if problem.plan.pools == Pools::Fleet {
        let runs = Runs::new(Some(&progress));
        runs.expect(fleet::expected(&problem));
        let fleet::Found { groups, answers, fleet } = fleet::search(&problem, frontier, &runs)?;
        let (what_if, fleet) = (what_if.map(str::to_string), Some(fleet));
        return Ok(Solved { what_if, problem: Problem { groups, ..problem }, answers, fleet });
    }
    // Of all groups before the first one begins, so that the time left is that of all.
    let groups: Vec<(&Group, Runs<'_>)> =
        problem.groups.iter().map(|group| (group, Runs::new(Some(&progress)))).collect();
    let each = match problem.plan.pools {
        Pools::Heterogeneous => pools::expected(&problem, frontier),
        _ => clusters::expected(&problem, frontier),
    };
    groups.iter().for_each(|(_, runs)| runs.expect(each));
    let of = |(group, runs): &(&Group, Runs<'_>)| match problem.plan.pools {
        Pools::Heterogeneous => pools::search(&problem, group, frontier, runs),
        _ => clusters::search(&problem, group, frontier, runs),
    };
    let mut answers = groups.par_iter().with_max_len(1).map(of).collect::<Result<Vec<_>, _>>()?;
    for ((group, _), answer) in groups.iter().zip(&mut answers) {
        let found: Vec<&[u32]> = answer.choices.iter().map(|c| c.counts.as_slice()).collect();
        answer.too_few = too_few(&problem, group, &found)?;
    }
    drop(groups);
    drop(progress);
    Ok(Solved { what_if: what_if.map(str::to_string), problem, answers, fleet: None })
}

/// Answers one plan with its frontier, as `--plot` draws it: as it is written, or one what-if, made already.
///
/// # Errors
/// As [`answers`].
pub fn answered(
    plan: &PlanFile,
    source: &Source,
    what_if: Option<&str>,
) -> Result<Solved, SpecError> {
    let problem = Problem::new(plan, source);
    let Some(text) = what_if else { return solve_problem(problem?, None, true) };
    let problem = problem.map_err(|e| what_if::about(text, e))?;
    solve_problem(problem, Some(text), true).map_err(|e| what_if::about(text, e))
}
