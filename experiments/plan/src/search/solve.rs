//! One plan, solved: every group of models, in parallel.

use crate::input::file::{PlanFile, Pools, Source};
use crate::input::problem::{Group, Problem};
use crate::input::what_if;
use crate::search::answer::Answer;
use crate::search::runs::Runs;
use crate::search::solved::Solved;
use crate::search::too_few::too_few;
use crate::search::{clusters, fleet, pools};
use orrery_report::Progress;
use orrery_run::SpecError;
use rayon::prelude::*;

/// Answers one plan, as it is written or changed by a what-if already. `frontier`: also what each number of dollars buys.
///
/// # Errors
/// When the plan is wrong or a pool cannot be simulated.
pub fn solve(
    plan: &PlanFile,
    source: &Source,
    what_if: Option<&str>,
    frontier: bool,
) -> Result<Solved, SpecError> {
    let solved = Problem::new(plan, source).and_then(|problem| of_problem(problem, frontier));
    named(solved, what_if)
}

/// The same of a problem that was made already.
pub(crate) fn solve_problem(
    problem: Problem,
    what_if: Option<&str>,
    frontier: bool,
) -> Result<Solved, SpecError> {
    named(of_problem(problem, frontier), what_if)
}

/// An answer, or what is wrong, with the what-if that it is of.
fn named(solved: Result<Solved, SpecError>, what_if: Option<&str>) -> Result<Solved, SpecError> {
    let Some(text) = what_if else { return solved };
    let solved = solved.map_err(|error| what_if::about(text, error))?;
    Ok(Solved { what_if: Some(text.to_string()), ..solved })
}

fn of_problem(problem: Problem, frontier: bool) -> Result<Solved, SpecError> {
    let progress = Progress::estimated("simulations");
    if problem.plan.pools == Pools::Fleet {
        let runs = Runs::new(Some(&progress));
        runs.expect(fleet::expected(&problem));
        let fleet::Found { groups, answers, fleet } = fleet::search(&problem, frontier, &runs)?;
        let problem = Problem { groups, ..problem };
        return Ok(Solved { what_if: None, problem, answers, fleet: Some(fleet) });
    }
    // Of all groups before the first one begins, so that the time left is that of all.
    let groups: Vec<(&Group, Runs<'_>)> =
        problem.groups.iter().map(|group| (group, Runs::new(Some(&progress)))).collect();
    let each = match problem.plan.pools {
        Pools::Heterogeneous => pools::expected(&problem, frontier),
        _ => clusters::expected(&problem, frontier),
    };
    groups.iter().for_each(|(_, runs)| runs.expect(each));
    let of = |(group, runs): &(&Group, Runs<'_>)| {
        let mut answer = of_group(&problem, group, frontier, runs)?;
        let found: Vec<&[u32]> = answer.choices.iter().map(|c| c.counts.as_slice()).collect();
        answer.too_few = too_few(&problem, group, &found)?;
        Ok(answer)
    };
    let answers =
        groups.par_iter().with_max_len(1).map(of).collect::<Result<Vec<_>, SpecError>>()?;
    drop(groups);
    drop(progress);
    Ok(Solved { what_if: None, problem, answers, fleet: None })
}

/// The answer for a group of a plan that is no fleet.
pub(crate) fn of_group(
    problem: &Problem,
    group: &Group,
    frontier: bool,
    runs: &Runs<'_>,
) -> Result<Answer, SpecError> {
    match problem.plan.pools {
        Pools::Heterogeneous => pools::search(problem, group, frontier, runs),
        _ => clusters::search(problem, group, frontier, runs),
    }
}
