//! A plan asked in one line: the options, and the plan file that they are written into.

use crate::commands::names::POLICIES;
use clap::Args;
use orrery_plan::{Line, PlanFile, Source};
use orrery_report::say;
use orrery_report::whole_file::{check_place, write_atomically};
use orrery_scenario::SpecError;
use std::path::{Path, PathBuf};

/// The options in place of a plan file.
#[derive(Debug, Args)]
#[command(next_help_heading = "In place of a plan file")]
pub struct LineArgs {
    /// A model of the zoo `nvidia`, by its name or the beginning of it; may be repeated.
    #[arg(long = "model", value_name = "NAME", requires_all = ["rate", "slo"])]
    pub models: Vec<String>,
    /// The load of all models together, in requests/s.
    #[arg(long, value_name = "PER_SECOND", requires = "models")]
    pub rate: Option<f64>,
    /// The SLO of each request, as `100ms`.
    #[arg(long, value_name = "TIME", requires = "models")]
    pub slo: Option<String>,
    /// GPUs of the zoo, by name or its beginning, with commas between; all that have a price without it.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "models")]
    pub kinds: Vec<String>,
    /// The price of one in dollars per hour, in place of the list `lambda`; may be repeated.
    #[arg(long = "price", value_name = "KIND=USD", requires = "models")]
    pub prices: Vec<String>,
    /// Machines whose loss the pool tolerates: 0, 1 (any one), or a GPU type of which it may lose one.
    #[arg(long, value_name = "N", requires = "models")]
    pub survive: Option<String>,
    /// A scheduler, in place of `symphony` and `clockwork`; may be repeated.
    #[arg(long = "policy", value_name = "POLICY", requires = "models")]
    #[arg(value_parser = POLICIES, hide_possible_values = true)]
    pub policies: Vec<String>,
    /// Where the plan file is written, instead of MODEL-RATE.toml.
    #[arg(long, value_name = "FILE", requires = "models")]
    pub write: Option<PathBuf>,
}

impl LineArgs {
    /// Writes the plan file, and reads it.
    ///
    /// # Errors
    /// When a word names nothing, or the file cannot be written or is another one.
    pub fn plan(&self) -> Result<(PlanFile, Source), SpecError> {
        let line = Line {
            models: self.models.clone(),
            rate_per_s: self.rate.unwrap_or(0.0),
            slo: self.slo.clone().unwrap_or_default(),
            kinds: self.kinds.clone(),
            survive: self.survive.clone(),
            prices: self.prices.clone(),
            policies: self.policies.clone(),
        };
        let text = line.text()?;
        let own = || PathBuf::from(format!("{}.toml", line.name()));
        let path = self.write.clone().unwrap_or_else(own);
        let read = PlanFile::from_text(&path.display().to_string(), &text)?;
        keep(&path, &text)?;
        say(&format!("the plan file is {}", path.display()));
        Ok(read)
    }
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
