//! Full or timeout: a batch goes when it is full, or when its oldest request has waited long enough.
//!
//! What serving systems call dynamic batching: a larger batch is cheaper for each request, so a free
//! device waits for more of them, up to a limit.
//!
//! ```text
//! on arrival, on result, on timer:
//!     while a device is free and a model's queue is full or its head has waited `patience`:
//!         model <- the one of these with the oldest head
//!         execute its oldest requests, at most `max_batch`
//!     wake up when the patience of the next head ends
//! ```
//!
//! # Differences from the paper
//! None: it is no paper's.

mod laws;

use orrery_sim::policy::free_devices::FreeDevices;
use orrery_sim::policy::{Actions, Event, Exec, Known, Policy, TimerKey};
use orrery_sim::request::{ModelId, RequestId};
use orrery_sim::time::{Span, Time};
use std::collections::VecDeque;

/// The policy's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most requests of a batch.
    pub max_batch: usize,
    /// How long the oldest request waits for a batch to fill.
    pub patience: Span,
}

/// Its only timer: the end of the next head's patience.
const PATIENCE_ENDS: TimerKey = TimerKey(0);

/// The policy. See the module's text.
pub struct FullOrTimeout {
    config: Config,
    /// By model: arrival and id of those that wait, the oldest first.
    queues: Vec<VecDeque<(Time, RequestId)>>,
    free: FreeDevices,
}

impl FullOrTimeout {
    /// The policy before its start.
    pub fn new(config: Config) -> FullOrTimeout {
        FullOrTimeout { config, queues: Vec::new(), free: FreeDevices::default() }
    }

    /// The model whose batch goes next. Equal arrivals are told apart by id, so that no two heads
    /// are ever equal.
    fn ready(&self, now: Time) -> Option<usize> {
        let Config { max_batch, patience } = self.config;
        let goes = |q: &VecDeque<(Time, RequestId)>, head: Time| {
            q.len() >= max_batch || head + patience <= now
        };
        let heads = self.queues.iter().enumerate().filter_map(|(m, q)| Some((*q.front()?, q, m)));
        heads.filter(|(head, q, _)| goes(q, head.0)).min_by_key(|h| h.0).map(|h| h.2)
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while let Some(device) = self.free.next()
            && let Some(model) = self.ready(now)
        {
            let queue = &mut self.queues[model];
            let waiting = queue.len();
            let size = waiting.min(self.config.max_batch);
            let batch: Vec<RequestId> = queue.drain(..size).map(|w| w.1).collect();
            // Only called when somebody asked for reasons: `orrery run --why`.
            out.why_all(&batch, || match waiting >= self.config.max_batch {
                true => format!("a full batch: {waiting} waited, at most {size} go"),
                false => format!("the oldest of {size} has waited {}", self.config.patience),
            });
            out.exec(Exec::now(device, ModelId(model as u32)), &batch);
            self.free.take_next();
        }
        // With every device busy a result is the next chance: an instant in the past would wake us
        // again and again.
        let heads = self.queues.iter().filter_map(|q| q.front());
        let next = heads.map(|head| head.0 + self.config.patience).min();
        let next = next.filter(|_| !self.free.is_empty());
        out.set_timer(PATIENCE_ENDS, next.unwrap_or(Time::NEVER));
    }
}

impl Policy for FullOrTimeout {
    fn name(&self) -> String {
        let Config { max_batch, patience } = self.config;
        format!("full-or-timeout[max_batch={max_batch},patience_ms={}]", patience.as_ms_f64())
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => {
                let model = request.model.index();
                if self.queues.len() <= model {
                    self.queues.resize_with(model + 1, VecDeque::new);
                }
                self.queues[model].push_back((request.arrival, request.id));
            }
            // Which devices are free; requests of a batch that did not run are dropped.
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
            Event::Timer(_) => {}
            Event::Profiled { .. } => return,
        }
        self.dispatch(now, out);
    }
}
