//! The paper's baseline (Appendix A.2): draw an assignment, check it, keep the best.
//!
//! The paper draws for 10 seconds; this draws so often.

use super::{Assignment, PartitionError, Problem};
use orrery_sim::rng::Stream;

/// The best of `draws` assignments, each uniform and independent.
///
/// # Errors
/// When the problem is wrong, or none of the draws is feasible.
pub fn random(problem: &Problem, seed: u64, draws: u64) -> Result<Assignment, PartitionError> {
    problem.check()?;
    let mut stream = Stream::named(seed, "partition-random", 0);
    let mut drawn = Assignment { cluster_of: vec![0; problem.models.len()] };
    let mut best: Option<(f64, Assignment)> = None;
    for _ in 0..draws {
        for j in &mut drawn.cluster_of {
            *j = stream.below(problem.clusters as u64) as usize;
        }
        let objective = problem.objective(&drawn);
        // Most draws are worse; only the others need the check.
        let better = best.as_ref().is_none_or(|(least, _)| objective < *least);
        if better && problem.is_feasible(&drawn) {
            best = Some((objective, drawn.clone()));
        }
    }
    match best {
        Some((_, assignment)) => Ok(assignment),
        None => Err(PartitionError::NotFound { count: draws, unit: "draws" }),
    }
}
