//! Settings with which a run takes minutes or hours.

use orrery_scenario::PolicySpec;

/// Why a policy is slow in overloads, if it is.
pub fn why_slow(policy: &PolicySpec) -> Option<String> {
    let is_slow = policy.system() == "kairos" && policy.name().contains("rows=all");
    is_slow.then(|| {
        format!(
            "{}: every query that waits is matched anew at each decision. Where a scenario overloads it (one model on 4 \
             GPUs), tens of thousands wait, and a run takes minutes to hours. To see how far it gets: `--quick`, or \
             `--out DIR`, which keeps what is done",
            policy.text()
        )
    })
}
