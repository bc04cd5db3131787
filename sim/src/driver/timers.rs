//! A policy's timers: those of the lowest keys, which are set anew at nearly every event, stand beside the
//! queue of events, the others are in it.

use super::due::Due;
use crate::core::Wake;
use crate::event_queue::{EventQueue, Handle, Place};
use crate::ordered::ById;
use crate::policy::TimerKey;
use crate::time::Time;

/// How many stand beside the queue.
const FIXED: usize = 4;
/// Below it, a timer's handle is found by an index.
const SMALL: u64 = 4096;
/// See the module's text.
pub(super) struct Timers {
    /// Where each stands in the total order of events.
    fixed: [Place; FIXED],
    /// The first of them.
    first: Place,
    /// Handles of the others, some of which have gone off.
    small: Vec<Option<Handle>>,
    large: ById<Option<Handle>>,
}

impl Default for Timers {
    fn default() -> Timers {
        let (small, large) = (Vec::new(), ById::default());
        Timers { fixed: [Place::NONE; FIXED], first: Place::NONE, small, large }
    }
}

impl Timers {
    /// Sets or moves a timer.
    pub fn set(&mut self, queue: &mut EventQueue<Due>, at: Time, key: TimerKey) {
        let wake = Wake::Timer(key);
        if key.0 < FIXED as u64 {
            return self.fix(key, queue.stamp(at, wake.rank()));
        }
        let handle = if key.0 >= SMALL {
            self.large.get_or_default(key.0)
        } else {
            if self.small.len() as u64 <= key.0 {
                self.small.resize(key.0 as usize + 1, None);
            }
            &mut self.small[key.0 as usize]
        };
        queue.set(handle, at, wake.rank(), Due::Wake(wake));
    }

    /// Clears a timer if it is set.
    pub fn clear(&mut self, queue: &mut EventQueue<Due>, key: TimerKey) {
        if key.0 < FIXED as u64 {
            return self.fix(key, Place::NONE);
        }
        let handle = if key.0 >= SMALL {
            self.large.remove(key.0).flatten()
        } else {
            self.small.get_mut(key.0 as usize).and_then(Option::take)
        };
        handle.map(|handle| queue.cancel(handle));
    }

    /// A timer of the queue has gone off; a small key keeps its stale handle.
    #[inline]
    pub fn gone_off(&mut self, key: TimerKey) {
        if key.0 >= SMALL {
            self.large.remove(key.0);
        }
    }

    /// The place of the first timer beside the queue.
    #[inline]
    pub fn first(&self) -> Place {
        self.first
    }

    /// Takes it out.
    pub fn pop(&mut self) -> Option<TimerKey> {
        let first = Some(self.first).filter(|first| *first != Place::NONE)?;
        let key = TimerKey(self.fixed.iter().position(|timer| *timer == first)? as u64);
        self.fix(key, Place::NONE);
        Some(key)
    }

    fn fix(&mut self, key: TimerKey, place: Place) {
        self.fixed[key.0 as usize] = place;
        self.first = self.fixed.into_iter().min().unwrap_or(Place::NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// The time and the key of the timer that goes off next, less `first`.
    fn next(timers: &mut Timers, queue: &mut EventQueue<Due>, first: u64) -> Option<(Time, u64)> {
        let at = timers.first().time();
        if timers.first() != Place::NONE {
            queue.begin(at);
            return timers.pop().map(|key| (at, key.0 - first));
        }
        match queue.pop()? {
            (at, Due::Wake(Wake::Timer(key))) => {
                timers.gone_off(key);
                Some((at, key.0 - first))
            }
            (_, due) => panic!("{due}"),
        }
    }

    #[test]
    fn beside_the_queue_timers_go_off_as_they_do_from_it() {
        let mut rng = Stream::named(1, "timers", 0);
        let mut forms = [0, FIXED as u64, SMALL]
            .map(|first| (first, Timers::default(), EventQueue::<Due>::new()));
        for _ in 0..20_000 {
            let (what, key, wait) = (rng.below(4), rng.below(FIXED as u64), rng.below(3));
            let went_off = forms.each_mut().map(|(first, timers, queue)| {
                let key = TimerKey(*first + key);
                match what {
                    0 => timers.clear(queue, key),
                    1 => return next(timers, queue, *first),
                    _ => {
                        let at = Time::from_ns(queue.now().ns() + wait);
                        timers.set(queue, at, key);
                    }
                }
                None
            });
            assert_eq!(went_off, [went_off[0]; 3]);
        }
    }
}
