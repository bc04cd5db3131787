//! A worker that panics: the run ends with a report, and does not wait for ever.

use orrery_replay::clock::VirtualClock;
use orrery_replay::device::{Description, Device, DeviceError, Job, Place, Ran, Stop, Worker};
use orrery_replay::driver::{Options, replay};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::metrics::Metrics;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::{AppId, Arrival, DeviceId, ModelId, VecSource};
use orrery_sim::time::{Span, Time};

/// Panics in its third batch, or when it gets ready.
struct Panics {
    at_start: bool,
}

struct Fragile {
    at_start: bool,
    batches: u32,
}

impl Device for Panics {
    fn describe(&self) -> Description {
        Description::default()
    }

    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError> {
        let worker =
            |_| -> Box<dyn Worker> { Box::new(Fragile { at_start: self.at_start, batches: 0 }) };
        Ok((0..=lanes).map(worker).collect())
    }

    fn steps(&self, _: ModelId) -> Vec<Span> {
        Vec::new()
    }

    fn batch_max(&self, _: ModelId) -> Option<u32> {
        None
    }
}

impl Worker for Fragile {
    fn start(&mut self) -> Result<(), DeviceError> {
        assert!(!self.at_start, "no memory for {} buffers", 7);
        Ok(())
    }

    fn run(&mut self, _: &Job, place: &Place<'_>, _: &Stop) -> Result<Ran, DeviceError> {
        self.batches += 1;
        assert!(self.batches < 3, "batch {} is one too many", self.batches);
        let start = place.clock.now();
        Ok(Ran { start, end: start, device: Span::ZERO, away: Span::ZERO, stopped: false })
    }
}

fn run(at_start: bool) -> String {
    let world = World::single(Latency::Affine { alpha: Span::from_ms(1), beta: Span::from_ms(1) });
    let arrival = |i: u64| Arrival {
        at: Time::ZERO + Span::from_ms(10 * i),
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo: Span::from_secs(1),
        alone: Span::from_ms(1),
    };
    let source = Box::new(VecSource::new((0..9).map(arrival).collect()));
    let fifo = Fifo::new(Config { max_batch: 1, drop_expired: false });
    let mut rig = |_: DeviceId, _: &DeviceSpec| -> Result<Box<dyn Device>, DeviceError> {
        Ok(Box::new(Panics { at_start }))
    };
    let (clock, options) = (VirtualClock::new(), Options::default());
    let metrics = Metrics::default();
    match replay(&world, vec![source], fifo, metrics, &mut rig, &clock, &options) {
        Ok(replayed) => {
            assert_eq!(replayed.actions.len(), 2, "what was measured is kept");
            replayed.failed.expect("the device failed").to_string()
        }
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_worker_that_panics_is_a_report() {
    let said = run(false);
    assert!(said.contains("panicked: batch 3 is one too many"), "{said}");
    let said = run(true);
    assert!(said.contains("getting ready") && said.contains("no memory for 7 buffers"), "{said}");
}
