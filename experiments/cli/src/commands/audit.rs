//! `orrery log audit`: a schedule log against the rules of the world.

use clap::Args;
use orrery_report::{Answer, log_file};
use orrery_run::SpecError;
use orrery_sim::audit::Auditor;
use orrery_sim::jobs;
use orrery_sim::jobs::record::JobObserver;
use orrery_sim::log::read_log;
use orrery_sim::tokens;
use orrery_sim::tokens::log::ReadLog;
use orrery_sim::tokens::record::TokenObserver;
use std::fmt;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// `orrery log audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// A log written by `orrery run --log`.
    pub log: PathBuf,
    /// The log is from a replay on a wall clock, where the controller sees a request slightly after it
    /// arrives.
    #[arg(long)]
    pub wall_clock: bool,
}

/// `orrery log audit`.
///
/// # Errors
/// When the log cannot be read.
pub fn command(args: &Audit) -> Result<Answer, SpecError> {
    let Audit { log, wall_clock } = args;
    if log_file::begins_with(log, jobs::log::HEADER) {
        return of_jobs(log);
    }
    if let Some(read) = log_file::of_tokens(log)? {
        return Ok(of_tokens(read));
    }
    log_file::check_kind(log)?;
    let (file, name) = log_file::opened(log)?;
    let auditor = if *wall_clock { Auditor::on_a_wall_clock() } else { Auditor::default() };
    let report = auditor.read(read_log(BufReader::new(file), &name))?;
    Ok(answer(&report, report.is_clean()))
}

fn of_jobs(log: &Path) -> Result<Answer, SpecError> {
    let (file, name) = log_file::opened(log)?;
    let (terms, records) = jobs::log::read_log(file, &name)?;
    let mut auditor = jobs::audit::Auditor::new(terms);
    for (now, record, line) in records {
        auditor.at_line(line);
        auditor.record(now, &record);
    }
    let report = auditor.finish();
    Ok(answer(&report, report.is_clean()))
}

fn of_tokens((terms, records): ReadLog) -> Answer {
    let mut auditor = tokens::audit::Auditor::new(terms);
    for (now, record, line) in records {
        auditor.at_line(line);
        auditor.record(now, &record);
    }
    let report = auditor.finish();
    answer(&report, report.is_clean())
}

fn answer(report: &dyn fmt::Display, is_clean: bool) -> Answer {
    Answer { failed: !is_clean, ..Answer::text(&format!("{report}\n")) }
}
