//! FIFO: the plain reference that every table carries. First in, first out, greedy batches.
//!
//! Whenever a device is free it takes the oldest requests of the oldest request's model, up to the
//! largest batch. It drops nothing and looks at no deadline, unless `drop_expired` is set.
//!
//! ```text
//! on arrival, on result:
//!     while a lane of a device is free and requests wait:
//!         model <- model of the oldest request
//!         execute the oldest requests of that model, at most max_batch
//! ```
//!
//! # Differences from the paper
//! None: it is no paper's.

use super::free_devices::FreeDevices;
use super::parameters::{About, Build, Lanes, Parameter, Preset, Settings, count, flag};
use super::soonest::Soonest;
use super::{Actions, Event, Known, Policy};
use crate::profile::ModelProfile;
use crate::request::{Drop, ModelId, RequestId};
use crate::time::Time;
use std::collections::VecDeque;

/// FIFO's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most requests of a batch.
    pub max_batch: u32,
    /// Whether requests whose deadline has passed are dropped when a batch is formed.
    pub drop_expired: bool,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "fifo",
        what: "the plain reference; first in, first out, greedy batches",
        paper: "no paper's",
    };
    const LANES_USED: Lanes = Lanes::Parallel;
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "batches of up to 16, nothing is dropped",
        make: || Config { max_batch: 16, drop_expired: false },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch",
        ),
        flag(
            "drop_expired",
            |c: &mut Self| &mut c.drop_expired,
            "whether expired requests are dropped when a batch is formed",
        ),
    ];
}

struct Waiting {
    id: RequestId,
    deadline: Time,
}

/// The policy. See the module's text.
pub struct Fifo {
    config: Config,
    queues: Vec<VecDeque<Waiting>>,
    /// The oldest request of each queue that is not empty; ids are in the order of arrival.
    oldest: Soonest<(RequestId, usize)>,
    free: FreeDevices,
    batch: Vec<RequestId>,
}

impl Fifo {
    /// FIFO before its start.
    pub fn new(config: Config) -> Fifo {
        Fifo {
            config,
            queues: Vec::new(),
            oldest: Soonest::default(),
            free: FreeDevices::with_all_lanes(),
            batch: Vec::new(),
        }
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while !self.free.is_empty() {
            if self.config.drop_expired {
                self.drop_expired(now, out);
            }
            let Some((_, model)) = self.oldest.pop() else { return };
            let queue = &mut self.queues[model];
            let waiting = queue.len();
            let size = waiting.min(self.config.max_batch as usize);
            self.batch.clear();
            for _ in 0..size {
                let oldest = queue.pop_front().expect("as many wait");
                self.batch.push(oldest.id);
            }
            if let Some(head) = queue.front() {
                self.oldest.push((head.id, model));
            }
            out.why_all(&self.batch, || {
                let most = self.config.max_batch;
                format!(
                    "its model has the oldest request; batch of {size}: the oldest of {waiting} \
                     waiting, at most {most}"
                )
            });
            let Some(exec) = self.free.batch(ModelId(model as u32)) else { return };
            self.free.take(out.exec(exec, &self.batch));
        }
    }

    fn drop_expired(&mut self, now: Time, out: &mut Actions) {
        self.oldest = Soonest::default();
        for (model, queue) in self.queues.iter_mut().enumerate() {
            while let Some(head) = queue.front()
                && head.deadline < now
            {
                out.why(head.id, || format!("its deadline passed {} ago", now - head.deadline));
                out.end(head.id, Drop::Expired);
                queue.pop_front();
            }
            if let Some(head) = queue.front() {
                self.oldest.push((head.id, model));
            }
        }
    }
}

impl Build for Config {
    fn build(self, _: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Fifo::new(self))
    }
}

impl Policy for Fifo {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => {
                let model = request.model.index();
                if self.queues.len() <= model {
                    self.queues.resize_with(model + 1, VecDeque::new);
                }
                let queue = &mut self.queues[model];
                if queue.is_empty() {
                    self.oldest.push((request.id, model));
                }
                queue.push_back(Waiting { id: request.id, deadline: request.deadline });
            }
            Event::Timer(_) | Event::Profiled { .. } => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
    }
}
