//! A plan asked in one line: the options, and the plan file that they are written into.

use crate::commands::names::POLICIES;
use clap::{ArgGroup, Args};
use orrery_calibrate::named_from;
use orrery_plan::{Line, PlanFile, Source};
use orrery_report::say;
use orrery_report::whole_file::{check_place, write_atomically};
use orrery_run::SpecError;
use orrery_traces::{Input, MeasuredLatencies};
use std::path::{Path, PathBuf};

/// The options in place of a plan file.
#[derive(Debug, Args)]
#[command(next_help_heading = "In place of a plan file")]
#[command(group = ArgGroup::new("asked").args(["models", "profile"]).multiple(true))]
pub struct LineArgs {
    /// A model of the zoo `nvidia`, by its name or the beginning of it; may be repeated. With `--profile` a model of
    /// that file, by its name.
    #[arg(long = "model", value_name = "NAME", requires_all = ["rate", "slo"])]
    pub models: Vec<String>,
    /// Measured latencies in place of a zoo's: what `latency = { profile = ... }` of a scenario reads.
    #[arg(long, value_name = "FILE", requires_all = ["rate", "slo", "kinds"])]
    pub profile: Option<PathBuf>,
    /// The load of all models together, in requests/s.
    #[arg(long, value_name = "PER_SECOND", requires = "asked")]
    pub rate: Option<f64>,
    /// The SLO of each request, as `100ms`.
    #[arg(long, value_name = "TIME", requires = "asked")]
    pub slo: Option<String>,
    /// GPUs of the zoo, by name or its beginning, with commas between; all that have a price without it. With `--profile`
    /// the machine that was measured, or several of its column `gpu`.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "asked")]
    pub kinds: Vec<String>,
    /// The price of one in dollars per hour, in place of the list `lambda`; may be repeated.
    #[arg(long = "price", value_name = "KIND=USD", requires = "asked")]
    pub prices: Vec<String>,
    /// Machines whose loss the pool tolerates: 0, 1 (any one), or a GPU type of which it may lose one.
    #[arg(long, value_name = "N", requires = "asked")]
    pub survive: Option<String>,
    /// A scheduler, in place of `symphony` and `clockwork`; may be repeated.
    #[arg(long = "policy", value_name = "POLICY", requires = "asked")]
    #[arg(value_parser = POLICIES, hide_possible_values = true)]
    pub policies: Vec<String>,
    /// Where the plan file is written, instead of MODEL-RATE.toml.
    #[arg(long, value_name = "FILE", requires = "asked")]
    pub write: Option<PathBuf>,
}

impl LineArgs {
    /// Writes the plan file, and reads it.
    ///
    /// # Errors
    /// When a word names nothing, or the file cannot be written or is another one.
    pub fn plan(&self) -> Result<(PlanFile, Source), SpecError> {
        let mut line = Line {
            models: self.models.clone(),
            profile: self.profile.as_ref().map(|file| (file.display().to_string(), false)),
            rate_per_s: self.rate.unwrap_or(0.0),
            slo: self.slo.clone().unwrap_or_default(),
            kinds: self.kinds.clone(),
            survive: self.survive.clone(),
            prices: self.prices.clone(),
            policies: self.policies.clone(),
        };
        let names = self.profile.as_deref().map(names).transpose()?;
        if let (Some((models, _)), true) = (&names, line.models.is_empty()) {
            if let [first, _, ..] = models.as_slice() {
                let remedy = format!("name those to plan for, such as `--model {first}`");
                return Err(SpecError::value("--model", "nothing", models.join(", "), remedy));
            }
            line.models.clone_from(models);
        }
        let own = || PathBuf::from(format!("{}.toml", line.name()));
        let path = self.write.clone().unwrap_or_else(own);
        if let (Some(file), Some((_, has_gpus))) = (&self.profile, names) {
            let folder = path.parent().unwrap_or(Path::new(""));
            line.profile = Some((named_from(file, folder), has_gpus));
        }
        let text = line.text()?;
        let read = PlanFile::from_text(&path.display().to_string(), &text)?;
        keep(&path, &text)?;
        say(&format!("the plan file is {}", path.display()));
        Ok(read)
    }
}

/// The models that a table of latencies names, and whether it tells GPUs apart.
fn names(file: &Path) -> Result<(Vec<String>, bool), SpecError> {
    let input = Input::open(file).map_err(|e| {
        let allowed = "a file of latencies by batch size";
        SpecError::value("--profile", e, allowed, "correct the path")
    })?;
    Ok(MeasuredLatencies::names(input)?)
}

/// Writes the plan file, unless it is there already; one that says something else is left alone.
fn keep(path: &Path, text: &str) -> Result<(), SpecError> {
    match std::fs::read_to_string(path) {
        Ok(there) if there == text => Ok(()),
        Ok(_) => {
            let found = format!("{}, which has another plan", path.display());
            let remedy = "name another file with `--write FILE`, or remove this one";
            Err(SpecError::value("--write", found, "a file that is not there yet", remedy))
        }
        Err(_) => {
            check_place("--write", path)?;
            write_atomically(path, text.as_bytes())
        }
    }
}
