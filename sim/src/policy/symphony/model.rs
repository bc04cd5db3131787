//! A model: what is believed of it, its queue, and its candidate for the next batch.
//!
//! It decides when that batch is due; who runs it is not its business.

use super::config::{Config, Dispatch, Gather};
use super::costs::Costs;
use super::queue::{Queue, Waiting};
use super::target::{self, RateMeter};
use crate::policy::Actions;
use crate::profile::ModelProfile;
use crate::request::{ModelId, Request};
use crate::time::{Span, Time};

/// A candidate that starts at its latest moment is in time, so it fails just after.
const JUST_AFTER: Span = Span::from_ns(1);

/// A model's next batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub size: usize,
    pub deadline: Time,
    /// It should not start before, whatever GPU is free: the paper's `exec` without `now`.
    pub due: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is no candidate.
    Idle,
    /// It is not due before that.
    Planned(Time),
    /// It is schedulable: it waits for a GPU.
    Waiting,
    /// It was due, but no GPU is free in time for it.
    Missed,
}

#[derive(Debug)]
pub(super) struct Model {
    pub id: ModelId,
    pub costs: Costs,
    pub queue: Queue,
    meter: RateMeter,
    /// The size that batches should have.
    target: usize,
    /// The SLO less what messages take.
    budget: Span,
    pub candidate: Option<Candidate>,
    pub stage: Stage,
}

impl Model {
    pub fn new(config: &Config, id: ModelId, profile: &ModelProfile) -> Model {
        let Config { ctrl, data, resp, max_batch, .. } = *config;
        let alone = match profile.apps.first() {
            Some(_) => Span::from_ns_f64(profile.mixture().mean_ns()),
            None => Span::ZERO,
        };
        let costs = Costs::new(&profile.law, alone, max_batch, ctrl, data);
        Model {
            id,
            queue: Queue::default(),
            meter: RateMeter::new(config.sample, config.window as usize),
            target: target::first_target(&costs, profile.slo, config.margin),
            budget: profile.slo.minus(ctrl).minus(resp),
            candidate: None,
            stage: Stage::Idle,
            costs,
        }
    }

    /// Ends the samples of the rate that are over, and sets the target after them.
    #[inline]
    fn measure(&mut self, config: &Config, now: Time) {
        if config.gather != Gather::Head
            && self.meter.advance(now)
            && let Some(rate) = self.meter.rate_per_s()
        {
            self.target = target::target(&self.costs, self.budget, rate);
        }
    }

    /// A request came.
    #[inline]
    pub fn hit(&mut self, config: &Config, now: Time) {
        self.measure(config, now);
        self.meter.hit();
    }

    /// Queues a request.
    #[inline]
    pub fn enqueue(&mut self, config: &Config, request: &Request) {
        let Request { id, arrival, .. } = *request;
        let deadline = match request.deadline {
            Time::NEVER => Time::NEVER,
            deadline => deadline.minus(config.resp),
        };
        self.queue.push(Waiting { deadline, id, arrival });
    }

    /// The candidate for a GPU that is free at `free`; drops what cannot be served.
    #[inline]
    pub fn make(
        &mut self,
        config: &Config,
        now: Time,
        free: Time,
        out: &mut Actions,
    ) -> Option<Candidate> {
        self.measure(config, now);
        let batch = self.queue.gather(config.gather, (now, free), self.target, &self.costs, out)?;
        let (size, deadline) = (batch.size, batch.deadline);
        let latest = deadline.minus(config.jitter);
        let due = match config.dispatch {
            _ if deadline == Time::NEVER => Time::ZERO,
            Dispatch::Eager => Time::ZERO,
            Dispatch::Frontrun => latest.minus(self.costs.latency(size + 1)).minus(config.data),
            Dispatch::Latest => latest.minus(self.costs.latency(size)),
            Dispatch::Timeout(percent) => {
                let slo = deadline.since(batch.arrival) + config.resp;
                batch.arrival + slo.scale(percent / 100.0)
            }
        };
        Some(Candidate { size, deadline, due })
    }

    /// The last instant at which the candidate can start.
    pub fn latest(&self, c: Candidate) -> Time {
        // Without a deadline it must still be told from no candidate.
        let end = c.deadline.min(Time::NEVER.minus(JUST_AFTER));
        if c.deadline == Time::NEVER { end } else { end.minus(self.costs.latency(c.size)) }
    }

    /// When the candidate can no longer be sent in time.
    pub fn fails(&self, c: Candidate) -> Time {
        match c.deadline {
            Time::NEVER => Time::NEVER,
            _ => self.latest(c).minus(self.costs.lead(c.size)) + JUST_AFTER,
        }
    }

    /// When something is to be done.
    pub fn due(&self) -> Time {
        match (self.candidate, self.stage) {
            (Some(c), Stage::Planned(at)) => at.min(self.fails(c)),
            (Some(c), _) => self.fails(c),
            (None, _) => self.queue.skipped_until() + JUST_AFTER,
        }
    }

    pub fn reason(&self, c: Candidate, start: Time) -> String {
        let Candidate { size, deadline, .. } = c;
        let one_more = start + self.costs.latency(size + 1);
        let ends = start + self.costs.latency(size);
        if one_more <= deadline {
            return format!("batch of {size}, to end at {ends}");
        }
        format!("batch of {size}, to end at {ends}: one more would end after {deadline}")
    }
}
