//! `orrery trace`: what is in a trace; a scenario's workload, written down.

use clap::Subcommand;
use orrery_import::{self as import, File};
use orrery_report::Answer;
use orrery_report::whole_file::{Unfinished, check_place, unwritable};
use orrery_run::SpecError;
use orrery_scenario::scenario::Scenario;
use orrery_traces::inspect::{format_of, inspect_with};
use orrery_traces::shipped::{shipped, shipped_names};
use orrery_traces::workload_file::record;
use orrery_traces::{Input, TraceError};
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// `orrery trace`.
#[derive(Debug, Subcommand)]
pub enum Trace {
    /// Describe a file's kind and contents.
    Inspect {
        /// A file, or the name of a shipped trace.
        file: String,
    },
    /// List the shipped traces, with what is no load.
    List,
    /// Record a scenario's workload in a file, for `workload` arrivals.
    Record {
        /// The scenario file.
        scenario: PathBuf,
        /// The file to write: `.csv`.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The seed, instead of the file's.
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    },
}

/// `orrery trace`.
///
/// # Errors
/// When a file cannot be read, is damaged, or cannot be written.
pub fn command(command: &Trace) -> Result<Answer, SpecError> {
    match command {
        Trace::List => {
            let note = |n: &str| match shipped(n).and_then(format_of) {
                Ok(format) if format.arrivals().is_some() => "",
                Ok(_) => "  (an example of the format: no arrival process reads it)",
                Err(_) if n.starts_with("step-") => "  (kernels of a step, for `[tokens]`)",
                Err(_) => "  (sequence lengths)",
            };
            let names: String = shipped_names().map(|n| format!("{n}{}\n", note(n))).collect();
            Ok(Answer::text(&names))
        }
        Trace::Inspect { file } => {
            let is_shipped = shipped_names().any(|n| n == file) && !Path::new(file).exists();
            let open = || if is_shipped { shipped(file) } else { Input::open(file) };
            let other = File::new(file, &open);
            let found = match open().and_then(format_of) {
                Ok(_) => inspect_with(open)?,
                Err(TraceError::Format { .. }) => import::inspect(&other)?,
                Err(error) => match import::recognise(&other) {
                    Ok(Some(_)) => import::inspect(&other)?,
                    _ => return Err(error.into()),
                },
            };
            Ok(Answer::text(&format!("{found}\n")))
        }
        Trace::Record { scenario, out, seed } => {
            if out.extension().is_none_or(|ending| ending != "csv") {
                let (allowed, remedy) = ("a name that ends in .csv", "change the file's ending");
                return Err(SpecError::value("--out", out.display(), allowed, remedy));
            }
            check_place("--out", out)?;
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
            let unwritable = |e: std::io::Error| unwritable("--out", out, &e);
            let unfinished = Unfinished::beside(out).map_err(unwritable)?;
            let file = BufWriter::new(fs::File::create(unfinished.path()).map_err(unwritable)?);
            let rows = record(source.as_mut(), file, &out.display().to_string())?;
            unfinished.rename(out).map_err(unwritable)?;
            Ok(Answer::of(format!("{rows} requests in {}\n", out.display())))
        }
    }
}
