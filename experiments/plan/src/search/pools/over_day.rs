//! A pool of several types and, over a day that is followed, those that take its place.

use crate::search::answer::Choice;
use crate::search::hardest_step::hardest;
use crate::search::size::{Sized, over_the_day};
use crate::search::trial::{Bench, Check};
use orrery_run::SpecError;

/// A pool that carries what is asked for.
#[derive(Clone)]
pub(super) struct Carried {
    pub counts: Vec<u32>,
    /// In which level it does worst.
    pub level: usize,
    /// There; none where it was verified with a machine less.
    pub check: Option<Check>,
}

impl Carried {
    fn sized(&self, bench: &Bench<'_>, level: usize) -> Result<Sized, SpecError> {
        let load = bench.load_at(level);
        let check = self.check.clone();
        let check = check.map_or_else(|| bench.at(level).check(&self.counts, load), Ok)?;
        let load_per_s = bench.group.load_per_s * bench.problem.day.levels[level];
        Ok(Sized { counts: self.counts.clone(), load_per_s, check, left: None })
    }
}

/// A pool, and over a day that is followed those that take its place in the other levels; none where nothing is needed.
/// Where these cost more, since they are started early, and the pool carries all levels, it stays.
///
/// # Errors
/// When a pool cannot be simulated.
pub(super) fn over_day(
    bench: &Bench<'_>,
    peak: &Carried,
    lower: &[Option<Carried>],
) -> Result<Choice, SpecError> {
    let (problem, load) = (bench.problem, bench.group.load_per_s);
    if !problem.day.follows() {
        let levels = 0..problem.day.levels.len();
        let level = hardest(bench, &peak.counts, peak.level, levels)?;
        let check = peak.check.clone().filter(|_| level == peak.level);
        return Choice::of(&bench.at(level), &peak.counts, check);
    }
    let first = peak.sized(bench, 0)?;
    let nothing = |level: usize| Sized {
        counts: vec![0; peak.counts.len()],
        load_per_s: load * problem.day.levels[level],
        left: None,
        ..first.clone()
    };
    let each = |of: &dyn Fn(usize, &Carried) -> Result<Sized, SpecError>| {
        let size = |(level, found): (usize, &Option<Carried>)| match found {
            Some(found) => of(level, found),
            None => Ok(nothing(level)),
        };
        let lower = (1..).zip(lower).map(size);
        std::iter::once(Ok(first.clone())).chain(lower).collect::<Result<Vec<_>, _>>()
    };
    let mut sizes = each(&|level, found| found.sized(bench, level))?;
    // What survives a loss at the peak does so at lower loads, but for the bursts of a trace's steps.
    let may_stay = problem.day.own.is_none() || !problem.plan.is_to_survive();
    if may_stay && over_the_day(problem, &sizes) > problem.cost(&peak.counts) {
        let target = problem.plan.target();
        let kept = each(&|level, _| Carried { check: None, ..peak.clone() }.sized(bench, level))?;
        if kept.iter().all(|size| size.check.is_sure(target)) {
            sizes = kept;
        }
    }
    let own = |size: &Sized| problem.cost(&size.counts);
    let most = sizes.iter().map(own).max();
    let largest = sizes.iter().position(|size| Some(own(size)) == most).unwrap_or(0);
    Choice::over_day(bench, largest, sizes)
}
