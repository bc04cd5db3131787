//! The sizes of a cluster over the levels of a day.
//!
//! Levels of a day fall, and what a higher one needs is enough for a lower one. Steps of a trace have their own arrivals:
//! any of them may need the most.

use crate::search::size::{Sized, Sizer, counts};
use crate::search::trial::{Bench, Check};
use orrery_run::SpecError;

/// The sizes of all levels by the first seed, looked for from `least` on; none where one is too much.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn first_sizes(
    bench: &Bench<'_>,
    kind: usize,
    least: &[u32],
) -> Result<Option<Vec<u32>>, SpecError> {
    let is_own = bench.problem.day.own.is_some();
    let mut sizes: Vec<u32> = Vec::new();
    for (level, start) in least.iter().enumerate() {
        let before = if is_own { sizes.iter().max() } else { sizes.last() }.copied();
        let first = first_at(bench, kind, level, (*start, before), &mut 0)?;
        let Some(n) = first.or(before.filter(|_| !is_own)) else { return Ok(None) };
        sizes.push(n);
    }
    Ok(Some(sizes))
}

/// The verified sizes of all levels, that of the peak first, from what the first seed says on; each other one is looked
/// for from `start` of it and the peak's size on. Or the level that is not surely carried.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn sizes(
    bench: &Bench<'_>,
    kind: usize,
    first: u32,
    start: impl Fn(usize, u32) -> u32,
    (close, simulated): (&mut Option<(u32, Check)>, &mut usize),
) -> Result<Result<Vec<Sized>, usize>, SpecError> {
    let (day, most) = (&bench.problem.day, bench.problem.counts_max[kind]);
    let peak = Sizer { bench, kind }.sure(bench.group.load_per_s, (first, most), close)?;
    let Some(peak) = peak else { return Ok(Err(0)) };
    let n = peak.n();
    let mut sizes = vec![peak];
    for level in 1..day.levels.len() {
        let before = if day.own.is_some() { largest(&sizes) } else { level - 1 };
        let size = at(bench, kind, level, (start(level, n), &sizes[before]), simulated)?;
        let Some(size) = size else { return Ok(Err(level)) };
        sizes.push(size);
    }
    Ok(Ok(sizes))
}

/// The first level that needs as many machines as any: the peak, but where the bursts of another step are worse.
pub fn largest(sizes: &[Sized]) -> usize {
    let most = sizes.iter().map(Sized::n).max();
    sizes.iter().position(|size| Some(size.n()) == most).unwrap_or(0)
}

/// With the first seed, the size for a level of the day, looked for from `start` on where levels before it need `before`.
/// A step of a trace with a lower load may have worse bursts than one with a higher one, and need more. None where as
/// many as there may be do not carry it.
fn first_at(
    bench: &Bench<'_>,
    kind: usize,
    level: usize,
    (start, before): (u32, Option<u32>),
    simulated: &mut usize,
) -> Result<Option<u32>, SpecError> {
    let (day, most) = (&bench.problem.day, bench.problem.counts_max[kind]);
    if day.levels[level] == 0.0 {
        return Ok(Some(bench.problem.lost(kind)));
    }
    let before_it = before.unwrap_or(start);
    let (least, most, begin) = match (&day.own, day.follows()) {
        (None, _) => (start, before.unwrap_or(most), start),
        (Some(_), true) => (1, most, start.clamp(1, most)),
        // Where one size is for the whole day, the one of the steps before is tried first.
        (Some(_), false) => (before_it, most, before_it),
    };
    let sizer = Sizer { bench: &bench.at(level), kind };
    sizer.first(bench.load_at(level), (least, most), begin, simulated)
}

/// The same with all seeds. What a higher level of a profile needs is enough in any case; of a trace, a size that is not
/// sure says so itself.
fn at(
    bench: &Bench<'_>,
    kind: usize,
    level: usize,
    (start, before): (u32, &Sized),
    simulated: &mut usize,
) -> Result<Option<Sized>, SpecError> {
    let (problem, is_own) = (bench.problem, bench.problem.day.own.is_some());
    let share = problem.day.levels[level];
    let load_per_s = bench.group.load_per_s * share;
    let same = Sized { load_per_s, ..before.clone() };
    let first = first_at(bench, kind, level, (start, Some(before.n())), simulated)?;
    if share == 0.0 {
        return Ok(first.map(|n| Sized { counts: counts(problem, kind, n), ..same }));
    }
    let higher = Some(same).filter(|_| !is_own);
    let Some(first) = first else { return Ok(higher) };
    let most = if is_own { problem.counts_max[kind] } else { before.n() };
    let (bench, mut close) = (bench.at(level), None);
    let sizer = Sizer { bench: &bench, kind };
    let size = sizer.sure(bench.load_at(level), (first, most), &mut close)?;
    let not_sure =
        |(n, check)| Sized { counts: counts(problem, kind, n), load_per_s, check, left: None };
    let not_sure = close.filter(|_| is_own).map(not_sure);
    Ok(size.map(|size| Sized { load_per_s, ..size }).or(not_sure).or(higher))
}
