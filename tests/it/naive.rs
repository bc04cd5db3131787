//! A naive reference engine: what the simulator promises, written a second time as plainly as can be.
//!
//! It shares no code with the core, the driver, the devices or the event queue, and optimises
//! nothing: every list is a `Vec` that is searched from end to end, and nothing is ever forgotten.
//! It shares only what is no engine: the types, the policy's and the observer's interface, and the
//! generator of random numbers. What is made of these numbers is in `laws.rs`.
//!
//! # The order of events
//!
//! Of all that is due, the least of (time, fresh, class, key, number) is next. What was scheduled
//! for an instant that had already begun is *fresh*: it comes after everything that was due then,
//! in the order of scheduling, whatever its class. The classes are those of [`Due::rank`].
//!
//! A wait for a window is never scheduled here: an idle executor whose first action must wait is
//! itself a thing that is due, and is found by search.

mod devices;
mod laws;
mod sharing;
pub mod stalls;
mod work;

use devices::Dev;
use orrery_sim::cluster::{Change, DeviceSpec, DeviceView, Footprint};
use orrery_sim::core::DeviceChange;
use orrery_sim::driver::World;
use orrery_sim::observer::Observer;
use orrery_sim::policy::{Action, Actions, Event, Known, Lookup, Policy, TimerKey};
use orrery_sim::request::{
    ActionId, AppId, DeviceId, Drop, End, ModelId, Request, RequestId, Source, SourceId,
};
use orrery_sim::time::{Span, Time};
use work::{Job, Stage};

/// Runs a policy and shows the run to an observer. Whether the run is whole: what is left of one that is
/// not would happen after the end of time; and all devices that ever were.
pub fn run<'w>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
) -> (bool, Vec<DeviceSpec>) {
    let mut naive = Naive::new(world, sources, policy, observer);
    naive.start();
    let mut is_whole = true;
    let end = loop {
        if naive.observer.stop() {
            break naive.now;
        }
        if naive.is_over() {
            break naive.now;
        }
        let Some((order, next)) = naive.next() else { break naive.now };
        if let Some(until) = world.until
            && order.0 > until
        {
            break until;
        }
        if order.0 == Time::NEVER {
            is_whole = false;
            break naive.now;
        }
        // The controller's core may be away.
        let from = order.0.max(naive.now);
        let reached = stalls::advance(&world.stalls, stalls::CONTROLLER, from, Span::ZERO);
        if world.until.is_some_and(|until| reached > until) {
            break world.until.unwrap_or(reached);
        }
        naive.now = reached;
        naive.begun = Some(order.0);
        naive.happen(next);
    };
    naive.finish(end);
    (is_whole, naive.facts.devices.into_iter().map(|d| d.spec).collect())
}

/// (time, fresh, class, key, number).
type Order = (Time, bool, u64, u64, u64);

#[derive(Clone, Debug)]
enum Due {
    Ended(ActionId),
    Deliver(ActionId),
    Stop(ActionId, bool),
    Report(ActionId),
    Reply(ActionId),
    Window(DeviceId, usize),
    Gone(DeviceId),
    Change(u64, DeviceChange),
    Profiled(RequestId, AppId, ModelId, Span),
    Arrive(SourceId),
    Timer(TimerKey),
}

impl Due {
    /// Class and key: devices' results first, then changes of devices, arrivals, timers.
    fn rank(&self) -> (u64, u64) {
        match *self {
            Due::Ended(a) => (0, a.0),
            Due::Deliver(a) => (1, a.0),
            Due::Stop(a, _) => (2, a.0),
            Due::Report(a) => (3, a.0),
            Due::Reply(a) => (4, a.0),
            Due::Window(d, executor) => (5, u64::from(d.0) * 256 + executor as u64),
            Due::Gone(d) => (6, u64::from(d.0)),
            Due::Change(number, _) => (7, number),
            Due::Profiled(r, ..) => (8, r.0),
            Due::Arrive(source) => (9, u64::from(source.0)),
            Due::Timer(key) => (10, key.0),
        }
    }
}

struct Req {
    request: Request,
    alone: Span,
    ended: bool,
    /// Whether it ended with a model's answer.
    answered: bool,
    /// Whether no device had its model when it arrived.
    lacked: bool,
    /// Whether a batch names it of which the policy may still hear.
    held: bool,
    /// When its last batch began.
    started: Option<Time>,
}

/// Everything that a policy may look up.
struct Facts {
    devices: Vec<Dev>,
    requests: Vec<Req>,
    footprints: Vec<Footprint>,
    shows_truth: bool,
}

impl Lookup for Facts {
    fn devices(&self) -> Vec<DeviceView> {
        self.devices.iter().enumerate().map(|(i, d)| d.view(DeviceId(i as u32))).collect()
    }
    fn request(&self, id: RequestId) -> Option<&Request> {
        self.requests.get(id.index()).filter(|r| !r.ended || r.held).map(|r| &r.request)
    }
    fn footprint(&self, model: ModelId) -> Footprint {
        self.footprints[model.index()]
    }
    fn holds(&self, device: DeviceId, model: ModelId) -> bool {
        self.devices[device.index()].resident[model.index()]
    }
    fn truth(&self, id: RequestId) -> Option<Span> {
        self.request(id).filter(|_| self.shows_truth)?;
        Some(self.requests[id.index()].alone)
    }
}

struct Naive<'w, 'p> {
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: &'p mut dyn Policy,
    observer: &'p mut dyn Observer,
    actions: Actions,
    now: Time,
    /// The instant that has begun.
    begun: Option<Time>,
    scheduled: u64,
    due: Vec<(Order, Due)>,
    facts: Facts,
    jobs: Vec<Job>,
}

impl<'w, 'p> Naive<'w, 'p> {
    fn new(
        world: &'w World,
        sources: Vec<Box<dyn Source + 'w>>,
        policy: &'p mut dyn Policy,
        observer: &'p mut dyn Observer,
    ) -> Self {
        let models = world.core.models.len();
        let devices = world.core.devices.iter().map(|spec| Dev::new(spec, models)).collect();
        let footprints = world.core.models.clone();
        let shows_truth = policy.sees_truth();
        let facts = Facts { devices, requests: Vec::new(), footprints, shows_truth };
        let mut actions = Actions::default();
        actions.ask_why(observer.wants_reasons());
        Naive {
            world,
            sources,
            policy,
            observer,
            actions,
            now: Time::ZERO,
            begun: None,
            scheduled: 0,
            due: Vec::new(),
            facts,
            jobs: Vec::new(),
        }
    }

    fn start(&mut self) {
        for (number, (at, change)) in self.world.changes.iter().enumerate() {
            self.schedule(*at, Due::Change(number as u64, change.clone()));
        }
        for device in 0..self.facts.devices.len() {
            self.show_device(DeviceId(device as u32), Change::Up);
        }
        self.tell(Event::Start);
    }

    fn finish(&mut self, time: Time) {
        for r in self.facts.requests.iter().filter(|r| !r.ended) {
            self.observer.ended(time, &r.request, End::Pending, r.started);
        }
        self.observer.finished(time);
    }

    fn schedule(&mut self, at: Time, due: Due) {
        let at = at.max(self.now);
        let fresh = self.begun == Some(at);
        let (class, key) = if fresh { (0, 0) } else { due.rank() };
        self.due.push(((at, fresh, class, key, self.scheduled), due));
        self.scheduled += 1;
    }

    fn unschedule(&mut self, which: impl Fn(&Due) -> bool) {
        self.due.retain(|(_, due)| !which(due));
    }

    /// Whether nobody will ask or be answered any more, and the policy knows how each batch ended.
    fn is_over(&mut self) -> bool {
        let asks = self.sources.iter_mut().any(|source| source.peek().is_some());
        !asks && self.facts.requests.iter().all(|r| r.ended && !r.held)
    }

    /// Searches everything for what comes next.
    fn next(&mut self) -> Option<(Order, Due)> {
        let mut all = self.due.clone();
        for (s, source) in self.sources.iter_mut().enumerate() {
            let due = Due::Arrive(SourceId(s as u32));
            all.extend(source.peek().map(|at| ((at, false, 9, s as u64, 0), due)));
        }
        for (d, device) in self.facts.devices.iter().enumerate() {
            for executor in 0..device.executors.len() {
                if let Some(at) = self.waits_until(DeviceId(d as u32), executor) {
                    let due = Due::Window(DeviceId(d as u32), executor);
                    let (class, key) = due.rank();
                    all.push(((at, false, class, key, 0), due));
                }
            }
        }
        let next = all.into_iter().min_by_key(|(order, _)| *order)?;
        self.due.retain(|(order, _)| *order != next.0);
        Some(next)
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Ended(action) => self.ended(action),
            Due::Deliver(action) => self.deliver(action),
            Due::Stop(action, preempt) => self.stop(action, preempt),
            Due::Report(action) => self.report(action),
            Due::Reply(action) => self.reply(action),
            Due::Window(device, executor) => self.go_on(device, executor),
            Due::Gone(device) => self.gone(device),
            Due::Change(_, change) => self.change(change),
            Due::Profiled(_, app, model, alone) => {
                self.tell(Event::Profiled { app, model, alone });
            }
            Due::Arrive(source) => self.arrive(source),
            Due::Timer(key) => self.tell(Event::Timer(key)),
        }
    }

    fn arrive(&mut self, source: SourceId) {
        let a = self.sources[source.index()].pop().expect("a source gives what it shows");
        let request = Request {
            id: RequestId(self.facts.requests.len() as u64),
            app: a.app,
            model: a.model,
            size: a.size,
            source,
            // With stalls, it is told later.
            arrival: a.at,
            deadline: a.at + a.slo,
        };
        self.facts.requests.push(Req {
            request,
            alone: a.alone,
            ended: false,
            answered: false,
            lacked: !self.is_somewhere(a.model),
            held: false,
            started: None,
        });
        self.observer.arrived(self.now, &request);
        self.tell(Event::Arrive(&request));
    }

    /// Tells the policy, then does what it says.
    fn tell(&mut self, event: Event<'_>) {
        self.policy.on(self.now, event, &Known::new(&self.facts), &mut self.actions);
        self.do_actions();
    }

    fn do_actions(&mut self) {
        for (request, text) in self.actions.take_reasons() {
            self.observer.why(self.now, request, &text);
        }
        let actions = self.actions.list().to_vec();
        let batches: Vec<Vec<RequestId>> = actions
            .iter()
            .map(|action| match action {
                Action::Exec { requests, .. } => self.actions.requests(requests.clone()).to_vec(),
                _ => Vec::new(),
            })
            .collect();
        self.actions.clear();
        for (action, requests) in actions.into_iter().zip(batches) {
            self.do_action(action, requests);
        }
    }

    fn do_action(&mut self, action: Action, requests: Vec<RequestId>) {
        match action {
            Action::Exec { exec, .. } => self.exec(exec, requests),
            Action::Load { device, model, earliest, latest } => {
                self.load(device, model, earliest, latest);
            }
            Action::Unload { device, model } => {
                let pages = self.world.core.models[model.index()].pages;
                if self.facts.devices[device.index()].unload(model, pages) {
                    self.observer.unloaded(self.now, device, model);
                }
            }
            Action::Cancel(action) => self.send_stop(action, false),
            Action::Preempt(action) => self.send_stop(action, true),
            Action::End(request, why) => self.drop_request(request, why),
            Action::SetTimer(key, at) => {
                self.unschedule(|due| matches!(due, Due::Timer(k) if *k == key));
                // A timer that never goes off is none.
                if at != Time::NEVER {
                    self.schedule(at, Due::Timer(key));
                }
            }
            Action::ClearTimer(key) => {
                self.unschedule(|due| matches!(due, Due::Timer(k) if *k == key));
            }
            Action::Provision { kind, count } => self.provision(kind, count),
            Action::Release(device) => self.drain(device),
        }
    }

    /// Whether some device that is not gone has a model.
    fn is_somewhere(&self, model: ModelId) -> bool {
        let has = |d: &Dev| d.state != Change::Down && d.resident[model.index()];
        self.facts.devices.iter().any(has)
    }

    fn drop_request(&mut self, id: RequestId, why: Drop) {
        let r = &self.facts.requests[id.index()];
        if r.answered && r.held {
            // The policy cannot know yet that the answer has gone out; it stands.
            return;
        }
        assert!(!r.ended, "{id} is dropped after its end");
        self.end_request(id, End::Dropped(why));
    }

    fn end_request(&mut self, id: RequestId, end: End) {
        let r = &mut self.facts.requests[id.index()];
        r.ended = true;
        r.answered = matches!(end, End::InTime | End::Late);
        let (request, started, lacked) = (r.request, r.started, r.lacked);
        if lacked && self.is_somewhere(request.model) {
            self.observer.cold(self.now, &request);
        }
        self.observer.ended(self.now, &request, end, started);
        self.sources[request.source.index()].on_reply(&request, self.now, end);
    }
}
