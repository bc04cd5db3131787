//! DRS: DeepRecSys's query distribution (Gupta et al., ISCA 2020), as Kairos §7 describes it.
//!
//! A static threshold splits the queries: a larger one is served by the base kind, any other by the
//! auxiliary kinds, each class first come, first served. The threshold is found by hill climbing
//! outside.
//!
//! ```text
//! on arrival:    size > threshold: the base kind's queue, else the auxiliary kinds' queue
//! whenever a query waits in a class and an instance of the class is idle:
//!                the oldest goes to the first idle instance of the list
//! ```
//!
//! # Differences from the paper
//! - A pool that lacks one class serves all queries by the other.
//!
//! # Differences from the released code
//! - DeepRecSys splits the queries of the CPUs in parts; Kairos does not, and neither does ours.

use super::parameters::{About, Assumption, Build, Parameter, Preset, Settings, count};
use super::pool::{IdleList, Pool, PoolChange, Query};
use super::{Actions, Event, Known, Policy};
use crate::profile::ModelProfile;
use crate::time::Time;
use std::collections::VecDeque;

/// DRS's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The largest query, in items, that the auxiliary kinds serve.
    pub threshold: u32,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "drs",
        what: "a threshold of the size; larger queries to the base kind, the others elsewhere",
        paper: "DeepRecSys (Gupta et al., ISCA 2020), as Kairos, §7 has it",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::OneModel];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "a threshold of 256 items: Kairos finds it by hill climbing, as `reproduce` does",
        make: || Config { threshold: 256 },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[count(
        "threshold",
        |c: &mut Self| Some(&mut c.threshold),
        "the largest query, in items, that auxiliary kinds serve",
    )
    .from("released DeepRecSys: a step of its hill climb")];
}

/// A class of instances with its queue.
#[derive(Debug, Default)]
struct Class {
    instances: usize,
    idle: IdleList,
    waiting: VecDeque<Query>,
}

/// The policy. See the module's text.
pub struct Drs {
    config: Config,
    pool: Pool,
    base: Class,
    auxiliary: Class,
}

impl Drs {
    /// DRS before its start; of the profiles it looks at the base kind only.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Drs {
        let (base, auxiliary) = (Class::default(), Class::default());
        Drs { config, pool: Pool::new(profiles), base, auxiliary }
    }

    fn class_of(&mut self, instance: usize) -> &mut Class {
        if self.pool.is_base(instance) { &mut self.base } else { &mut self.auxiliary }
    }

    fn admit(&mut self, query: Query) {
        let to_base = match (self.base.instances, self.auxiliary.instances) {
            (_, 0) => true,
            (0, _) => false,
            _ => query.size > self.config.threshold,
        };
        let class = if to_base { &mut self.base } else { &mut self.auxiliary };
        class.waiting.push_back(query);
    }

    /// An instance came.
    fn join(&mut self, instance: usize) {
        self.class_of(instance).instances += 1;
        self.rejoin(instance);
    }

    fn rejoin(&mut self, instance: usize) {
        let class = if self.pool.is_base(instance) { &mut self.base } else { &mut self.auxiliary };
        class.idle.insert(&self.pool, instance);
    }

    /// An instance went; when it was the last of its class, the other serves what waits.
    fn leave(&mut self, instance: usize) {
        let class = self.class_of(instance);
        class.idle.remove(instance);
        class.instances -= 1;
        if class.instances == 0 {
            let homeless = std::mem::take(&mut class.waiting);
            homeless.into_iter().for_each(|query| self.admit(query));
        }
    }

    fn distribute(&mut self, out: &mut Actions) {
        let threshold = self.config.threshold;
        for class in [&mut self.base, &mut self.auxiliary] {
            while let (Some(instance), Some(&query)) = (class.idle.first(), class.waiting.front()) {
                out.why(query.id, || {
                    format!("the oldest of its class: {} items, threshold {threshold}", query.size)
                });
                class.idle.take_first();
                class.waiting.pop_front();
                self.pool.dispatch(instance, query, out);
            }
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Drs::new(self, profiles))
    }
}

impl Policy for Drs {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, _now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if let Event::Arrive(r) = event {
            self.admit(Query { id: r.id, model: r.model, size: r.size });
        }
        let is_new = matches!(event, Event::Device(..));
        match self.pool.follow(&event, known, out) {
            PoolChange::Start => self.pool.idle().into_iter().for_each(|i| self.join(i)),
            PoolChange::Idle(instance, _) if is_new => self.join(instance),
            PoolChange::Idle(instance, _) => self.rejoin(instance),
            PoolChange::Gone(instance) => self.leave(instance),
            PoolChange::None => {}
        }
        self.distribute(out);
    }
}
