//! Virtual time for the driver's real threads: one runs at a time, and time moves when all wait.
//!
//! Of those that may run, the worker with the smallest number does, and the controller when no worker
//! may: whatever ends at an instant has been reported before the controller looks.

use super::{Clock, Participant};
use orrery_sim::time::Time;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
    turns: Vec<Arc<Condvar>>,
}

/// See the module's text.
#[derive(Debug)]
pub struct VirtualClock {
    seats: Mutex<Seats>,
}

impl Default for VirtualClock {
    fn default() -> Self {
        VirtualClock::new()
    }
}

impl VirtualClock {
    /// A clock at time zero.
    pub fn new() -> VirtualClock {
        let mut seats =
            Seats { now: Time::ZERO, states: vec![], notified: vec![], turns: Vec::new() };
        seats.add();
        VirtualClock { seats: Mutex::new(seats) }
    }

    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up_turn(&self, me: Participant, state: State) {
        let mut seats = self.seats();
        seats.states[me.0 as usize] = state;
        if let Some(next) = seats.pass_on() {
            seats.turns[next].notify_one();
        }
        if state == State::Gone {
            return;
        }
        let turn = Arc::clone(&seats.turns[me.0 as usize]);
        while seats.states[me.0 as usize] != State::Running {
            seats = turn.wait(seats).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Seats {
    fn add(&mut self) -> Participant {
        self.states.push(State::Absent);
        self.notified.push(false);
        self.turns.push(Arc::default());
        Participant(self.states.len() as u32 - 1)
    }

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
        let workers_first = (1..self.states.len()).chain([0]);
        workers_first.into_iter().find(|&i| match self.states[i] {
            State::Waiting(until) => self.notified[i] || until <= self.now,
            _ => false,
        })
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        self.seats().now
    }

    fn add(&self) -> Participant {
        self.seats().add()
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

    #[test]
    fn time_goes_from_instant_to_instant_and_workers_come_first() {
        let clock = Arc::new(VirtualClock::new());
        assert_eq!([clock.add(), clock.add()], [Participant(1), Participant(2)]);
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
        let together = [6, 12].map(|n| [at(n, 1), at(n, 2), at(n, 0)]);
        assert_eq!(*seen.lock().unwrap(), [alone, together[0], together[1]].concat());
    }
}
