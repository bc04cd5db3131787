//! A pool of instances of several kinds, one query at a time on each: what Kairos, Ribbon, DRS and
//! CLKWRK share.
//!
//! It chooses no instance. The order of the list is the order in which the systems' released code
//! keeps its instances: the base kind first, then kind by kind, then by number.

mod estimates;

pub use estimates::{Estimates, Learn};

use super::free_devices::{device_is_gone, did_not_run};
use super::{Actions, Event, Exec, Known, Outcome};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, ModelId, RequestId};
use crate::time::Span;

/// The place of an instance in the list: smaller is first.
pub type Rank = u64;

/// What an instance does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It serves no query.
    Idle,
    /// It serves a query.
    Busy,
    /// It takes no more queries. One may still run.
    Gone,
}

/// A query as the policy keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its id.
    pub id: RequestId,
    /// Its model.
    pub model: ModelId,
    /// Its items.
    pub size: u32,
}

/// An instance.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// Its kind.
    pub kind: usize,
    /// Its place in the list.
    pub rank: Rank,
    /// What it does.
    pub state: State,
    /// What it serves, or served last.
    pub query: Option<Query>,
}

/// What an event meant for the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolChange {
    /// No event is under way.
    None,
    /// The run begins: the pool is known.
    Start,
    /// An instance is idle that was not: it is new, or has served a query for so long.
    Idle(usize, Option<(Query, Span)>),
    /// An instance takes no more queries.
    Gone(usize),
}

/// The instances, by number of their device.
#[derive(Debug, Default)]
pub struct Pool {
    list: Vec<Instance>,
    base: usize,
}

impl Pool {
    /// A pool before its start; the base kind is that of the first model.
    pub fn new(profiles: &[ModelProfile]) -> Pool {
        let kinds = profiles.first().and_then(|p| p.kinds.as_ref());
        Pool { list: Vec::new(), base: kinds.map_or(0, |k| k.base as usize) }
    }

    /// The instances, by number of their device; those that are gone included.
    pub fn instances(&self) -> &[Instance] {
        &self.list
    }

    /// Whether an instance is of the base kind.
    pub fn is_base(&self, instance: usize) -> bool {
        self.list[instance].kind == self.base
    }

    /// Follows the start, results and changes of devices. Queries that did not run to their end are
    /// dropped as refused, unless they have ended already.
    pub fn follow(
        &mut self,
        event: &Event<'_>,
        known: &Known<'_>,
        out: &mut Actions,
    ) -> PoolChange {
        match *event {
            Event::Start => {
                for device in known.devices() {
                    self.add(device.id, device.kind as usize, device.state == Change::Up);
                }
                PoolChange::Start
            }
            Event::Result { device, outcome, requests, .. } => {
                let i = device.index();
                let served = match outcome {
                    Outcome::Done { device, .. } => self.list[i].query.map(|q| (q, device)),
                    _ => None,
                };
                if served.is_none() {
                    for &id in requests.iter().filter(|&&id| known.request(id).is_some()) {
                        out.why(id, || did_not_run(outcome));
                        out.end(id, Drop::Refused);
                    }
                }
                if self.list[i].state == State::Gone || device_is_gone(outcome) {
                    let was = std::mem::replace(&mut self.list[i].state, State::Gone);
                    return if was == State::Gone { PoolChange::None } else { PoolChange::Gone(i) };
                }
                self.list[i].state = State::Idle;
                PoolChange::Idle(i, served)
            }
            Event::Device(device, Change::Up) => {
                let kinds = known.devices();
                self.add(device, kinds[device.index()].kind as usize, true);
                PoolChange::Idle(device.index(), None)
            }
            Event::Device(device, _) => {
                let i = device.index();
                let was = std::mem::replace(&mut self.list[i].state, State::Gone);
                if was == State::Gone { PoolChange::None } else { PoolChange::Gone(i) }
            }
            Event::Arrive(_) | Event::Timer(_) | Event::Profiled { .. } => PoolChange::None,
        }
    }

    fn add(&mut self, device: DeviceId, kind: usize, up: bool) {
        let rank = u64::from(kind != self.base) << 63 | (kind as u64) << 32 | u64::from(device.0);
        let state = if up { State::Idle } else { State::Gone };
        let instance = Instance { kind, rank, state, query: None };
        let gone = Instance { state: State::Gone, ..instance };
        if self.list.len() <= device.index() {
            self.list.resize(device.index() + 1, gone);
        }
        self.list[device.index()] = instance;
    }

    /// The idle instances, by number of their device.
    pub fn idle(&self) -> Vec<usize> {
        let all = self.list.iter().enumerate();
        all.filter(|(_, i)| i.state == State::Idle).map(|(i, _)| i).collect()
    }

    /// Sends a query to an idle instance.
    pub fn dispatch(&mut self, instance: usize, query: Query, out: &mut Actions) {
        let i = &mut self.list[instance];
        debug_assert!(i.state == State::Idle, "an instance serves one query at a time");
        (i.state, i.query) = (State::Busy, Some(query));
        out.exec(Exec::now(DeviceId(instance as u32), query.model), &[query.id]);
    }
}

/// The idle instances, in the order of the list.
#[derive(Debug, Default)]
pub struct IdleList {
    /// Sorted so that the first is last.
    idle: Vec<(Rank, usize)>,
}

impl IdleList {
    /// The first of the list.
    pub fn first(&self) -> Option<usize> {
        self.idle.last().map(|i| i.1)
    }

    /// The first of the list has got a query.
    pub fn take_first(&mut self) {
        self.idle.pop();
    }

    /// An instance is idle.
    pub fn insert(&mut self, pool: &Pool, instance: usize) {
        let rank = pool.instances()[instance].rank;
        let at = self.idle.partition_point(|i| i.0 > rank);
        self.idle.insert(at, (rank, instance));
    }

    /// An instance takes no more queries.
    pub fn remove(&mut self, instance: usize) {
        self.idle.retain(|i| i.1 != instance);
    }
}
