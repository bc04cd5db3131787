//! Policies' parameters off their defaults, drawn from what their tables allow: nothing panics, and the auditor finds
//! nothing.

use super::edit::Edits;
use super::judge;
use super::run::{Ended, run};
use super::table::{BASE, cluster::MEMORY};
use orrery_run::policies;
use orrery_sim::policy::parameters::{Allowed, Table};
use orrery_sim::rng::Stream;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Sets of parameters for each policy.
const SETS: usize = 12;

/// A number between two, small ones as often as large ones.
fn between(least: f64, most: f64, stream: &mut Stream) -> f64 {
    let low = least.max(1e-3);
    let drawn = low * libm::pow(most / low, stream.uniform());
    if stream.below(8) == 0 { least } else { drawn.clamp(least, most) }
}

fn drawn(allowed: &Allowed, stream: &mut Stream) -> String {
    match allowed {
        Allowed::Count { or: Some(word), .. } if stream.below(3) == 0 => word.to_string(),
        Allowed::Count { least, most, .. } => {
            let number = between(f64::from(*least).max(1.0), f64::from(*most), stream);
            (number as u32).clamp(*least, *most).to_string()
        }
        Allowed::Number { least, most } => format!("{:.4}", between(*least, *most, stream)),
        // A world lasts a third of a second.
        Allowed::Time { least, most } => {
            format!("{:.4}", between(*least, most.min(least.max(1.0) * 200.0), stream))
        }
        Allowed::Flag => (stream.below(2) == 0).to_string(),
        Allowed::Words(words) => words[stream.below(words.len() as u64) as usize].0.to_string(),
    }
}

/// A policy with one of its parameters drawn and perhaps two more; what they need is set with them.
fn policy(table: &Table, number: usize, stream: &mut Stream) -> String {
    let rows = &table.rows;
    let mut set: BTreeMap<&str, String> = BTreeMap::new();
    let others = stream.below(3) as usize;
    let others = (0..others).map(|_| stream.below(rows.len() as u64) as usize).collect::<Vec<_>>();
    for row in others.into_iter().chain([number % rows.len()]).map(|at| &rows[at]) {
        set.insert(row.name, drawn(&row.allowed, stream));
        set.extend(row.needs.map(|(key, value)| (key, value.to_string())));
    }
    let list: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}[{}]", table.about.name, list.join(","))
}

/// What is wrong with a policy in a world; whether it ran is in the first place.
fn wrong(policy: &str, edits: &str) -> (bool, Vec<String>) {
    let needs = if policy.starts_with("shepherd") { "; device[0].can_preempt = true" } else { "" };
    let edits = format!("policies = [{policy:?}]{needs}{edits}");
    match run(&Edits::read(&edits).apply(BASE)) {
        Ended::Refused(message) if message.contains("remedy: ") => (false, Vec::new()),
        Ended::Refused(message) => (false, vec![format!("{policy}: no remedy: {message}")]),
        Ended::Panicked(message) => (false, vec![format!("{policy}: panics: {message}")]),
        Ended::Ran(ran) => {
            let faults = judge::faults(&ran).into_iter();
            (true, faults.map(|f| format!("{policy}: {}: {}", f.law, f.found)).collect())
        }
    }
}

#[test]
fn parameters_off_their_defaults_run_by_the_laws() {
    let worlds = [String::new(), format!("; {MEMORY}"), "; noise = { uniform = 0.4 }".to_string()];
    let mut all = Vec::new();
    for table in policies::all().filter(|table| !table.rows.is_empty()) {
        let mut stream = Stream::named(1, table.about.name, 0);
        let sets = SETS.max(2 * table.rows.len());
        all.extend((0..sets).map(|i| (policy(&table, i, &mut stream), &worlds[i % worlds.len()])));
    }
    let found: Vec<(bool, Vec<String>)> =
        all.par_iter().map(|(policy, edits)| wrong(policy, edits)).collect();
    let ran = found.iter().filter(|found| found.0).count();
    let wrong: Vec<String> = found.into_iter().flat_map(|found| found.1).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{ran} of {} sets of parameters ran", all.len());
    assert!(ran * 4 > all.len() * 3, "{ran} of {} ran", all.len());
}
