//! The evaluator against plain ways to the same values.

use super::*;
use crate::kinds::pool::conditions::Conditions;

fn world() -> World {
    within(1.2)
}

fn within(budget_usd_per_hour: f64) -> World {
    let types = ["g4dn.xlarge", "c5n.2xlarge", "r5n.large"].map(String::from).to_vec();
    let c = Conditions {
        types,
        budget_usd_per_hour,
        queries: 400,
        precision: 0.02,
        drs_thresholds: vec![100, 200, 400],
        ..Conditions::default()
    };
    World::new("rm2", &c).unwrap()
}

/// By racing, and by a search for each pool.
#[test]
fn the_best_pool_is_that_of_all_evaluations() {
    let world = within(1.06);
    assert!(world.space.pools().len() > 3, "{:?}", world.space.pools());
    for scheme in ["kairos", "ribbon", "drs-scan", "orcl"] {
        let scheme = Scheme::parse(scheme).unwrap();
        let (pool, value) = Evaluator::new(vec![1, 2], &Known::default(), &Kept::default())
            .best(&world, &scheme)
            .unwrap();
        let (known, kept) = (Known::default(), Kept::default());
        let evaluator = Evaluator::new(vec![1, 2], &known, &kept);
        let all = evaluator.each(&world, world.space.pools(), &scheme).unwrap();
        let most = all.iter().map(|(_, v)| v.mean()).fold(0.0, f64::max);
        // A pool that fails at a rate may hold at a higher one by chance, within the precision.
        assert!(value.mean() >= most * 0.98, "{}: {pool} {value:?} {most}", scheme.text());
        assert_eq!(value, evaluator.value(&world, &pool, &scheme).unwrap());
    }
}

#[test]
fn drs_takes_the_best_threshold_that_a_scan_finds() {
    let world = world();
    let pool = Pool(vec![1, 1, 1]);
    let (known, kept) = (Known::default(), Kept::default());
    let evaluator = Evaluator::new(vec![1, 2], &known, &kept);
    let value = evaluator.value(&world, &pool, &Scheme::parse("drs-scan").unwrap()).unwrap();
    let threshold = value.threshold.unwrap();
    for &t in &world.conditions.drs_thresholds {
        let one = Scheme::parse(&format!("drs[threshold={t}]")).unwrap();
        let mean = evaluator.value(&world, &pool, &one).unwrap().mean();
        if t == threshold {
            assert!((mean / value.mean() - 1.0).abs() < 0.05, "{mean} {value:?}");
        }
        assert!(mean < 1.05 * value.mean(), "{t}: {mean} {value:?}");
    }
}

/// Base instances alone, never idle: a query of the mean size takes what it takes.
#[test]
fn the_oracle_on_base_instances_is_their_number_over_the_mean_service_time() {
    let world = world();
    let one = oracle(&world, &Pool(vec![1, 0, 0]), 1).unwrap();
    let two = oracle(&world, &Pool(vec![2, 0, 0]), 1).unwrap();
    assert!((two / one - 2.0).abs() < 0.02, "{one} {two}");
    let bound = world.bound_per_s(&Pool(vec![1, 0, 0]));
    assert!((one / bound - 1.0).abs() < 0.15, "{one} {bound}: 400 queries");
}

/// Whether 99 % of so many queries at a rate are within the QoS, as a run of the scenario shows it.
fn holds(world: &World, pool: &Scenario, policy: &PolicySpec, rate_per_s: f64) -> bool {
    let queries = ("arrivals.requests".to_string(), (world.conditions.queries as i64).into());
    let finite = pool.with(&[queries]).unwrap().with_rate(rate_per_s).unwrap();
    let total = finite.setup(5).unwrap().run(policy, 5).unwrap().total();
    total.ends[0] >= (world.conditions.queries * 99).div_ceil(100)
}

#[test]
fn a_probe_says_what_the_whole_run_shows() {
    let world = World::new("rm2", &Conditions::default()).unwrap();
    let pool = world.of(&Pool(vec![2, 0, 9, 0])).unwrap();
    for policy in ["kairos", "ribbon"].map(|p| PolicySpec::parse(p).unwrap()) {
        let found = [10.0, 30.0, 50.0, 70.0, 200.0].map(|rate| {
            let probed = probe(&world, &pool, &policy, 5, rate).unwrap().good;
            assert_eq!(probed, holds(&world, &pool, &policy, rate), "{policy:?} at {rate}");
            probed
        });
        assert!(found[0] && !found[4], "{policy:?}: {found:?}");
    }
}

/// A pool of base instances alone under any policy of the kind is first come, first served, and carries at most their
/// number over the mean service time.
#[test]
fn base_instances_alone_carry_the_same_for_those_that_only_queue() {
    let world = World::new("rm2", &Conditions::default()).unwrap();
    let pool = Pool(vec![4, 0, 0, 0]);
    let (known, kept) = (Known::default(), Kept::default());
    let evaluator = Evaluator::new(vec![5, 2], &known, &kept);
    let of =
        |scheme: &str| evaluator.value(&world, &pool, &Scheme::parse(scheme).unwrap()).unwrap();
    let value = of("ribbon");
    assert_eq!(value, of("drs[threshold=300]"));
    assert!(value.mean() > 5.0 && value.mean() < 1.02 * world.bound_per_s(&pool), "{value:?}");
    let (ribbon, scenario) = (PolicySpec::parse("ribbon").unwrap(), world.of(&pool).unwrap());
    let at = |factor: f64| holds(&world, &scenario, &ribbon, factor * value.by_seed_per_s[0]);
    assert!(at(1.0) && !at(1.03));
}

#[test]
fn a_value_is_kept_bit_by_bit() {
    let value =
        Value { by_seed_per_s: vec![0.1 + 0.2, 1.0 / 3.0, 123.456_789], threshold: Some(7) };
    let text = serde_json::to_string(&to_runs(&value, &[1, 2, 3])).unwrap();
    assert_eq!(from_runs(&serde_json::from_str::<Vec<Replication>>(&text).unwrap()), value);
}
