//! The size of a cluster of one kind: the fewest machines that carry a load, with one seed and with all.
//!
//! With `survive = 1` the devices that carry it are fewer than the cluster has by those of one machine.

use crate::input::problem::Problem;
use crate::search::trial::{Bench, Check};
use orrery_run::SpecError;
use orrery_run::search::fewest;
use orrery_solvers::Price;

/// Instances added to what one seed says is enough, at most, until all seeds agree.
pub const MORE_MAX: u32 = 8;

/// A size that all seeds agree on.
#[derive(Clone, Debug)]
pub struct Sized {
    /// How many of each type.
    pub counts: Vec<u32>,
    /// The load that they carry.
    pub load_per_s: f64,
    /// All of them at the load.
    pub check: Check,
    /// Without those that it survives, where there are any.
    pub left: Option<Check>,
}

impl Sized {
    /// The machines of all types together.
    pub fn n(&self) -> u32 {
        self.counts.iter().sum()
    }
}

/// Looks for sizes.
pub struct Sizer<'a> {
    /// Where clusters are simulated.
    pub bench: &'a Bench<'a>,
    /// Of which kind.
    pub kind: usize,
}

impl Sizer<'_> {
    /// How many of each kind.
    pub fn counts(&self, n: u32) -> Vec<u32> {
        counts(self.bench.problem, self.kind, n)
    }

    /// The machines that may be lost.
    fn lost(&self) -> u32 {
        self.bench.problem.lost(self.kind)
    }

    /// The sizes that can be bought, each once: packs are bought whole.
    fn sizes_from(&self, least: u32, most: u32) -> impl Iterator<Item = u32> {
        let bought = |n: u32| self.bench.problem.bought(self.kind, n);
        std::iter::successors(Some(bought(least)), move |n| Some(bought(n + 1)))
            .take_while(move |n| *n <= most)
    }

    /// The fewest machines that carry a load with the first seed, looked for from `begin` on; none where `most` do
    /// not for sure.
    ///
    /// # Errors
    /// When a cluster cannot be simulated.
    pub fn first(
        &self,
        load_per_s: f64,
        (start, most): (u32, u32),
        begin: u32,
        simulated: &mut usize,
    ) -> Result<Option<u32>, SpecError> {
        let least = start.max(self.lost() + 1);
        if least > most {
            return Ok(None);
        }
        let mut may_hold = false;
        let fewest = fewest(begin.max(least), least, most, |n| {
            *simulated += 1;
            let probe = self.bench.probe(&self.counts(n - self.lost()), load_per_s)?;
            may_hold = n == most && !probe.is_sure();
            Ok::<_, SpecError>(probe)
        })?;
        // One seed that is not sure of all machines leaves it to all seeds.
        let most = Some(most).filter(|_| may_hold);
        Ok(fewest.value.map(|n| n as u32).or(most))
    }

    /// The fewest that carry the load with all seeds, where the first says that `high` do: from one fewer on, and fewer as
    /// long as these do; none where none is sure; `close` takes the first whose mean is within the target, but not its
    /// interval.
    ///
    /// # Errors
    /// When a cluster cannot be simulated.
    pub fn sure(
        &self,
        load_per_s: f64,
        (high, most): (u32, u32),
        close: &mut Option<(u32, Check)>,
    ) -> Result<Option<Sized>, SpecError> {
        let target = self.bench.problem.plan.target();
        let least = self.lost() + 1;
        let from = high.saturating_sub(1).max(least);
        for n in self.sizes_from(from, most).take(MORE_MAX as usize + 1) {
            let mut check = self.bench.check(&self.counts(n - self.lost()), load_per_s)?;
            if self.lost() > 0 && check.is_sure(target) {
                check.lost_for_good = self.bench.is_lost(&self.counts(n), self.kind, load_per_s)?;
            }
            if check.is_sure(target) && n == from && (least..high).contains(&n) && n > least {
                return self.sure(load_per_s, (n, most), close);
            }
            if check.is_sure(target) {
                let (check, left) = match self.lost() {
                    0 => (check, None),
                    _ => (self.bench.check(&self.counts(n), load_per_s)?, Some(check)),
                };
                let counts = self.counts(n);
                return Ok(Some(Sized { counts, load_per_s, check, left }));
            }
            if check.meets(target) && close.is_none() {
                *close = Some((n, check));
            }
        }
        Ok(None)
    }
}

/// What the machines cost by the hour, as the mean over the day; those of each level are given.
pub fn over_the_day(problem: &Problem, sizes: &[Sized]) -> Price {
    let by_level: Vec<Vec<u32>> = sizes.iter().map(|size| size.counts.clone()).collect();
    problem.day.cost(&by_level, |counts| problem.cost(counts))
}

/// So many of one kind.
pub fn counts(problem: &Problem, kind: usize, n: u32) -> Vec<u32> {
    (0..problem.sales.len()).map(|k| if k == kind { n } else { 0 }).collect()
}
