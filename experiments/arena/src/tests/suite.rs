use crate::suite::{Half, Suite};
use std::collections::BTreeSet;

/// Of all files of 2026.1. A suite that is named never changes; a new draw has a new name.
const SHA256: &str = "2642c45a97bd82ae7fc41d17e9a11ec20c24523a27c3414aacfd11537200edc3";

#[test]
fn the_hash_of_the_suite_never_changes() {
    assert_eq!(Suite::find("2026.1").expect("the suite").sha256, SHA256);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/suites/2026.1");
    let files = std::fs::read_dir(folder).expect("the suite").count();
    assert_eq!(files, 61, "the list, and a file for each scenario");
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
