//! Whether a key still does something beside each other key.
//!
//! Each world of the array runs again without each of its keys in turn. A pair of which the one changed nothing in
//! any world with the other is tried alone, with every policy.

use super::array::Array;
use super::run::{Ended, run};
use super::world::{Choices, World};
use rayon::prelude::*;
use std::collections::BTreeSet;

fn shown(text: &str) -> Option<String> {
    match run(text) {
        Ended::Ran(ran) => Some(ran.shown()),
        _ => None,
    }
}

/// Whether a choice changes what a world shows.
fn matters(choices: &Choices, world: &[usize], choice: usize, with: &Option<String>) -> bool {
    let others: World = world.iter().copied().filter(|&i| i != choice).collect();
    let without = shown(&choices.written(world, &others));
    without.is_some() && without != *with
}

/// Pairs of which the first changes nothing beside the second.
pub fn silent_pairs(choices: &Choices, array: &Array, worlds: &[World]) -> Vec<(usize, usize)> {
    let speaks = |i: usize| choices.all[i].key.is_some_and(|key| key.silent.is_none());
    let of_world = |world: &World| -> Vec<(usize, usize)> {
        let with = shown(&choices.text(world));
        let speaking = world.iter().copied().filter(|&i| speaks(i));
        let mattering = speaking.filter(|&i| matters(choices, world, i, &with));
        mattering.flat_map(|a| world.iter().map(move |&b| (a, b))).collect()
    };
    let heard: BTreeSet<(usize, usize)> = worlds.par_iter().flat_map_iter(of_world).collect();
    let pairs = array.covered().flat_map(|(a, b)| [(a, b), (b, a)]);
    let left: Vec<(usize, usize)> = pairs.filter(|p| speaks(p.0) && !heard.contains(p)).collect();
    println!("{} pairs to be tried alone", left.len());
    let alone = |&(a, b): &(usize, usize)| {
        let policies = if b >= choices.values { b..b + 1 } else { choices.policies() };
        policies.into_iter().all(|policy| {
            let mut world = vec![a, b, policy];
            world.dedup();
            !matters(choices, &world, a, &shown(&choices.text(&world)))
        })
    };
    left.into_par_iter().filter(alone).collect()
}
