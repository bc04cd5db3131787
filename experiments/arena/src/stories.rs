//! What happened to the worst requests where one's own policy loses most.
//!
//! It runs its first seed there once more, with the log that `orrery run --log --why` writes.

use crate::league::League;
use orrery_explain::explain::{Fared, worst_of_run};
use orrery_scenario::{PolicySpec, SpecError};

/// So many requests of each scenario are told of.
const TOLD: usize = 3;

/// The worst requests of a policy in a scenario.
#[derive(Debug)]
pub struct Story {
    /// The policy.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The worst requests, each with what happened to it.
    pub requests: Vec<(Fared, String)>,
}

/// The stories of one's own policies, in the scenarios in which each loses most. One that was made elsewhere has none.
///
/// # Errors
/// When a run cannot be made, or its log not be written for a while.
pub fn told(league: &League) -> Result<Vec<Story>, SpecError> {
    let mut out = Vec::new();
    for &own in &league.own {
        let Some(policy) = league.asked.policies.get(own) else { continue };
        for (s, _) in league.losses(own) {
            out.push(story(league, policy, s)?);
        }
    }
    Ok(out)
}

fn story(league: &League, policy: &PolicySpec, s: usize) -> Result<Story, SpecError> {
    let asked = &league.asked.suite.scenarios[s];
    let (scenario, seed) = (&asked.scenario, asked.scenario.seed);
    Ok(Story {
        policy: policy.text().to_string(),
        scenario: asked.name.clone(),
        seed,
        requests: worst_of_run(scenario, policy, seed, TOLD)?,
    })
}
