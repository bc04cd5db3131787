//! The wall-clock driver: the simulator's core with a clock instead of a future-event list.
//!
//! ```text
//!   sources ──▶ ┌────────────┐  jobs   ┌─────────────────────────┐
//!   timers  ──▶ │ controller │ ──────▶ │ a worker for each lane, │
//!               │  (core)    │ ◀────── │ and one for loads       │
//!               └────────────┘  what   └─────────────────────────┘
//!                              was measured
//! ```
//!
//! The controller is one thread. It takes whatever is due first in the simulator's total order, reads
//! the clock and tells the core: the policy decides *now*, on what has been measured. A worker runs
//! one job at a time and reports start, end and time on the device. An open-loop client sends at its
//! recorded instant, and a request's arrival and deadline are counted from that instant however late
//! the controller is: lateness is data ([`Lateness`]), and too much of it makes a run invalid.
//!
//! Under a [`VirtualClock`](crate::clock::VirtualClock) and with a device that takes exactly as long
//! as the model says, the log is the simulator's, record by record.

mod crew;
mod host;
mod lateness;
pub mod planned;
mod rig;

pub use host::{Handled, Measured, Mutation};
pub use lateness::{Lateness, Verdict};
pub use rig::Rig;

use crate::clock::{CONTROLLER, Clock};
use crate::device::{Description, DeviceError};
use crate::threads::{self, Placement};
use host::WallHost;
use orrery_sim::core::{self, Core, Input};
use orrery_sim::driver::{Failure, Finished, World};
use orrery_sim::event_queue::Place;
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::Policy;
use orrery_sim::request::{ActionId, DeviceId, Source, SourceId};
use orrery_sim::time::{Span, Time};

/// How a replay is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where its threads run.
    pub placement: Placement,
    /// A run of which more than one in a hundred arrivals, decisions or launches is later than this is
    /// invalid.
    pub max_lateness: Span,
    /// Whether the run is to end now, with what was measured; asked at every input, and in a long wait.
    pub stop: Option<fn() -> bool>,
    /// A fault that a test puts in, to see it found.
    pub mutation: Option<Mutation>,
}

/// The longest wait in which nobody is asked whether to stop.
const ASKED: Span = Span::from_ms(100);

impl Default for Options {
    fn default() -> Self {
        let (placement, max_lateness) = (Placement::default(), Span::from_ms(1));
        Options { placement, max_lateness, stop: None, mutation: None }
    }
}

/// What a replay leaves behind.
pub struct Replayed<P, O> {
    /// As a simulation leaves it.
    pub run: Finished<P, O>,
    /// Every action that a device ran, in the order in which they were reported.
    pub actions: Vec<Measured>,
    /// Every input that the controller handled, in order.
    pub inputs: Vec<Handled>,
    /// How late the host was.
    pub lateness: Lateness,
    /// The device that failed and so ended the run, if one did.
    pub failed: Option<DeviceError>,
    /// The devices.
    pub devices: Vec<Description>,
    /// Time that the controller spent working, waiting left out.
    pub controller_busy: Span,
    /// What was asked of the system for precise timing and not granted.
    pub notes: Vec<String>,
}

/// Runs a policy over a workload on real devices. `world` is the prediction's: its latency models are
/// never asked how long a job takes, only what was expected of it.
///
/// # Errors
/// When a device cannot be opened. A device that fails in mid-run ends the run, which is returned
/// with what was measured.
pub fn replay<'w, P: Policy, O: Observer>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: P,
    observer: O,
    rig: &mut Rig<'_>,
    clock: &dyn Clock,
    options: &Options,
) -> Result<Replayed<P, O>, DeviceError> {
    std::thread::scope(|scope| {
        let crew = crew::Crew::new(scope, clock, options.placement);
        let mut host = WallHost::new(world, sources, crew, rig, options.mutation);
        for (id, spec) in world.core.devices.iter().enumerate() {
            if let Err(e) = host.hire(DeviceId(id as u32), spec) {
                host.dismiss();
                return Err(e);
            }
        }
        let mut notes = threads::settle(options.placement, 0);
        match host.crew.wait_until_ready() {
            Ok(theirs) => notes.extend(theirs),
            Err(e) => {
                host.dismiss();
                return Err(e);
            }
        }
        clock.begin();
        clock.enter(CONTROLLER);
        let mut core = Core::new(world.core.clone(), policy, (Issues::default(), observer));
        let (end, events, failure) =
            control(&mut core, &mut host, clock, world.until, options.stop);
        let failure = failure.or_else(|| host.source_failure().map(Failure::Source));
        let (policy, (issues, observer)) = core.finish(end);
        let lateness = std::mem::take(&mut host.late).lateness();
        let failed = host.failed.take();
        let devices = std::mem::take(&mut host.descriptions);
        let controller_busy = host.busy;
        let inputs = std::mem::take(&mut host.inputs);
        let mut actions = host.dismiss();
        issues.fill_in(&mut actions);
        Ok(Replayed {
            run: Finished { policy, observer, end, events, failure },
            actions,
            inputs,
            lateness: lateness.judged(options.max_lateness),
            failed,
            devices,
            controller_busy,
            notes,
        })
    })
}

/// The loop. Returns when it ended, the inputs that the core handled, and why it came to the end of
/// time if it did.
fn control<P: Policy, O: Observer>(
    core: &mut Core<P, O>,
    host: &mut WallHost<'_, '_, '_>,
    clock: &dyn Clock,
    until: Option<Time>,
    stop: Option<fn() -> bool>,
) -> (Time, u64, Option<Failure>) {
    let until = until.unwrap_or(Time::NEVER);
    let mut now = clock.now();
    let mut events = 1;
    let rank = Input::Start.rank();
    host.inputs.push(Handled { due: Time::ZERO, at: now, rank });
    core.handle(now, Input::Start, host);
    loop {
        host.take_reports();
        if stop.is_some_and(|is_asked| is_asked()) {
            host.failed.get_or_insert_with(interrupted);
        }
        if host.failed.is_some() {
            return (now, events, None);
        }
        let (arrival, due) = (host.next_arrival(), host.queue.peek());
        if arrival.is_none() && core.books().alive() == 0 {
            // Over, as in the simulator: of all jobs only loads may still be out.
            return (now, events, None);
        }
        let arrives = match (arrival, due) {
            (Some((at, source)), Some(next)) => {
                Place::new(at, core::rank_of_arrival(source)) < next
            }
            (arrival, _) => arrival.is_some(),
        };
        let next = if arrives { arrival.map(|a| a.0) } else { due.map(Place::time) };
        let at = next.unwrap_or(Time::NEVER);
        let nothing_is_due = next.is_none() || at.min(until) == Time::NEVER;
        if nothing_is_due && host.jobs_out() == 0 {
            let arrival = arrival.filter(|_| arrives);
            let failure = next.map(|_| after_the_end(arrival, core.books().arrived(), now));
            return (now, events, failure);
        }
        let reading = clock.now();
        if reading < at.min(until) {
            let asked = stop.map_or(Time::NEVER, |_| reading + ASKED);
            clock.wait(CONTROLLER, at.min(until).min(asked));
            continue;
        }
        if at > until {
            return (until, events, None);
        }
        now = now.max(reading);
        events += 1;
        let input = if arrives {
            let (at, source) = arrival.expect("it is next");
            host.queue.begin(at);
            host.late.arrivals.push((now - at).ns());
            Input::Arrive(source, host.take(source))
        } else {
            let (at, due) = host.queue.pop().expect("it is next");
            host.late.decisions.push((now - at).ns());
            host.input(due)
        };
        host.inputs.push(Handled { due: at, at: now, rank: input.rank() });
        core.handle(now, input, host);
        host.busy += clock.now() - reading;
    }
}

fn interrupted() -> DeviceError {
    let remedy = "what was measured until then is kept; run it again for the whole";
    DeviceError::new("the run", "waiting for its end", "it was stopped by a signal", remedy)
}

/// The failure of a run of which all that is left is due at the end of time.
fn after_the_end(arrival: Option<(Time, SourceId)>, requests: u64, now: Time) -> Failure {
    match arrival {
        Some((_, source)) => Failure::ArrivalAfterEnd { source, requests },
        None => Failure::EventAfterEnd { what: "a wake-up".to_string(), now },
    }
}

/// Remembers when each batch was issued, and for when.
#[derive(Default)]
struct Issues(Vec<(ActionId, Time, Time)>);

impl Issues {
    fn fill_in(&self, actions: &mut [Measured]) {
        for action in actions.iter_mut().filter(|a| !a.load) {
            if let Ok(at) = self.0.binary_search_by_key(&action.action, |i| i.0) {
                (action.issued, action.earliest) = (self.0[at].1, self.0[at].2);
            }
        }
    }
}

impl Observer for Issues {
    fn issued(&mut self, now: Time, batch: &Batch<'_>) {
        self.0.push((batch.action, now, batch.earliest));
    }
}
