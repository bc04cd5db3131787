//! A run with its schedule log in a file: whole, or not there at all.

use orrery_report::whole_file::{Unfinished, unwritable};
use orrery_run::{PolicySpec, Setup, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_sim::driver::ready;
use orrery_sim::log::{LogWriter, Names};
use orrery_sim::metrics::Metrics;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// What a scenario calls its models, applications and devices; `policy` is the policy's name with
/// its parameters.
pub fn names(scenario: &Scenario, policy: String) -> Names {
    Names {
        models: scenario.model_names(),
        apps: scenario.app_names(),
        devices: scenario.device_names(),
        policy,
    }
}

/// Runs a policy and writes its log to `path`. With `why` the policy's reasons are in it. The log is written under another name and renamed at
/// the end, so that what is at `path` is always whole. The same run is measured.
///
/// # Errors
/// As [`Setup::run_with`], and when the file cannot be written.
pub fn run_logged(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    names: &Names,
    path: &Path,
    why: bool,
) -> Result<Metrics, SpecError> {
    if path.extension().is_some_and(|ending| ending == "parquet") {
        let remedy =
            "give it another ending; `orrery log timeline --format csv` has its batches as a table";
        return Err(SpecError::value("--log", path.display(), "a file of text", remedy));
    }
    let unwritable = |e: io::Error| unwritable("--log", path, &e);
    let text = Unfinished::beside(path).map_err(unwritable)?;
    let file = File::create(text.path()).map_err(unwritable)?;
    let log = LogWriter::with_names(Box::new(file) as Box<dyn Write>, names).ask_for_reasons(why);
    let (measured, written) = run_with_log(setup, policy, seed, log)?;
    written.map_err(unwritable)?;
    text.rename(path).map_err(unwritable)?;
    Ok(measured)
}

/// Runs a policy with a text log that goes wherever the writer goes: the same run is measured. Beside it, whether all of
/// the log was written.
///
/// # Errors
/// As [`Setup::run_with`].
pub fn run_with_log(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    log: LogWriter<Box<dyn Write>>,
) -> Result<(Metrics, io::Result<()>), SpecError> {
    let log = log.with_terms(&setup.terms());
    let (metrics, log) = setup.run_by(policy, seed, log, ready::logged)?.observer;
    Ok((metrics, log.finish().map(drop)))
}
