//! What each solver promises, by hand and against an exhaustive search.

use orrery_sim::rng::Stream;
use orrery_solvers::partition::{
    Answer, Assignment, ModelLoad, PartitionError, Problem, greedy, local_search, random,
};

const EVALUATIONS: u64 = 20_000;

fn model(rate: f64, static_mem: f64) -> ModelLoad {
    ModelLoad { rate, static_mem, dynamic_mem: 0.0, move_cost: 1.0, current: None }
}

fn problem(models: Vec<ModelLoad>, clusters: usize) -> Problem {
    Problem {
        models,
        clusters,
        rate_max: f64::INFINITY,
        memory_max: f64::INFINITY,
        memory_weight: 1.0,
        cost_max: f64::INFINITY,
    }
}

/// A problem whose limits bind now and then; every other one has a current assignment.
fn drawn(index: u64, models: u64, clusters: usize) -> Problem {
    let mut s = Stream::named(1, "test-problems", index);
    let loaded = index % 2 == 1;
    let mut draw = |_| ModelLoad {
        rate: 0.1 + s.uniform(),
        static_mem: 0.1 + s.uniform(),
        dynamic_mem: 0.5 * s.uniform(),
        move_cost: 0.5 + s.uniform(),
        current: (loaded && s.below(5) > 0).then(|| s.below(clusters as u64) as usize),
    };
    let list: Vec<ModelLoad> = (0..models).map(&mut draw).collect();
    let mean = |f: fn(&ModelLoad) -> f64| list.iter().map(f).sum::<f64>() / clusters as f64;
    Problem {
        rate_max: mean(|m| m.rate) * (1.05 + 0.5 * s.uniform()),
        memory_max: mean(|m| m.static_mem) * (1.1 + 0.6 * s.uniform()),
        memory_weight: [0.0, 0.5, 2.0][index as usize % 3],
        cost_max: if loaded { 2.0 + 6.0 * s.uniform() } else { f64::INFINITY },
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
    let Answer { assignment: a, .. } = local_search(&p, 1, EVALUATIONS).unwrap();
    assert_eq!((p.objective(&a), p.imbalance(&a).rate, p.imbalance(&a).memory), (1.0, 0.0, 1.0));
    // Weight decides when both cannot be even: {3}, {1, 2} leaves memories 1 and 3.
    let p = Problem { memory_weight: 10.0, ..p };
    let a = local_search(&p, 1, EVALUATIONS).unwrap().assignment;
    assert_eq!((p.imbalance(&a).rate, p.imbalance(&a).memory), (4.0 / 3.0, 0.0));
}

#[test]
fn a_move_costs_twice_and_a_new_model_once() {
    let placed = |r, c| ModelLoad { current: Some(c), ..model(r, 0.0) };
    let mut p = problem(vec![placed(1.0, 0), placed(1.0, 0), model(0.5, 0.0)], 2);
    let at = |v: [usize; 3]| Assignment { cluster_of: v.to_vec() };
    assert_eq!((p.cost(&at([0, 0, 1])), p.moves(&at([0, 0, 1]))), (1.0, 0));
    assert_eq!((p.cost(&at([0, 1, 1])), p.moves(&at([0, 1, 1]))), (3.0, 1));
    p.cost_max = 2.9;
    let a = local_search(&p, 1, EVALUATIONS).unwrap().assignment;
    assert_eq!(a, at([0, 0, 1]));
    p.cost_max = 3.0;
    let a = local_search(&p, 1, EVALUATIONS).unwrap().assignment;
    assert_eq!((p.moves(&a), p.objective(&a)), (1, 0.25));
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
        assert!(p.is_feasible(&found.assignment), "{index}");
        let least = exhaustive(&p).expect("a feasible one was found");
        let ours = p.objective(&found.assignment);
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
        let ours = p.objective(&found.assignment);
        let by_size = greedy(&p).unwrap();
        if p.is_feasible(&by_size) {
            assert!(ours <= p.objective(&by_size) + 1e-12, "{index}");
        }
        let stay: Option<Vec<usize>> = p.models.iter().map(|m| m.current).collect();
        if let Some(stay) = stay.map(|cluster_of| Assignment { cluster_of })
            && p.is_feasible(&stay)
        {
            assert!(ours <= p.objective(&stay) + 1e-12, "{index}");
        }
    }
}

#[test]
fn a_current_assignment_is_never_made_worse() {
    for index in 0..20 {
        let mut p = Problem { cost_max: f64::INFINITY, ..drawn(index, 60, 5) };
        (p.rate_max, p.memory_max) = (f64::INFINITY, f64::INFINITY);
        let before = random(&p, index, 20).unwrap().assignment;
        for (m, j) in p.models.iter_mut().zip(&before.cluster_of) {
            m.current = Some(*j);
        }
        let mut last = p.objective(&before);
        assert_eq!(p.cost(&before), 0.0);
        for cost_max in [0.0, 4.0, 16.0, 64.0] {
            p.cost_max = cost_max;
            let a = local_search(&p, 1, EVALUATIONS).unwrap().assignment;
            assert!(p.cost(&a) <= cost_max && p.is_feasible(&a), "{index}");
            let objective = p.objective(&a);
            assert!(objective <= p.objective(&before) && (cost_max > 0.0 || a == before));
            // More budget helps, if not strictly: the search is a heuristic.
            assert!(objective <= last * 1.5, "{index}: {objective} after {last}");
            last = objective;
        }
        assert!(last < 0.5 * p.objective(&before), "{index}");
    }
}

#[test]
fn a_start_beyond_the_limits_is_repaired() {
    let m = |r| ModelLoad { current: Some(0), ..model(r, 1.0) };
    let p = Problem { rate_max: 3.0, cost_max: 4.0, ..problem(vec![m(2.0), m(2.0), m(1.0)], 2) };
    let a = local_search(&p, 1, EVALUATIONS).unwrap().assignment;
    assert!(p.is_feasible(&a) && p.moves(&a) == 1, "{a:?}");
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
    let objective = |draws| p.objective(&random(&p, 1, draws).unwrap().assignment);
    assert!(objective(1000) <= objective(100) && objective(100) <= objective(10));
}

#[test]
fn hopeless_problems_say_why() {
    let two = || vec![model(2.0, 3.0), model(2.0, 1.0)];
    let fails = |p: Problem| local_search(&p, 1, EVALUATIONS).unwrap_err();
    assert_eq!(fails(problem(two(), 0)), PartitionError::NoClusters);
    let e = fails(Problem { memory_max: 2.5, ..problem(two(), 2) });
    assert_eq!(e, PartitionError::ModelTooLarge { model: 0, needed: 3.0, limit: 2.5 });
    let e = fails(Problem { rate_max: 1.9, ..problem(two(), 4) });
    assert_eq!(e, PartitionError::ModelTooFast { model: 0, rate: 2.0, limit: 1.9 });
    let e = fails(Problem { rate_max: 2.5, ..problem(vec![model(2.0, 0.0); 3], 2) });
    assert_eq!(e, PartitionError::RateTooHigh { total: 6.0, clusters: 2, limit: 5.0 });
    let e = fails(Problem { memory_max: 3.0, ..problem(two(), 1) });
    assert_eq!(e, PartitionError::MemoryTooSmall { total: 4.0, clusters: 1, limit: 3.0 });
    let e = fails(Problem { cost_max: 1.5, ..problem(two(), 1) });
    assert_eq!(e, PartitionError::CostTooLow { needed: 2.0, limit: 1.5 });
    // Three of 2 into two of 3: within the sum of the limits, but hopeless. No search proves that.
    let p = Problem { rate_max: 3.0, ..problem(vec![model(2.0, 0.0); 3], 2) };
    assert!(matches!(fails(p), PartitionError::NotFound { .. }));
    let lost = ModelLoad { current: Some(2), ..model(1.0, 1.0) };
    let e = fails(problem(vec![lost], 2));
    assert_eq!(e, PartitionError::NoSuchCluster { model: 0, cluster: 2, clusters: 2 });
    let e = fails(problem(vec![model(f64::NAN, 1.0)], 2));
    assert!(matches!(e, PartitionError::ModelNumber { model: 0, what: "rate", .. }));
}

#[test]
fn nothing_to_place_and_nothing_to_weigh_are_fine() {
    let a = local_search(&problem(vec![], 3), 1, EVALUATIONS).unwrap().assignment;
    assert!(a.cluster_of.is_empty());
    let p = problem(vec![model(0.0, 0.0); 4], 3);
    let a = local_search(&p, 1, EVALUATIONS).unwrap().assignment;
    assert_eq!((p.objective(&a), p.imbalance(&a).rate), (0.0, 0.0));
    assert!(local_search(&problem(vec![model(1.0, 1.0); 4], 1), 1, 100).is_ok());
}
