//! Ribbon's question, DRS's thresholds, goals, and the frontier of cost and throughput.

use super::common::{authors_space, catalogue, pool, usd};
use orrery_planner::search::ribbon::{Cheapest, Ribbon, score};
use orrery_planner::search::threshold::{Split, hill_climbing, scan};
use orrery_planner::search::{Ending, SearchError, exhaustive, ribbon};
use orrery_planner::{
    Frontier, Goal, PlannerError, Pool, Price, Ranking, Space, cheapest_for, headroom, released,
    upper_bound_per_s,
};
use proptest::prelude::*;
use std::convert::Infallible;

#[test]
fn ribbon_s_score_by_hand() {
    let score = |met, cost| score(met, 0.99, usd(cost), usd(4.0));
    assert!((score(0.495, 1.0) - 0.25).abs() < 1e-12);
    assert!((score(0.98, 1.0) - 0.98 / 0.99 / 2.0).abs() < 1e-12);
    assert_eq!(score(0.99, 4.0), 0.5);
    assert_eq!(score(1.0, 1.0), 0.875);
    assert_eq!(score(0.99, 1.0), 0.875, "what is above the target does not count");
    assert!(score(0.989_999, 0.0) < score(0.99, 4.0));
}

/// The fraction of queries met, made up: the more capacity, the more.
fn met(pool: &Pool, needed: f64) -> f64 {
    let capacity: f64 =
        pool.0.iter().zip([4.0, 2.5, 1.0, 0.8]).map(|(n, w)| f64::from(*n) * w).sum();
    (capacity / needed).min(1.0)
}

fn naive_cheapest(space: &Space, needed: f64) -> Option<Price> {
    let meets = |p: &&Pool| met(p, needed) >= 0.99;
    space.pools().iter().filter(meets).map(|p| p.cost(space.catalogue())).min()
}

#[test]
fn ribbon_finds_the_cheapest_pool_without_looking_at_all() {
    let space = authors_space();
    for needed in [3.0, 8.0, 11.0, 14.0] {
        let asked = Ribbon { evaluations_max: 331, ..Ribbon::default() };
        let found = ribbon(&space, &asked, 1, |p| Ok::<_, Infallible>(met(p, needed))).unwrap();
        let best = found.best.as_ref().unwrap();
        assert_eq!(Some(best.cost), naive_cheapest(&space, needed));
        assert_eq!((found.ending, found.pools), (Ending::Complete, 331));
        println!("{needed}: {} evaluations for {} $/h", found.trials.len(), best.cost);
        assert!(found.trials.len() < 331 / 2);
        for (i, t) in found.trials.iter().enumerate() {
            for before in &found.trials[..i] {
                assert!(before.met < 0.99 || t.cost <= before.cost);
                assert!(before.met >= 0.99 || !t.pool.is_sub_of(&before.pool));
            }
        }
    }
}

#[test]
fn ribbon_says_when_it_knows_no_pool() {
    let space = authors_space();
    let run = |evaluations_max, needed| -> Cheapest {
        let asked = Ribbon { evaluations_max, ..Ribbon::default() };
        ribbon(&space, &asked, 1, |p| Ok::<_, Infallible>(met(p, needed))).unwrap()
    };
    let hopeless = run(331, 1e3);
    assert_eq!((hopeless.best, hopeless.ending), (None, Ending::Complete));
    let short = run(1, 1e3);
    assert_eq!((short.best, short.ending), (None, Ending::OutOfEvaluations));
    let too_much = ribbon(&space, &Ribbon::default(), 1, |_| Ok::<_, Infallible>(1.5));
    assert!(too_much.unwrap_err().to_string().contains("is said to serve 1.5 of its queries"));
    let wrong = Ribbon { target: 0.0, ..Ribbon::default() };
    let wrong = ribbon(&space, &wrong, 1, |_| Ok::<_, Infallible>(1.0)).unwrap_err();
    assert!(wrong.to_string().contains("`target` is 0"), "{wrong}");
}

fn at(values: &[f64], thresholds: &[u32], climb: bool) -> Split {
    let mut i = 0;
    let mut next = |_| {
        i += 1;
        Ok::<_, PlannerError>(values[i - 1])
    };
    if climb { hill_climbing(thresholds, &mut next) } else { scan(thresholds, &mut next) }.unwrap()
}

#[test]
fn hill_climbing_stops_at_the_first_worse_threshold_and_the_scan_does_not() {
    let thresholds = [96, 128, 192, 256, 384];
    let values = [10.0, 12.0, 12.0, 11.0, 20.0];
    let climbed = at(&values, &thresholds, true);
    assert_eq!((climbed.threshold, climbed.allowable_per_s), (128, 12.0));
    assert_eq!(climbed.trials, [(96, 10.0), (128, 12.0), (192, 12.0), (256, 11.0)]);
    let scanned = at(&values, &thresholds, false);
    assert_eq!((scanned.threshold, scanned.trials.len()), (384, 5));
    assert_eq!(at(&[0.0, 0.0], &[1, 2], true).threshold, 1);
}

#[test]
fn wrong_thresholds_are_errors() {
    let wrong = |thresholds: &[u32], value| {
        hill_climbing(thresholds, |_| Ok::<_, PlannerError>(value)).unwrap_err().to_string()
    };
    assert!(wrong(&[], 1.0).contains("number of thresholds"));
    assert!(wrong(&[2, 2], 1.0).contains("above the one before it"));
    assert!(wrong(&[1], f64::NAN).contains("throughput at a threshold"));
    let own = hill_climbing(&[1], |_| {
        Err::<f64, SearchError<&str>>(SearchError::Evaluations { error: "x" })
    });
    assert!(own.is_err());
}

fn goal(load_per_s: f64) -> Goal {
    Goal { load_per_s, bound_slack: 0.0, runners_up: 0, evaluations_max: usize::MAX }
}

#[test]
fn the_cheapest_pool_for_a_load_by_hand() {
    // (1,0) 1 $, (1,1) 1.8 $, (2,0) 2 $, (1,2) 2.6 $, (2,1) 2.8 $, (3,0) 3 $.
    let space = Space::within(&catalogue(&[(1.0, 3), (0.8, 2)]), usd(3.0)).unwrap();
    let bounds = vec![4.0, 6.0, 9.0, 9.0, 8.0, 10.0];
    let carries = [3.0, 5.0, 8.0, 6.5, 7.5, 9.5];
    let ranking = Ranking::of_bounds(&space, bounds).unwrap();
    let mut asked = Vec::new();
    let mut value = |p: &Pool| {
        asked.push(p.clone());
        Ok::<_, Infallible>(carries[space.position(p).unwrap()])
    };
    // 7 queries/s: the bounds skip (1,0) and (1,1); (2,0) carries 6.5; (1,2) carries 8.
    let answer = cheapest_for(&space, Some(&ranking), &goal(7.0), &mut value).unwrap();
    assert_eq!(answer.cheapest().unwrap().pool, pool([1, 2]));
    assert_eq!((answer.skipped_by_bound, answer.trials.len()), (2, 2));
    assert_eq!(answer.ending, Ending::Settled);
    // Two runners-up, and then all were looked at.
    let more = Goal { runners_up: 2, ..goal(7.0) };
    let answer = cheapest_for(&space, Some(&ranking), &more, &mut value).unwrap();
    let meeting: Vec<&Pool> = answer.meeting.iter().map(|t| &t.pool).collect();
    assert_eq!(meeting, [&pool([1, 2]), &pool([2, 1]), &pool([3, 0])]);
    assert_eq!(answer.ending, Ending::Complete);
    // A slack of a fifth: (1,1) has a bound of 7.2 then, and is looked at.
    let loose = Goal { bound_slack: 0.2, ..goal(7.0) };
    let answer = cheapest_for(&space, Some(&ranking), &loose, &mut value).unwrap();
    assert_eq!((answer.skipped_by_bound, answer.trials.len()), (1, 3));
    assert_eq!(answer.why_none(&loose), None);
    assert_eq!(asked.len(), 2 + 4 + 3);
}

#[test]
fn of_pools_of_the_same_cost_the_one_of_the_highest_bound_is_first() {
    // (1,0,1) and (1,1,0) cost the same; both carry the load.
    let space = Space::within(&catalogue(&[(1.0, 1), (0.5, 1), (0.5, 1)]), usd(1.5)).unwrap();
    assert_eq!(space.pools(), [pool([1, 0, 0]), pool([1, 0, 1]), pool([1, 1, 0])]);
    let mut value = |_: &Pool| Ok::<_, Infallible>(5.0);
    let first = |bounds: [f64; 3], value: &mut dyn FnMut(&Pool) -> Result<f64, Infallible>| {
        let ranking = Ranking::of_bounds(&space, bounds.to_vec()).unwrap();
        let mut value = |p: &Pool| value(p);
        let answer = cheapest_for(&space, Some(&ranking), &goal(5.0), &mut value).unwrap();
        answer.cheapest().unwrap().pool.clone()
    };
    assert_eq!(first([4.0, 6.0, 7.0], &mut value), pool([1, 1, 0]));
    assert_eq!(first([4.0, 7.0, 6.0], &mut value), pool([1, 0, 1]));
    assert_eq!(first([4.0, 6.0, 6.0], &mut value), pool([1, 0, 1]), "the order of the space");
}

#[test]
fn a_load_that_no_pool_carries_is_said_to_be_one() {
    let space = authors_space();
    let ingredients = released::ingredients("rm2").unwrap();
    let ranking = Ranking::new(&space, &ingredients).unwrap();
    let mut value = |p: &Pool| upper_bound_per_s(&ingredients, p);
    let beyond = goal(200.0);
    let answer = cheapest_for(&space, Some(&ranking), &beyond, &mut value).unwrap();
    assert_eq!((answer.trials.len(), answer.skipped_by_bound), (0, 331));
    assert_eq!(answer.ending, Ending::Complete);
    let why = answer.why_none(&beyond).unwrap();
    assert!(
        why.contains("no pool of 331 carries 200 queries/s") && why.contains("raise the budget")
    );
    // Without a ranking all are evaluated, or as many as are allowed.
    let short = Goal { evaluations_max: 5, ..goal(200.0) };
    let answer = cheapest_for(&space, None, &short, &mut value).unwrap();
    assert_eq!((answer.trials.len(), answer.ending), (5, Ending::OutOfEvaluations));
    assert!(answer.why_none(&short).unwrap().contains("did not converge"));
    for load_per_s in [0.0, f64::NAN, f64::INFINITY] {
        let error = cheapest_for(&space, None, &goal(load_per_s), &mut value).unwrap_err();
        assert!(error.to_string().contains("`load` is"), "{error}");
    }
    let slack = Goal { bound_slack: -0.1, ..goal(1.0) };
    let error = cheapest_for(&space, None, &slack, &mut value).unwrap_err();
    assert!(error.to_string().contains("`bound_slack` is -0.1"), "{error}");
}

#[test]
fn headroom_and_the_frontier_by_hand() {
    assert_eq!(headroom(12.5, 10.0), Some(0.25));
    assert_eq!(headroom(9.0, 10.0).map(|h| h < 0.0), Some(true));
    assert_eq!(headroom(9.0, 0.0), None);
    let pools =
        [(1.0, 5.0), (2.0, 5.0), (2.0, 8.0), (3.0, 7.0), (1.0, 5.0), (4.0, 9.0), (1.5, 1.0)];
    let pools = pools.map(|(cost, rate)| (usd(cost), rate));
    // 4 is the same as 0; 3 is beaten by 2 alone; 1 and 6 by others that are left.
    let frontier = Frontier::of(&pools);
    assert_eq!((frontier.points, frontier.runners_up), (vec![0, 2, 5], vec![4, 3]));
    assert_eq!(Frontier::of(&[]), Frontier::default());
}

#[test]
fn the_frontier_of_a_search_begins_with_one_base_instance() {
    let space = authors_space();
    let ingredients = released::ingredients("rm2").unwrap();
    let found = exhaustive(&space, &mut |p: &Pool| upper_bound_per_s(&ingredients, p)).unwrap();
    let frontier = Frontier::of_trials(&found.trials);
    assert_eq!(found.trials[frontier.points[0]].pool, pool([1, 0, 0, 0]));
    assert_eq!(found.trials[*frontier.points.last().unwrap()].pool, found.best.pool);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_frontier_is_what_nothing_beats(
        list in prop::collection::vec((0u64..12, 0u32..12), 0..40)
    ) {
        let pools: Vec<(Price, f64)> = list
            .iter()
            .map(|(cost, rate)| (Price::micro_usd_per_hour(*cost), f64::from(*rate)))
            .collect();
        // i beats j, and of equals the first beats the others.
        let beats = |i: usize, j: usize| {
            let (a, b) = (pools[i], pools[j]);
            a.0 <= b.0 && a.1 >= b.1 && (a != b || i < j)
        };
        let unbeaten = |among: &[usize]| -> Vec<usize> {
            let free = |j: &&usize| !among.iter().any(|i| i != *j && beats(*i, **j));
            let mut all: Vec<usize> = among.iter().filter(free).copied().collect();
            all.sort_by_key(|i| pools[*i].0);
            all
        };
        let all: Vec<usize> = (0..pools.len()).collect();
        let points = unbeaten(&all);
        let rest: Vec<usize> = all.iter().filter(|i| !points.contains(i)).copied().collect();
        let frontier = Frontier::of(&pools);
        prop_assert_eq!(&frontier.points, &points);
        prop_assert_eq!(frontier.runners_up, unbeaten(&rest));
    }

    #[test]
    fn the_cheapest_pool_is_that_of_a_plain_search(
        load_per_s in 10.0..160.0f64, share in 0.5..1.0f64, runners_up in 0usize..4
    ) {
        let space = authors_space();
        let ingredients = released::ingredients("rm2").unwrap();
        let ranking = Ranking::new(&space, &ingredients).unwrap();
        let value = |p: &Pool| upper_bound_per_s(&ingredients, p).map(|b| b * share);
        let asked = Goal { runners_up, ..goal(load_per_s) };
        let mut evaluate = value;
        let answer = cheapest_for(&space, Some(&ranking), &asked, &mut evaluate).unwrap();
        let mut costs: Vec<Price> = space
            .pools()
            .iter()
            .filter(|p| value(p).unwrap() >= load_per_s)
            .map(|p| p.cost(space.catalogue()))
            .collect();
        costs.sort();
        costs.truncate(runners_up + 1);
        let ours: Vec<Price> = answer.meeting.iter().map(|t| t.cost).collect();
        prop_assert_eq!(ours, costs);
        prop_assert!(answer.ending.converged());
        prop_assert!(answer.trials.len() + answer.skipped_by_bound <= 331);
    }

    #[test]
    fn ribbon_finds_what_a_plain_search_finds(needed in 0.5..20.0f64, seed in 0u64..1_000) {
        let space = Space::within(&released::catalogue(), usd(1.5)).unwrap();
        let fraction = |p: &Pool| Ok::<_, Infallible>(met(p, needed));
        let found = ribbon(&space, &Ribbon::default(), seed, fraction);
        let found = found.unwrap();
        prop_assert_eq!(found.ending, Ending::Complete);
        prop_assert_eq!(found.best.map(|t| t.cost), naive_cheapest(&space, needed));
    }
}
