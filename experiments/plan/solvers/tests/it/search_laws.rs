//! What holds of searches in any small world: random catalogues, budgets, values and bounds.

use super::common::search::{Counted, NO_PRUNING, searches};
use super::common::{catalogue, usd};
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_solvers::search::{Ending, Rules, kairos_plus, random};
use orrery_solvers::{Pool, Ranking, Space};
use proptest::prelude::*;
use std::convert::Infallible;

/// A small space of up to four types, what each instance is worth, and how diminishing returns are.
fn worlds() -> impl Strategy<Value = (Space, Vec<f64>, f64, u64)> {
    let types = prop::collection::vec((100u32..1_000, 1u32..5, 0.1..5.0f64), 1..5);
    (types, 1_000u32..3_000, 0.3..1.0f64, any::<u64>()).prop_map(|(types, budget, power, seed)| {
        let money = |thousandths: u32| f64::from(thousandths) / 1e3;
        let catalogue = catalogue(&types.iter().map(|t| (money(t.0), t.1)).collect::<Vec<_>>());
        let space = Space::within(&catalogue, usd(money(budget))).unwrap();
        (space, types.iter().map(|t| t.2).collect(), power, seed)
    })
}

/// More instances carry more, never less.
fn monotone(worth: &[f64], power: f64) -> impl Fn(&Pool) -> f64 + use<> {
    let worth = worth.to_vec();
    move |p: &Pool| {
        let all: f64 = p.0.iter().zip(&worth).map(|(n, w)| f64::from(*n) * w).sum();
        10.0 * libm::pow(all, power)
    }
}

/// Any bounds that hold: up to twice what the pool carries, now and then exactly that.
fn bounds(space: &Space, value: impl Fn(&Pool) -> f64, seed: u64) -> Ranking {
    let bound = |(i, p): (usize, &Pool)| {
        let loose = keyed_uniform(seed, fnv1a("test-bounds"), i as u64);
        value(p) * if loose < 0.1 { 1.0 } else { 1.0 + loose }
    };
    Ranking::of_bounds(space, space.pools().iter().enumerate().map(bound).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn kairos_plus_never_misses_the_optimum_when_bounds_hold(
        (space, worth, power, seed) in worlds()
    ) {
        let value = monotone(&worth, power);
        let mut evaluate = |p: &Pool| Ok::<_, Infallible>(value(p));
        let ranking = bounds(&space, &value, seed);
        let best = space.pools().iter().map(&value).fold(0.0, f64::max);
        let found = kairos_plus(&space, &ranking, Rules::default(), &mut evaluate).unwrap();
        prop_assert_eq!(found.best.allowable_per_s, best);
        prop_assert_eq!(found.ending, Ending::Complete);
    }

    #[test]
    fn without_pruning_it_needs_no_monotone_evaluator((space, _, _, seed) in worlds()) {
        let value = |p: &Pool| {
            let name = p.0.iter().fold(0, |name, n| name * 100 + u64::from(*n));
            100.0 * keyed_uniform(seed, fnv1a("test-any"), name)
        };
        let mut evaluate = |p: &Pool| Ok::<_, Infallible>(value(p));
        let ranking = bounds(&space, value, seed);
        let best = space.pools().iter().map(&value).fold(0.0, f64::max);
        let found = kairos_plus(&space, &ranking, NO_PRUNING, &mut evaluate).unwrap();
        prop_assert_eq!(found.best.allowable_per_s, best);
    }

    #[test]
    fn whatever_says_complete_has_found_the_optimum((space, worth, power, seed) in worlds()) {
        let value = monotone(&worth, power);
        let best = space.pools().iter().map(&value).fold(0.0, f64::max);
        let ranking = bounds(&space, &value, seed);
        for (name, search) in searches() {
            let mut counted = Counted::new(monotone(&worth, power));
            let found = search(&space, &ranking, Rules::default(), seed, &mut counted).unwrap();
            prop_assert!(found.ending != Ending::OutOfEvaluations, "{}", name);
            prop_assert!(found.ending != Ending::Complete || found.best.allowable_per_s == best);
            // These two only stop when nothing is open.
            if ["random", "bayesian"].contains(&name) {
                prop_assert_eq!(found.ending, Ending::Complete);
            }
        }
    }

    #[test]
    fn a_larger_budget_never_lowers_the_optimum(
        (space, _, _, seed) in worlds(), more in 0.0..2.0f64
    ) {
        let any = |p: &Pool| {
            let name = p.0.iter().fold(0, |name, n| name * 100 + u64::from(*n));
            100.0 * keyed_uniform(seed, fnv1a("test-any"), name)
        };
        let budget = space.budget() + usd(more);
        let larger = Space::within(space.catalogue(), budget).unwrap();
        prop_assert!(space.pools().iter().all(|p| larger.position(p).is_some()));
        // Without pruning, a random order ends when every pool is evaluated.
        let best = |space: &Space| {
            let mut evaluate = |p: &Pool| Ok::<_, Infallible>(any(p));
            random(space, seed, NO_PRUNING, &mut evaluate).unwrap().best.allowable_per_s
        };
        prop_assert!(best(&larger) >= best(&space));
    }
}
