//! A policy behind a server: what the scheduler's own processor time costs (Clockwork, OSDI 2020, §6.6, where
//! the controller runs out of it).
//!
//! It schedules nothing itself. One server works off, first in, first out, what the policy is told and
//! what the policy answers:
//!
//! ```text
//! on arrival, result, timer, ...:  queue it
//! while the server is free and something is queued:
//!     take the oldest; be busy for its cost; tell the policy
//!     for each action of its answer:  be busy for its cost; let the action go
//! ```
//!
//! A batch, a load, an unload and a stop of either cost `action`; dropping a request, setting a timer
//! and asking for devices cost nothing, but keep their place in the queue.
//!
//! Devices and clients do not wait for the server. A device begins its next queued action at its own
//! time, and the answers of a batch go to the clients when it ends.
//!
//! # Differences from the paper
//! The paper's controller passes the answers on, too, and runs on several threads. Here only what the
//! policy must know or decide goes through the server, and it has one queue.

#[cfg(test)]
mod tests;

use super::{Action, Actions, Event, Exec, Known, Lookup, Outcome, Policy, TimerKey};
use crate::cluster::{Change, DeviceView, Footprint};
use crate::ordered::ById;
use crate::request::{ActionId, AppId, DeviceId, Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// The timer of the end of the server's work: above the keys of policies, below the autoscaler's.
const DONE: TimerKey = TimerKey((1 << 56) - 2);

/// How long the server is busy, nanoseconds. All zero: as if there were no server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// For each request that arrives.
    pub request: Span,
    /// For each batch, load, unload and stop.
    pub action: Span,
    /// For each result of a batch or a load.
    pub result: Span,
}

/// What waits for the server, with all that the policy will be told.
#[derive(Debug)]
enum Told {
    Arrive(Request),
    Result {
        action: ActionId,
        device: DeviceId,
        outcome: Outcome,
        requests: Vec<RequestId>,
    },
    /// With its number: a timer that was set again or cleared meanwhile does not go off.
    Timer(TimerKey, u64),
    Profiled {
        app: AppId,
        model: ModelId,
        alone: Span,
    },
    Device(DeviceId, Change),
}

/// What the policy answered and the server has not let go.
#[derive(Debug)]
enum Said {
    Exec(Exec, Vec<RequestId>),
    Load { device: DeviceId, model: ModelId, earliest: Time, latest: Time },
    Unload { device: DeviceId, model: ModelId },
    Cancel(ActionId),
    Preempt(ActionId),
    End(RequestId, Drop),
    SetTimer(TimerKey, Time),
    ClearTimer(TimerKey),
    Provision { kind: u32, count: u32 },
    Release(DeviceId),
}

/// The policy behind its server. See the module's text.
pub struct Served<P> {
    inner: P,
    cost: Cost,
    told: VecDeque<Told>,
    said: VecDeque<Said>,
    /// The server is busy with the first of `said`, or else the first of `told`.
    busy: bool,
    /// It only waits for actions to be carried out before the policy is told of the next event.
    waits: bool,
    /// Timers that went off and wait in `told`, with the number of their turn.
    fired: ById<u64>,
    turns: u64,
    /// Answered requests whose result waits in `told`: the policy may still look them up.
    answered: ById<Request>,
    actions: Actions,
    spare: Vec<Vec<RequestId>>,
}

/// What the policy may look up: the engine's view, and the requests of results that it does not know.
struct Behind<'a> {
    known: &'a Known<'a>,
    answered: &'a ById<Request>,
}

impl Lookup for Behind<'_> {
    fn devices(&self) -> Vec<DeviceView> {
        self.known.devices()
    }
    fn request(&self, id: RequestId) -> Option<&Request> {
        self.known.request(id).or_else(|| self.answered.get(id.0))
    }
    fn footprint(&self, model: ModelId) -> Footprint {
        self.known.footprint(model)
    }
    fn holds(&self, device: DeviceId, model: ModelId) -> bool {
        self.known.holds(device, model)
    }
    fn truth(&self, id: RequestId) -> Option<Span> {
        self.known.truth(id)
    }
}

impl<P: Policy> Served<P> {
    /// The policy behind an idle server.
    pub fn new(cost: Cost, inner: P) -> Served<P> {
        Served {
            inner,
            cost,
            told: VecDeque::new(),
            said: VecDeque::new(),
            busy: false,
            waits: false,
            fired: ById::default(),
            turns: 0,
            answered: ById::default(),
            actions: Actions::default(),
            spare: Vec::new(),
        }
    }

    /// Puts an event in the queue.
    fn queue(&mut self, event: Event<'_>, known: &Known<'_>) {
        let told = match event {
            Event::Start => return,
            Event::Arrive(request) => Told::Arrive(*request),
            Event::Result { action, device, outcome, requests } => {
                if matches!(outcome, Outcome::Done { .. }) {
                    let all = requests.iter().filter_map(|&id| known.request(id));
                    all.for_each(|r| _ = self.answered.insert(r.id.0, *r));
                }
                let mut ids = self.spare.pop().unwrap_or_default();
                ids.extend_from_slice(requests);
                Told::Result { action, device, outcome, requests: ids }
            }
            Event::Timer(key) => {
                self.turns += 1;
                self.fired.insert(key.0, self.turns);
                Told::Timer(key, self.turns)
            }
            Event::Profiled { app, model, alone } => Told::Profiled { app, model, alone },
            Event::Device(device, change) => Told::Device(device, change),
        };
        self.told.push_back(told);
    }

    /// Works until the server is busy or has nothing to do.
    fn work(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        while !self.busy {
            let cost = match (self.said.front(), self.told.front()) {
                (Some(said), _) => said.cost(&self.cost),
                // What the policy looks up must show what it has done.
                (None, Some(_)) if !out.list().is_empty() => {
                    (self.busy, self.waits) = (true, true);
                    out.set_timer(DONE, now);
                    return;
                }
                (None, Some(told)) => told.cost(&self.cost),
                (None, None) => return,
            };
            if cost == Span::ZERO {
                self.finish(now, known, out);
            } else {
                self.busy = true;
                out.set_timer(DONE, now + cost);
            }
        }
    }

    /// The server has worked off what it was busy with.
    fn finish(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        match self.said.pop_front() {
            Some(said) => self.let_go(said, known, out),
            None => {
                let Some(told) = self.told.pop_front() else { return };
                self.tell(now, told, known, out);
            }
        }
    }

    /// Tells the policy; its answer is queued.
    fn tell(&mut self, now: Time, told: Told, known: &Known<'_>, out: &mut Actions) {
        match &told {
            Told::Arrive(request) => self.ask(now, Event::Arrive(request), known, out),
            Told::Result { action, device, outcome, requests } => {
                let (action, device, outcome) = (*action, *device, *outcome);
                self.ask(now, Event::Result { action, device, outcome, requests }, known, out);
                for id in requests {
                    self.answered.remove(id.0);
                }
            }
            Told::Timer(key, turn) => {
                if self.fired.get(key.0) == Some(turn) {
                    self.fired.remove(key.0);
                    self.ask(now, Event::Timer(*key), known, out);
                }
            }
            Told::Profiled { app, model, alone } => {
                let (app, model, alone) = (*app, *model, *alone);
                self.ask(now, Event::Profiled { app, model, alone }, known, out);
            }
            Told::Device(device, change) => {
                self.ask(now, Event::Device(*device, *change), known, out);
            }
        }
        if let Told::Result { requests, .. } = told {
            self.give_back(requests);
        }
    }

    fn ask(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        self.actions.ask_why(out.asked_why());
        self.actions.ask_expected(true); // `out` keeps it only when it is asked
        let behind = Behind { known, answered: &self.answered };
        self.inner.on(now, event, &Known::new(&behind), &mut self.actions);
        for (request, text) in self.actions.take_reasons() {
            out.why(request, || text);
        }
        for (action, e) in self.actions.take_expected() {
            out.expect(action, e.start, e.duration);
        }
        for action in self.actions.list() {
            let said = match *action {
                Action::Exec { exec, ref requests } => {
                    let mut ids = self.spare.pop().unwrap_or_default();
                    ids.extend_from_slice(self.actions.requests(requests.clone()));
                    Said::Exec(exec, ids)
                }
                Action::Load { device, model, earliest, latest } => {
                    Said::Load { device, model, earliest, latest }
                }
                Action::Unload { device, model } => Said::Unload { device, model },
                Action::Cancel(action) => Said::Cancel(action),
                Action::Preempt(action) => Said::Preempt(action),
                Action::End(request, why) => Said::End(request, why),
                Action::SetTimer(key, at) => Said::SetTimer(key, at),
                Action::ClearTimer(key) => Said::ClearTimer(key),
                Action::Provision { kind, count } => Said::Provision { kind, count },
                Action::Release(device) => Said::Release(device),
            };
            self.said.push_back(said);
        }
        self.actions.clear();
    }

    /// An action goes on its way. Ids agree with those that the policy was given: both count the
    /// batches and loads in order.
    fn let_go(&mut self, said: Said, known: &Known<'_>, out: &mut Actions) {
        match said {
            Said::Exec(exec, requests) => {
                out.exec(exec, &requests);
                self.give_back(requests);
            }
            Said::Load { device, model, earliest, latest } => {
                out.load(device, model, earliest, latest);
            }
            Said::Unload { device, model } => out.unload(device, model),
            Said::Cancel(action) => out.cancel(action),
            Said::Preempt(action) => out.preempt(action),
            // It may have been answered meanwhile; then the answer stands.
            Said::End(request, why) => {
                if known.request(request).is_some() {
                    out.end(request, why);
                }
            }
            Said::SetTimer(key, at) => {
                self.fired.remove(key.0);
                out.set_timer(key, at);
            }
            Said::ClearTimer(key) => {
                self.fired.remove(key.0);
                out.clear_timer(key);
            }
            Said::Provision { kind, count } => out.provision(kind, count),
            Said::Release(device) => out.release(device),
        }
    }

    fn give_back(&mut self, mut ids: Vec<RequestId>) {
        ids.clear();
        self.spare.push(ids);
    }
}

impl Told {
    fn cost(&self, cost: &Cost) -> Span {
        match self {
            Told::Arrive(_) => cost.request,
            Told::Result { .. } => cost.result,
            Told::Timer(..) | Told::Profiled { .. } | Told::Device(..) => Span::ZERO,
        }
    }
}

impl Said {
    fn cost(&self, cost: &Cost) -> Span {
        match self {
            Said::Exec(..)
            | Said::Load { .. }
            | Said::Unload { .. }
            | Said::Cancel(_)
            | Said::Preempt(_) => cost.action,
            Said::End(..)
            | Said::SetTimer(..)
            | Said::ClearTimer(_)
            | Said::Provision { .. }
            | Said::Release(_) => Span::ZERO,
        }
    }
}

impl<P: Policy> Policy for Served<P> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn sees_truth(&self) -> bool {
        self.inner.sees_truth()
    }

    fn wants_profiles(&self) -> bool {
        self.inner.wants_profiles()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            // Before anything else happens: it costs nothing, but what it leads to does.
            Event::Start => self.ask(now, event, known, out),
            Event::Timer(DONE) => {
                self.busy = false;
                if !std::mem::take(&mut self.waits) {
                    self.finish(now, known, out);
                }
            }
            _ => self.queue(event, known),
        }
        self.work(now, known, out);
    }
}
