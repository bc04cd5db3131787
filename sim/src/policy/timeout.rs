//! Timeout batching, as TensorFlow Serving's shared batch scheduler does it (Olston et al., 2017;
//! Symphony, §2.2): the baseline with two numbers to tune.
//!
//! Every model has one open batch. It is ready when it is full or when its first request has
//! waited long enough, and then stands in one line with the other models' batches. While it stands
//! there for want of a GPU it still takes requests, until it is full.
//!
//! ```text
//! on arrival:        put it into its model's open batch, or open one: ready `max_wait` from now
//!                    if the batch is full: it is ready
//! on timer of model: its open batch is ready
//! while a GPU is free and a batch is ready:
//!     execute the batch that was ready first
//! ```
//!
//! # Differences from the paper
//! - Symphony's own timeout policy (Fig. 6b) waits from the oldest request of a batch that fits the
//!   deadline; this one, like TensorFlow Serving's, knows no deadline, but for `drop_expired`.
//!
//! # Differences from the released code (TensorFlow Serving)
//! - Its threads take turns among the models' queues; ours serves batches in the order in which
//!   they became ready.
//! - Its queues are bounded and turn requests away; ours are not.

use super::free_devices::FreeDevices;
use super::parameters::{About, Build, Parameter, Preset, Settings, count, flag, ms};
use super::{Actions, Event, Exec, Known, Policy, TimerKey};
use crate::profile::ModelProfile;
use crate::request::{Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// Timeout batching's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The size of a full batch.
    pub max_batch: u32,
    /// How long the first request of a batch waits for others.
    pub max_wait: Span,
    /// Whether requests whose deadline has passed are dropped when their batch's turn comes.
    pub drop_expired: bool,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "timeout",
        what: "a batch is ready when it is full or its first request has waited long enough",
        paper: "TensorFlow Serving (Olston et al., 2017); Symphony, §2.2",
    };
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "16 requests or 2 ms: TensorFlow Serving leaves both to its user",
        make: || Config { max_batch: 16, max_wait: Span::from_ms(2), drop_expired: false },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        count("max_batch", |c: &mut Self| Some(&mut c.max_batch), "the size of a full batch")
            .from("shared batch scheduler: max_batch_size"),
        ms(
            "max_wait_ms",
            |c: &mut Self| &mut c.max_wait,
            "how long the first request of a batch waits for others",
        )
        .from("shared batch scheduler: batch_timeout_micros"),
        flag(
            "drop_expired",
            |c: &mut Self| &mut c.drop_expired,
            "whether an expired request is dropped when its batch's turn comes",
        ),
    ];
}

#[derive(Default)]
struct Model {
    /// In order of arrival. Batches are cut from the front: all but the last are full.
    waiting: VecDeque<(RequestId, Time)>,
    /// Batches of it that stand in line.
    ready: usize,
}

/// The policy. See the module's text.
pub struct Timeout {
    config: Config,
    models: Vec<Model>,
    /// The line: the model of each batch that is ready.
    line: VecDeque<usize>,
    free: FreeDevices,
    batch: Vec<RequestId>,
}

impl Timeout {
    /// Timeout batching before its start.
    pub fn new(config: Config) -> Timeout {
        let (models, line, batch) = (Vec::new(), VecDeque::new(), Vec::new());
        Timeout { config, models, line, free: FreeDevices::default(), batch }
    }

    fn arrive(&mut self, now: Time, request: &Request, out: &mut Actions) {
        let index = request.model.index();
        if self.models.len() <= index {
            self.models.resize_with(index + 1, Model::default);
        }
        let full = self.config.max_batch as usize;
        let model = &mut self.models[index];
        model.waiting.push_back((request.id, request.deadline));
        // What is beyond the batches in line is the open batch.
        let open = model.waiting.len().saturating_sub(model.ready * full);
        let timer = TimerKey(index as u64);
        if open == full || (open == 1 && self.config.max_wait == Span::ZERO) {
            out.clear_timer(timer);
            self.stand_in_line(index);
        } else if open == 1 {
            out.set_timer(timer, now + self.config.max_wait);
        }
    }

    fn stand_in_line(&mut self, model: usize) {
        self.models[model].ready += 1;
        self.line.push_back(model);
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while let Some(device) = self.free.next() {
            let Some(model) = self.line.pop_front() else { return };
            self.take_batch(now, model, out);
            if !self.batch.is_empty() {
                out.exec(Exec::now(device, ModelId(model as u32)), &self.batch);
                self.free.take_next();
            }
        }
    }

    fn take_batch(&mut self, now: Time, model: usize, out: &mut Actions) {
        let Config { max_batch, max_wait, drop_expired } = self.config;
        let model = &mut self.models[model];
        model.ready -= 1;
        let size = model.waiting.len().min(max_batch as usize);
        self.batch.clear();
        for (id, deadline) in model.waiting.drain(..size) {
            if drop_expired && deadline < now {
                out.why(id, || format!("its deadline passed {} ago", now - deadline));
                out.end(id, Drop::Expired);
            } else {
                self.batch.push(id);
            }
        }
        out.why_all(&self.batch, || {
            if size == max_batch as usize {
                format!("first in line: the batch is full with {size}")
            } else {
                format!(
                    "first in line: a batch of {size} whose first request has waited {max_wait}"
                )
            }
        });
    }
}

impl Build for Config {
    fn build(self, _: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Timeout::new(self))
    }
}

impl Policy for Timeout {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => self.arrive(now, request, out),
            Event::Timer(TimerKey(model)) => self.stand_in_line(model as usize),
            Event::Profiled { .. } => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
    }
}
