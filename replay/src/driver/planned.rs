//! Mode `schedule`: a schedule log is rerun, each batch at its planned start, to see what the plan
//! was worth.
//!
//! The plan's batches are issued when the log issued them, with `earliest` at their planned start and
//! no `latest`: what is late runs late. Its drops and stops happen when the log says. Only batches
//! that began are in the plan: what was refused or cancelled in the simulation used no device. Loads and provisioned
//! devices are not in it: a scenario with either is refused ([`check_mode`](crate::prediction::check_mode)).

use orrery_sim::cluster::DeviceSpec;
use orrery_sim::log::{Closed, Record};
use orrery_sim::policy::{Actions, Event, Exec, Known, Policy, TimerKey};
use orrery_sim::request::{ActionId, DeviceId, Drop, End, ModelId, RequestId};
use orrery_sim::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// A batch of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Planned {
    issued: Time,
    device: DeviceId,
    lane: u8,
    model: ModelId,
    units: u32,
    start: Time,
    requests: Vec<RequestId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Run(Planned),
    Stop(ActionId),
    Drop(RequestId, Drop),
}

/// What a schedule log planned, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<(Time, ActionId, Step)>,
}

impl Plan {
    /// The plan in records.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Plan {
        let mut reading = Reading::default();
        records.into_iter().for_each(|r| reading.record(r.clone()));
        reading.finish()
    }

    /// The first batch for a device or a lane that is not among these.
    pub fn misplaced(&self, devices: &[DeviceSpec]) -> Option<(ActionId, DeviceId, u8)> {
        self.steps.iter().find_map(|(_, action, step)| {
            let Step::Run(Planned { device, lane, .. }) = step else { return None };
            let is_there = devices.get(device.index()).is_some_and(|d| *lane < d.lanes);
            (!is_there).then_some((*action, *device, *lane))
        })
    }

    /// The first batch of more items than its model may have on the device, with that number.
    pub fn beyond(&self, limits: &[Option<u32>]) -> Option<(ActionId, u32, ModelId, u32)> {
        let of = |(_, action, step): &(Time, ActionId, Step)| {
            let Step::Run(planned) = step else { return None };
            let limit = (*limits.get(planned.model.index())?)?;
            (planned.units > limit).then_some((*action, planned.units, planned.model, limit))
        };
        self.steps.iter().find_map(of)
    }

    /// The policy that follows it.
    pub fn policy(self) -> FollowPlan {
        FollowPlan { plan: self, ..FollowPlan::default() }
    }
}

#[derive(Default)]
struct Reading {
    /// Issued, and not begun yet.
    issued: BTreeMap<ActionId, Planned>,
    /// Batches that run.
    begun: BTreeSet<ActionId>,
    plan: Plan,
}

impl Reading {
    fn record(&mut self, record: Record) {
        match record {
            Record::Issue { time, batch: b } => {
                let planned = Planned {
                    issued: time,
                    device: b.device,
                    lane: b.lane,
                    model: b.model,
                    units: b.units,
                    start: time,
                    requests: b.requests,
                };
                self.issued.insert(b.action, planned);
            }
            Record::Begin { time, action } => {
                if let Some(planned) = self.issued.remove(&action) {
                    self.begun.insert(action);
                    let run = Step::Run(Planned { start: time, ..planned });
                    self.plan.steps.push((planned.issued, action, run));
                }
            }
            Record::Close { action, outcome: Closed::Preempted, time }
                if self.begun.remove(&action) =>
            {
                self.plan.steps.push((time, action, Step::Stop(action)));
            }
            Record::Close { action, .. } => {
                self.begun.remove(&action);
                self.issued.remove(&action);
            }
            Record::End { time, request, end: End::Dropped(why) } => {
                self.plan.steps.push((time, ActionId(u64::MAX), Step::Drop(request, why)));
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Plan {
        // Stable: what one instant holds stays in the log's order, batches by action first.
        self.plan.steps.sort_by_key(|s| (s.0, s.1));
        self.plan
    }
}

/// A policy that follows a [`Plan`].
#[derive(Debug, Default)]
pub struct FollowPlan {
    plan: Plan,
    next: usize,
    /// The instant for which the timer was set. On a wall clock it is told later, and what is due in
    /// between may rest on arrivals that are still to be told.
    due: Time,
    /// Requests in a batch that has not been reported.
    held: BTreeSet<RequestId>,
    /// By the log's action: ours.
    running: BTreeMap<ActionId, ActionId>,
    /// By ours: the log's.
    ran: BTreeMap<ActionId, ActionId>,
}

impl FollowPlan {
    fn follow(&mut self, known: &Known<'_>, out: &mut Actions) {
        while let Some((at, theirs, step)) = self.plan.steps.get(self.next) {
            if *at > self.due {
                self.due = *at;
                return out.set_timer(TimerKey(0), *at);
            }
            match step {
                Step::Run(p) => {
                    let exec = Exec {
                        device: p.device,
                        lane: p.lane,
                        model: p.model,
                        billed: p.units,
                        earliest: p.start,
                        latest: Time::NEVER,
                    };
                    // A batch that was to be stopped may have ended before: its requests are answered.
                    let can_run =
                        |r: &&RequestId| !self.held.contains(*r) && known.request(**r).is_some();
                    let requests: Vec<RequestId> =
                        p.requests.iter().filter(can_run).copied().collect();
                    if !requests.is_empty() {
                        let ours = out.exec(exec, &requests);
                        self.held.extend(requests);
                        self.running.insert(*theirs, ours);
                        self.ran.insert(ours, *theirs);
                    }
                }
                Step::Stop(theirs) => {
                    if let Some(ours) = self.running.get(theirs) {
                        out.preempt(*ours);
                    }
                }
                // One that was answered meanwhile stays answered.
                Step::Drop(request, why) => {
                    if known.request(*request).is_some() {
                        out.end(*request, *why);
                    }
                }
            }
            self.next += 1;
        }
    }
}

impl Policy for FollowPlan {
    fn name(&self) -> String {
        "follow-plan".to_string()
    }

    fn on(&mut self, _now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if let Event::Result { action, requests, .. } = event
            && let Some(theirs) = self.ran.remove(&action)
        {
            self.running.remove(&theirs);
            requests.iter().for_each(|r| {
                self.held.remove(r);
            });
        }
        // A plan's batches hold requests that arrived at their very instant: those come first.
        match event {
            Event::Start => {
                if let Some((at, ..)) = self.plan.steps.first() {
                    self.due = *at;
                    out.set_timer(TimerKey(0), *at);
                }
            }
            Event::Timer(_) => self.follow(known, out),
            _ => {}
        }
    }
}
