//! What the subcommands do.

use crate::cli::{Answer, Format, Output, Reproduce, Run, Trace, write_atomically};
use crate::paper;
use crate::report::Report;
use crate::run_report::{PolicyResult, RunReport};
use crate::runs::{self, Progress};
use crate::sensitivity::Sensitivity;
use crate::table_file::TableFile;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::audit::audit_log;
use orrery_sim::log::{LogWriter, read_log};
use orrery_traces::inspect::{inspect, inspect_with};
use orrery_traces::shipped::{shipped, shipped_names};
use orrery_traces::workload_file::record;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal};
use std::path::Path;

/// Progress as a bar on stderr, if that is a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new(simulations: u64) -> Bar {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(simulations), target);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} simulations, {eta} left");
        Bar(style.map_or(bar.clone(), |s| bar.with_style(s)))
    }
}

impl Progress for Bar {
    fn step(&self) {
        self.0.inc(1);
    }
}

impl std::ops::Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A result in its three forms.
struct Forms {
    table: String,
    csv: String,
    json: String,
}

impl Forms {
    /// Writes all forms into `--out` and picks the one for stdout.
    fn answer(self, id: &str, output: &Output) -> Result<Answer, SpecError> {
        if let Some(folder) = &output.out {
            for (ending, text) in [("txt", &self.table), ("csv", &self.csv), ("json", &self.json)] {
                write_atomically(&folder.join(format!("{id}.{ending}")), text.as_bytes())?;
            }
            #[cfg(feature = "parquet")]
            crate::parquet::table_from_csv(&self.csv, &folder.join(format!("{id}.parquet")))?;
        }
        Ok(Answer::of(match output.format {
            Format::Table => self.table,
            Format::Csv => self.csv,
            Format::Json => self.json,
        }))
    }
}

/// `orrery reproduce`.
///
/// # Errors
/// When the table or one of its parts does not exist, or `--out` cannot be written.
pub fn reproduce(args: &Reproduce) -> Result<Answer, SpecError> {
    let mut table = TableFile::load(&args.id)?;
    if let Some(seeds) = args.seeds {
        table.seeds = seeds;
    }
    if !args.cases.is_empty() {
        table.cases.names.clone_from(&args.cases);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.jobs.unwrap_or(0).into()).build();
    let pool = pool.map_err(|e| {
        SpecError::value("--jobs", e, "threads that can be started", "ask for fewer")
    })?;
    let paper = paper::orloj_finish_rates()?;
    let forms = pool.install(|| -> Result<Forms, SpecError> {
        if table.vary.is_empty() {
            let n = table.cases.names.len() * table.slo_x_p99.len() * table.system.len();
            let results = runs::run(&table, &Bar::new(n as u64 * u64::from(table.seeds)))?;
            let report = Report::new(&table, &results, &paper);
            Ok(Forms { table: report.text(), csv: report.csv(), json: report.json() })
        } else {
            let bar = Bar::new(Sensitivity::simulations(&table));
            let s = Sensitivity::run(&table, &paper, &bar)?;
            Ok(Forms { table: s.text(), csv: s.csv(), json: s.json() })
        }
    })?;
    forms.answer(&table.id, &args.output)
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
    out.push_str("\nseconds: measured on 2 cores (docs/performance.md)\n");
    Ok(Answer::of(out))
}

/// `orrery run`.
///
/// # Errors
/// When the scenario is wrong, a file cannot be read or the log cannot be written.
pub fn run(args: &Run) -> Result<Answer, SpecError> {
    let scenario = Scenario::load(&args.scenario)?;
    let seed = args.seed.unwrap_or(scenario.seed);
    let policies = if args.policies.is_empty() {
        scenario.policies()?
    } else {
        args.policies.iter().map(|p| PolicySpec::parse(p)).collect::<Result<_, _>>()?
    };
    if args.log.is_some() && policies.len() != 1 {
        let remedy = "name the one to log with `--policy`";
        return Err(SpecError::value(
            "--log",
            format!("{} policies", policies.len()),
            "one policy",
            remedy,
        ));
    }
    let setup = scenario.setup(seed)?;
    let mut results = Vec::new();
    for policy in &policies {
        let metrics = match &args.log {
            None => setup.run(policy, seed)?,
            Some(path) => {
                let writable = |e: std::io::Error| {
                    SpecError::value(
                        "--log",
                        format!("{}: {e}", path.display()),
                        "a file that can be written",
                        "choose another path",
                    )
                };
                let log = LogWriter::new(BufWriter::new(File::create(path).map_err(writable)?));
                let (metrics, log) = setup.run_with(policy, seed, log)?.observer;
                let mut file = log.finish().map_err(writable)?;
                std::io::Write::flush(&mut file).map_err(writable)?;
                metrics
            }
        };
        results
            .push(PolicyResult { name: policy.build(&setup.profiles(seed), seed).name(), metrics });
    }
    let report = RunReport::new(&scenario, seed, &results);
    let forms = Forms { table: report.text(), csv: report.csv(), json: report.json() };
    forms.answer(&scenario.name, &args.output)
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
                let writable = |e: std::io::Error| {
                    SpecError::value(
                        "--out",
                        format!("{}: {e}", out.display()),
                        "a file that can be written",
                        "choose another path",
                    )
                };
                let file = BufWriter::new(File::create(out).map_err(writable)?);
                record(source.as_mut(), file, &out.display().to_string())?
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
pub fn audit(log: &Path) -> Result<Answer, SpecError> {
    let name = log.display().to_string();
    let file = File::open(log).map_err(|source| SpecError::Read { file: name.clone(), source })?;
    let report = audit_log(read_log(BufReader::new(file), &name))?;
    Ok(Answer { stdout: format!("{report}\n"), failed: !report.is_clean() })
}
