use crate::suite::{Half, Suite};
use std::collections::BTreeSet;
use std::path::Path;

/// Of all files of a suite, and how many. A suite that is named never changes; a new draw has a new name.
const SHA256: [(&str, &str, usize); 2] = [
    ("2026.1", "2642c45a97bd82ae7fc41d17e9a11ec20c24523a27c3414aacfd11537200edc3", 61),
    ("2026.2", "e5af0d1dfe3d8c65907d30f3fe12bf3e8d59be7167017a3f5a6796212210ca3f", 76),
];

#[test]
fn the_hash_of_a_suite_never_changes() {
    for (name, sha256, count) in SHA256 {
        assert_eq!(Suite::find(name).expect("the suite").sha256, sha256);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites").join(name);
        let files = std::fs::read_dir(folder).expect("the suite").count();
        assert_eq!(files, count, "the list, and a file for each scenario");
    }
}

#[test]
fn without_stops_no_device_of_a_suite_stops_a_batch_and_its_name_says_so() {
    let suite = Suite::find("2026.2").expect("the suite");
    let can_stop = |suite: &Suite| {
        let of = |a: &crate::suite::Asked| a.scenario.file.device.iter().any(|d| d.can_preempt);
        suite.scenarios.iter().filter(|a| of(a)).count()
    };
    let without = suite.clone().without_stops();
    assert_eq!((can_stop(&suite), can_stop(&without)), (67, 0));
    assert_eq!(without.name, "2026.2-without-stops");
}

#[test]
fn halves_are_whole_together_and_quick_is_a_sixth() {
    let suite = Suite::find("2026.1").expect("the suite");
    let names = |s: &Suite| s.scenarios.iter().map(|a| a.name.clone()).collect::<BTreeSet<_>>();
    let all = names(&suite);
    assert_eq!(all.len(), 60);
    for draw in 0..4 {
        let [train, judge] =
            [Half::Training, Half::Judging].map(|half| names(&suite.clone().half(half, draw)));
        assert_eq!((train.len(), judge.len()), (30, 30));
        assert!(train.is_disjoint(&judge) && train.union(&judge).count() == 60);
    }
    assert_eq!(suite.quick().scenarios.len(), 10);
}

/// Every pair of values of two axes of a map is asked somewhere.
#[test]
fn maps_of_one_gpu_have_no_holes() {
    let suite = Suite::find("2026.1").expect("the suite");
    for (x, y) in
        [("batch_cost", "times"), ("slo_x_p99", "times"), ("load", "times"), ("load", "slo_x_p99")]
    {
        let here = || suite.scenarios.iter().filter(|a| a.name.starts_with("gpu-"));
        let of = |axis| here().filter_map(|a| a.at(axis)).collect::<BTreeSet<&str>>();
        for (at_x, at_y) in of(x).into_iter().flat_map(|a| of(y).into_iter().map(move |b| (a, b))) {
            let has = here().any(|a| a.at(x) == Some(at_x) && a.at(y) == Some(at_y));
            assert!(has, "{x}={at_x} {y}={at_y}");
        }
    }
}
