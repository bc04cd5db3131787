//! The other files that have keys: jobs, tokens, sweeps and plans. Each has a table of its keys, as scenarios have, and
//! laws.

mod jobs;
mod plans;
mod sweeps;
mod tokens;

use super::array::{Array, Pair};
use super::judge::Fault;
use super::world::{Choices, shrink};
use orrery_sim::policy::parameters::{Allowed, Table};
use rayon::prelude::*;
use std::fmt::Write;

/// Policies by name, and each of their parameters off its default: a word that is another, or this number.
fn with_each_parameter(tables: impl Iterator<Item = Table>, number: &str) -> Vec<String> {
    let mut names = Vec::new();
    for table in tables {
        let name = table.about.name;
        names.push(name.to_string());
        for row in &table.rows {
            let off: Vec<String> = match &row.allowed {
                Allowed::Words(words) => words.iter().map(|(word, _)| word.to_string()).collect(),
                _ => vec![number.to_string()],
            };
            let off = off.into_iter().filter(|value| *value != row.defaults[0]);
            names.extend(off.map(|value| format!("{name}[{}={value}]", row.name)));
        }
    }
    names
}

/// Draws worlds until every pair is covered or refused, and judges each: how many ran. What is wrong is said of the
/// smallest file that has it. A judge says `None` of a file that is refused.
fn by_the_laws(choices: &Choices, judged: fn(&str) -> Option<Vec<Fault>>) -> usize {
    let mut array = Array::new(choices, 1);
    let (mut ran, mut refused, mut wrong) = (0, 0, String::new());
    loop {
        let worlds = array.batch(64);
        if worlds.is_empty() {
            break;
        }
        let all: Vec<Option<Vec<Fault>>> =
            worlds.par_iter().map(|world| judged(&choices.text(world))).collect();
        for (world, faults) in worlds.iter().zip(all) {
            let Some(faults) = faults else {
                refused += 1;
                let is_refused = |less: &[usize]| judged(&choices.text(less)).is_none();
                let mut part = shrink(choices, world, is_refused);
                part.retain(|&i| i != choices.plain());
                array.refuse(part);
                continue;
            };
            ran += 1;
            array.cover(world);
            for Fault { law, found } in faults {
                let breaks = |less: &[usize]| {
                    judged(&choices.text(less)).is_some_and(|all| all.iter().any(|f| f.law == law))
                };
                let least = shrink(choices, world, breaks);
                let _ = writeln!(wrong, "## {law}: {found}\n{}", choices.text(&least));
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
    for (a, b, pair) in array.all().filter(|pair| pair.2 != Pair::Covered) {
        println!("{pair:?}: {} with {}", choices.all[a].name, choices.all[b].name);
    }
    println!("{ran} files ran, {refused} were refused");
    ran
}
