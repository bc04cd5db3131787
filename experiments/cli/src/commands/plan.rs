//! `orrery plan`: which machines, how many, at what cost.
//!
//! ```text
//!  PLAN.toml ── file.rs ──> PlanFile ── problem.rs ──> Problem ── pools.rs (several types in a pool)
//!     │                        ▲                       day.rs     clusters.rs (one type for all)
//!     │                        │                                  fleet.rs (clusters of several types)
//!     └── --what-if ── what_if.rs                                     │ trial.rs: simulations
//!                                                                     ▼
//!            report.rs, markdown.rs, page.rs, rows.rs, figure.rs <── answer.rs: pools, edges, doubts
//! ```
//!
//! Bounds only leave pools out; what is answered was simulated, with several seeds. Several models that share
//! one pool of several types are not planned here.

mod answer;
mod candidates;
mod clusters;
mod day;
mod devices;
mod facts;
mod figure;
mod file;
mod fleet;
mod forms;
mod markdown;
mod money;
mod origin;
mod page;
mod parts;
mod pools;
mod prices;
mod problem;
mod report;
mod rows;
mod runs;
mod size;
mod survive;
#[cfg(test)]
mod tests;
mod trace_day;
mod trial;
mod watch;
mod watcher;
mod what_if;

pub use answer::{Answer as Answered, Choice, Point, Searched};
pub use figure::of as figure_of;
pub use file::{PlanFile, Pools, Source};
pub use fleet::Fleet;
pub use problem::{Group, Problem};
pub use trial::{Check, Edge};
pub use watcher::Watcher;
pub use what_if::changed;

use clap::Args;
use orrery_output::page::WITHOUT_EFFECT;
use orrery_output::whole_file::{check_place, write_atomically};
use orrery_output::{Answer, Output};
use orrery_output::{Forms, Progress};
use orrery_results::{Row, to_json, wide};
use orrery_scenario::SpecError;
use rayon::prelude::*;
use runs::Runs;
use std::path::PathBuf;

/// `orrery plan`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery plan scenarios/plans/kairos-five.toml
  orrery plan scenarios/plans/gpus-for-symphony.toml --what-if load=1.5 --what-if \"slo=50ms\"
  orrery plan my.toml --what-if \"price:g4dn.xlarge=0.4,budget=2\" --markdown summary.md --plot frontier.png

What-ifs: load=F, slo=TIME, slo:MODEL=TIME, price:TYPE=USD, limit:TYPE=N, buy=TERM, buy:TYPE=TERM,
budget=USD, bad_rate=SHARE, survive=N; separate several with commas to change them together.

Exit codes: 0 answered, 1 no pool meets the goal, 2 wrong usage or input.")]
pub struct Plan {
    /// The plan file (docs/plan.md).
    pub file: PathBuf,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// Also answer the question with something changed, side by side; may be repeated.
    #[arg(long = "what-if", value_name = "KEY=VALUE")]
    pub what_if: Vec<String>,
    /// Draw cost against throughput: `.svg` or `.png`.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub plot: Option<PathBuf>,
    /// Write a one-page summary as Markdown.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub markdown: Option<PathBuf>,
    /// The first seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of seeds for each verification, instead of the file's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub seeds: Option<u32>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
}

/// A problem with its answers.
#[derive(Clone, Debug)]
pub struct Solved {
    /// What was changed; none in the plan as it is written.
    pub what_if: Option<String>,
    /// What was asked.
    pub problem: Problem,
    /// By group.
    pub answers: Vec<Answered>,
    /// Of a fleet: what is said of all its clusters.
    pub fleet: Option<Fleet>,
}

impl Solved {
    /// Whether each group has a pool that does what was asked.
    pub fn is_answered(&self) -> bool {
        self.answers.iter().all(|a| a.best().is_some_and(|b| b.edge.rate_per_s > 0.0))
    }
}

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
    /// The rows of all.
    pub rows: Vec<Row>,
}

/// The text of the page that `--html` writes.
pub fn page_of(answers: &Answers, command: String) -> String {
    let page = page::page(&answers.plan, &answers.what_ifs, &answers.rows);
    let mut rows = answers.rows.clone();
    rows.retain(|r| r.metric != rows::FRONTIER);
    orrery_output::whole_page(page, &answers.text(), &rows, command)
}

/// The plan and its what-ifs, a row for each group, with the names of the columns.
pub fn side_by_side(answers: &Answers) -> (Vec<&'static str>, Vec<Vec<String>>) {
    report::what_if_rows(&answers.plan, &answers.what_ifs)
}

/// Answers one plan: as it is written with its frontier, as `--plot` draws it; or one what-if, made already.
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
    solve_problem(problem, Some(text), false).map_err(|e| what_if::about(text, e))
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
        Ok(Answers { plan: all.remove(0), what_ifs, rows })
    }

    /// The report for people.
    pub fn text(&self) -> String {
        report::text(&self.plan, &self.what_ifs)
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
    let mut all = vec![solve_problem(base, None, frontier)?];
    for (text, problem) in of_what_ifs {
        let solved = solve_problem(problem, Some(&text), false);
        all.push(solved.map_err(|e| what_if::about(&text, e))?);
    }
    let what_ifs = all.split_off(1);
    Answers::of(all.remove(0), what_ifs)
}

/// `orrery plan`.
///
/// # Errors
/// When the plan or a what-if is wrong, or a file cannot be written.
pub fn command(args: &Plan) -> Result<Answer, SpecError> {
    let (mut plan, source) = PlanFile::load(&args.file)?;
    args.output.check()?;
    args.plot.as_deref().map_or(Ok(()), orrery_output::figure::check_name)?;
    for (option, path) in [("--plot", &args.plot), ("--markdown", &args.markdown)] {
        path.as_deref().map_or(Ok(()), |path| check_place(option, path))?;
    }
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.seeds = args.seeds.unwrap_or(plan.seeds);
    let frontier = args.plot.is_some() || args.output.html.is_some();
    let pool = orrery_output::threads::pool(args.jobs.unwrap_or(0).into())?;
    let all = pool.install(|| answers(&plan, &source, &args.what_if, frontier))?;
    let Answers { plan: first, what_ifs, mut rows } = all;
    let name = first.problem.plan.name().to_string();
    // A page has the frontier in its figure only: it changes no row.
    rows.retain(|r| args.plot.is_some() || r.metric != rows::FRONTIER);
    if let Some(path) = &args.plot {
        figure::draw(&first, path)?;
    }
    if let Some(path) = &args.markdown {
        write_atomically(path, markdown::summary(&first, &what_ifs).as_bytes())?;
    }
    if let Some(folder) = &args.output.out {
        write_atomically(
            &folder.join(format!("{name}.md")),
            markdown::summary(&first, &what_ifs).as_bytes(),
        )?;
        for (group, answer) in first.problem.groups.iter().zip(&first.answers) {
            let Some(best) = answer.best() else { continue };
            let text = group.scenario_text(&first.problem, &best.counts, &best.policy)?;
            let file = format!("{name}.{}.scenario.toml", group.name.replace('#', "-"));
            write_atomically(&folder.join(file), text.as_bytes())?;
        }
    }
    let forms = Forms {
        table: report::text(&first, &what_ifs),
        wide: wide(&rows),
        json: to_json(&rows, &[("plan", name.clone().into())]),
        page: args.output.html.as_ref().map(|_| page::page(&first, &what_ifs, &rows)),
        rows,
    };
    let answer = forms.answer(&name, &args.output)?;
    Ok(Answer { failed: !first.is_answered(), ..answer })
}
