//! The sizes of a cluster over the levels of a day.
//!
//! Levels of a day fall, and what a higher one needs is enough for a lower one. Steps of a trace have their own arrivals:
//! any of them may need the most.

use crate::search::size::{Sized, Sizer, counts};
use crate::search::trial::{Bench, Check};
use orrery_scenario::SpecError;

/// The sizes of all levels by the first seed, looked for from `least` on; none where one is too much.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn first_sizes(
    bench: &Bench<'_>,
    kind: usize,
    least: &[u32],
) -> Result<Option<Vec<u32>>, SpecError> {
    let day = &bench.problem.day;
    let mut sizes: Vec<u32> = Vec::new();
    for (level, start) in least.iter().enumerate() {
        let higher = sizes.last().copied();
        let n = if day.own.is_some() {
            let before = sizes.iter().max().copied().unwrap_or(*start);
            first_at_step(bench, kind, level, (*start, before), &mut 0)?
        } else if day.levels[level] == 0.0 {
            Some(*start)
        } else {
            let most = higher.unwrap_or(bench.problem.counts_max[kind]);
            let load = bench.group.load_per_s * day.levels[level];
            Sizer { bench, kind }.first(load, (*start, most), *start, &mut 0)?.or(higher)
        };
        let Some(n) = n else { return Ok(None) };
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
    let start = |level| start(level, n);
    let mut sizes = vec![peak];
    for level in 1..day.levels.len() {
        let size = match day.own {
            Some(_) => {
                let before = &sizes[largest(&sizes)];
                at_step(bench, kind, level, (start(level), before), simulated)?
            }
            None => {
                let (sizer, higher) = (Sizer { bench, kind }, &sizes[sizes.len() - 1]);
                Some(at_level(&sizer, day.levels[level], start(level), higher, simulated)?)
            }
        };
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

/// The size for a level of the day; what a higher level needs is enough in any case.
fn at_level(
    sizer: &Sizer<'_>,
    level: f64,
    start: u32,
    higher: &Sized,
    simulated: &mut usize,
) -> Result<Sized, SpecError> {
    let load = sizer.bench.group.load_per_s * level;
    let same = || Sized { load_per_s: load, ..higher.clone() };
    if level == 0.0 {
        let counts = sizer.counts(sizer.bench.problem.lost(sizer.kind));
        return Ok(Sized { counts, ..same() });
    }
    let Some(first) = sizer.first(load, (start, higher.n()), start, simulated)? else {
        return Ok(same());
    };
    let size = sizer.sure(load, (first, higher.n()), &mut None)?;
    Ok(size.unwrap_or_else(same))
}

/// With the first seed, the size for a step of a trace with its own arrivals, looked for from `start` on: a step with a
/// lower load may have worse bursts than one with a higher one, and need more. Where one size is for the whole day, the
/// one of the steps before is tried first. None where as many as there may be do not carry it.
fn first_at_step(
    bench: &Bench<'_>,
    kind: usize,
    level: usize,
    (start, before): (u32, u32),
    simulated: &mut usize,
) -> Result<Option<u32>, SpecError> {
    let problem = bench.problem;
    let most = problem.counts_max[kind];
    if problem.day.levels[level] == 0.0 {
        return Ok(Some(problem.lost(kind)));
    }
    let sizer = Sizer { bench: &bench.at(level), kind };
    let (least, begin) =
        if problem.day.follows() { (1, start.clamp(1, most)) } else { (before, before) };
    sizer.first(bench.load_at(level), (least, most), begin, simulated)
}

/// The same with all seeds; one that is not sure says so itself.
fn at_step(
    bench: &Bench<'_>,
    kind: usize,
    level: usize,
    (start, before): (u32, &Sized),
    simulated: &mut usize,
) -> Result<Option<Sized>, SpecError> {
    let (problem, load) = (bench.problem, bench.load_at(level));
    let load_per_s = bench.group.load_per_s * problem.day.levels[level];
    if problem.day.levels[level] == 0.0 {
        let counts = counts(problem, kind, problem.lost(kind));
        return Ok(Some(Sized { counts, load_per_s, ..before.clone() }));
    }
    let first = first_at_step(bench, kind, level, (start, before.n()), simulated)?;
    let Some(first) = first else { return Ok(None) };
    let bench = bench.at(level);
    let sizer = Sizer { bench: &bench, kind };
    let most = problem.counts_max[kind];
    let mut close = None;
    let size = sizer.sure(load, (first, most), &mut close)?;
    let not_sure =
        |(n, check)| Sized { counts: counts(problem, kind, n), load_per_s, check, left: None };
    Ok(size.or_else(|| close.map(not_sure)).map(|size| Sized { load_per_s, ..size }))
}
