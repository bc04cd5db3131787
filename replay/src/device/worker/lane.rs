//! A lane, or the executor for loads: asks its process, one job at a time.

use super::config::WorkerConfig;
use super::message::Done;
use super::process::monotonic_ns;
use super::seat::Seat;
use crate::clock::Clock;
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use orrery_sim::time::{Span, Time};
use serde_json::json;
use std::sync::Arc;

/// See the module's text.
pub struct Lane {
    /// None where nothing is loaded.
    seat: Option<Seat>,
    config: Arc<WorkerConfig>,
}

impl Lane {
    pub fn new(seat: Option<Seat>, config: Arc<WorkerConfig>) -> Lane {
        Lane { seat, config }
    }
}

/// The driver's time and the host's at one instant. Between two readings the host may stop this thread for milliseconds:
/// of some, the two that lie closest.
fn at_once(clock: &dyn Clock) -> (Time, u64) {
    let read = |_| {
        let (before, now, after) = (monotonic_ns(), clock.now(), monotonic_ns());
        (after - before, now, before + (after - before) / 2)
    };
    let (_, now, ns) = (0..8).map(read).min_by_key(|reading| reading.0).expect("there are some");
    (now, ns)
}

impl Worker for Lane {
    fn start(&mut self) -> Result<(), DeviceError> {
        let Some(seat) = &mut self.seat else { return Ok(()) };
        let models = self.config.models.iter().map(|m| {
            let lengths: Vec<u32> = m.lengths.iter().map(|(length, _)| *length).collect();
            json!({ "run": m.run, "max_batch": m.max_batch, "lengths": lengths })
        });
        seat.prepare(models.collect(), self.config.prepare_s)
    }

    fn run(&mut self, job: &Job, place: &Place<'_>, stop: &Stop) -> Result<Ran, DeviceError> {
        let doing = match job.work {
            Work::Batch { .. } => format!("running a batch (action {})", job.action.0),
            Work::Load { .. } => format!("loading a model (action {})", job.action.0),
        };
        let refused = |said: &str, remedy: &str| {
            Err(DeviceError::new(&job.device.to_string(), &doing, said, remedy))
        };
        let Some(seat) = &mut self.seat else {
            let said = "a load, and no model of the scenario has `load_ms`";
            return refused(said, "report a bug");
        };
        let question = match job.work {
            Work::Batch { model, units, longest, .. } => {
                let Some(of) = self.config.models.get(model.index()) else {
                    return refused("its model has no entry in `[worker]`", "report a bug");
                };
                if units > of.max_batch {
                    let said = format!("a batch of {units}; `max_batch` is {}", of.max_batch);
                    return refused(&said, "raise it, or make smaller batches");
                }
                let length = of.length(longest);
                json!({ "do": "run", "model": model.0, "size": units, "length": length })
            }
            Work::Load { model, .. } => json!({ "do": "load", "model": model.0 }),
        };
        place.wait(place.clock.now() + job.fetch, stop);
        let limit = ("patience_s", self.config.patience());
        let read = match job.work {
            Work::Batch { .. } => Done::of_batch,
            Work::Load { .. } => Done::of,
        };
        let done = seat.process().ask(question, &doing, limit, Some(stop), read)?;
        let (now, now_ns) = at_once(place.clock);
        let at = |ns: u64| Time::from_ns((now.ns() + ns).saturating_sub(now_ns));
        let start = at(done.start_ns).minus(job.fetch).max(job.began);
        Ok(Ran {
            start,
            end: at(done.end_ns).max(start),
            device: Span::from_ns(done.device_ns()),
            away: Span::from_ns(done.away_ns),
            stopped: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{DEFAULT_SPIN, Participant, WallClock};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// A clock whose readers the host stops now and then.
    struct Stopped(WallClock, AtomicU32);

    impl Clock for Stopped {
        fn now(&self) -> Time {
            let now = self.0.now();
            if self.1.fetch_add(1, Ordering::Relaxed) % 4 != 2 {
                std::thread::sleep(Duration::from_millis(5));
            }
            now
        }
        fn add(&self) -> Participant {
            self.0.add()
        }
        fn enter(&self, me: Participant) {
            self.0.enter(me);
        }
        fn wait(&self, me: Participant, until: Time) {
            self.0.wait(me, until);
        }
        fn notify(&self, whom: Participant) {
            self.0.notify(whom);
        }
        fn leave(&self, me: Participant) {
            self.0.leave(me);
        }
    }

    /// Found on a busy machine: a batch began before it was asked for, and the run panicked.
    #[test]
    fn two_clocks_are_read_at_one_instant_though_the_host_stops_the_reader() {
        let clock = Stopped(WallClock::start(1, DEFAULT_SPIN, false), AtomicU32::new(0));
        let (now, ns) = at_once(&clock);
        let (later, later_ns) = at_once(&clock.0);
        let apart = (later - now).ns().abs_diff(later_ns - ns);
        assert!(apart < 1_000_000, "{apart} ns");
    }
}
