//! The trait of a policy: see the text of [`crate::policy`].

use super::actions::Actions;
use super::event::Event;
use super::known::Known;
use crate::time::Time;

/// A scheduling policy. See [`crate::policy`].
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
