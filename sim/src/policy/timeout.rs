//! Timeout batching, as TensorFlow Serving's shared batch scheduler does it (Olston et al., 2017;
//! Symphony, §2.2): the baseline with two numbers to tune.
//!
//! Every model has one open batch. It is ready when the next request does not fit, which has too many
//! items, or when its first request has waited long enough, and then stands in one line with the other
//! models' batches. While it stands there for want of a GPU it still takes requests, until it is full.
//!
//! ```text
//! on arrival:        put it into its model's open batch, or open one: ready `max_wait` from now
//!                    if the batch is full: it is ready
//! on timer of model: its open batch is ready
//! while a lane of a GPU is free and a batch is ready:
//!     execute the batch that was ready first
//! ```
//!
//! With `window=acquire` it waits as the harness of NVIDIA's MLPerf submissions does: see [`acquire`]; with
//! `window=triton` as Triton's dynamic batcher does: see [`triton`].
//!
//! # Differences from the paper
//! - Symphony's own timeout policy (Fig. 6b) waits from the oldest request of a batch that fits the
//!   deadline; this one, like TensorFlow Serving's, knows no deadline, but for `drop_expired`.
//!
//! # Differences from the released code (TensorFlow Serving)
//! - Its threads take turns among the models' queues; ours serves batches in the order in which
//!   they became ready.
//! - Its queues are bounded and turn requests away; ours are not. A request of more than `max_batch`
//!   items is an error there, or split; here it is a batch by itself.

pub mod acquire;
pub mod triton;
mod waiting;

use super::free_devices::FreeDevices;
use super::parameters::{
    About, Build, Lanes, Parameter, Preset, Settings, Words, count, flag, ms, word,
};
use super::{Actions, Event, Known, Policy, TimerKey};
use crate::profile::ModelProfile;
use crate::request::{ModelId, Request, RequestId};
use crate::time::{Span, Time};
use acquire::Acquire;
use std::collections::VecDeque;
use triton::Triton;
use waiting::{Waiting, cut};

/// Timeout batching's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The items of a full batch.
    pub max_batch: u32,
    /// How long the first request of a batch waits for others.
    pub max_wait: Span,
    /// Whether requests whose deadline has passed are dropped when their batch's turn comes.
    pub drop_expired: bool,
    /// From when a batch waits for others.
    pub window: Window,
}

/// From when a batch waits for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// From the arrival of its first request.
    #[default]
    First,
    /// From when a device has room for another batch.
    Acquire {
        /// How many batches a device may have, running ones included.
        ahead: u32,
    },
    /// From the arrival of its first request, whether or not a device is free; then it is closed.
    Triton {
        /// A batch of so many items waits no longer.
        preferred: u32,
    },
}

impl Words for Window {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("first", Window::First, "from the arrival of its first request, and until a GPU is free"),
        (
            "acquire",
            Window::Acquire { ahead: 4 },
            "from when a GPU has room for another batch, as NVIDIA's MLPerf harness does; then it goes to a \
             queue of that GPU",
        ),
        (
            "triton",
            Window::Triton { preferred: 4096 },
            "from the arrival of its first request, and no longer where no GPU is free, as Triton's dynamic batcher \
             does: what comes then waits in a batch of its own",
        ),
    ];
}

impl Default for Config {
    fn default() -> Config {
        let (max_batch, max_wait) = (16, Span::from_ms(2));
        Config { max_batch, max_wait, drop_expired: false, window: Window::First }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "timeout",
        what: "a batch is ready when it is full or its first request has waited long enough",
        paper: "TensorFlow Serving (Olston et al., 2017); Symphony, §2.2",
    };
    const LANES_USED: Lanes = Lanes::Parallel;
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "16 items or 2 ms: TensorFlow Serving leaves both to its user",
        make: Config::default,
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of items in a batch; a larger request is a batch by itself",
        )
        .from("shared batch scheduler: max_batch_size, of all tasks' sizes")
        .of_items(),
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
        word("window", |c: &mut Self| &mut c.window, "from when a batch waits for others")
            .from("MLPerf Inference v1.1, NVIDIA's harness: acquire")
            .quiet(),
        count(
            "ahead",
            |c: &mut Self| match &mut c.window {
                Window::Acquire { ahead } => Some(ahead),
                Window::First | Window::Triton { .. } => None,
            },
            "maximum number of batches that a GPU has, running ones included",
        )
        .from("the same: gpu_copy_streams, 4")
        .needs("window", "acquire"),
        count(
            "preferred",
            |c: &mut Self| match &mut c.window {
                Window::Triton { preferred } => Some(preferred),
                Window::First | Window::Acquire { .. } => None,
            },
            "a batch of so many items waits no longer; at most max_batch, which Triton takes where it is not set",
        )
        .from("Triton's dynamic_batching: preferred_batch_size")
        .of_items()
        .needs("window", "triton")
        .quiet(),
    ];
}

/// A batch that takes requests.
#[derive(Clone, Copy, Default)]
struct Open {
    items: u64,
    /// It stands in line.
    is_ready: bool,
}

#[derive(Default)]
struct Model {
    /// In order of arrival. Batches are cut from the front: all but the open one are full.
    waiting: VecDeque<Waiting>,
    /// The last batch; none where it is full.
    open: Option<Open>,
}

/// The policy with `window=first`. See the module's text.
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
        Timeout { config, models, line, free: FreeDevices::with_all_lanes(), batch }
    }

    fn arrive(&mut self, now: Time, request: &Request, out: &mut Actions) {
        let index = request.model.index();
        if self.models.len() <= index {
            self.models.resize_with(index + 1, Model::default);
        }
        let model = &mut self.models[index];
        let full = u64::from(self.config.max_batch);
        let timer = TimerKey(index as u64);
        let own = Waiting::new(request);
        let items = u64::from(own.items);
        model.waiting.push_back(own);
        if let Some(last) = model.open.take_if(|open| open.items + items > full)
            && !last.is_ready
        {
            out.clear_timer(timer);
            self.line.push_back(index);
        }
        let (is_first, open) = (model.open.is_none(), model.open.get_or_insert_default());
        open.items += items;
        let is_full = open.items >= full;
        if !open.is_ready && (is_full || (is_first && self.config.max_wait == Span::ZERO)) {
            out.clear_timer(timer);
            open.is_ready = true;
            self.line.push_back(index);
        } else if is_first {
            out.set_timer(timer, now + self.config.max_wait);
        }
        if is_full {
            model.open = None;
        }
    }

    fn stand_in_line(&mut self, model: usize) {
        self.models[model].open.iter_mut().for_each(|open| open.is_ready = true);
        self.line.push_back(model);
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while !self.free.is_empty() {
            let Some(model) = self.line.pop_front() else { return };
            self.take_batch(now, model, out);
            if self.batch.is_empty() {
                continue;
            }
            let Some(exec) = self.free.batch(ModelId(model as u32)) else { return };
            self.free.take(out.exec(exec, &self.batch));
        }
    }

    fn take_batch(&mut self, now: Time, model: usize, out: &mut Actions) {
        let Config { max_batch, max_wait, drop_expired, .. } = self.config;
        let model = &mut self.models[model];
        let into = (now, &mut self.batch);
        let (size, is_full) = cut(&mut model.waiting, max_batch, drop_expired, into, out);
        if model.waiting.is_empty() {
            model.open = None;
        }
        out.why_all(&self.batch, || {
            if is_full {
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
        let Config { max_batch, max_wait, drop_expired, window } = self;
        match window {
            Window::First => Box::new(Timeout::new(self)),
            Window::Acquire { ahead } => {
                let rule = acquire::Rule { max_batch, max_wait, drop_expired, ahead };
                Box::new(Acquire::new(self.name(), rule))
            }
            Window::Triton { preferred } => {
                let rule = triton::Rule { max_batch, max_wait, drop_expired, preferred };
                Box::new(Triton::new(self.name(), rule))
            }
        }
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
