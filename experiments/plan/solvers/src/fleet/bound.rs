//! The least that any fleet costs, even if loads are split between kinds: of machines that are rented whole.
//!
//! ```text
//! minimise   sum over kinds of cost_k(n_k)
//! so that    each model's load is shared out,  n_k >= what it needs there,  0 <= n_k <= most_k,  n_k whole
//! ```
//!
//! Any multipliers on `n_k >= needed` give a bound (a dual); a box of numbers of machines is halved where its bound is
//! the least of all, until that box is one point or there were enough of them. What is returned is the least bound of
//! the boxes that are left, so it is a bound whenever the search stops.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A model's part in a bound on every fleet: the machines of each kind that its load needs at least, `None` where it
/// does not run.
pub type Needs = Vec<Option<f64>>;

/// Boxes that are halved at most.
const BOXES_MAX: usize = 2_000;
/// Steps towards the best multipliers of a box.
const STEPS: u32 = 120;
/// Sums of floats may be so much too large.
const SLACK: f64 = 1e-9;

/// A kind as a bound sees it: what 0, 1, 2 ... machines cost in dollars per hour, as many as there may be.
pub type Costs = Vec<f64>;

/// How many machines of each kind there may be, and the least that these cost.
struct Range {
    from: Vec<usize>,
    to: Vec<usize>,
    bound: f64,
    /// What the multipliers used of each kind, on average.
    used: Vec<f64>,
}

/// The least that any fleet of whole machines costs, in dollars per hour; infinite where there is none.
pub fn whole_bound_usd(needs: &[Needs], costs: &[Costs]) -> f64 {
    let kinds = costs.len();
    // More than all models need together is never needed.
    let all = |kind: usize| {
        let all: f64 = needs.iter().filter_map(|model| model[kind]).sum();
        (all.ceil() as usize).min(costs[kind].len().saturating_sub(1))
    };
    let to: Vec<usize> = (0..kinds).map(all).collect();
    let Some(first) = range(needs, costs, vec![0; kinds], to) else { return f64::INFINITY };
    let mut open: BinaryHeap<(Reverse<u64>, usize)> = BinaryHeap::new();
    let mut ranges = vec![first];
    // Bounds are not negative: their bits are in their order.
    open.push((Reverse(ranges[0].bound.to_bits()), 0));
    while let Some((Reverse(bound), at)) = open.pop() {
        let widest = (0..kinds).max_by_key(|k| ranges[at].to[*k] - ranges[at].from[*k]);
        let width = |k: usize| ranges[at].to[k] - ranges[at].from[k];
        let Some(kind) = widest.filter(|k| width(*k) > 0 && ranges.len() < BOXES_MAX) else {
            return f64::from_bits(bound) * (1.0 - SLACK);
        };
        let (from, to) = (ranges[at].from.clone(), ranges[at].to.clone());
        let middle =
            (ranges[at].used[kind].floor().max(0.0) as usize).clamp(from[kind], to[kind] - 1);
        let with = |mut at: Vec<usize>, n: usize| {
            at[kind] = n;
            at
        };
        for (from, to) in
            [(from.clone(), with(to.clone(), middle)), (with(from.clone(), middle + 1), to.clone())]
        {
            if let Some(mut half) = range(needs, costs, from, to) {
                half.bound = half.bound.max(f64::from_bits(bound));
                open.push((Reverse(half.bound.to_bits()), ranges.len()));
                ranges.push(half);
            }
        }
    }
    f64::INFINITY
}

/// The bound of a box by the best multipliers of some steps; none where its machines are too few for sure.
fn range(needs: &[Needs], costs: &[Costs], from: Vec<usize>, to: Vec<usize>) -> Option<Range> {
    let kinds = costs.len();
    let dearest = costs.iter().filter_map(|c| Some(c.get(1)? - c[0])).fold(0.0, f64::max).max(1e-6);
    let mut price: Vec<f64> = (0..kinds).map(|k| costs[k][to[k]] / to[k].max(1) as f64).collect();
    // Without multipliers it is what the fewest machines of the box cost.
    let least = |k: usize| costs[k][from[k]..=to[k]].iter().copied().fold(f64::INFINITY, f64::min);
    let (mut best, mut used) = ((0..kinds).map(least).sum::<f64>(), vec![0.0; kinds]);
    for step in 0..STEPS {
        let mut needed = vec![0.0; kinds];
        let mut value = 0.0;
        for model in needs {
            let of = |(kind, need): (usize, &Option<f64>)| Some((price[kind] * (*need)?, kind));
            let least = model
                .iter()
                .enumerate()
                .filter_map(of)
                .reduce(|a, b| if b.0 < a.0 { b } else { a });
            // A model that runs nowhere.
            let (cost, kind) = least?;
            value += cost;
            needed[kind] += model[kind].unwrap_or(0.0);
        }
        // At these prices the loads are worth more than all machines of the box: they do not fit, whatever these cost.
        let worth: f64 = (0..kinds).map(|k| price[k] * to[k] as f64).sum();
        if value > worth * (1.0 + SLACK) {
            return None;
        }
        let mut over = vec![0.0; kinds];
        for kind in 0..kinds {
            let of = |n: usize| (costs[kind][n] - price[kind] * n as f64, n);
            let (least, n) =
                (from[kind]..=to[kind]).map(of).reduce(|a, b| if b.0 < a.0 { b } else { a })?;
            value += least;
            over[kind] = (needed[kind] - n as f64) / (to[kind].max(1) as f64);
            used[kind] += needed[kind] / f64::from(STEPS);
        }
        best = best.max(value);
        let stride = dearest / f64::from(step + 1);
        for kind in 0..kinds {
            price[kind] = (price[kind] + stride * over[kind].clamp(-1.0, 1.0)).max(0.0);
        }
    }
    Some(Range { from, to, bound: best, used })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(usd: f64, most: usize) -> Costs {
        (0..=most).map(|n| usd * n as f64).collect()
    }

    /// The least cost of whole machines by trying all of them; loads are shared out by hand for two kinds.
    fn by_hand(needs: &[Needs], costs: &[Costs]) -> f64 {
        let mut best = f64::INFINITY;
        for (n, of_n) in costs[0].iter().enumerate() {
            for (m, of_m) in costs[1].iter().enumerate() {
                // The models that are best on the first kind go there, until it is full.
                let mut all: Vec<(f64, f64)> =
                    needs.iter().map(|one| (one[0].unwrap(), one[1].unwrap())).collect();
                all.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
                let (mut left, mut other) = (n as f64, 0.0);
                for (here, there) in all {
                    let part = (left / here).min(1.0);
                    left -= part * here;
                    other += (1.0 - part) * there;
                }
                if other <= m as f64 + 1e-9 {
                    best = best.min(of_n + of_m);
                }
            }
        }
        best
    }

    #[test]
    fn it_is_never_above_the_cheapest_whole_machines_and_seldom_much_below() {
        let mut stream = orrery_sim::rng::Stream::named(1, "bounds of whole machines", 0);
        let mut close = 0;
        for _ in 0..60 {
            let mut need = || Some(0.05 + 2.5 * stream.uniform());
            let needs: Vec<Needs> = (0..5).map(|_| vec![need(), need()]).collect();
            let costs = vec![
                linear(0.5 + stream.uniform(), 3 + stream.below(6) as usize),
                linear(0.5 + stream.uniform(), 3 + stream.below(6) as usize),
            ];
            let (bound, exact) = (whole_bound_usd(&needs, &costs), by_hand(&needs, &costs));
            assert!(bound <= exact * (1.0 + 1e-9), "{bound} > {exact}: {needs:?} {costs:?}");
            close += u32::from(bound >= exact * 0.99 || exact.is_infinite() && bound.is_infinite());
        }
        assert!(close >= 57, "{close} of 60 within a hundredth");
    }

    #[test]
    fn a_part_of_a_machine_costs_a_whole_one() {
        let needs = vec![vec![Some(0.2)], vec![Some(0.3)]];
        assert!((whole_bound_usd(&needs, &[linear(2.0, 4)]) - 2.0).abs() < 1e-6);
        // In packs of four, at the price of three.
        let packs: Costs = vec![0.0, 6.0, 6.0, 6.0, 6.0];
        assert!((whole_bound_usd(&needs, &[packs]) - 6.0).abs() < 1e-6);
        assert!(whole_bound_usd(&[vec![None]], &[linear(1.0, 4)]).is_infinite());
        assert!(whole_bound_usd(&[vec![Some(5.0)]], &[linear(1.0, 4)]).is_infinite());
    }
}
