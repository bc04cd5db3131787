//! A world: a policy, and keys at values off their defaults.

use super::edit::Edits;
use super::table::{self, BASE, Key};

/// A value of a key, or a policy.
pub struct Choice {
    /// What messages call it.
    pub name: String,
    /// Its row in the table; none of a policy.
    pub key: Option<Key>,
    needs: Edits,
    off: Edits,
}

impl Choice {
    fn of_key(key: Key, value: &str) -> Choice {
        let name = format!("{} ({value})", key.name);
        Choice { name, key: Some(key), needs: Edits::read(key.needs), off: Edits::read(value) }
    }

    /// Policies, as text between brackets: `"fifo", "eager"`.
    fn of_policies(name: String, list: &str) -> Choice {
        let needs = if name.starts_with("shepherd") { "device[0].can_preempt = true" } else { "" };
        let off = Edits::read(&format!("policies = [{list}]"));
        Choice { name, key: None, needs: Edits::read(needs), off }
    }

    /// Whether both can be in one world, as far as their edits say.
    pub fn agrees(&self, other: &Choice) -> bool {
        let row = |c: &Choice| c.key.map(|key| key.name);
        let same = row(self) == row(other);
        let all = |c: &Choice| -> [Edits; 2] { [c.needs.clone(), c.off.clone()] };
        !same && all(self).iter().all(|a| all(other).iter().all(|b| a.agree(b)))
    }
}

/// All choices: values of keys first, then policies.
pub struct Choices {
    pub all: Vec<Choice>,
    /// How many of them are values of keys.
    pub values: usize,
    /// The file that each edits.
    base: &'static str,
}

/// What is chosen, by number.
pub type World = Vec<usize>;

impl Choices {
    /// The table of keys, and all policies.
    pub fn new() -> Choices {
        Choices::of(table::all())
    }

    /// These keys of a scenario, and every policy with every preset.
    pub fn of(keys: Vec<Key>) -> Choices {
        let mut policies: Vec<String> = Vec::new();
        for table in orrery_run::policies::all() {
            let name = table.about.name;
            policies.push(name.to_string());
            let others = table.presets.iter().skip(1);
            policies.extend(others.map(|p| format!("{name}[preset={}]", p.0)));
        }
        let quoted = policies.into_iter().map(|name| (format!("{name:?}"), name));
        Choices::in_file(BASE, keys, quoted.map(|(list, name)| (name, list)))
    }

    /// These keys of a file, and policies: what messages call them, and as a list.
    pub fn in_file(
        base: &'static str,
        keys: Vec<Key>,
        policies: impl IntoIterator<Item = (String, String)>,
    ) -> Choices {
        let of_key =
            |key: &Key| key.off.iter().map(|value| Choice::of_key(*key, value)).collect::<Vec<_>>();
        let mut all: Vec<Choice> = keys.iter().flat_map(of_key).collect();
        let values = all.len();
        all.extend(policies.into_iter().map(|(name, list)| Choice::of_policies(name, &list)));
        Choices { all, values, base }
    }

    /// The policies, by number.
    pub fn policies(&self) -> std::ops::Range<usize> {
        self.values..self.all.len()
    }

    /// The file of a world.
    pub fn text(&self, world: &[usize]) -> String {
        self.written(world, world)
    }

    /// The file of a world in which only these are off their default; the others have what they need.
    pub fn written(&self, world: &[usize], off: &[usize]) -> String {
        let mut edits = Edits::default();
        world.iter().for_each(|&i| edits.add(&self.all[i].needs));
        off.iter().for_each(|&i| edits.add(&self.all[i].off));
        edits.apply(self.base)
    }

    /// The policy that is in a world where it does not matter which.
    pub fn plain(&self) -> usize {
        self.policies().find(|&i| self.all[i].name == "fifo").unwrap_or(self.values)
    }

    /// The name of a key or a policy, without the value.
    pub fn short(&self, choice: usize) -> &str {
        let choice = &self.all[choice];
        choice.key.map_or(&choice.name, |key| key.name)
    }

    /// What messages call a world.
    pub fn name(&self, world: &[usize]) -> String {
        let names: Vec<&str> = world.iter().map(|&i| self.all[i].name.as_str()).collect();
        names.join(" + ")
    }
}

/// The smallest part of a world of which something still holds: choices are left out one by one, and the policy
/// makes place for a plain one.
pub fn shrink(choices: &Choices, world: &[usize], holds: impl Fn(&[usize]) -> bool) -> World {
    let plain = choices.plain();
    let mut world = world.to_vec();
    loop {
        let before = world.clone();
        for &choice in &before {
            let at = world.iter().position(|&i| i == choice).expect("it has not been left out");
            let mut less = world.clone();
            if choice >= choices.values {
                less[at] = plain;
            } else {
                less.remove(at);
            }
            if less != world && holds(&less) {
                world = less;
            }
        }
        // What could not be left out may be, once others are gone.
        if world == before {
            return world;
        }
    }
}
