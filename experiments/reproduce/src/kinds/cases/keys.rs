//! The keys of an experiment of measured cases, and what is asked of its kind.

use super::file::{CasesFile, Expressions};
use crate::experiment::{CaseRows, Experiment, Keys, Kind, Made, UntilCi, placed};
use crate::options::{CliOption, Refused};
use orrery_report::page::counted;
use orrery_run::SpecError;
use orrery_sweep::metrics::known_metric;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// The keys of an experiment of measured cases.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfCases {
    /// What is run: each row of a CSV file is a case.
    pub cases: CasesFile,
}

impl Keys for OfCases {
    const KEY: &'static str = "cases";
    const OF_SYSTEM: &'static [&'static str] = &["set", "computed"];
}

impl Kind for OfCases {
    fn in_words(&self, seeds: u32) -> String {
        let what = match (&self.cases.search, &self.cases.run, &self.cases.scenario) {
            (_, _, None) => {
                return "no run: measured cases, and what is computed of them".to_string();
            }
            (Some(_), None, _) => "a search for the highest rate of each measured case",
            (Some(_), Some(_), _) => "a search and a run of each measured case",
            (None, _, _) => "a run of each measured case",
        };
        format!("{what}, {}", counted(seeds, "seed"))
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        placed(e, super::Runs::new(e, &self.cases))
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        let metrics = |key: &str, all: &Expressions| {
            all.keys().try_for_each(|metric| known_metric(&format!("{key}.{metric}"), metric))
        };
        metrics("cases.measured", &self.cases.measured)?;
        for (i, system) in e.system.iter().enumerate() {
            metrics(&format!("system[{i}].computed"), &system.computed)?;
            let is_run = system.computed.is_empty();
            if is_run && self.cases.scenario.is_none() {
                let remedy = "add `scenario` to `[cases]`, or `computed` to the system";
                let key = format!("system[{i}].policy");
                let allowed = "`computed` where there is no scenario";
                return Err(SpecError::value(key, &system.policy, allowed, remedy));
            }
        }
        for (key, given) in [("axis", !e.axis.is_empty()), ("set", !e.set.is_empty())] {
            if given {
                let remedy =
                    "remove it: `cases.set` sets keys, and systems have a `set` of their own";
                return Err(SpecError::value(key, "given", "nothing with `cases`", remedy));
            }
        }
        if self.cases.run.is_some() && self.cases.search.is_none() {
            let remedy = "set the keys in `cases.set`";
            return Err(SpecError::value("cases.run", "given", "nothing without `search`", remedy));
        }
        Ok(())
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        let allowed = "a fixed number of seeds: cases are compared with numbers, not narrowed";
        match option {
            CliOption::UntilCi => Refused::for_seeds(allowed),
            CliOption::Set => Refused::for_set("the keys that each row sets, in `cases.set`"),
            _ => None,
        }
    }

    fn rows(&self, e: &Experiment, paper: Option<&Path>) -> Option<Result<CaseRows, SpecError>> {
        let read = self.cases.table(e, paper).and_then(|table| self.cases.points(e, &table));
        Some(read.map_err(|error| e.origin.placed(error)))
    }
}
