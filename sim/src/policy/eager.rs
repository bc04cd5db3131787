//! Eager batching: the work-conserving baseline that Symphony (§2.2, §3.4) compares itself with.
//!
//! No GPU waits while a request does. A free one takes the model whose head has the earliest
//! deadline, and the largest batch that the head allows. Symphony's timeout of k = 0 is this.
//!
//! ```text
//! while a GPU is free and requests wait:
//!     model <- the one whose head has the earliest deadline
//!     b     <- the most requests, by deadline, whose batch from now ends by the head's deadline
//!     if b = 0: drop the head
//!     else:     execute the b earliest
//! ```
//!
//! `gather=window` never lets a head make its batch smaller: it drops the head unless everything
//! that waits, up to `max_batch`, fits.
//!
//! # Differences from the paper
//! - The paper runs a model's batch as soon as any GPU is idle; of several models it names no order.
//!   Ours goes by the head's deadline, then by the smallest model.
//!
//! # Differences from the released code
//! - It is a flag of Symphony's scheduler there (`kImmediately`), whose default drops by a target
//!   batch size that it estimates from the rate; ours estimates no rate.

use super::edf_queue::{EdfQueue, of_model};
use super::free_devices::FreeDevices;
use super::parameters::{
    About, Assumption, Build, Parameter, Preset, Settings, count, word, words,
};
use super::{Actions, Event, Exec, Known, Policy};
use crate::profile::ModelProfile;
use crate::request::{Drop, ModelId, RequestId};
use crate::time::{Span, Time};
use std::collections::BTreeSet;

words! {
    /// Which batch a head allows.
    pub enum Gather {
        /// Symphony, `GetBatch`. The head is dropped where there is none.
        Head = "head": "the largest batch that the head allows",
        /// The head is dropped where that would be late for it.
        Window = "window": "the head goes unless all that waits, up to max_batch, fits",
    }
}

/// Eager's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most requests of a batch; no more than the profile has measured.
    pub max_batch: u32,
    /// Which batch a head allows.
    pub gather: Gather,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "eager",
        what: "the work-conserving reference of a cluster; earliest deadline, largest batch",
        paper: "Symphony (Chen et al., arXiv 2308.07470v2, 2024), §2.2 and §3.4",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "the largest batch that the head allows",
        make: || Config { max_batch: 499, gather: Gather::Head },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch; limited by the profiled sizes",
        )
        .from("released Symphony: sleep_profile.h"),
        word("gather", |c: &mut Self| &mut c.gather, "how the batch is formed from the head")
            .from("Symphony, §3.2"),
    ];
}

/// The policy. See the module's text.
pub struct Eager {
    config: Config,
    /// By model: the estimated latency of a batch of `i + 1`.
    latency: Vec<Vec<Span>>,
    queues: Vec<EdfQueue>,
    /// The deadline of each queue's head, and its model.
    heads: BTreeSet<(Time, usize)>,
    free: FreeDevices,
    batch: Vec<RequestId>,
}

impl Eager {
    /// Eager batching by the profiles' latencies.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Eager {
        let latency = profiles.iter().map(|p| p.estimates(config.max_batch)).collect();
        let (queues, batch) = (Vec::new(), Vec::new());
        let (heads, free) = (BTreeSet::new(), FreeDevices::default());
        Eager { config, latency, queues, heads, free, batch }
    }

    /// The head of a model's queue had this deadline.
    fn head_was(&mut self, before: Option<Time>, model: usize) {
        let after = self.queues[model].head().map(|head| head.0);
        if before != after {
            before.map(|deadline| self.heads.remove(&(deadline, model)));
            after.map(|deadline| self.heads.insert((deadline, model)));
        }
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while let Some(device) = self.free.next() {
            let Some(&(deadline, model)) = self.heads.first() else { return };
            let size = self.largest(now, model, deadline);
            let queue = &mut self.queues[model];
            if size == 0 {
                let (_, head) = queue.pop().expect("it has a head");
                out.why(head, || {
                    "early drop: the batch that it allows, from now, would not be in time".into()
                });
                out.end(head, Drop::Infeasible);
                self.head_was(Some(deadline), model);
                continue;
            }
            let waiting = queue.len();
            self.batch.clear();
            self.batch.extend((0..size).filter_map(|_| queue.pop()).map(|(_, id)| id));
            self.head_was(Some(deadline), model);
            out.why_all(&self.batch, || {
                format!(
                    "a GPU is free and its model's head has the earliest deadline; batch of \
                     {size} of {waiting} waiting: the most in time"
                )
            });
            out.exec(Exec::now(device, ModelId(model as u32)), &self.batch);
            self.free.take_next();
        }
    }

    /// The batch that a head of that deadline allows.
    fn largest(&self, now: Time, model: usize, deadline: Time) -> usize {
        let latency = &self.latency[model];
        let most = self.queues[model].len().min(latency.len());
        let in_time = latency.partition_point(|&l| now + l <= deadline).min(most);
        match self.config.gather {
            Gather::Head => in_time,
            Gather::Window if in_time == most => most,
            Gather::Window => 0,
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Eager::new(self, profiles))
    }
}

impl Policy for Eager {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => {
                let queue = of_model(&mut self.queues, r.model.index());
                let before = queue.head().map(|head| head.0);
                queue.push(r);
                self.head_was(before, r.model.index());
            }
            Event::Timer(_) | Event::Profiled { .. } => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
    }
}
