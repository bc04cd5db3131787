//! Virtual time for the driver's real threads: one runs at a time, and time moves when all wait.
//!
//! Of those that may run, the one with the smallest number does, so workers come before the
//! controller: whatever ends at an instant has been reported before the controller looks.

use super::{Clock, Participant};
use orrery_sim::time::Time;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Has not entered yet: time stands still.
    Absent,
    Running,
    Waiting(Time),
    Gone,
}

#[derive(Debug)]
struct Seats {
    now: Time,
    states: Vec<State>,
    notified: Vec<bool>,
}

/// See the module's text.
#[derive(Debug)]
pub struct VirtualClock {
    seats: Mutex<Seats>,
    turns: Vec<Condvar>,
}

impl VirtualClock {
    /// A clock at time zero for so many participants.
    pub fn new(participants: usize) -> VirtualClock {
        VirtualClock {
            seats: Mutex::new(Seats {
                now: Time::ZERO,
                states: vec![State::Absent; participants],
                notified: vec![false; participants],
            }),
            turns: (0..participants).map(|_| Condvar::new()).collect(),
        }
    }

    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up_turn(&self, me: Participant, state: State) {
        let mut seats = self.seats();
        seats.states[me.0 as usize] = state;
        if let Some(next) = seats.pass_on() {
            self.turns[next].notify_one();
        }
        if state == State::Gone {
            return;
        }
        while seats.states[me.0 as usize] != State::Running {
            let turn = &self.turns[me.0 as usize];
            seats = turn.wait(seats).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Seats {
    /// Lets the next participant run, if nobody does.
    fn pass_on(&mut self) -> Option<usize> {
        if self.states.iter().any(|s| matches!(s, State::Absent | State::Running)) {
            return None;
        }
        let next = self.ready().or_else(|| {
            let waiting = self.states.iter().filter_map(|s| match s {
                State::Waiting(until) if *until != Time::NEVER => Some(*until),
                _ => None,
            });
            self.now = waiting.min()?;
            self.ready()
        })?;
        self.states[next] = State::Running;
        self.notified[next] = false;
        Some(next)
    }

    fn ready(&self) -> Option<usize> {
        (0..self.states.len()).find(|&i| match self.states[i] {
            State::Waiting(until) => self.notified[i] || until <= self.now,
            _ => false,
        })
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        self.seats().now
    }

    fn enter(&self, me: Participant) {
        self.give_up_turn(me, State::Waiting(Time::ZERO));
    }

    fn wait(&self, me: Participant, until: Time) {
        self.give_up_turn(me, State::Waiting(until));
    }

    fn notify(&self, whom: Participant) {
        self.seats().notified[whom.0 as usize] = true;
    }

    fn leave(&self, me: Participant) {
        self.give_up_turn(me, State::Gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::time::Span;
    use std::sync::Arc;

    #[test]
    fn time_goes_from_instant_to_instant_and_workers_come_first() {
        let clock = Arc::new(VirtualClock::new(3));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let ms = |n| Time::ZERO + Span::from_ms(n);
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let (clock, seen) = (Arc::clone(&clock), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let me = Participant(i);
                    clock.enter(me);
                    for step in [u64::from(3 - i), 6, 12] {
                        clock.wait(me, ms(step));
                        seen.lock().unwrap().push((clock.now(), i));
                    }
                    clock.leave(me);
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        let at = |n, i| (ms(n), i);
        let alone = [at(1, 2), at(2, 1), at(3, 0)];
        let together = [6, 12].map(|n| [at(n, 0), at(n, 1), at(n, 2)]);
        assert_eq!(*seen.lock().unwrap(), [alone, together[0], together[1]].concat());
    }
}
