//! Faults of the simulator that are known and not mended yet: each with the keys that it needs.

use super::judge::Fault;
use super::world::Choices;

/// A fault, the keys that all of it needs, and what is to be done. A key that ends in `.` means any below it.
const KNOWN: &[(&str, &[&str], &str)] = &[(
    "the interval of",
    &[],
    "intervals beyond the possible: their bounds are cut in another change",
)];

/// Whether a fault is known.
pub fn is_known(choices: &Choices, world: &[usize], fault: &Fault) -> bool {
    let has = |name: &&str| {
        world.iter().any(|&i| {
            let own = choices.all[i].key.map_or(choices.all[i].name.as_str(), |key| key.name);
            own == *name || name.ends_with('.') && own.starts_with(name)
        })
    };
    KNOWN.iter().any(|(law, keys, _)| fault.law.starts_with(law) && keys.iter().all(|k| has(&k)))
}
