//! CLKWRK: the query distribution that Kairos §7 makes of Clockwork's central controller.
//!
//! The controller knows when each instance will be free and how long a query takes there. On arrival it
//! commits the query to the queue of an instance that will finish it within its QoS; where there is
//! none, to the one that will finish it first. An instance serves its queue in order. Clockwork itself
//! is another policy of this project.
//!
//! ```text
//! on arrival of q:
//!     finish_j <- when instance j will have served its queue, and then q
//!     feasible <- the instances whose finish_j is within q's QoS
//!     commit q to the choice among the feasible ones, or to the earliest finish of all
//! on completion at j:
//!     serve the next of j's queue
//! ```
//!
//! # Differences from the paper
//! - Which of several feasible instances is not told. `choice=earliest-finish` takes the earliest;
//!   `choice=slowest-feasible` the one on which the query takes longest, and among these the earliest,
//!   which keeps the fast instances for those that need them. Then the list's order decides.
//! - The queues stay with the controller, which is the same as long as messages take no time.

use super::parameters::{About, Assumption, Build, Parameter, Preset, Settings, word, words};
use super::pool::{Estimates, Learn, Pool, PoolChange, Query, Rank, State};
use super::{Actions, Event, Known, Policy};
use crate::profile::ModelProfile;
use crate::request::Request;
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;

words! {
    /// Which of the instances that meet the QoS.
    pub enum InstanceChoice {
        EarliestFinish = "earliest-finish": "the one that finishes first",
        SlowestFeasible = "slowest-feasible": "the one on which the query takes longest",
    }
}

/// CLKWRK's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which of the instances that meet the QoS.
    pub choice: InstanceChoice,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "clkwrk",
        what: "Clockwork's controller as Kairos has it; a query is committed on arrival",
        paper: "Kairos (Li et al., HPDC 2023), §7",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneModel];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "the earliest finish, which fits the paper's ranking",
        make: || Config { choice: InstanceChoice::EarliestFinish },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[word(
        "choice",
        |c: &mut Self| &mut c.choice,
        "which of the instances that meet the QoS takes a query",
    )
    .from("not specified in Kairos, §7")];
}

/// An instance's queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// When what runs there will end, as estimated.
    free_at: Time,
    waiting: VecDeque<(Query, Span)>,
    /// The sum of the estimates of those that wait.
    work: Span,
}

/// The policy. See the module's text.
pub struct Clkwrk {
    config: Config,
    pool: Pool,
    estimates: Estimates,
    queues: Vec<Queue>,
    /// Queries that no instance could be found for: there is none.
    homeless: VecDeque<(Query, Time)>,
}

impl Clkwrk {
    /// CLKWRK by the profiles' mean latencies.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Clkwrk {
        let estimates = Estimates::new(profiles, Learn::Offline, |mean| mean);
        let (queues, homeless) = (Vec::new(), VecDeque::new());
        Clkwrk { config, pool: Pool::new(profiles), estimates, queues, homeless }
    }

    fn commit(&mut self, now: Time, query: Query, deadline: Time, out: &mut Actions) {
        type Key = (bool, Reverse<Span>, Time, Rank);
        let mut best: Option<(Key, usize, Span)> = None;
        let all = self.pool.instances().iter().zip(&self.queues).enumerate();
        for (i, (instance, queue)) in all.filter(|(_, (i, _))| i.state != State::Gone) {
            let takes = self.estimates.of(query.model.index(), instance.kind, query.size);
            let finish = now.max(queue.free_at) + queue.work + takes;
            let misses = finish > deadline;
            let slowest = match self.config.choice {
                InstanceChoice::SlowestFeasible if !misses => takes,
                _ => Span::ZERO,
            };
            let key = (misses, Reverse(slowest), finish, instance.rank);
            if best.as_ref().is_none_or(|(least, ..)| key < *least) {
                best = Some((key, i, takes));
            }
        }
        let Some(((misses, _, finish, _), instance, takes)) = best else {
            self.homeless.push_back((query, deadline));
            return;
        };
        out.why(query.id, || {
            let how = if misses { "none meets its QoS; the first to finish" } else { "feasible" };
            format!("committed to device {instance}, which is to finish it at {finish}: {how}")
        });
        self.queues[instance].waiting.push_back((query, takes));
        self.queues[instance].work += takes;
        self.serve(now, instance, out);
    }

    /// Lets an instance take the next of its queue, if it is idle.
    fn serve(&mut self, now: Time, instance: usize, out: &mut Actions) {
        if self.pool.instances()[instance].state != State::Idle {
            return;
        }
        let queue = &mut self.queues[instance];
        queue.free_at = now;
        if let Some((query, takes)) = queue.waiting.pop_front() {
            queue.work = queue.work.minus(takes);
            queue.free_at = now + takes;
            self.pool.dispatch(instance, query, out);
        }
    }

    /// The queue of an instance that went is committed anew, and what no instance was found for.
    fn recommit(&mut self, now: Time, from: usize, known: &Known<'_>, out: &mut Actions) {
        let queue = std::mem::take(&mut self.queues[from].waiting);
        self.queues[from].work = Span::ZERO;
        for (query, _) in queue {
            let deadline = known.request(query.id).map_or(Time::NEVER, |r: &Request| r.deadline);
            self.commit(now, query, deadline, out);
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Clkwrk::new(self, profiles))
    }
}

impl Policy for Clkwrk {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if let Event::Arrive(r) = event {
            let query = Query { id: r.id, model: r.model, size: r.size };
            return self.commit(now, query, r.deadline, out);
        }
        let change = self.pool.follow(&event, known, out);
        self.queues.resize(self.pool.instances().len(), Queue::default());
        match change {
            PoolChange::Idle(instance, _) => {
                self.serve(now, instance, out);
                for (query, deadline) in std::mem::take(&mut self.homeless) {
                    self.commit(now, query, deadline, out);
                }
            }
            PoolChange::Gone(instance) => self.recommit(now, instance, known, out),
            PoolChange::Start | PoolChange::None => {}
        }
    }
}
