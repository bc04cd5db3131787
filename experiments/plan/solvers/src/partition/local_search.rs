//! Local search: greedy by size, then moves and swaps between two sub-clusters.
//!
//! ```text
//! start   each model, the largest first, to the sub-cluster that it fills least
//! smooth  while an exchange between two sub-clusters lowers the sum of squared deviations:
//!             make the one that lowers it most
//! sharp   while an exchange with a worst sub-cluster lowers the objective: make the best
//! kick    swap some models of a worst sub-cluster at random; smooth, sharp; keep what is better
//! ```
//!
//! The objective is a maximum: most exchanges leave it as it is, so it alone is a bad guide. The sum
//! of squares feels each exchange. The best exchange of each pair of sub-clusters is kept until one
//! of the two changes.
//!
//! Being beyond a limit outweighs everything else, so a start that is infeasible is repaired by the
//! same exchanges.

mod board;
mod descent;

use super::{Assignment, PartitionError, Problem};
use board::Board;
use descent::Search;
use orrery_sim::rng::Stream;

/// Swaps in a kick.
const KICK_SWAPS: usize = 3;

/// The best assignment that the search meets. It stops after about `evaluations` exchanges were
/// weighed; 800 models on 20 sub-clusters make good use of 20 million.
///
/// # Errors
/// When the problem is wrong, or no feasible assignment was met.
pub fn local_search(
    problem: &Problem,
    seed: u64,
    evaluations: u64,
) -> Result<Assignment, PartitionError> {
    problem.check()?;
    let board = Board::new(problem, greedy(problem)?);
    let board = refine(board, &mut Stream::named(seed, "partition-kicks", 0), evaluations);
    let best = board.into_assignment();
    if problem.is_feasible(&best) {
        Ok(best)
    } else {
        Err(PartitionError::NotFound { count: evaluations, unit: "evaluations" })
    }
}

/// The greedy start by itself: each model, the largest first, to the sub-cluster that it fills least. It may be beyond
/// the limits.
///
/// # Errors
/// When the problem is wrong.
pub fn greedy(problem: &Problem) -> Result<Assignment, PartitionError> {
    problem.check()?;
    let (rate, memory) = problem.means();
    let part = |value: f64, mean: f64| if mean > 0.0 { value / mean } else { 0.0 };
    let size = |r: f64, s: f64| part(r, rate).max(part(s, memory));
    let mut order: Vec<usize> = (0..problem.models.len()).collect();
    let size_of = |i: usize| size(problem.models[i].rate, problem.models[i].static_mem);
    order.sort_by(|&a, &b| size_of(b).total_cmp(&size_of(a)).then(a.cmp(&b)));
    let mut cluster_of = vec![0; problem.models.len()];
    let mut loads = vec![super::problem::ClusterLoad::default(); problem.clusters];
    for i in order {
        let model = &problem.models[i];
        let mut best: Option<((f64, f64), usize)> = None;
        for (j, load) in loads.iter().enumerate() {
            let mut after = *load;
            after.add(model);
            let rank = (problem.violation(&after), size(after.rate, after.memory));
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, j));
            }
        }
        let j = best.expect("there is a sub-cluster").1;
        loads[j].add(model);
        cluster_of[i] = j;
    }
    Ok(Assignment { cluster_of })
}

/// Descents with kicks in between, as long as evaluations are left.
fn refine<'a>(board: Board<'a>, stream: &mut Stream, evaluations: u64) -> Board<'a> {
    let mut search = Search::new(board, evaluations);
    // The start itself may be better by the objective than where the squares lead.
    let mut best = search.board.clone();
    search.smooth();
    search.sharp();
    if search.board.rank() <= best.rank() {
        best = search.board.clone();
    } else {
        search.restore(&best);
        search.sharp();
        best = search.board.clone();
    }
    while search.left > 0 && best.rank().1 > 0.0 {
        let left = search.left;
        if !kick(&mut search, stream) {
            break;
        }
        search.smooth();
        search.sharp();
        if search.board.rank() <= best.rank() {
            best = search.board.clone();
        } else {
            search.restore(&best);
        }
        // A kick costs at least one, or a board without exchanges would be kicked for ever.
        search.left = search.left.min(left - 1);
    }
    best
}

/// Swaps models of a worst sub-cluster with others at random. False when there is nothing to swap.
fn kick(search: &mut Search<'_>, stream: &mut Stream) -> bool {
    let clusters = search.board.clusters();
    if clusters < 2 {
        return false;
    }
    let worst = search.board.worst();
    let a = worst[stream.below(2) as usize];
    for _ in 0..KICK_SWAPS {
        let b = (a + 1 + stream.below(clusters as u64 - 1) as usize) % clusters;
        let pick = |members: &[usize], stream: &mut Stream| match members.len() as u64 {
            0 => None,
            n => Some(members[stream.below(n) as usize]),
        };
        let give = pick(search.board.members(a), stream);
        let take = pick(search.board.members(b), stream);
        search.exchange(a, b, give, take);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::ModelLoad;
    use std::collections::BTreeSet;

    fn even(models: usize, clusters: usize) -> Problem {
        let model = ModelLoad { rate: 1.0, static_mem: 1.0, dynamic_mem: 0.0 };
        Problem {
            models: vec![model; models],
            clusters,
            rate_max: f64::INFINITY,
            memory_max: f64::INFINITY,
            memory_weight: 1.0,
        }
    }

    #[test]
    fn a_kick_swaps_with_every_other_sub_cluster() {
        let problem = even(5, 5);
        let start = Assignment { cluster_of: (0..5).collect() };
        let mut with = BTreeSet::new();
        for seed in 0..100 {
            let mut search = Search::new(Board::new(&problem, start.clone()), 0);
            assert!(kick(&mut search, &mut Stream::named(seed, "kick", 0)));
            let moved = (1..5).filter(|j| search.board.members(*j) != [*j]);
            with.extend(moved);
        }
        // All are equal: the first is the worst.
        assert_eq!(with, BTreeSet::from([1, 2, 3, 4]));
    }

    /// It would take centuries to use them all up.
    #[test]
    fn nothing_is_searched_beyond_a_perfect_balance() {
        let answer = local_search(&even(6, 3), 1, u64::MAX).expect("an answer");
        assert_eq!(even(6, 3).objective(&answer), 0.0);
    }
}
