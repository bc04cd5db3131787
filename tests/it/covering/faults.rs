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
        &["symphony[preset=paper]", "Autoscale.most", "Think.constant_ms"],
        "a batch of a closed loop under an autoscaler comes 2 us earlier of 589 ms; its cause has not been found",
    ),
    (
        "times may be counted in other units",
        &["clockwork[preset=paper]", "Model.load_ms", "Model.slo_steps", "closed_loop"],
        "a model is unloaded at another instant; its cause has not been found",
    ),
];

/// Whether a world with these keys and policy has all that a known fault needs.
fn has_all(names: &[&str], keys: &[&str]) -> bool {
    let has = |key: &&str| {
        names.iter().any(|own| own == key || key.ends_with('.') && own.starts_with(*key))
    };
    keys.iter().all(has)
}

/// The number of the known fault that this one is; `names` are those of the world's keys and policy.
pub fn known(names: &[&str], fault: &Fault) -> Option<usize> {
    KNOWN.iter().position(|(law, keys, _)| fault.law.starts_with(law) && has_all(names, keys))
}

/// The known faults that did not occur in as many worlds that have their keys: they are mended.
pub fn mended(occurred: &BTreeSet<usize>, worlds: &[Vec<&str>]) -> Vec<&'static str> {
    let drawn = |keys: &[&str]| worlds.iter().filter(|names| has_all(names, keys)).count();
    let all = KNOWN.iter().enumerate().filter(|(i, _)| !occurred.contains(i));
    all.filter(|(_, known)| drawn(known.1) >= ENOUGH).map(|(_, known)| known.0).collect()
}

/// A law is tried in one of so many worlds, and a fault shows in some of these.
const ENOUGH: usize = 40;
