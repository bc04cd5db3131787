//! A job: an action that was issued to a device and has not been forgotten, and where it stands.
//!
//! It decides nothing; the engine moves it from stage to stage.

use crate::cluster::Sharing;
use crate::observer::{self, Batch, Observer};
use crate::policy::Outcome;
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
use crate::time::Time;

/// What a device is to do, and when.
#[derive(Clone, Copy, Default)]
pub(super) struct Order {
    pub device: DeviceId,
    /// The device's lanes.
    pub lanes: u8,
    /// How fast its batches are beside one another.
    pub sharing: Sharing,
    pub executor: u8,
    pub work: Work,
    pub issued: Time,
    pub earliest: Time,
    pub latest: Time,
}

#[derive(Clone, Copy)]
pub(super) enum Work {
    /// The requests are [`Job::requests`].
    Batch {
        model: ModelId,
        units: u32,
    },
    Load {
        model: ModelId,
    },
}

impl Default for Work {
    fn default() -> Work {
        Work::Load { model: ModelId(0) }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Travelling,
    Queued,
    Running,
    Closed,
}

#[derive(Default)]
pub(super) struct Job {
    pub action: ActionId,
    pub order: Order,
    /// None for a load.
    pub requests: Vec<RequestId>,
    pub stage: Stage,
    pub start: Time,
    pub outcome: Outcome,
    /// Messages that will still name it.
    pub messages: u8,
    /// Pages that its load took.
    pub reserved: u32,
}

impl Job {
    /// Becomes the job of an order that was just issued, in the place of one that is forgotten.
    #[inline(always)]
    pub fn become_new(&mut self, action: ActionId, order: Order, requests: &[RequestId]) {
        self.action = action;
        self.requests.clear();
        self.requests.extend_from_slice(requests);
        self.order = order;
        self.stage = Stage::Travelling;
        self.start = Time::NEVER;
        self.outcome = Outcome::Cancelled;
        self.messages = 1;
        self.reserved = 0;
    }

    pub fn is_batch(&self) -> bool {
        matches!(self.order.work, Work::Batch { .. })
    }

    #[inline(always)]
    pub fn batch(&self) -> Option<Batch<'_>> {
        let Order { device, lanes, sharing, executor, work, issued, earliest, latest } = self.order;
        let Work::Batch { model, units } = work else { return None };
        let Job { action, ref requests, .. } = *self;
        #[rustfmt::skip]
        let batch = Batch {
            action, device, lane: executor, lanes, sharing, model, requests, units, issued, earliest, latest,
        };
        Some(batch)
    }

    pub fn load(&self) -> Option<observer::Load> {
        let Order { device, work, issued, earliest, latest, .. } = self.order;
        let Work::Load { model } = work else { return None };
        Some(observer::Load { action: self.action, device, model, issued, earliest, latest })
    }

    /// Comes to its end.
    #[inline(always)]
    pub fn close(&mut self, now: Time, outcome: Outcome, observer: &mut impl Observer) {
        self.outcome = outcome;
        self.stage = Stage::Closed;
        let start = (self.start != Time::NEVER).then_some(self.start);
        if let Some(batch) = self.batch() {
            observer.closed(now, &batch, start, outcome);
        } else if let Some(load) = self.load() {
            observer.load_closed(now, &load, start, outcome);
        }
    }
}
