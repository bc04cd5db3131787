//! Faults of the simulator that are known and not mended yet: each with the keys that it needs.

use super::world::Choices;

/// A fault, the keys that all of it needs, and what is to be done. A key that ends in `.` means any below it.
const KNOWN: &[(&str, &[&str], &str)] = &[];

/// A fault in a few words; nothing where it is known.
pub fn known(choices: &Choices, world: &[usize], fault: &str) -> Option<String> {
    let has = |name: &&str| {
        world.iter().any(|&i| {
            let own = choices.all[i].key.map_or(choices.all[i].name.as_str(), |key| key.name);
            own == *name || name.ends_with('.') && own.starts_with(name)
        })
    };
    let is_known = KNOWN
        .iter()
        .any(|(known, keys, _)| fault.starts_with(known) && keys.iter().all(|k| has(&k)));
    // The numbers in it differ from world to world.
    let words = fault.split(|c: char| c.is_ascii_digit()).next().unwrap_or(fault);
    (!is_known).then(|| words.trim().to_string())
}
