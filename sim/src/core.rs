//! The sans-IO core: the books, the policy, the devices' state machines and the message delays.
//!
//! It is told what happened through [`Core::handle`] and asks its [`Host`] for what it needs: to
//! begin a batch, to be woken, to pass a reply on. It has no clock and no queue of events; the
//! virtual-time driver and the wall-clock driver are two hosts of this one core.
//!
//! ```text
//!              Input                          Action
//!   driver ───────────▶ Core::handle ──────▶ policy
//!      ▲                    │   ▲               │
//!      └──── Host ──────────┘   └───────────────┘
//!       begin, abort, wake, reply
//! ```
//!
//! One input makes at most one event for the policy. What a policy's action causes at once (a
//! refusal, a timer that is already due) comes back as a wake-up at `now`, so that it takes its
//! place after what was already due at that instant.

mod books;
mod engine;
mod host;
mod job;

pub use books::Books;
pub use host::{
    Begin, BeginWork, Delays, DeviceChange, Host, Input, Profiler, Wake, kind_of_rank,
    rank_of_arrival, rank_of_device_change, rank_of_kind, rank_of_result,
};

use crate::cluster::{Change, DeviceSpec, DeviceView, Devices, Footprint};
use crate::observer::Observer;
use crate::policy::{Action, Actions, Event, Known, Lookup, Policy};
use crate::request::{ActionId, Arrival, DeviceId, End, ModelId, Request, RequestId, SourceId};
use crate::time::{Span, Time};
use engine::Engine;

/// What a policy sees of the books and the devices.
struct View<'a> {
    devices: &'a Devices,
    footprints: &'a [Footprint],
    books: &'a Books,
    sees_truth: bool,
}

impl Lookup for View<'_> {
    fn devices(&self) -> Vec<DeviceView> {
        self.devices.views().collect()
    }
    fn request(&self, id: RequestId) -> Option<&Request> {
        self.books.request(id)
    }
    fn footprint(&self, model: ModelId) -> Footprint {
        self.footprints[model.index()]
    }
    fn holds(&self, device: DeviceId, model: ModelId) -> bool {
        self.devices.get(device).has_model(model)
    }
    fn truth(&self, id: RequestId) -> Option<Span> {
        if self.sees_truth { self.books.alone(id) } else { None }
    }
}

/// The core. See the module's text.
pub struct Core<P, O> {
    policy: P,
    sees_truth: bool,
    actions: Actions,
    engine: Engine<O>,
}

/// What the core needs to know of the world; latencies are the driver's.
#[derive(Clone, Debug, Default)]
pub struct CoreSpec {
    /// The devices that are up at the start.
    pub devices: Vec<DeviceSpec>,
    /// What each model needs of a device's memory.
    pub models: Vec<Footprint>,
    /// Message delays.
    pub delays: Delays,
    /// The profiler, if there is one.
    pub profiler: Option<Profiler>,
}

impl<P: Policy, O: Observer> Core<P, O> {
    /// A core before its start.
    ///
    /// # Panics
    /// When a policy sees the truth and does not say so in its name.
    pub fn new(spec: CoreSpec, policy: P, observer: O) -> Self {
        let (name, sees_truth) = (policy.name(), policy.sees_truth());
        assert!(
            !sees_truth || name.starts_with("oracle"),
            "{name} sees execution times and is not called an oracle"
        );
        let mut actions = Actions::default();
        actions.ask_why(observer.wants_reasons());
        actions.ask_expected(observer.wants_expected());
        let engine = Engine::new(spec, name, policy.wants_profiles(), observer);
        Core { policy, sees_truth, actions, engine }
    }

    /// The books.
    pub fn books(&self) -> &Books {
        &self.engine.books
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Whether the observer has seen enough.
    pub fn seen_enough(&self) -> bool {
        self.engine.observer.stop()
    }

    /// Ends the run at `now`: what is alive is told as pending. Returns policy and observer.
    pub fn finish(self, now: Time) -> (P, O) {
        let Engine { books, mut observer, .. } = self.engine;
        for (request, start) in books.pending() {
            observer.ended(now, request, End::Pending, start);
        }
        observer.finished(now);
        (self.policy, observer)
    }

    /// Something happened at `now`.
    #[inline(always)]
    pub fn handle(&mut self, now: Time, input: Input, host: &mut impl Host) {
        match input {
            Input::Arrive(source, arrival) => self.arrive(now, source, &arrival, host),
            Input::Ended { action, device } => self.ended(now, action, device, host),
            Input::Wake(wake) => self.woken(now, wake, host),
            Input::Start => {
                self.engine.show_devices(now);
                self.tell(now, Event::Start, host);
            }
            Input::Device(change) => self.device_change(now, change, host),
        }
    }

    fn arrive(&mut self, now: Time, source: SourceId, arrival: &Arrival, host: &mut impl Host) {
        let id = self.engine.arrive(now, source, arrival);
        let Core { policy, sees_truth, actions, engine } = self;
        let view = engine.view(*sees_truth);
        let request = view.request(id).expect("it has just arrived");
        policy.on(now, Event::Arrive(request), &Known::new(&view), actions);
        self.answered(now, host);
    }

    fn ended(&mut self, now: Time, action: ActionId, device_time: Span, host: &mut impl Host) {
        self.engine.ended(now, action, device_time, host);
        let result = self.engine.delays.of_result(action);
        if result == Span::ZERO {
            self.report(now, action, host);
        } else {
            host.wake(now + result, Wake::Report(action));
        }
    }

    fn woken(&mut self, now: Time, wake: Wake, host: &mut impl Host) {
        match wake {
            Wake::Timer(key) => self.tell(now, Event::Timer(key), host),
            Wake::Window(device, executor) => self.engine.opens(now, device, executor, host),
            Wake::Deliver(action) => self.engine.deliver(now, action, host),
            Wake::Stop(action, preempt) => self.engine.stop(now, action, preempt, host),
            Wake::Report(action) => self.report(now, action, host),
            Wake::Reply(action) => self.engine.reply(now, action, host),
            Wake::Profiled(_, app, model, alone) => {
                self.tell(now, Event::Profiled { app, model, alone }, host);
            }
            Wake::Gone(device) => {
                if self.engine.gone(now, device) {
                    self.tell(now, Event::Device(device, Change::Down), host);
                }
            }
        }
    }

    fn device_change(&mut self, now: Time, change: DeviceChange, host: &mut impl Host) {
        if let Some((device, change)) = self.engine.device_change(now, change, host) {
            self.tell(now, Event::Device(device, change), host);
        }
    }

    /// Tells the policy and carries out its answer.
    fn tell(&mut self, now: Time, event: Event<'_>, host: &mut impl Host) {
        let view = self.engine.view(self.sees_truth);
        self.policy.on(now, event, &Known::new(&view), &mut self.actions);
        self.answered(now, host);
    }

    /// The policy learns what became of an action.
    #[inline(always)]
    fn report(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let last = self.engine.reported(action);
        let (view, job) = (self.engine.view(self.sees_truth), self.engine.job(action));
        let (device, outcome, requests) = (job.order.device, job.outcome, &job.requests[..]);
        let event = Event::Result { action, device, outcome, requests };
        self.policy.on(now, event, &Known::new(&view), &mut self.actions);
        if last {
            self.engine.forget(action);
        }
        self.answered(now, host);
    }

    #[inline]
    fn answered(&mut self, now: Time, host: &mut impl Host) {
        if !self.actions.is_empty() {
            self.carry_out(now, host);
        }
    }

    /// Carries the policy's answer out, after telling its reasons.
    fn carry_out(&mut self, now: Time, host: &mut impl Host) {
        let Core { actions, engine, .. } = self;
        if actions.asked_why() {
            for (request, text) in actions.take_reasons() {
                engine.observer.why(now, request, &text);
            }
        }
        if actions.asked_expected() {
            for (action, expected) in actions.take_expected() {
                engine.observer.expected(now, action, expected);
            }
        }
        for action in actions.list() {
            match *action {
                Action::Exec { exec, ref requests } => {
                    engine.exec(now, exec, actions.requests(requests.clone()), host);
                }
                Action::Load { device, model, earliest, latest } => {
                    engine.load(now, device, model, (earliest, latest), host);
                }
                Action::Unload { device, model } => engine.unload(now, device, model),
                Action::Cancel(action) => engine.send_stop(now, action, false, host),
                Action::Preempt(action) => engine.send_stop(now, action, true, host),
                Action::End(request, why) => engine.end_dropped(now, request, why, host),
                Action::SetTimer(key, Time::NEVER) => host.unwake(Wake::Timer(key)),
                Action::SetTimer(key, at) => host.wake(at.max(now), Wake::Timer(key)),
                Action::ClearTimer(key) => host.unwake(Wake::Timer(key)),
                Action::Provision { kind, count } => {
                    engine.observer.provisioned(now, kind, count);
                    host.provision(now, kind, count);
                }
                Action::Release(device) => engine.drain(now, device, host),
            }
        }
        actions.clear();
    }
}
