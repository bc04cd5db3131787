//! Requests that are answered token by token: deadline policies, and a measured server beside the world.

use super::own::{OwnRuns, check_systems};
use crate::experiment::{Experiment, Keys, Kind, Made, UntilCi, placed};
use crate::options::{CliOption, Refused};
use orrery_report::page::counted;
use orrery_run::SpecError;
use orrery_scenario::tokens::Tokens;
use schemars::JsonSchema;
use serde::Deserialize;

/// The keys of an experiment that answers token by token.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfTokens {
    /// What is run: requests that are answered token by token on one executor; axes set its keys.
    tokens: Tokens,
}

impl Keys for OfTokens {
    const KEY: &'static str = "tokens";
}

impl Kind for OfTokens {
    fn in_words(&self, seeds: u32) -> String {
        format!("runs of requests that are answered token by token, {}", counted(seeds, "seed"))
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        placed(e, OwnRuns::new(e, &self.tokens, None))
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        check_systems::<Tokens>(e)
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        let allowed = "a fixed number of seeds";
        if option == CliOption::UntilCi { Refused::for_seeds(allowed) } else { None }
    }
}
