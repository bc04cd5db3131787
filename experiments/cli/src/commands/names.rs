//! Names that shells complete; whether one is known is the command's to say, with the nearest.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use orrery_reproduce::registry;
use orrery_run::policies;
use orrery_scenario::zoo::ZOOS;
use std::ffi::OsStr;

/// What completes an argument; any other word is accepted too.
#[derive(Clone, Copy)]
pub struct Known(fn() -> Vec<&'static str>);

/// Shipped policies of requests.
pub const POLICIES: Known = Known(|| policies::all().map(|table| table.about.name).collect());
/// Ids of experiments.
pub const IDS: Known = Known(|| registry::ids().collect());
/// What `orrery list` describes.
pub const LISTED: Known = Known(|| {
    registry::ids().chain(ZOOS.iter().map(|zoo| zoo.name)).chain(["policies", "policy"]).collect()
});

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(&self, of: &Command, arg: Option<&Arg>, word: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(of, arg, word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
