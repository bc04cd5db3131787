//! Which systems stand side by side: where a name stands for several presets, one of each.

use super::experiment::{Experiment, Preset, System};
use orrery_results::PolicyText;

/// Systems that stand side by side.
pub struct Group<'a> {
    /// What they have in common; empty where there is one group.
    pub title: String,
    /// In the file's order.
    pub systems: Vec<&'a System>,
}

/// The groups of an experiment.
pub fn of(e: &Experiment) -> Vec<Group<'_>> {
    let twice = |s: &&System| e.system.iter().filter(|o| o.name == s.name).count() > 1;
    if !e.system.iter().filter(twice).any(|s| s.preset == Preset::Calibrated) {
        return vec![Group { title: String::new(), systems: e.system.iter().collect() }];
    }
    let with =
        |presets: &[Preset]| e.system.iter().filter(|s| presets.contains(&s.preset)).collect();
    let released: Vec<&System> = with(&[Preset::Released, Preset::Paper, Preset::None]);
    let published = released.iter().filter(|s| s.preset == Preset::Paper);
    let published: Vec<&str> = published.map(|s| s.name.as_str()).collect();
    let except = match published.is_empty() {
        true => String::new(),
        false => format!(" ({}: as published; no code was released)", published.join(", ")),
    };
    let readings: Vec<&System> = with(&[Preset::Reading]);
    let read: Vec<String> = readings.iter().map(|s| reading(e, s)).collect();
    let groups = [
        Group {
            title: "Calibrated for these tables, and references".to_string(),
            systems: with(&[Preset::Calibrated, Preset::Reference]),
        },
        Group {
            title: format!("As calibrated, by another reading of the paper ({})", read.join("; ")),
            systems: readings,
        },
        Group { title: format!("As released{except}"), systems: released },
    ];
    groups.into_iter().filter(|g| !g.systems.is_empty()).collect()
}

/// What a reading changes: the keys that the calibrated system of its name has otherwise.
fn reading(e: &Experiment, s: &System) -> String {
    let of_name = |o: &&System| o.name == s.name && o.preset == Preset::Calibrated;
    let calibrated =
        e.system.iter().find(of_name).map_or(Vec::new(), |o| PolicyText::new(&o.policy).parameters);
    let mut own = PolicyText::new(&s.policy).parameters;
    own.retain(|key| !calibrated.contains(key));
    format!("{}: {}", s.name, own.join(", "))
}

/// The system that another is compared with: the one of that name in its group.
pub fn base<'a>(e: &'a Experiment, system: &str, preset: &str) -> Option<&'a System> {
    let name = e.compare_to.as_deref()?;
    let is = |s: &&System| s.name == system && s.preset.word() == preset;
    let group = of(e).into_iter().find(|g| g.systems.iter().any(is))?;
    let base = group.systems.into_iter().find(|s| s.name == name)?;
    (!is(&base)).then_some(base)
}
