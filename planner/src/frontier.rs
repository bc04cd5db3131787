//! Cost against throughput: which pools are worth their price, and which come next.

use crate::Price;
use crate::search::Trial;

/// The pools that no other beats, and those that only they beat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    /// Numbers of the pools on the frontier: both cost and throughput rise strictly.
    pub points: Vec<usize>,
    /// Numbers of the pools that would be the frontier without those: the runners-up.
    pub runners_up: Vec<usize>,
}

impl Frontier {
    /// The frontier of pools given as cost and throughput. A pool is beaten by one that costs no
    /// more and carries no less, and is not the same in both; of several that are the same in both,
    /// the first is on the frontier and the others may be runners-up.
    pub fn of(pools: &[(Price, f64)]) -> Frontier {
        let all: Vec<usize> = (0..pools.len()).collect();
        let points = layer(pools, &all);
        let rest: Vec<usize> = all.into_iter().filter(|i| !points.contains(i)).collect();
        let runners_up = layer(pools, &rest);
        Frontier { points, runners_up }
    }

    /// The frontier of the pools that a search evaluated.
    pub fn of_trials(trials: &[Trial]) -> Frontier {
        let pools: Vec<(Price, f64)> = trials.iter().map(|t| (t.cost, t.allowable_per_s)).collect();
        Frontier::of(&pools)
    }
}

/// The numbers, of those given, of the pools that no other of them beats, by rising cost.
fn layer(pools: &[(Price, f64)], among: &[usize]) -> Vec<usize> {
    let mut by_cost = among.to_vec();
    by_cost.sort_by(|&a, &b| {
        let dearer = pools[a].0.cmp(&pools[b].0);
        dearer.then(pools[b].1.total_cmp(&pools[a].1)).then(a.cmp(&b))
    });
    let mut most: Option<f64> = None;
    let more = |i: &usize| {
        let value = pools[*i].1;
        let better = most.is_none_or(|most| value > most);
        if better {
            most = Some(value);
        }
        better
    };
    by_cost.into_iter().filter(more).collect()
}

/// How much more load is carried than is asked for: 0.25 is a quarter more, below 0 is too little.
/// None when nothing is asked for.
pub fn headroom(allowable_per_s: f64, load_per_s: f64) -> Option<f64> {
    (load_per_s > 0.0).then(|| allowable_per_s / load_per_s - 1.0)
}
