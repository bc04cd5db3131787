//! Runs of a policy that is not shipped: made elsewhere (by Python), judged here.

use crate::fight::{Fought, score_loops, scored};
use crate::suite::Suite;
use orrery_results::RESULT_VERSION;
use orrery_scenario::SpecError;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::replication::Replication;
use serde::{Deserialize, Serialize};

/// The runs of a policy in every scenario of a suite.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OwnRuns {
    /// The hash of the suite.
    pub suite_sha256: String,
    /// The version of the results.
    pub result_version: u32,
    /// Its name in results: `python:NAME`.
    pub policy: String,
    /// What it was made of: the hash of its source.
    pub source_sha256: String,
    /// By scenario, a run for each seed.
    pub runs: Vec<Vec<Replication>>,
}

impl OwnRuns {
    /// Runs that were just made.
    pub fn of(
        suite: &Suite,
        policy: &str,
        source_sha256: &str,
        runs: Vec<Vec<Replication>>,
    ) -> OwnRuns {
        OwnRuns {
            suite_sha256: suite.sha256.clone(),
            result_version: RESULT_VERSION,
            policy: policy.to_string(),
            source_sha256: source_sha256.to_string(),
            runs: runs.into_iter().map(|runs| runs.into_iter().map(scored).collect()).collect(),
        }
    }

    /// Puts them beside the cells of other policies.
    ///
    /// # Errors
    /// When they are of another suite or version.
    pub fn join(self, suite: &Suite, cells: &mut [Vec<Fought>]) -> Result<(), SpecError> {
        let own = (self.suite_sha256.as_str(), self.result_version);
        if own != (&suite.sha256, RESULT_VERSION) || self.runs.len() != cells.len() {
            let found = format!("suite {}, results version {}", own.0, own.1);
            let allowed = format!("suite {}, results version {RESULT_VERSION}", suite.sha256);
            let remedy = "install the Python package of the same version as this program";
            return Err(SpecError::value("--policy", found, allowed, remedy));
        }
        for ((row, runs), asked) in cells.iter_mut().zip(self.runs).zip(&suite.scenarios) {
            let made_of = format!("{}={}", self.policy, self.source_sha256);
            let canonical = asked.scenario.canonical();
            let mut place = row.first().map(|c| c.place.clone()).unwrap_or_default();
            place.axes.clone_from(&asked.axes);
            place.spec_sha256 =
                spec_sha256(&["own", &canonical, &made_of, &runs.len().to_string()]);
            place.result_version = RESULT_VERSION;
            place.system.clone_from(&self.policy);
            place.policy.clone_from(&self.policy);
            place.flags = String::new();
            let inputs = [place.inputs_sha256.as_str(), &made_of];
            let inputs: Vec<&str> = inputs.into_iter().filter(|i| !i.is_empty()).collect();
            place.inputs_sha256 = inputs.join(";");
            row.push(Fought { place, runs, reason: String::new() });
        }
        score_loops(suite, cells);
        Ok(())
    }
}
