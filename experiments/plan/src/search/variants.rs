//! Variants of the scenario, in each of which the machines of an answer have to hold, and what came of them.
//!
//! ```text
//!  Step         the load of a level of the day, or a step of a trace, with its machines
//!  Transition   machines come and go where a step of the day begins   (`change_over.rs`)
//!  Loss         one machine less                                      (`finish.rs`)
//!  WhatIf       what nobody knows exactly is a little worse           (`robust.rs`)
//! ```

use crate::input::problem::Group;
use crate::search::size::Sized;
use crate::search::trial::Check;
use orrery_solvers::Price;

/// The scenario with one thing changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Variant {
    /// This load, of a level of the day.
    Step {
        /// The level.
        level: usize,
        /// Its load.
        load_per_s: f64,
    },
    /// At this time of day the machines were these before.
    Transition {
        /// The time.
        at_ms: u64,
        /// How many of each type before it.
        from: Vec<u32>,
    },
    /// Without one machine of a type.
    Loss {
        /// The type.
        kind: usize,
        /// What is lost, in words.
        machine: String,
        /// The highest rate that the others carry with the first seed.
        carries_per_s: f64,
    },
    /// As `--what-if` takes it.
    WhatIf(String),
}

/// The machines of an answer in a variant.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The variant.
    pub variant: Variant,
    /// The group.
    pub group: String,
    /// The machines that there are, of each type.
    pub counts: Vec<u32>,
    /// The verdict, or why it cannot be tried.
    pub check: Result<Check, String>,
    /// What carries the load, where the machines do not and that was looked for; of a fleet with the first of its clusters
    /// that does not hold.
    pub next: Option<Next>,
}

impl Tried {
    /// The share of bad requests, where the machines do not hold.
    pub fn bad_rate(&self, target: f64) -> Option<f64> {
        let check = self.check.as_ref().ok().filter(|check| !check.meets(target));
        check.map(|check| check.bad_rate)
    }

    /// Whether they hold for sure. A transition has no interval: it is as short as it is.
    pub fn is_sure(&self, target: f64) -> bool {
        let is_short = matches!(self.variant, Variant::Transition { .. });
        let is_sure =
            |check: &Check| if is_short { check.meets(target) } else { check.is_sure(target) };
        self.check.as_ref().is_ok_and(is_sure)
    }
}

/// The levels of the day with their machines; where nothing arrives nothing was simulated.
pub fn steps(group: &Group, sizes: &[Sized]) -> Vec<Tried> {
    let of = |(level, size): (usize, &Sized)| Tried {
        variant: Variant::Step { level, load_per_s: size.load_per_s },
        group: group.name.clone(),
        counts: size.counts.clone(),
        check: Ok(size.check.clone()),
        next: None,
    };
    sizes.iter().enumerate().filter(|(_, size)| size.load_per_s > 0.0).map(of).collect()
}

/// Of some variants that are alike, the one with most bad requests.
pub fn worst<'a>(all: impl Iterator<Item = &'a Tried>) -> Option<&'a Tried> {
    let bad = |tried: &Tried| tried.check.as_ref().map_or(0.0, |check| check.bad_rate);
    all.reduce(|a, b| if bad(b) > bad(a) { b } else { a })
}

/// Machines that carry the load with all seeds; how much more they would carry was not looked for.
#[derive(Clone, Debug)]
pub struct Enough {
    /// How many of each type, by cluster of a fleet.
    pub pools: Vec<Vec<u32>>,
    /// Under which policy; of a fleet each cluster's own.
    pub policy: String,
    /// What they cost.
    pub cost: Price,
}

/// What carries the load under a change.
#[derive(Clone, Debug)]
pub enum Next {
    /// Machines, under one of the plan's schedulers.
    Enough(Enough),
    /// Under none of the plan's schedulers, but under another.
    Other(Enough),
    /// None that the plan allows.
    None,
}

impl Next {
    /// The machines, where there are any.
    pub fn enough(&self) -> Option<&Enough> {
        match self {
            Next::Enough(enough) | Next::Other(enough) => Some(enough),
            Next::None => None,
        }
    }
}
