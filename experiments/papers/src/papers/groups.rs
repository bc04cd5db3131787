//! Which systems stand side by side: where a name stands for several presets, one of each.

use super::experiment::{Experiment, Preset, System};

/// Systems that stand side by side.
pub struct Group<'a> {
    /// What they have in common; empty where there is one group.
    pub title: &'static str,
    /// In the file's order.
    pub systems: Vec<&'a System>,
}

/// The groups of an experiment.
pub fn of(e: &Experiment) -> Vec<Group<'_>> {
    let twice = |s: &&System| e.system.iter().filter(|o| o.name == s.name).count() > 1;
    if !e.system.iter().filter(twice).any(|s| s.preset == Preset::Calibrated) {
        return vec![Group { title: "", systems: e.system.iter().collect() }];
    }
    let with =
        |presets: &[Preset]| e.system.iter().filter(|s| presets.contains(&s.preset)).collect();
    let groups = [
        Group {
            title: "Calibrated for these tables, and references",
            systems: with(&[Preset::Calibrated, Preset::Reference]),
        },
        Group {
            title: "As released (Orloj: as published; its code was not released)",
            systems: with(&[Preset::Released, Preset::Paper, Preset::None]),
        },
    ];
    groups.into_iter().filter(|g| !g.systems.is_empty()).collect()
}

/// The system that another is compared with: the one of that name in its group.
pub fn base<'a>(e: &'a Experiment, system: &str, preset: &str) -> Option<&'a System> {
    let name = e.compare_to.as_deref()?;
    let is = |s: &&System| s.name == system && s.preset.word() == preset;
    let group = of(e).into_iter().find(|g| g.systems.iter().any(is))?;
    let base = group.systems.into_iter().find(|s| s.name == name)?;
    (!is(&base)).then_some(base)
}
