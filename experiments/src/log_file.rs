//! A run with its schedule log in a file: whole, or not there at all.

use orrery_scenario::scenario::Scenario;
use orrery_scenario::setup::Run;
use orrery_scenario::{PolicySpec, Setup, SpecError};
use orrery_sim::driver::Finished;
use orrery_sim::log::{LogReader, LogWriter, Names, read_log};
use orrery_sim::observer::Observer;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Opens a text log.
///
/// # Errors
/// When the file cannot be opened.
pub fn open(path: &Path) -> Result<LogReader<File>, SpecError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| SpecError::Read { file: name.clone(), source })?;
    Ok(read_log(file, &name))
}

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

/// Runs a policy and writes its log to `path`: text, or Parquet when the path ends in `.parquet`.
/// With `why` the policy's reasons are in it. The log is written under another name and renamed at
/// the end, so that what is at `path` is always whole. `extra` watches the run too.
///
/// # Errors
/// As [`Setup::run_with`], and when the file cannot be written.
pub fn run_logged<O: Observer>(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    names: &Names,
    path: &Path,
    why: bool,
    extra: O,
) -> Result<Run<O>, SpecError> {
    let is_parquet = path.extension().is_some_and(|e| e == "parquet");
    if is_parquet && !cfg!(feature = "parquet") {
        let remedy = "write a text log, or build with `--features parquet`";
        return Err(SpecError::value("--log", path.display(), "a text log in this build", remedy));
    }
    let text = Unfinished::beside(path);
    let file = File::create(&text.0).map_err(|e| unwritable(path, &e))?;
    let log = LogWriter::with_names(file, names).ask_for_reasons(why);
    let Finished { policy, observer: (metrics, (log, extra)), end, events, failure } =
        setup.run_with(policy, seed, (log, extra))?;
    log.finish().map_err(|e| unwritable(path, &e))?;
    if is_parquet {
        convert(&text.0, path)?;
    } else {
        text.rename(path).map_err(|e| unwritable(path, &e))?;
    }
    Ok(Finished { policy, observer: (metrics, extra), end, events, failure })
}

#[cfg(feature = "parquet")]
fn convert(text: &Path, path: &Path) -> Result<(), SpecError> {
    crate::parquet::log_to_parquet(text, path)
}

#[cfg(not(feature = "parquet"))]
fn convert(_: &Path, _: &Path) -> Result<(), SpecError> {
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> SpecError {
    SpecError::value(
        "--log",
        format!("{}: {error}", path.display()),
        "a file that can be written",
        "choose another path",
    )
}

/// A file that is being written under another name; removed unless it is renamed.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// A name in the same folder, so that renaming is one step; this process's own, because another
    /// one may write a file of the same name.
    pub fn beside(path: &Path) -> Unfinished {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Unfinished(path.with_file_name(format!(".{name}.{}.tmp", std::process::id())))
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn rename(mut self, path: &Path) -> io::Result<()> {
        std::fs::rename(&self.0, path)?;
        self.0 = PathBuf::new();
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // It may never have been made; there is nobody left to tell.
            let _ = std::fs::remove_file(&self.0);
        }
    }
}
