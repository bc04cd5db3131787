//! What an action costs besides its time on the device, as the driver itself sees it: from the
//! controller beginning it to the worker beginning it, and from the worker's end to the controller
//! acting on it.

use super::{Clocks, Delay, Overhead};
use crate::device::{Device, DeviceError};
use crate::driver::{Options, replay};
use crate::error::Error;
use crate::quantiles::quantile;
use crate::threads::{Placement, Unpinned};
use orrery_run::{PolicySpec, Setup};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::driver::World;
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::Outcome;
use orrery_sim::request::{ActionId, AppId, Arrival, DeviceId, ModelId, Source, VecSource};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;

/// So many batches, or as many as fit into the time.
const BATCHES: u64 = 400;
/// No longer than this.
const TIME: Span = Span::from_secs(4);

/// Measures both on a device that is idle a third of the time. `typical` is the time alone of the
/// requests and the time that a batch of one takes.
///
/// # Errors
/// When the device fails.
pub fn measure_overhead(
    device: Box<dyn Device>,
    setup: &Setup,
    typical: (Span, Span),
    clocks: Clocks,
    placement: Placement,
) -> Result<Overhead, Error> {
    // The controller may be pinned.
    let _unpinned = Unpinned::later();
    let gap = typical.1.scale(1.5) + Span::from_us(50);
    let count = BATCHES.min(TIME.ns() / gap.ns()).max(20);
    let far = Span::from_secs(3_600);
    let arrival = |i: u64| Arrival {
        at: Time::ZERO + gap * (i + 1),
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo: far,
        alone: typical.0,
    };
    let source: Box<dyn Source> = Box::new(VecSource::new((0..count).map(arrival).collect()));
    let mut world: World = setup.world.clone();
    world.core.devices.truncate(1);
    world.core.delays = Default::default();
    world.changes.clear();
    world.until = None;
    for spec in &mut world.core.devices {
        *spec = DeviceSpec { kind: spec.kind, ..DeviceSpec::default() };
    }
    let policy = PolicySpec::parse("fifo[max_batch=1]")?.build(&setup.profiles(1), 1);
    let mut device = Some(device);
    let mut rig = |id: DeviceId, _: &DeviceSpec| {
        let (said, remedy) = ("a second device was asked for", "this is a fault of the harness");
        let error = || DeviceError::new(&id.to_string(), "measuring overheads", said, remedy);
        device.take().ok_or_else(error)
    };
    let options = Options { placement, ..Options::default() };
    let clock = clocks.start(placement);
    let replayed = replay(
        &world,
        vec![source],
        policy,
        Closed::default(),
        &mut rig,
        clock.as_ref(),
        &options,
    )?;
    if let Some(error) = replayed.failed {
        return Err(error.into());
    }
    let closed = replayed.run.observer.0;
    let launch = replayed.actions.iter().map(|a| a.start.since(a.began)).collect();
    let told = |a: &crate::driver::Measured| Some(closed.get(&a.action)?.since(a.end));
    let result = replayed.actions.iter().filter_map(told).collect();
    Ok(Overhead { launch: delay(launch), result: delay(result) })
}

fn delay(mut spans: Vec<Span>) -> Delay {
    spans.sort_unstable();
    let us = |q| quantile(&spans, q).ns() as f64 / 1e3;
    Delay { median_us: us(0.5), p99_us: us(0.99), batches: spans.len() as u64 }
}

/// When the controller was told of each batch.
#[derive(Default)]
struct Closed(BTreeMap<ActionId, Time>);

impl Observer for Closed {
    fn closed(&mut self, now: Time, batch: &Batch<'_>, _start: Option<Time>, _outcome: Outcome) {
        self.0.insert(batch.action, now);
    }
}
