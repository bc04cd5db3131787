//! Real time: sleep until shortly before the instant, then spin. A thread that has a core to itself spins
//! for longer: being woken takes a system some 100 µs, and a virtual machine at times milliseconds.

use super::{CONTROLLER, Clock, Participant};
use orrery_sim::time::{Span, Time};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A sleeping thread is woken late by about this much; what is left is spent spinning.
pub const DEFAULT_SPIN: Span = Span::from_us(100);

/// The same where every thread has a core of its own on a machine that does nothing else. Elsewhere a
/// thread that spins uses up its share, and is switched out when it has work.
const LONG_SPIN: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
struct Seat {
    thread: OnceLock<Thread>,
    notified: AtomicBool,
    /// It has been given something to do.
    works: AtomicBool,
}

/// Real time since the run began, divided by a scale: with a scale of 10 every second of the scenario
/// takes ten, and the host's lateness weighs a tenth.
#[derive(Debug)]
pub struct WallClock {
    created: Instant,
    /// From its creation to the start of the run, in nanoseconds.
    begun_ns: AtomicU64,
    scale: u32,
    spin: Duration,
    /// No thread shares its core with anybody.
    alone: bool,
    cores: usize,
    /// Threads that have something to do: the controller, and workers that were ever notified.
    working: AtomicUsize,
    seats: RwLock<Vec<Arc<Seat>>>,
}

impl WallClock {
    /// A clock whose time zero is now, until the run begins. `alone` says that threads are pinned to cores
    /// on which nothing else runs: they may spin for longer.
    pub fn start(scale: u32, spin: Span, alone: bool) -> WallClock {
        WallClock {
            created: Instant::now(),
            begun_ns: AtomicU64::new(0),
            scale: scale.max(1),
            spin: Duration::from_nanos(spin.ns()),
            alone,
            cores: crate::threads::cores().len(),
            working: AtomicUsize::new(1),
            seats: RwLock::new(vec![Arc::default()]),
        }
    }

    fn seat(&self, who: Participant) -> Arc<Seat> {
        let seats = self.seats.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&seats[who.0 as usize])
    }

    fn spin(&self) -> Duration {
        let has_cores = self.alone && self.working.load(Ordering::Relaxed) <= self.cores;
        if has_cores { self.spin.max(LONG_SPIN) } else { self.spin }
    }

    fn at(&self, time: Time) -> Option<Instant> {
        let real = time.ns().checked_mul(u64::from(self.scale))?;
        let begun = self.begun_ns.load(Ordering::Acquire);
        self.created.checked_add(Duration::from_nanos(real.checked_add(begun)?))
    }
}

impl Clock for WallClock {
    fn begin(&self) {
        self.begun_ns.store(self.created.elapsed().as_nanos() as u64, Ordering::Release);
    }

    fn now(&self) -> Time {
        let elapsed = self.created.elapsed().as_nanos() as u64;
        let since = elapsed.saturating_sub(self.begun_ns.load(Ordering::Acquire));
        Time::from_ns(since / u64::from(self.scale))
    }

    fn add(&self) -> Participant {
        let mut seats = self.seats.write().unwrap_or_else(PoisonError::into_inner);
        seats.push(Arc::default());
        Participant(seats.len() as u32 - 1)
    }

    fn enter(&self, me: Participant) {
        // Entering twice would be a fault of the driver; the first thread stays.
        let _ = self.seat(me).thread.set(thread::current());
    }

    fn wait(&self, me: Participant, until: Time) {
        let seat = self.seat(me);
        let at = if until == Time::NEVER { None } else { self.at(until) };
        let (since, spin) = (Instant::now(), self.spin());
        loop {
            if seat.notified.swap(false, Ordering::AcqRel) {
                return;
            }
            let Some(at) = at else {
                if since.elapsed() < spin {
                    std::hint::spin_loop();
                } else {
                    thread::park();
                }
                continue;
            };
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            if left > spin {
                thread::park_timeout(left - spin);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn notify(&self, whom: Participant) {
        let seat = self.seat(whom);
        if whom != CONTROLLER && !seat.works.swap(true, Ordering::Relaxed) {
            self.working.fetch_add(1, Ordering::Relaxed);
        }
        seat.notified.store(true, Ordering::Release);
        if let Some(thread) = seat.thread.get() {
            thread.unpark();
        }
    }

    fn leave(&self, _me: Participant) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_never_ends_early_unless_notified() {
        let clock = WallClock::start(1, DEFAULT_SPIN, false);
        clock.enter(CONTROLLER);
        for us in [0, 50, 300, 2_000] {
            let until = clock.now() + Span::from_us(us);
            clock.wait(CONTROLLER, until);
            assert!(clock.now() >= until);
        }
        clock.notify(CONTROLLER);
        clock.wait(CONTROLLER, Time::NEVER);
    }

    #[test]
    fn time_zero_is_the_start_of_the_run() {
        let clock = WallClock::start(1, DEFAULT_SPIN, false);
        let before = clock.now();
        clock.wait(CONTROLLER, before + Span::from_ms(5));
        clock.begin();
        assert!(clock.now() < before + Span::from_ms(5), "five milliseconds are forgotten");
    }

    #[test]
    fn a_notice_wakes_a_thread_that_waits_for_ever() {
        let clock = Arc::new(WallClock::start(3, DEFAULT_SPIN, true));
        let other = Arc::clone(&clock);
        let waiter = std::thread::spawn(move || {
            other.enter(CONTROLLER);
            other.wait(CONTROLLER, Time::NEVER);
        });
        clock.notify(CONTROLLER);
        waiter.join().expect("it was woken");
    }
}
