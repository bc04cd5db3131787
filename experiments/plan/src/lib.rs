//! Capacity plans: which machines, how many, at what cost.
//!
//! ```text
//!  PLAN.toml ── file.rs ──> PlanFile ── problem.rs ──> Problem ── pools.rs (several types in a pool)
//!     │                        ▲                       day.rs     clusters.rs (one type for all)
//!     │                        │                                  fleet.rs (clusters of several types)
//!     └── --what-if ── what_if.rs                                     │ trial.rs: simulations
//!                                                                     ▼
//!            document.rs, rows.rs, figure.rs <── solved.rs, answer.rs: pools, edges, doubts
//! ```
//!
//! Bounds only leave pools out; what is answered was simulated, with several seeds. Several models that share
//! one pool of several types are not planned here.

mod answer;
mod candidates;
mod change_over;
mod clusters;
mod day;
mod devices;
mod document;
mod facts;
mod fields;
mod figure;
mod file;
mod fleet;
mod fleet_words;
mod forms;
mod growth;
mod hardest;
mod line;
mod list;
mod loss;
mod money;
mod next;
mod origin;
mod own_step;
mod parts;
mod pools;
mod prices;
mod problem;
mod question;
mod repeated;
mod robust;
mod robust_words;
mod rows;
mod runs;
mod size;
mod solved;
mod strain;
mod survive;
#[cfg(test)]
mod tests;
mod trace_day;
mod trial;
mod turns;
mod watcher;
mod what_if;
mod words;
mod worth;

pub use answer::{Answer as Answered, Choice, Point, Searched};
pub use clusters::Enough;
pub use figure::{draw, of as figure_of};
pub use file::{PlanFile, Pools, Source};
pub use growth::Growth;
pub use line::Line;
pub use loss::Survive;
pub use next::{Next, is_quick};
pub use problem::{Group, Problem};
pub use robust::{Better, Held, Robust, Strained};
pub use solved::{Fleet, Solved};
pub use trial::{Check, Edge};
pub use watcher::Watcher;
pub use what_if::changed;

use orrery_report::Progress;
use orrery_report::page::{Page, Table};
use orrery_results::Row;
use orrery_scenario::SpecError;
use rayon::prelude::*;
use robust::Changes;
use runs::Runs;

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

fn solve_problem(
    problem: Problem,
    what_if: Option<&str>,
    frontier: bool,
) -> Result<Solved, SpecError> {
    let progress = Progress::estimated("simulations");
    if problem.plan.pools == Pools::Fleet {
        let runs = Runs::new(Some(&progress));
        runs.expect(fleet::expected(&problem));
        let (problem, found) = match problem.budget {
            Some(budget) => fleet::within(&problem, budget, frontier, &runs)?,
            None => {
                // Of a what-if only the fleet is shown.
                let beside = fleet::Beside { frontier, prices: what_if.is_none() };
                let found = fleet::search(&problem, beside, &runs)?;
                (problem, found)
            }
        };
        let fleet::Found { groups, answers, fleet } = found;
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
    let answers = groups.par_iter().with_max_len(1).map(of).collect::<Result<Vec<_>, _>>()?;
    drop(groups);
    drop(progress);
    Ok(Solved { what_if: what_if.map(str::to_string), problem, answers, fleet: None })
}

/// A plan with its what-ifs, answered.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The plan as it is written.
    pub plan: Solved,
    /// What was changed, in turn.
    pub what_ifs: Vec<Solved>,
    /// What the plan's answer stands on, where that was tried.
    pub robust: Option<Robust>,
    /// The rows of all.
    pub rows: Vec<Row>,
}

/// The text of the page that `--html` writes.
pub fn page_of(answers: &Answers, command: String) -> String {
    orrery_report::whole_page(answers.document(), &answers.rows, command)
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

impl Answers {
    /// Of what was answered one by one.
    ///
    /// # Errors
    /// When a file that was planned from cannot be read any more.
    pub fn of(plan: Solved, what_ifs: Vec<Solved>) -> Result<Answers, SpecError> {
        let mut all = vec![plan];
        all.extend(what_ifs);
        let rows = rows::rows(&all)?;
        let what_ifs = all.split_off(1);
        Ok(Answers { plan: all.remove(0), what_ifs, robust: None, rows })
    }

    /// The document: its text, its Markdown and its page.
    pub fn document(&self) -> Page {
        document::document(self)
    }

    /// The plan and its what-ifs, a row for each group.
    pub fn side_by_side(&self) -> Table {
        document::side_by_side(&self.plan, &self.what_ifs)
    }
}

/// Answers a plan, its own what-ifs, and `more`. `frontier`: also what each number of dollars buys.
///
/// # Errors
/// When the plan or a what-if is wrong, or a pool cannot be simulated.
pub fn answers(
    plan: &PlanFile,
    source: &Source,
    more: &[String],
    frontier: bool,
) -> Result<Answers, SpecError> {
    let base = Problem::new(plan, source)?;
    let models = base.models();
    // What is wrong with a what-if is said before minutes of runs.
    let of = |text: &String| {
        let changed = changed(plan, text, &models)?;
        let problem = Problem::new(&changed, source).map_err(|e| what_if::about(text, e))?;
        Ok((text.clone(), problem))
    };
    let texts = plan.what_if.iter().chain(more);
    let of_what_ifs: Vec<(String, Problem)> = texts.map(of).collect::<Result<_, SpecError>>()?;
    let mut changes = Changes::of(plan, source, &models)?;
    let mut all = vec![solve_problem(base, None, frontier)?];
    for (text, problem) in of_what_ifs {
        let solved = solve_problem(problem, Some(&text), false);
        all.push(solved.map_err(|e| what_if::about(&text, e))?);
    }
    let what_ifs = all.split_off(1);
    let solved = all.remove(0);
    if solved.fleet.as_ref().is_some_and(|fleet| fleet.within.is_some()) {
        // At the load that the budget pays for.
        changes = Changes::of(&solved.problem.plan, source, &models)?;
    }
    let robust = robust::robust(&changes, &solved)?;
    let mut answers = Answers::of(solved, what_ifs)?;
    let rows = rows::of_robust(&answers.plan, &robust);
    answers.rows.extend(rows);
    answers.robust = Some(robust);
    Ok(answers)
}
