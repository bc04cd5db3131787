//! Which seeds a cell is run with, and when there are enough.

use super::replication::Replication;
use clap::Args;
use orrery_report::page::counted;
use orrery_run::SpecError;
use orrery_sim::stats;
use serde::{Deserialize, Serialize};

/// Which seeds a cell is run with.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
pub struct Seeds {
    /// The first; the others follow it.
    pub first: u64,
    /// How many, at least.
    pub count: u32,
    /// Go on until the finish rate's interval is at most so wide, or so many seeds were run.
    pub until_ci: Option<(f64, u32)>,
}

impl Seeds {
    /// Runs seed after seed. With `until_ci`, at least two are run.
    ///
    /// # Errors
    /// The first error of a run.
    pub fn run(
        &self,
        one: impl FnMut(u64) -> Result<Replication, SpecError>,
    ) -> Result<Vec<Replication>, SpecError> {
        let mut done = Vec::new();
        self.go_on(&mut done, one)?;
        Ok(done)
    }

    /// The same with runs that are there already, of the first seed and those that follow it: what they are
    /// short of is run, what is more than enough is left out.
    ///
    /// # Errors
    /// The first error of a run.
    pub fn go_on(
        &self,
        done: &mut Vec<Replication>,
        mut one: impl FnMut(u64) -> Result<Replication, SpecError>,
    ) -> Result<(), SpecError> {
        let (least, most) = match self.until_ci {
            None => (self.count, self.count),
            Some((_, most)) => (self.count.max(2), most.max(2)),
        };
        let mut count = 0;
        while count < most && (count < least || !self.narrow_enough(&done[..count as usize])) {
            let (at, seed) = (count as usize, self.first.wrapping_add(count.into()));
            match done.get(at) {
                Some(run) if run.seed == seed => {}
                Some(_) => done[at] = one(seed)?,
                None => done.push(one(seed)?),
            }
            count += 1;
        }
        done.truncate(count as usize);
        Ok(())
    }

    /// Whether the kept runs are enough; then those that are more than enough are left out.
    pub fn all_of(&self, kept: &mut Vec<Replication>) -> bool {
        let short = |_| Err(SpecError::value("seeds", "too few", "as many as are asked for", ""));
        self.go_on(kept, short).is_ok()
    }

    /// What of them names a cell's entry: the first seed. An entry with more of them serves fewer.
    pub fn entry(&self) -> Seeds {
        Seeds { first: self.first, count: 1, until_ci: None }
    }

    /// Whether the interval of the finish rate is as narrow as was asked for.
    pub fn narrow_enough(&self, done: &[Replication]) -> bool {
        let Some((width, _)) = self.until_ci else { return true };
        // Where one seed has no answer the cell has no mean, and more seeds cannot give it one.
        if done.iter().any(|r| r.no_answer().is_some()) {
            return true;
        }
        let rates: Vec<f64> = done.iter().filter_map(Replication::finish_rate).collect();
        stats::replications(&rates).is_some_and(|i| i.width() <= width)
    }

    /// For reading: `5 seeds`, or `5 to 100 seeds, until an interval is at most 0.01 wide`.
    pub fn in_words(&self) -> String {
        match self.until_ci {
            None => counted(self.count, "seed"),
            Some((width, most)) => {
                let least = self.count.max(2);
                format!("{least} to {most} seeds, until the interval is at most {width} wide")
            }
        }
    }

    /// As part of a specification.
    pub fn words(&self) -> String {
        let Seeds { first, count, until_ci } = self;
        match until_ci {
            None => format!("first {first}, count {count}"),
            Some((w, most)) => format!("first {first}, count {count}, until {w}, at most {most}"),
        }
    }
}

/// When to stop adding seeds.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Until {
    /// Add seeds until the 95 % interval of the finish rate has at most this width.
    #[arg(long, value_name = "WIDTH", value_parser = width)]
    pub until_ci: Option<f64>,
    /// Maximum number of seeds with `--until-ci` [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub max_seeds: Option<u32>,
}

impl Until {
    /// Width and most seeds, where asked for; `seeds` is how many are run at least.
    ///
    /// # Errors
    /// When there is a limit and nothing that it limits, or it is below what is run at least.
    pub fn pair(&self, seeds: u32) -> Result<Option<(f64, u32)>, SpecError> {
        match (self.until_ci, self.max_seeds) {
            (None, Some(max)) => {
                let remedy = "add `--until-ci WIDTH`, or use `--seeds` for a fixed number";
                Err(SpecError::value("--max-seeds", max, "only with `--until-ci`", remedy))
            }
            (Some(_), Some(max)) if max < seeds => {
                let allowed = format!("at least {seeds}, the minimum number of seeds");
                let remedy = "raise it, or use fewer `--seeds`";
                Err(SpecError::value("--max-seeds", max, allowed, remedy))
            }
            (width, max) => Ok(width.map(|w| (w, max.unwrap_or(seeds.max(100))))),
        }
    }
}

fn width(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(w) if w > 0.0 && w <= 1.0 => Ok(w),
        _ => Err("a number above 0, at most 1, such as 0.01".to_string()),
    }
}
