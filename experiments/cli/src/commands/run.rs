//! `orrery run`: a scenario, or a file of jobs or tokens, and the metrics of its policies.

mod args;
mod own;
#[cfg(all(test, feature = "polars"))]
mod tests;

pub use args::Run;

use orrery_report::threads::pool;
use orrery_report::whole_file::check_place;
use orrery_report::{Answer, Format, Forms};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::jobs::JobsFile;
use orrery_scenario::kind;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::tokens::TokensFile;
use orrery_serve::report;
use orrery_sweep::details;
use orrery_sweep::logged;
use orrery_sweep::notes::notes_of_run;
use orrery_sweep::replication::Replication;
use orrery_sweep::run_report::of_run;
use orrery_sweep::scenario_cell::Subject;
use orrery_sweep::scenario_rows::rows_of_scenario;
use orrery_sweep::seeds::Seeds;
use std::path::Path;

/// `orrery run`.
///
/// # Errors
/// When the scenario is wrong, a file cannot be read or the log cannot be written.
pub fn command(args: &Run) -> Result<Answer, SpecError> {
    if kind::is_of(kind::JOBS, &args.scenario) {
        return own::command::<JobsFile>(args);
    }
    if kind::is_of(kind::TOKENS, &args.scenario) {
        return own::command::<TokensFile>(args);
    }
    args.policies.iter().try_for_each(|p| PolicySpec::parse(p).map(drop))?;
    // Changes are of these policies too.
    let scenario = Scenario::load(&args.scenario)?.with_policies(&args.policies)?;
    let scenario = scenario.with(args.set.changes()?)?;
    args.output.check(&scenario.name)?;
    let first = args.seed.unwrap_or(scenario.seed);
    let policies = scenario.policies()?;
    if args.log.is_some() && policies.len() != 1 {
        let (found, remedy) =
            (format!("{} policies", policies.len()), "name the one to log with `--policy`");
        return Err(SpecError::value("--log", found, "one policy", remedy));
    }
    let folder = args.output.out.as_ref().filter(|_| args.details);
    if args.details && args.output.out.is_none() && args.output.format != Format::Table {
        let allowed = "a table, or `--out`: other forms have all that was measured";
        let remedy = "remove `--details`, or `--format`";
        return Err(SpecError::value("--details", "with another `--format`", allowed, remedy));
    }
    if folder.is_some() && !args.set.is_empty() {
        let allowed = "`--out` without it: time series have no column for what is set";
        let remedy = "remove `--set`, or `--out`";
        return Err(SpecError::value("--details", "with `--set` and `--out`", allowed, remedy));
    }
    let seeds = Seeds { first, count: args.seeds, until_ci: args.until.pair(args.seeds)? };
    let logged = match &args.log {
        Some(path) => Some(log_first_seed(&scenario, &policies[0], first, path, args.why)?),
        None => None,
    };
    let pool = pool(args.jobs.unwrap_or(0).into())?;
    let mut rows = pool
        .install(|| rows_of_scenario(&scenario, &policies, seeds, logged.as_ref(), args.bound))?;
    args.set.tell(&mut rows);
    if let Some(folder) = folder {
        details::write(&scenario, &policies, first, folder)?;
    }
    let page = match args.output.html {
        Some(_) => Some(report::page(&scenario, &policies, first, &rows)?),
        None => None,
    };
    let forms = Forms {
        table: of_run(&scenario, &rows, args.details).to_text(),
        more: vec![
            ("scenario", scenario.name.clone().into()),
            ("notes", notes_of_run(&scenario, &rows).into()),
        ],
        page,
        rows,
    };
    forms.answer(&scenario.name, &args.output)
}

/// Logs the run of the first seed, and measures it.
fn log_first_seed(
    scenario: &Scenario,
    policy: &PolicySpec,
    seed: u64,
    path: &Path,
    why: bool,
) -> Result<Replication, SpecError> {
    check_place("--log", path)?;
    let names = logged::names(scenario, policy.text().to_string());
    let setup = scenario.setup(seed)?;
    let metrics = logged::run_logged(&setup, policy, seed, &names, path, why)?;
    Ok(Replication::of(seed, &metrics, &scenario.scope_names()))
}
