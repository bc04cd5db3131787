//! The matcher against every matching there is, and against a plain Hungarian method.

use super::*;
use crate::rng::Stream;
use proptest::prelude::*;

/// Every matching of `min(rows, columns)` pairs: the one that the module's rule names, with its cost.
fn by_trying_all(rows: usize, columns: usize, costs: &[i64]) -> (i64, Vec<u32>) {
    fn go(
        r: usize,
        rows: usize,
        columns: usize,
        costs: &[i64],
        now: &mut Vec<u32>,
        best: &mut Option<(i64, Vec<u32>)>,
    ) {
        if r == rows {
            if now.iter().filter(|c| **c != NONE).count() == rows.min(columns) {
                let pair =
                    |(r, c): (usize, &u32)| (*c != NONE).then(|| costs[r * columns + *c as usize]);
                let found = (now.iter().enumerate().filter_map(pair).sum(), now.clone());
                if best.as_ref().is_none_or(|b| found < *b) {
                    *best = Some(found);
                }
            }
            return;
        }
        for c in (0..columns as u32).chain([NONE]) {
            if c == NONE || !now.contains(&c) {
                now.push(c);
                go(r + 1, rows, columns, costs, now, best);
                now.pop();
            }
        }
    }
    let mut best = None;
    go(0, rows, columns, costs, &mut Vec::new(), &mut best);
    best.unwrap()
}

/// The Hungarian method as textbooks have it: O(rows² · columns), potentials on both sides, on a
/// matrix with no more rows than columns. Its total only: it has a tie rule of its own.
fn hungarian(rows: usize, columns: usize, costs: &[i64]) -> i64 {
    if rows > columns {
        let turned: Vec<i64> =
            (0..rows * columns).map(|i| costs[(i % rows) * columns + i / rows]).collect();
        return hungarian(columns, rows, &turned);
    }
    let (mut u, mut v) = (vec![0i64; rows + 1], vec![0i64; columns + 1]);
    let (mut p, mut way) = (vec![0usize; columns + 1], vec![0usize; columns + 1]);
    for i in 1..=rows {
        p[0] = i;
        let mut j0 = 0;
        let (mut least, mut used) = (vec![i64::MAX; columns + 1], vec![false; columns + 1]);
        while p[j0] != 0 {
            used[j0] = true;
            let (mut delta, mut j1) = (i64::MAX, 0);
            for j in 1..=columns {
                if !used[j] {
                    let reduced = costs[(p[j0] - 1) * columns + j - 1] - u[p[j0]] - v[j];
                    if reduced < least[j] {
                        (least[j], way[j]) = (reduced, j0);
                    }
                    if least[j] < delta {
                        (delta, j1) = (least[j], j);
                    }
                }
            }
            for j in 0..=columns {
                if used[j] {
                    u[p[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            j0 = j1;
        }
        while j0 != 0 {
            p[j0] = p[way[j0]];
            j0 = way[j0];
        }
    }
    (1..=columns).filter(|&j| p[j] != 0).map(|j| costs[(p[j] - 1) * columns + j - 1]).sum()
}

fn total(columns: usize, costs: &[i64], answer: &[u32]) -> i64 {
    let pairs = answer.iter().enumerate().filter(|(_, c)| **c != NONE);
    pairs.map(|(r, &c)| costs[r * columns + c as usize]).sum()
}

fn check_valid(rows: usize, columns: usize, answer: &[u32]) {
    let mut taken: Vec<u32> = answer.iter().copied().filter(|c| *c != NONE).collect();
    assert_eq!(taken.len(), rows.min(columns), "all pairs are made");
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), rows.min(columns), "each column once");
    assert!(taken.iter().all(|c| (*c as usize) < columns));
}

#[test]
fn agrees_with_all_matchings_of_small_matrices_pair_by_pair() {
    let mut draws = Stream::named(1, "matrices", 0);
    let mut matcher = Matcher::default();
    for case in 0..20_000 {
        let (rows, columns) = (draws.below(6) as usize, draws.below(6) as usize);
        // Few values: nearly every matrix has ties.
        let values = [1, 2, 3, 10, 1_000_000][case % 5];
        let cost = |_| draws.below(values) as i64 - 2;
        let costs: Vec<i64> = (0..rows * columns).map(cost).collect();
        let (least, expected) = by_trying_all(rows, columns, &costs);
        let answer = matcher.solve(rows, columns, &costs);
        assert_eq!(total(columns, &costs, answer), least, "{rows}x{columns} {costs:?}");
        assert_eq!(answer, expected, "{rows}x{columns} {costs:?}");
    }
}

/// A matrix as Kairos makes it: types with weights, what instances have left, latencies that grow with
/// the size, a penalty where the target is missed.
pub(crate) fn like_kairos(rows: usize, columns: usize, seed: u64) -> Vec<i64> {
    let mut draws = Stream::named(seed, "like Kairos", 0);
    let types = [(100, 1), (38, 3), (36, 3), (19, 5)];
    let instance = |_| {
        let left = if draws.below(3) == 0 { 0 } else { draws.below(40) as i64 };
        (types[draws.below(4) as usize], left)
    };
    let instances: Vec<((i64, i64), i64)> = (0..columns).map(instance).collect();
    let mut costs = Vec::new();
    for _ in 0..rows {
        let (size, waited) = (1 + draws.below(100) as i64, draws.below(60) as i64);
        for &((weight, slow), left) in &instances {
            let time = left + slow * size / 2;
            costs.push(weight * if time + waited > 98 { 1_000 } else { time });
        }
    }
    costs
}

#[test]
fn agrees_with_the_hungarian_method_on_larger_matrices() {
    let mut matcher = Matcher::default();
    let mut draws = Stream::named(2, "sides", 0);
    for seed in 0..400 {
        let (rows, columns) = (1 + draws.below(70) as usize, 1 + draws.below(70) as usize);
        let costs = like_kairos(rows, columns, seed);
        let answer = matcher.solve(rows, columns, &costs).to_vec();
        check_valid(rows, columns, &answer);
        assert_eq!(total(columns, &costs, &answer), hungarian(rows, columns, &costs));
        assert_eq!(Matcher::default().solve(rows, columns, &costs), answer, "memory is no input");
    }
}

#[test]
fn of_equal_sums_the_first_row_has_the_first_column() {
    let mut matcher = Matcher::default();
    assert_eq!(matcher.solve(2, 2, &[1, 2, 2, 3]), [0, 1]);
    assert_eq!(matcher.solve(2, 3, &[0; 6]), [0, 1]);
    assert_eq!(matcher.solve(3, 2, &[0; 6]), [0, 1, NONE]);
    assert_eq!(matcher.solve(3, 2, &[5, 5, 4, 4, 5, 5]), [0, 1, NONE]);
    assert_eq!(matcher.solve(3, 1, &[4, 3, 3]), [NONE, 0, NONE]);
    assert_eq!(matcher.solve(1, 3, &[4, 3, 3]), [1]);
    assert!(matcher.solve(0, 3, &[]).is_empty());
    assert_eq!(matcher.solve(2, 0, &[]), [NONE, NONE]);
}

proptest! {
    #[test]
    fn the_rule_depends_on_the_matrix_only_up_to_what_it_ignores(
        rows in 1usize..7, columns in 1usize..7, values in 1u64..6, seed in 0u64..1 << 40,
    ) {
        let mut draws = Stream::named(seed, "matrix", 0);
        let costs: Vec<i64> = (0..rows * columns).map(|_| draws.below(values) as i64).collect();
        let mut matcher = Matcher::default();
        let answer = matcher.solve(rows, columns, &costs).to_vec();
        prop_assert_eq!(total(columns, &costs, &answer), hungarian(rows, columns, &costs));
        // Another scale, or another zero of every cost, changes no matching.
        let scaled: Vec<i64> = costs.iter().map(|c| 7 * c - 1_000).collect();
        prop_assert_eq!(matcher.solve(rows, columns, &scaled), &answer);
        // A row (column) dearer by a constant changes none either where all rows (columns) take part.
        let by_row = |i: usize| if rows <= columns { i / columns } else { i % columns };
        let dearer: Vec<i64> =
            costs.iter().enumerate().map(|(i, c)| c + 13 * by_row(i) as i64).collect();
        prop_assert_eq!(matcher.solve(rows, columns, &dearer), &answer);
    }
}
