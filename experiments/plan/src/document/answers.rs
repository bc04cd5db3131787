//! A plan, its what-ifs and its sensitivity, answered together.

use crate::document::rows;
use crate::document::variants::of_robust;
use crate::input::file::{PlanFile, Source};
use crate::input::problem::Problem;
use crate::search::robust::{self, Robust};
use crate::search::solve::solve_problem;
use crate::search::solved::Solved;
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_scenario::Scenario;
use orrery_sweep::notes::say_slow;

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

impl Answers {
    /// Of what was answered one by one.
    ///
    /// # Errors
    /// When a file that was planned from cannot be read any more.
    pub fn of(plan: Solved, what_ifs: Vec<Solved>) -> Result<Answers, SpecError> {
        let rows = rows::rows(std::iter::once(&plan).chain(&what_ifs))?;
        Ok(Answers { plan, what_ifs, robust: None, rows })
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
    say_slow::<Scenario>(&base.policies);
    let models = base.models();
    // What is wrong with a what-if is said before minutes of runs.
    let of = |text: &String| Ok((text.clone(), robust::changed(plan, source, text, &models)?));
    let texts = plan.what_if.iter().chain(more);
    let of_what_ifs: Vec<(String, Problem)> = texts.map(of).collect::<Result<_, SpecError>>()?;
    let changes = robust::changes(plan, source, &models)?;
    let solved = solve_problem(base, None, frontier)?;
    let of = |(text, problem): (String, Problem)| solve_problem(problem, Some(&text), false);
    let what_ifs = of_what_ifs.into_iter().map(of).collect::<Result<_, SpecError>>()?;
    let robust = robust::robust(&changes, &solved)?;
    let mut answers = Answers::of(solved, what_ifs)?;
    answers.rows.extend(of_robust(&answers.plan, &robust));
    answers.robust = Some(robust);
    Ok(answers)
}
