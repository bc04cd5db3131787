//! Runs of a policy that is not shipped: made elsewhere (by Python), judged here.

use crate::fight::{Fought, score_loops, scored};
use crate::suite::Suite;
use orrery_results::RESULT_VERSION;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::replication::Replication;

/// Puts a policy's runs, by scenario one for each seed, beside the cells of other policies; `source_sha256` is the hash
/// of what the policy was made of.
pub fn join(
    (policy, source_sha256): (&str, &str),
    runs: Vec<Vec<Replication>>,
    suite: &Suite,
    cells: &mut [Vec<Fought>],
) {
    let made_of = format!("{policy}={source_sha256}");
    for ((row, runs), asked) in cells.iter_mut().zip(runs).zip(&suite.scenarios) {
        let canonical = asked.scenario.canonical();
        let mut place = row.first().map(|c| c.place.clone()).unwrap_or_default();
        place.axes.clone_from(&asked.axes);
        place.spec_sha256 = spec_sha256(&["own", &canonical, &made_of, &runs.len().to_string()]);
        place.result_version = RESULT_VERSION;
        place.system = policy.to_string();
        place.policy = policy.to_string();
        place.flags = String::new();
        let inputs = [place.inputs_sha256.as_str(), &made_of];
        let inputs: Vec<&str> = inputs.into_iter().filter(|i| !i.is_empty()).collect();
        place.inputs_sha256 = inputs.join(";");
        let runs = runs.into_iter().map(scored).collect();
        row.push(Fought { place, runs, reason: String::new() });
    }
    score_loops(suite, cells);
}
