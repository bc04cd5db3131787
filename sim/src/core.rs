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

use crate::cluster::{Change, DeviceSpec, Footprint};
use crate::observer::Observer;
use crate::policy::{Action, Actions, Event, Known, Outcome, Policy};
use crate::request::{ActionId, Arrival, End, SourceId};
use crate::table::Table;
use crate::time::{Span, Time};
use engine::{Engine, Site, known};

/// The core. See the module's text.
pub struct Core<P, O> {
    policy: P,
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
        assert!(
            !policy.sees_truth() || policy.name().starts_with("oracle"),
            "{} sees execution times and is not called an oracle",
            policy.name()
        );
        let mut actions = Actions::default();
        actions.ask_why(observer.wants_reasons());
        actions.ask_expected(observer.wants_expected());
        let site = Site::new(spec, &policy, observer);
        Core { policy, actions, engine: Engine { site, jobs: Table::default() } }
    }

    /// The books.
    pub fn books(&self) -> &Books {
        &self.engine.site.books
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Whether the observer has seen enough.
    pub fn seen_enough(&self) -> bool {
        self.engine.site.observer.stop()
    }

    /// Ends the run at `now`: what is alive is told as pending. Returns policy and observer.
    pub fn finish(self, now: Time) -> (P, O) {
        let Site { books, mut observer, .. } = self.engine.site;
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
                self.engine.site.show_devices(now);
                self.tell(now, Event::Start, host);
            }
            Input::Device(change) => self.device_change(now, change, host),
        }
    }

    fn arrive(&mut self, now: Time, source: SourceId, arrival: &Arrival, host: &mut impl Host) {
        let request = self.engine.site.arrive(now, source, arrival);
        self.tell(now, Event::Arrive(&request), host);
    }

    fn ended(&mut self, now: Time, action: ActionId, device_time: Span, host: &mut impl Host) {
        self.engine.ended(now, action, device_time, host);
        let Engine { site, jobs } = &mut self.engine;
        let job = known(jobs, action);
        if job.is_batch() {
            let reply = site.delays.of_reply(action);
            if reply == Span::ZERO {
                site.reply(now, job, host);
            } else {
                host.wake(now + reply, Wake::Reply(action));
            }
        }
        let result = site.delays.of_result(action);
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
                if self.engine.site.gone(now, device) {
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
    #[inline]
    fn tell(&mut self, now: Time, event: Event<'_>, host: &mut impl Host) {
        self.policy.on(now, event, &Known::new(&self.engine.site), &mut self.actions);
        self.answered(now, host);
    }

    /// The policy learns what became of an action.
    #[inline(always)]
    fn report(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let Core { policy, actions, engine: Engine { site, jobs } } = self;
        let job = known(jobs, action);
        let (device, outcome, requests) = (job.order.device, job.outcome, &job.requests[..]);
        if !matches!(outcome, Outcome::Done { .. }) {
            // They belong to the policy again, which may run them in its very answer.
            requests.iter().for_each(|&id| site.books.release(id));
        }
        let event = Event::Result { action, device, outcome, requests };
        policy.on(now, event, &Known::new(site), actions);
        if site.is_last_message(job) {
            jobs.discard(action.0);
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
        let site = &mut engine.site;
        if actions.asked_why() {
            for (request, text) in actions.take_reasons() {
                site.observer.why(now, request, &text);
            }
        }
        if actions.asked_expected() {
            for (action, expected) in actions.take_expected() {
                site.observer.expected(now, action, expected);
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
                Action::Unload { device, model } => engine.site.unload(now, device, model),
                Action::Cancel(action) => engine.send_stop(now, action, false, host),
                Action::Preempt(action) => engine.send_stop(now, action, true, host),
                Action::End(request, why) => engine.site.end_dropped(now, request, why, host),
                Action::SetTimer(key, Time::NEVER) => host.unwake(Wake::Timer(key)),
                Action::SetTimer(key, at) => host.wake(at.max(now), Wake::Timer(key)),
                Action::ClearTimer(key) => host.unwake(Wake::Timer(key)),
                Action::Provision { kind, count } => {
                    engine.site.observer.provisioned(now, kind, count);
                    host.provision(now, kind, count);
                }
                Action::Release(device) => engine.site.drain(now, device, host),
            }
        }
        actions.clear();
    }
}
