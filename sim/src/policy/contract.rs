//! The trait of a policy: see the text of [`crate::policy`].

use super::actions::Actions;
use super::event::Event;
use super::known::Known;
use crate::time::Time;

/// A scheduling policy. See [`crate::policy`].
///
/// ```
/// use orrery_sim::driver::{World, simulate};
/// use orrery_sim::latency::Latency;
/// use orrery_sim::metrics::Metrics;
/// use orrery_sim::policy::{Actions, Event, Exec, Known, Policy};
/// use orrery_sim::request::{AppId, Arrival, DeviceId, ModelId, VecSource};
/// use orrery_sim::time::{Span, Time};
///
/// /// Every request goes to the only device at once, alone; the device queues what it cannot run yet.
/// struct OneByOne;
///
/// impl Policy for OneByOne {
///     fn name(&self) -> String {
///         "one-by-one".to_string()
///     }
///
///     fn on(&mut self, _now: Time, event: Event<'_>, _: &Known<'_>, out: &mut Actions) {
///         if let Event::Arrive(request) = event {
///             out.exec(Exec::now(DeviceId(0), request.model), &[request.id]);
///         }
///     }
/// }
///
/// let (at, ms) = (Time::ZERO, Span::from_ms);
/// let request =
///     Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo: ms(25), alone: ms(10) };
/// let world = World::single(Latency::Proportional { c1: 0.1 });
/// let source = Box::new(VecSource::new(vec![request; 3]));
/// let run = simulate(&world, vec![source], OneByOne, Metrics::default());
/// // They end at 10, 20 and 30 ms: the third is late.
/// assert_eq!(run.end, Time::ZERO + ms(30));
/// assert_eq!(run.observer.total().finish_rate(), 2.0 / 3.0);
/// ```
pub trait Policy {
    /// Its name with its parameters, in a form that round-trips: `clockwork[estimator=static-mean]`.
    fn name(&self) -> String;

    /// Something happened at `now`; the answer goes into `out`.
    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions);

    /// Whether it is an oracle, which may see execution times. Its name must begin with `oracle`.
    fn sees_truth(&self) -> bool {
        false
    }

    /// Whether it wants [`Event::Profiled`].
    fn wants_profiles(&self) -> bool {
        false
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        (**self).on(now, event, known, out);
    }
    fn sees_truth(&self) -> bool {
        (**self).sees_truth()
    }
    fn wants_profiles(&self) -> bool {
        (**self).wants_profiles()
    }
}
