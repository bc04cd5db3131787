//! `orrery-replay retrace`.

use super::shared::Answer;
use crate::compare::Side;
use crate::error::Error;
use crate::folder::sha256;
use crate::prediction::{ModeName, Prediction};
use crate::profile::ProfileFile;
use crate::record::{RUN_FORMAT, RunRecord};
use crate::retrace::{read_inputs, retrace};
use clap::Args;
use orrery_run::PolicySpec;
use orrery_scenario::{Scenario, read_text};
use std::path::{Path, PathBuf};

/// `orrery-replay retrace`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  orrery-replay retrace scenarios/one-gpu-bert.toml run --profile bert-profile.toml

Exits with 1 where the simulator takes another decision, and prints the first.")]
pub struct Retrace {
    /// The scenario of the run.
    scenario: PathBuf,
    /// The run's folder, in mode `live`.
    run: PathBuf,
    /// The profiles that the run was given.
    #[arg(long, value_name = "FILE")]
    profile: Vec<PathBuf>,
}

impl Retrace {
    pub(super) fn answer(&self) -> Result<Answer, Error> {
        let scenario = Scenario::load(&self.scenario)?;
        let file = self.run.join("run.json");
        let record = self.record(&file, &scenario)?;
        let profiles = self.profile.iter().map(|file| ProfileFile::read(file));
        let profiles = profiles.collect::<Result<Vec<_>, _>>()?;
        let prediction = Prediction::of(&scenario, record.seed, &profiles, record.overhead)?;
        let policy = PolicySpec::parse(&record.policy)?;
        prediction.setup.check_policy(&policy)?;
        let policy = prediction.setup.policy(&policy, record.seed);
        let run = Side::read(&self.run)?;
        let inputs = read_inputs(&self.run.join("inputs.csv"))?;
        let failed = record.failed.is_some();
        let sources = prediction.setup.sources(record.seed)?;
        let retraced = retrace(&prediction.world, sources, policy, &run, &inputs, failed);
        let retraced = retraced.map_err(|failure| prediction.setup.failed(&failure))?;
        Ok(Answer { text: retraced.line(), passed: retraced.difference.is_none() })
    }

    /// The run's record; it must be of this scenario and these profiles.
    fn record(&self, file: &Path, scenario: &Scenario) -> Result<RunRecord, Error> {
        let text = read_text(file)?;
        let again = "run the replay again, with this version";
        let of_format = serde_json::from_str::<serde_json::Value>(&text).ok();
        let format = of_format.as_ref().and_then(|v| v["format"].as_str()).unwrap_or_default();
        if format != RUN_FORMAT {
            return Err(Error::in_file(file, "format", format, RUN_FORMAT, again));
        }
        let record: RunRecord = serde_json::from_str(&text).map_err(|e| {
            Error::in_file(file, format!("line {}", e.line()), e, "a run's record", again)
        })?;
        if record.mode != ModeName::Live {
            let remedy = "such a run says by itself whether it was retraced";
            return Err(Error::in_file(file, "mode", "schedule", "`live`", remedy));
        }
        if record.scenario_sha256 != sha256(scenario.canonical()) {
            let found = format!("the run of another scenario than {}", self.scenario.display());
            let remedy = "name the scenario of the run, as it was then";
            return Err(Error::in_file(file, "scenario_sha256", found, "the same", remedy));
        }
        let texts = self.profile.iter().map(read_text);
        let texts = texts.collect::<Result<Vec<String>, _>>()?;
        let given = (!texts.is_empty()).then(|| sha256(texts.concat()));
        if record.profile_sha256 != given {
            let found = "a run with other profiles";
            let remedy = "name the profiles of the run with `--profile`, in its order";
            return Err(Error::in_file(file, "profile_sha256", found, "the same", remedy));
        }
        Ok(record)
    }
}
