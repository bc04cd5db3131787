//! What each solver promises, by hand and against an exhaustive search.

use orrery_sim::rng::Stream;
use orrery_solvers::partition::{
    Assignment, ModelLoad, PartitionError, Problem, greedy, local_search, random,
};

const EVALUATIONS: u64 = 20_000;

fn model(rate: f64, static_mem: f64) -> ModelLoad {
    ModelLoad { rate, static_mem, dynamic_mem: 0.0 }
}

fn problem(models: Vec<ModelLoad>, clusters: usize) -> Problem {
    Problem {
        models,
        clusters,
        rate_max: f64::INFINITY,
        memory_max: f64::INFINITY,
        memory_weight: 1.0,
    }
}

/// A problem whose limits bind now and then.
fn drawn(index: u64, models: u64, clusters: usize) -> Problem {
    let mut s = Stream::named(1, "test-problems", index);
    let mut draw = |_| ModelLoad {
        rate: 0.1 + s.uniform(),
        static_mem: 0.1 + s.uniform(),
        dynamic_mem: 0.5 * s.uniform(),
    };
    let list: Vec<ModelLoad> = (0..models).map(&mut draw).collect();
    let mean = |f: fn(&ModelLoad) -> f64| list.iter().map(f).sum::<f64>() / clusters as f64;
    Problem {
        rate_max: mean(|m| m.rate) * (1.05 + 0.5 * s.uniform()),
        memory_max: mean(|m| m.static_mem) * (1.1 + 0.6 * s.uniform()),
        memory_weight: [0.0, 0.5, 2.0][index as usize % 3],
        models: list,
        clusters,
    }
}

/// The least objective of all assignments, if any is feasible.
fn exhaustive(p: &Problem) -> Option<f64> {
    let n = p.models.len() as u32;
    let mut least: Option<f64> = None;
    for code in 0..p.clusters.pow(n) {
        let digit = |i: u32| code / p.clusters.pow(i) % p.clusters;
        let a = Assignment { cluster_of: (0..n).map(digit).collect() };
        if p.is_feasible(&a) {
            let objective = p.objective(&a);
            least = Some(least.map_or(objective, |l: f64| l.min(objective)));
        }
    }
    least
}

#[test]
fn the_obvious_halves_are_found() {
    let p = problem(vec![model(3.0, 1.0), model(1.0, 2.0), model(2.0, 1.0)], 2);
    let a = local_search(&p, 1, EVALUATIONS).unwrap();
    assert_eq!((p.objective(&a), p.imbalance(&a).rate, p.imbalance(&a).memory), (1.0, 0.0, 1.0));
    // Weight decides when both cannot be even: {3}, {1, 2} leaves memories 1 and 3.
    let p = Problem { memory_weight: 10.0, ..p };
    let a = local_search(&p, 1, EVALUATIONS).unwrap();
    assert_eq!((p.imbalance(&a).rate, p.imbalance(&a).memory), (4.0 / 3.0, 0.0));
}

#[test]
fn dynamic_memory_counts_once_for_each_sub_cluster() {
    let m = |d| ModelLoad { dynamic_mem: d, ..model(1.0, 1.0) };
    let p = Problem { memory_max: 5.0, ..problem(vec![m(3.0), m(3.0), m(0.0), m(0.0)], 2) };
    let both = Assignment { cluster_of: vec![0, 0, 1, 1] };
    assert!(p.is_feasible(&both));
    assert!(!p.is_feasible(&Assignment { cluster_of: vec![0, 0, 0, 1] }));
}

#[test]
fn local_search_is_bounded_by_the_optimum_and_near_it() {
    let (mut solved, mut hit) = (0, 0);
    for index in 0..120 {
        let p = drawn(index, 6, 2 + index as usize % 2);
        let Ok(found) = local_search(&p, index, EVALUATIONS) else { continue };
        assert!(p.is_feasible(&found), "{index}");
        let least = exhaustive(&p).expect("a feasible one was found");
        let ours = p.objective(&found);
        assert!(ours >= least - 1e-9, "{index}: {ours} < {least}");
        solved += 1;
        hit += u32::from(ours <= least + 1e-9);
    }
    let feasible = (0..120).filter(|&i| exhaustive(&drawn(i, 6, 2 + i as usize % 2)).is_some());
    let feasible = feasible.count() as u32;
    assert!(solved * 100 >= feasible * 95 && hit * 100 >= solved * 85, "{hit} {solved} {feasible}");
}

#[test]
fn local_search_is_never_worse_than_its_starts() {
    for index in 0..40 {
        let p = drawn(index, 40, 4);
        let Ok(found) = local_search(&p, index, EVALUATIONS) else { continue };
        let ours = p.objective(&found);
        let by_size = greedy(&p).unwrap();
        if p.is_feasible(&by_size) {
            assert!(ours <= p.objective(&by_size) + 1e-12, "{index}");
        }
    }
}

#[test]
fn a_start_beyond_the_limits_is_repaired() {
    // By size the two of 4 part, and the three of 3 find no room.
    let models = [4.0, 4.0, 3.0, 3.0, 3.0].map(|rate| model(rate, 0.0)).to_vec();
    let p = Problem { rate_max: 9.0, ..problem(models, 2) };
    assert!(!p.is_feasible(&greedy(&p).unwrap()));
    assert!(p.is_feasible(&local_search(&p, 1, EVALUATIONS).unwrap()));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let p = drawn(2, 80, 6);
    assert_eq!(local_search(&p, 3, 200_000), local_search(&p, 3, 200_000));
    assert_eq!(random(&p, 3, 500), random(&p, 3, 500));
}

#[test]
fn more_draws_are_never_worse() {
    let p = problem(drawn(0, 30, 3).models, 3);
    let objective = |draws| p.objective(&random(&p, 1, draws).unwrap());
    assert!(objective(1000) <= objective(100) && objective(100) <= objective(10));
}

#[test]
fn hopeless_problems_say_why() {
    let two = || vec![model(2.0, 3.0), model(2.0, 1.0)];
    let fails = |p: Problem| local_search(&p, 1, EVALUATIONS).unwrap_err();
    let e = fails(Problem { memory_max: 2.5, ..problem(two(), 2) });
    assert_eq!(e, PartitionError::ModelTooLarge { model: 0, needed: 3.0, limit: 2.5 });
    let e = fails(Problem { rate_max: 1.9, ..problem(two(), 4) });
    assert_eq!(e, PartitionError::ModelTooFast { model: 0, rate: 2.0, limit: 1.9 });
    let e = fails(Problem { rate_max: 2.5, ..problem(vec![model(2.0, 0.0); 3], 2) });
    assert_eq!(e, PartitionError::RateTooHigh { total: 6.0, clusters: 2, limit: 5.0 });
    let e = fails(Problem { memory_max: 3.0, ..problem(two(), 1) });
    assert_eq!(e, PartitionError::MemoryTooSmall { total: 4.0, clusters: 1, limit: 3.0 });
    // Three of 2 into two of 3: within the sum of the limits, but hopeless. No search proves that.
    let p = Problem { rate_max: 3.0, ..problem(vec![model(2.0, 0.0); 3], 2) };
    assert!(matches!(fails(p), PartitionError::NotFound { .. }));
    let e = fails(Problem { rate_max: f64::NAN, ..problem(two(), 2) });
    assert!(matches!(e, PartitionError::Number { what: "rate_max", .. }));
}

#[test]
fn nothing_to_place_and_nothing_to_weigh_are_fine() {
    let a = local_search(&problem(vec![], 3), 1, EVALUATIONS).unwrap();
    assert!(a.cluster_of.is_empty());
    let p = problem(vec![model(0.0, 0.0); 4], 3);
    let a = local_search(&p, 1, EVALUATIONS).unwrap();
    assert_eq!((p.objective(&a), p.imbalance(&a).rate), (0.0, 0.0));
    assert!(local_search(&problem(vec![model(1.0, 1.0); 4], 1), 1, 100).is_ok());
}
