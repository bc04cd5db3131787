//! Models on kinds of machines: which model goes to which kind, when what a cluster costs is known only by
//! asking, and asking is dear.
//!
//! ```text
//!  least(kind, models)   a strict lower bound, free         ┐
//!  known(kind, models)   what asking said, never below it   ┴─▶ cheapest: depth first, by the bounds
//!                                                                   │
//!                     ask about the clusters of the cheapest ◀──────┘  until all of them are known
//! ```
//!
//! The loop around it is the caller's: with every cluster of the cheapest assignment known, no assignment
//! costs less, because each of the others costs at least what is taken for it here.

mod bound;
mod cover;

use crate::Price;
pub use bound::{Costs, Needs, whole_bound_usd};
pub use cover::{Priced, cheapest_known};

/// The most models of a fleet: a set of models is the bits of a word.
pub const MODELS_MAX: usize = 64;
/// Partial assignments looked at; beyond, a local search takes over and nothing is proven.
const NODES_MAX: u64 = 300_000;
/// Sums of floats may be so much too large.
const SLACK: f64 = 1e-9;
/// Steps towards the best multipliers of the split bound.
const STEPS: u32 = 400;

/// What is known of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Not asked yet.
    Unknown,
    /// It costs this, which is at least the bound.
    Costs(Price),
    /// It cannot be.
    Never,
}

/// What a search over assignments knows of the clusters: a cluster is a kind and a set of models, the bits
/// of a word.
pub trait Clusters {
    /// How many models there are, at most [`MODELS_MAX`].
    fn models(&self) -> usize;
    /// How many kinds.
    fn kinds(&self) -> usize;
    /// The least that a cluster can cost; `None` where it cannot be. It never falls when a model is added.
    fn least(&self, kind: usize, models: u64) -> Option<Price>;
    /// What is known of its cost.
    fn known(&self, kind: usize, models: u64) -> Known;
    /// What a model adds at least to the cost of a kind, in dollars per hour: a cluster costs at least the
    /// sum over its models. `None` where the model does not run there.
    fn share_usd(&self, model: usize, kind: usize) -> Option<f64>;
}

/// The kind of each model, and what is taken for its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// By model.
    pub kind_of: Vec<usize>,
    /// What its clusters cost, as far as that is known.
    pub cost: Price,
    /// Whether none costs less.
    pub proven: bool,
}

impl Assigned {
    /// The clusters that are not empty: a kind and its models.
    pub fn clusters(&self, kinds: usize) -> Vec<(usize, u64)> {
        let sets = sets(&self.kind_of, kinds);
        sets.into_iter().enumerate().filter(|(_, set)| *set != 0).collect()
    }
}

fn sets(kind_of: &[usize], kinds: usize) -> Vec<u64> {
    let mut sets = vec![0; kinds];
    kind_of.iter().enumerate().for_each(|(m, k)| sets[*k] |= 1 << m);
    sets
}

/// The cheapest assignment as far as is known, but for those that are left out; none where no assignment
/// can be.
pub fn cheapest(clusters: &impl Clusters, left_out: &[Vec<usize>]) -> Option<Assigned> {
    let models = clusters.models();
    let shares = |m: usize| (0..clusters.kinds()).filter_map(move |k| clusters.share_usd(m, k));
    let rest: Vec<f64> =
        (0..models).map(|m| shares(m).fold(f64::INFINITY, f64::min).max(0.0)).collect();
    if rest.iter().any(|share| share.is_infinite()) {
        return None;
    }
    // The largest first: what they decide rules out most.
    let mut order: Vec<usize> = (0..models).collect();
    order.sort_by(|a, b| rest[*b].total_cmp(&rest[*a]).then(a.cmp(b)));
    let mut search = Search {
        clusters,
        left_out,
        order,
        rest,
        nodes: 0,
        kind_of: vec![0; models],
        sets: vec![0; clusters.kinds()],
        best: None,
    };
    let open: f64 = search.rest.iter().sum();
    search.from(0, 0.0, open);
    let proven = search.nodes <= NODES_MAX;
    let (mut kind_of, mut cost) = search.best.clone()?;
    if !proven {
        improve(&search, &mut kind_of, &mut cost);
    }
    Some(Assigned { kind_of, cost, proven })
}

struct Search<'a, C> {
    clusters: &'a C,
    left_out: &'a [Vec<usize>],
    order: Vec<usize>,
    /// What each model adds at least anywhere.
    rest: Vec<f64>,
    nodes: u64,
    kind_of: Vec<usize>,
    sets: Vec<u64>,
    best: Option<(Vec<usize>, Price)>,
}

impl<C: Clusters> Search<'_, C> {
    /// Assigns the models from a place of the order on; `sure` is what those before add at least, `open`
    /// what the others do.
    fn from(&mut self, place: usize, sure: f64, open: f64) {
        self.nodes += 1;
        if self.nodes > NODES_MAX && self.best.is_some() {
            return;
        }
        let Some(&model) = self.order.get(place) else {
            let cost = self.whole(&self.sets);
            let better = |cost: &Price| self.best.as_ref().is_none_or(|(_, best)| cost < best);
            if let Some(cost) = cost.filter(better)
                && !self.left_out.contains(&self.kind_of)
            {
                self.best = Some((self.kind_of.clone(), cost));
            }
            return;
        };
        let open = open - self.rest[model];
        let mut children: Vec<(Price, usize, f64)> = Vec::new();
        for kind in 0..self.sets.len() {
            let Some(share) = self.clusters.share_usd(model, kind) else { continue };
            self.sets[kind] |= 1 << model;
            if let Some(least) = self.least() {
                children.push((least, kind, share));
            }
            self.sets[kind] &= !(1 << model);
        }
        children.sort_by(|a, b| a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)).then(a.1.cmp(&b.1)));
        for (least, kind, share) in children {
            let split = (sure + share + open) * (1.0 - SLACK);
            let too_dear = |best: Price| least >= best || split >= best.as_usd_per_hour();
            if self.best.as_ref().is_some_and(|(_, best)| too_dear(*best)) {
                continue;
            }
            (self.kind_of[model], self.sets[kind]) = (kind, self.sets[kind] | 1 << model);
            self.from(place + 1, sure + share, open);
            self.sets[kind] &= !(1 << model);
        }
    }

    /// What the clusters so far cost at least.
    fn least(&self) -> Option<Price> {
        let some = self.sets.iter().enumerate().filter(|(_, set)| **set != 0);
        some.map(|(kind, set)| self.clusters.least(kind, *set)).sum()
    }

    /// What all clusters cost, as far as is known.
    fn whole(&self, sets: &[u64]) -> Option<Price> {
        let some = sets.iter().enumerate().filter(|(_, set)| **set != 0);
        let of = |(kind, set): (usize, &u64)| match self.clusters.known(kind, *set) {
            Known::Unknown => self.clusters.least(kind, *set),
            Known::Costs(cost) => Some(cost),
            Known::Never => None,
        };
        some.map(of).sum()
    }
}

/// Moves one model or swaps two, for as long as that is cheaper.
fn improve<C: Clusters>(search: &Search<'_, C>, kind_of: &mut Vec<usize>, cost: &mut Price) {
    let (models, kinds) = (kind_of.len(), search.sets.len());
    let moves = (0..models).flat_map(|m| (0..kinds).map(move |k| (m, k)));
    let moves: Vec<(usize, usize)> = moves.collect();
    loop {
        let mut changed = false;
        let swaps = (0..models).flat_map(|a| (a + 1..models).map(move |b| (a, b)));
        let swapped = |now: &[usize], (a, b): (usize, usize)| {
            let mut new = now.to_vec();
            new.swap(a, b);
            new
        };
        let moved = |now: &[usize], (m, k): (usize, usize)| {
            let mut new = now.to_vec();
            new[m] = k;
            new
        };
        let all = moves.iter().map(|m| (false, *m)).chain(swaps.map(|s| (true, s)));
        for (swap, what) in all {
            let new = if swap { swapped(kind_of, what) } else { moved(kind_of, what) };
            let runs =
                new.iter().enumerate().all(|(m, k)| search.clusters.share_usd(m, *k).is_some());
            if !runs || search.left_out.contains(&new) {
                continue;
            }
            if let Some(less) = search.whole(&sets(&new, kinds)).filter(|less| less < cost) {
                (*kind_of, *cost, changed) = (new, less, true);
            }
        }
        if !changed {
            return;
        }
    }
}

/// The least that any fleet costs in dollars per hour, even if loads are split between kinds and parts of
/// machines could be rented: the dual of
///
/// ```text
/// minimise   sum over kinds of price n
/// so that    each model's load is shared out,  n >= what it needs there,  n <= count_max
/// ```
///
/// Any multipliers on `count_max` give a bound; the best of some steps is taken. Infinite where some model
/// runs nowhere.
pub fn split_bound_usd(needs: &[Needs], prices_usd: &[f64], counts_max: &[u32]) -> f64 {
    let at = |extra: &[f64]| {
        let mut used = vec![0.0; prices_usd.len()];
        let mut value = 0.0;
        for model in needs {
            let mut least = (f64::INFINITY, 0);
            for (kind, need) in model.iter().enumerate() {
                let cost = need.map_or(f64::INFINITY, |n| n * (prices_usd[kind] + extra[kind]));
                if cost < least.0 {
                    least = (cost, kind);
                }
            }
            value += least.0;
            used[least.1] += model.get(least.1).copied().flatten().unwrap_or(0.0);
        }
        let paid: f64 = extra.iter().zip(counts_max).map(|(e, n)| e * f64::from(*n)).sum();
        (value - paid, used)
    };
    let mut extra = vec![0.0; prices_usd.len()];
    let (mut best, _) = at(&extra);
    let top = prices_usd.iter().copied().fold(0.0, f64::max);
    for step in 0..STEPS {
        let (_, used) = at(&extra);
        let over = |k: usize| used[k] / f64::from(counts_max[k].max(1)) - 1.0;
        let stride = top / f64::from(step + 1);
        let next = |k: usize| (extra[k] + stride * over(k).clamp(-1.0, 1.0)).max(0.0);
        extra = (0..extra.len()).map(next).collect();
        best = best.max(at(&extra).0);
    }
    best * (1.0 - SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two kinds; what each model costs on each, and how many models a kind has room for.
    struct Rooms {
        usd: Vec<[u64; 2]>,
        room: u32,
    }

    impl Clusters for Rooms {
        fn models(&self) -> usize {
            self.usd.len()
        }

        fn kinds(&self) -> usize {
            2
        }

        fn least(&self, kind: usize, models: u64) -> Option<Price> {
            if models.count_ones() > self.room {
                return None;
            }
            let here = (0..self.usd.len()).filter(|m| models >> m & 1 == 1);
            let usd: u64 = here.map(|m| self.usd[m][kind]).sum();
            Some(Price::micro_usd_per_hour(usd * 1_000_000))
        }

        fn known(&self, kind: usize, models: u64) -> Known {
            self.least(kind, models).map_or(Known::Never, Known::Costs)
        }

        fn share_usd(&self, _: usize, _: usize) -> Option<f64> {
            Some(0.0)
        }
    }

    /// What the local search makes of an assignment, and its cost in dollars per hour.
    fn improved(clusters: &Rooms, kind_of: &[usize], left_out: &[Vec<usize>]) -> (Vec<usize>, f64) {
        let (models, order, rest) = (kind_of.len(), Vec::new(), Vec::new());
        let (nodes, best, sets_so_far) = (0, None, vec![0; 2]);
        let search = Search {
            clusters,
            left_out,
            order,
            rest,
            nodes,
            kind_of: vec![0; models],
            sets: sets_so_far,
            best,
        };
        let mut kind_of = kind_of.to_vec();
        let mut cost = search.whole(&sets(&kind_of, 2)).expect("a cost");
        improve(&search, &mut kind_of, &mut cost);
        assert_eq!(search.whole(&sets(&kind_of, 2)), Some(cost), "the cost is the assignment's");
        (kind_of, cost.as_usd_per_hour())
    }

    #[test]
    fn the_local_search_swaps_where_no_move_has_room() {
        let full = Rooms { usd: vec![[1, 9], [9, 1]], room: 1 };
        assert_eq!(improved(&full, &[1, 0], &[]), (vec![0, 1], 2.0));
        // Not to what is left out, and not where it is dearer.
        assert_eq!(improved(&full, &[1, 0], &[vec![0, 1]]), (vec![1, 0], 18.0));
        assert_eq!(improved(&full, &[0, 1], &[]), (vec![0, 1], 2.0));
    }

    #[test]
    fn the_local_search_moves_one_model_at_a_time() {
        let empty = Rooms { usd: vec![[1, 9], [9, 1], [2, 3]], room: 3 };
        assert_eq!(improved(&empty, &[1, 1, 1], &[]), (vec![0, 1, 0], 4.0));
        assert_eq!(improved(&empty, &[0, 0, 0], &[]), (vec![0, 1, 0], 4.0));
    }
}
