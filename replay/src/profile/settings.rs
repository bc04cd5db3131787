//! How to profile.

use super::fit::Form;
use crate::error::Error;
use orrery_run::Setup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How to profile.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Batch sizes to fit; the scenario's `profile.sizes`, up to the device's `max_batch`, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<u32>>,
    /// Sizes to judge the fit by; those half-way between the others if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Vec<u32>>,
    /// Rounds that do not count.
    pub warm_up: u32,
    /// Rounds that do.
    pub rounds: u32,
    /// No further round begins after this long.
    pub max_s: f64,
    /// Batches behind a model's noise: rounds count, and short batches are run until there are so many.
    pub noise_batches: u32,
    /// No further of these batches begins after this long.
    pub noise_s: f64,
    /// How long each core is watched for stalls of the host.
    pub stall_s: f64,
    /// The law to fit.
    pub form: Form,
    /// Seed of the order.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let (sizes, held_out) = (None, None);
        Settings {
            sizes,
            held_out,
            warm_up: 2,
            rounds: 25,
            max_s: 30.0,
            noise_batches: 2_000,
            noise_s: 15.0,
            stall_s: 10.0,
            form: Form::Auto,
            seed: 1,
        }
    }
}

/// Fewer rounds than this say nothing.
pub const ROUNDS_MIN: u32 = 3;

impl Settings {
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |key: &str, found: String, allowed: &str| {
            Err(Error::value(key, found, allowed, "change it"))
        };
        if !(ROUNDS_MIN..=100_000).contains(&self.rounds) {
            return wrong("profile.rounds", self.rounds.to_string(), "from 3 to 100000");
        }
        if !(self.max_s > 0.0 && self.max_s <= 1e6) {
            return wrong("profile.max_s", self.max_s.to_string(), "a time above 0 s");
        }
        for (key, s) in [("profile.noise_s", self.noise_s), ("profile.stall_s", self.stall_s)] {
            if !(0.0..=1e6).contains(&s) {
                return wrong(key, s.to_string(), "a time from 0 s");
            }
        }
        let sizes = self.sizes.iter().chain(&self.held_out).flatten();
        if let Some(size) = sizes.copied().find(|s| !(1..=4096).contains(s)) {
            return wrong("profile.sizes", size.to_string(), "batch sizes from 1 to 4096");
        }
        Ok(())
    }

    /// Sizes with whether they are held out, growing; the scenario's reach up to the device's largest batch.
    pub(super) fn sizes(&self, setup: &Setup, most: Option<u32>) -> Vec<(u32, bool)> {
        let up_to_most = || {
            let mut sizes: Vec<u32> =
                setup.profile.sizes.iter().map(|s| (*s).min(most.unwrap_or(*s))).collect();
            sizes.dedup();
            sizes
        };
        let fitted = self.sizes.clone().unwrap_or_else(up_to_most);
        let between = || fitted.windows(2).map(|w| (w[0] + w[1]) / 2).collect();
        let held_out: Vec<u32> = self.held_out.clone().unwrap_or_else(between);
        let mut all: Vec<(u32, bool)> = fitted.iter().map(|s| (*s, false)).collect();
        all.extend(held_out.into_iter().filter(|s| !fitted.contains(s)).map(|s| (s, true)));
        all.sort_unstable();
        all.dedup_by_key(|s| s.0);
        all
    }
}
