//! Ribbon's query distribution (Li et al., SC 2021), as Kairos §7 "Competing query distribution
//! techniques" describes it.
//!
//! First come, first served, on a pool of several kinds: the oldest query goes to the first idle
//! instance of the list, the base kind first. It looks at no size and no QoS and drops nothing. What
//! Ribbon itself is about, finding a pool by Bayesian optimisation, is no policy.
//!
//! ```text
//! on arrival, on completion:
//!     while a query waits and an instance is idle:
//!         the oldest query goes to the first idle instance, base kind first
//! ```
//!
//! # Differences from the paper
//! - The order behind the base kind is not told; ours goes by kind, in the scenario's order, then by
//!   number.
//!
//! # Differences from the released code
//! - It advances in steps of 1 ms and rounds service times to ms; ours has no step.

use super::parameters::{About, Assumption, Build, Parameter, Preset, Settings};
use super::pool::{IdleList, Pool, PoolChange, Query};
use super::{Actions, Event, Known, Policy};
use crate::profile::ModelProfile;
use crate::time::Time;
use std::collections::VecDeque;

/// Ribbon's parameters: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config;

impl Settings for Config {
    const ABOUT: About = About {
        name: "ribbon",
        what: "first come, first served on a pool of several kinds, the base kind first",
        paper: "Ribbon (Li et al., SC 2021), as Kairos, §7 has it",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::OneModel];
    const PRESETS: &'static [Preset<Config>] =
        &[Preset { name: "default", what: "it has no parameters", make: || Config }];
    const PARAMETERS: &'static [Parameter<Config>] = &[];
}

/// The policy. See the module's text.
pub struct Ribbon {
    pool: Pool,
    idle: IdleList,
    waiting: VecDeque<Query>,
}

impl Ribbon {
    /// Ribbon before its start; of the profiles it looks at the base kind only.
    pub fn new(profiles: &[ModelProfile]) -> Ribbon {
        let pool = Pool::new(profiles);
        Ribbon { pool, idle: IdleList::default(), waiting: VecDeque::new() }
    }

    fn distribute(&mut self, out: &mut Actions) {
        while let (Some(instance), Some(&query)) = (self.idle.first(), self.waiting.front()) {
            out.why(query.id, || {
                format!("it is the oldest; device {instance} is the first idle one of the list")
            });
            self.idle.take_first();
            self.waiting.pop_front();
            self.pool.dispatch(instance, query, out);
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Ribbon::new(profiles))
    }
}

impl Policy for Ribbon {
    fn name(&self) -> String {
        Config.name()
    }

    fn on(&mut self, _now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if let Event::Arrive(r) = event {
            self.waiting.push_back(Query { id: r.id, model: r.model, size: r.size });
        }
        match self.pool.follow(&event, known, out) {
            PoolChange::Start => {
                self.pool.idle().into_iter().for_each(|i| self.idle.insert(&self.pool, i));
            }
            PoolChange::Idle(instance, _) => self.idle.insert(&self.pool, instance),
            PoolChange::Gone(instance) => self.idle.remove(instance),
            PoolChange::None => {}
        }
        self.distribute(out);
    }
}
