//! The step of a trace's day in which machines carry least: there it is judged what they carry.
//!
//! A step with less load than the peak's may have worse bursts. Rates of all steps are those that the peak's step has then,
//! so that they can be compared.

use crate::search::trial::Bench;
use orrery_run::SpecError;

/// Of some levels that have these machines, the one in which they carry least with the first seed; of the others a probe
/// says whether they carry as much. `first` where the own arrivals of a trace are not simulated.
///
/// # Errors
/// When the machines cannot be simulated.
pub fn hardest(
    bench: &Bench<'_>,
    counts: &[u32],
    first: usize,
    levels: impl Iterator<Item = usize>,
) -> Result<usize, SpecError> {
    let day = &bench.problem.day;
    let is_other = |level: &usize| *level != first && day.levels[*level] > 0.0;
    let others: Vec<usize> = levels.filter(is_other).collect();
    if day.own.is_none() || others.is_empty() {
        return Ok(first);
    }
    bench.expect(others.len() as u64);
    let mut hardest = first;
    let mut least = bench.at(first).highest(counts, bench.group.load_per_s)?;
    for level in others {
        let step = bench.at(level);
        if least > 0.0 && !step.holds(counts, least)? {
            (hardest, least) = (level, step.highest(counts, least)?);
        }
    }
    Ok(hardest)
}
