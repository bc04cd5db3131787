//! Faults of the simulator that are known and not mended yet: each with the keys that it needs.

use super::judge::Fault;
use std::collections::BTreeSet;

/// A fault, the keys that all of it needs, and what is to be done. A key that ends in `.` means any below it.
const KNOWN: &[(&str, &[&str], &str)] = &[
    (
        "a kind is two equal kinds",
        &["kairos[preset=paper]"],
        "one of them is the base and one is auxiliary; whether that may matter has not been examined",
    ),
    (
        "times may be counted in other units",
        &["clockwork[preset=paper]", "Model.load_ms", "Model.slo_steps", "closed_loop"],
        "a model is unloaded at another instant; its cause has not been found",
    ),
];

/// The number of the known fault that this one is; `names` are those of the world's keys and policy.
pub fn known(names: &[&str], fault: &Fault) -> Option<usize> {
    let has = |key: &&str| {
        names.iter().any(|own| own == key || key.ends_with('.') && own.starts_with(*key))
    };
    KNOWN.iter().position(|(law, keys, _)| fault.law.starts_with(law) && keys.iter().all(has))
}

/// The known faults that did not occur: they are mended.
pub fn mended(occurred: &BTreeSet<usize>) -> Vec<&'static str> {
    let all = KNOWN.iter().enumerate().filter(|(i, _)| !occurred.contains(i));
    all.map(|(_, known)| known.0).collect()
}
