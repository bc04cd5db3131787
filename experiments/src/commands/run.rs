//! What the subcommands do.

use crate::cell::{Seeds, difference, rows};
use crate::cli::{Answer, Run, Trace};
use crate::log_file;
use crate::output::{Forms, Progress};
use crate::over_time::OverTime;
use crate::paper;
use crate::report::Report;
use crate::run_report;
use crate::runs;
use crate::scenario_cell::{ScenarioCell, inputs_sha256};
use crate::sensitivity::Sensitivity;
use crate::study::Study;
use crate::table_file::TableFile;
use crate::whole_file::{Unfinished, unwritable};
use orrery_results::{Row, to_json};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::audit::Auditor;
use orrery_sim::log::read_log;
use orrery_traces::inspect::{inspect, inspect_with};
use orrery_traces::shipped::{shipped, shipped_names};
use orrery_traces::workload_file::record;
use rayon::prelude::*;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// Runs a table and formats it.
///
/// # Errors
/// When a part of the table does not exist, or a run cannot be made.
pub fn forms_of_table(table: &TableFile, until_ci: Option<(f64, u32)>) -> Result<Forms, SpecError> {
    let paper = paper::orloj_finish_rates()?;
    if table.vary.is_empty() {
        let n = table.cases.names.len() * table.slo_x_p99.len() * table.system.len();
        let progress = Progress::new(n as u64, "cells");
        let results = runs::run_until(table, until_ci, &progress)?;
        let report = Report::new(table, &results, &paper);
        let (text, wide, json) = (report.text(), report.csv(), report.json());
        Ok(Forms { table: text, wide, json, rows: report.rows() })
    } else {
        let progress = Progress::new(Sensitivity::cells(table), "cells");
        let s = Sensitivity::run(table, &paper, &progress)?;
        Ok(Forms { table: s.text(), wide: s.csv(), json: s.json(), rows: s.rows() })
    }
}

/// `orrery list`.
///
/// # Errors
/// When a shipped file is damaged.
pub fn list() -> Result<Answer, SpecError> {
    let mut out = format!("{:28} {:>7}  {}\n", "id", "seconds", "what, and from where");
    for id in TableFile::ids() {
        let t = TableFile::load(id)?;
        let _ =
            writeln!(out, "{:28} {:>7}  {}\n{:38}{}", t.id, t.expected_s, t.title, "", t.source);
    }
    for s in Study::shipped()? {
        let _ =
            writeln!(out, "{:28} {:>7}  {}\n{:38}{}", s.id, s.expected_s, s.title, "", s.source);
    }
    let f = OverTime::shipped()?;
    let _ = writeln!(out, "{:28} {:>7}  {}\n{:38}{}", f.id, f.expected_s, f.title, "", f.source);
    for f in crate::partition::Figure::shipped()? {
        let _ =
            writeln!(out, "{:28} {:>7}  {}\n{:38}{}", f.id, f.expected_s, f.title, "", f.source);
    }
    for f in crate::pools::Figure::shipped()? {
        let _ =
            writeln!(out, "{:28} {:>7}  {}\n{:38}{}", f.id, f.expected_s, f.title, "", f.source);
    }
    out.push_str("\nseconds: about, on 2 cores (docs/performance.md)\n\n");
    out.push_str(&crate::zoos::all());
    Ok(Answer::of(out))
}

/// `orrery run`.
///
/// # Errors
/// When the scenario is wrong, a file cannot be read or the log cannot be written.
pub fn run(args: &Run) -> Result<Answer, SpecError> {
    let scenario = Scenario::load(&args.scenario)?;
    args.output.check()?;
    let first = args.seed.unwrap_or(scenario.seed);
    let policies = if args.policies.is_empty() {
        scenario.policies()?
    } else {
        args.policies.iter().map(|p| PolicySpec::parse(p)).collect::<Result<_, _>>()?
    };
    if args.log.is_some() && policies.len() != 1 {
        let (found, remedy) =
            (format!("{} policies", policies.len()), "name the one to log with `--policy`");
        return Err(SpecError::value("--log", found, "one policy", remedy));
    }
    let seeds = Seeds { first, count: args.seeds, until_ci: args.until.pair(args.seeds)? };
    if let Some(path) = &args.log {
        log_first_seed(&scenario, &policies[0], first, path, args.why)?;
    }
    let pool = pool(args.jobs.unwrap_or(0).into())?;
    let rows = pool.install(|| rows_of_scenario(&scenario, &policies, seeds))?;
    if let (true, Some(folder)) = (args.details, &args.output.out) {
        crate::details::write(&scenario, &policies, first, folder)?;
    }
    let title = format!("scenario {}, seed {first}", scenario.name);
    let forms = Forms {
        table: run_report::text(&title, &rows, scenario.file.autoscale.is_none()),
        wide: orrery_results::wide(&rows),
        json: to_json(&rows, &[("scenario", scenario.name.clone().into())]),
        rows,
    };
    forms.answer(&scenario.name, &args.output)
}

/// The rows of a scenario's policies; each after the first is compared with the first.
///
/// # Errors
/// When a run cannot be made.
pub fn rows_of_scenario(
    scenario: &Scenario,
    policies: &[PolicySpec],
    seeds: Seeds,
) -> Result<Vec<Row>, SpecError> {
    scenario.setup(seeds.first)?;
    let inputs = inputs_sha256(scenario)?;
    let cell = |policy: &PolicySpec| ScenarioCell {
        scenario: scenario.clone(),
        axes: String::new(),
        policy: policy.clone(),
        seeds,
        inputs_sha256: inputs.clone(),
        search: None,
    };
    let cells: Vec<ScenarioCell> = policies.iter().map(cell).collect();
    let progress = Progress::new(cells.len() as u64, "policies");
    let run = |c: &ScenarioCell| {
        let runs = c.run();
        progress.step();
        runs
    };
    let runs: Vec<_> = cells.par_iter().map(run).collect::<Result<_, _>>()?;
    let mut out = Vec::new();
    for (i, (cell, own)) in cells.iter().zip(&runs).enumerate() {
        let place = cell.place(&scenario.name);
        out.extend(rows(&place, &seeds, own));
        if i > 0 {
            out.extend(difference(&place, policies[0].text(), own, &runs[0]));
        }
    }
    Ok(out)
}

fn log_first_seed(
    scenario: &Scenario,
    policy: &PolicySpec,
    seed: u64,
    path: &Path,
    why: bool,
) -> Result<(), SpecError> {
    let names = log_file::names(scenario, policy.text().to_string());
    log_file::run_logged(&scenario.setup(seed)?, policy, seed, &names, path, why, ())?;
    Ok(())
}

/// `orrery trace`.
///
/// # Errors
/// When a file cannot be read, is damaged, or cannot be written.
pub fn trace(command: &Trace) -> Result<Answer, SpecError> {
    match command {
        Trace::List => {
            let note = |n: &str| if n.starts_with("len-") { "  (sequence lengths)" } else { "" };
            let names: String = shipped_names().map(|n| format!("{n}{}\n", note(n))).collect();
            Ok(Answer::of(names))
        }
        Trace::Inspect { file } => {
            let is_shipped = shipped_names().any(|n| n == file) && !Path::new(file).exists();
            let found = if is_shipped { inspect_with(|| shipped(file))? } else { inspect(file)? };
            Ok(Answer::of(format!("{found}\n")))
        }
        Trace::Record { scenario, out, seed } => {
            let scenario = Scenario::load(scenario)?;
            let seed = seed.unwrap_or(scenario.seed);
            let mut sources = scenario.setup(seed)?.sources(seed)?;
            let [source] = sources.as_mut_slice() else {
                let remedy = "record a scenario with one open source";
                return Err(SpecError::value(
                    "scenario",
                    format!("{} sources", sources.len()),
                    "one source",
                    remedy,
                ));
            };
            if source.is_closed_loop() {
                let remedy =
                    "closed-loop clients react to replies: they are regenerated, not replayed";
                return Err(SpecError::value(
                    "scenario",
                    "a closed loop",
                    "an open source",
                    remedy,
                ));
            }
            let rows = if out.extension().is_some_and(|e| e == "parquet") {
                record_parquet(source.as_mut(), out)?
            } else {
                let unwritable = |e: std::io::Error| unwritable("--out", out, &e);
                let unfinished = Unfinished::beside(out).map_err(unwritable)?;
                let file = BufWriter::new(File::create(unfinished.path()).map_err(unwritable)?);
                let rows = record(source.as_mut(), file, &out.display().to_string())?;
                unfinished.rename(out).map_err(unwritable)?;
                rows
            };
            Ok(Answer::of(format!("{rows} requests in {}\n", out.display())))
        }
    }
}

#[cfg(feature = "parquet")]
fn record_parquet(
    source: &mut dyn orrery_sim::request::Source,
    out: &Path,
) -> Result<u64, SpecError> {
    crate::parquet::record(source, out)
}

#[cfg(not(feature = "parquet"))]
fn record_parquet(_: &mut dyn orrery_sim::request::Source, out: &Path) -> Result<u64, SpecError> {
    let remedy = "write `.csv`, or build with `--features parquet`";
    Err(SpecError::value("--out", out.display(), "a `.csv` file in this build", remedy))
}

/// `orrery audit`.
///
/// # Errors
/// When the log cannot be read.
pub fn audit(log: &Path, wall_clock: bool) -> Result<Answer, SpecError> {
    log_file::check_kind(log)?;
    let name = log.display().to_string();
    let file = File::open(log).map_err(|source| SpecError::Read { file: name.clone(), source })?;
    let auditor = if wall_clock { Auditor::on_a_wall_clock() } else { Auditor::default() };
    let report = auditor.read(read_log(BufReader::new(file), &name))?;
    let failed = !report.is_clean();
    Ok(Answer { stdout: format!("{report}\n"), failed, ..Answer::default() })
}
