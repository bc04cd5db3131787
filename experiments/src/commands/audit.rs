//! `orrery audit`: a schedule log against the rules of the world.

use clap::Args;
use orrery_papers::output::{Answer, log_file};
use orrery_scenario::SpecError;
use orrery_sim::audit::Auditor;
use orrery_sim::log::read_log;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

/// `orrery audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// A log written by `orrery run --log`.
    pub log: PathBuf,
    /// The log is from a replay on a wall clock, where the controller sees a request slightly after it
    /// arrives.
    #[arg(long)]
    pub wall_clock: bool,
}

/// `orrery audit`.
///
/// # Errors
/// When the log cannot be read.
pub fn command(args: &Audit) -> Result<Answer, SpecError> {
    let Audit { log, wall_clock } = args;
    log_file::check_kind(log)?;
    let name = log.display().to_string();
    let file = File::open(log).map_err(|source| SpecError::Read { file: name.clone(), source })?;
    let auditor = if *wall_clock { Auditor::on_a_wall_clock() } else { Auditor::default() };
    let report = auditor.read(read_log(BufReader::new(file), &name))?;
    let failed = !report.is_clean();
    Ok(Answer { stdout: format!("{report}\n"), failed, ..Answer::default() })
}
