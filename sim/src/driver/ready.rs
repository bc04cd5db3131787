//! Runs with the observers that commands have, compiled here.
//!
//! [`simulate`] is generic, and so is compiled in the crate that calls it. The crate of the commands is
//! built quickly rather than well; the simulator's loop is not to suffer from that. These do nothing
//! else than [`simulate`].

use super::{Finished, World, simulate};
use crate::log::LogWriter;
use crate::metrics::{Metrics, Panels, Predictions};
use crate::observer::Observer;
use crate::policy::Policy;
use crate::request::Source;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a run when it is told to; what such a run has measured is of no use.
pub struct UntilTold(pub Arc<AtomicBool>);

impl Observer for UntilTold {
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A run over that began with one of these observers.
pub type Run<O> = Finished<Box<dyn Policy>, (Metrics, O)>;

/// One of the functions of this module, or [`simulate`] itself.
pub type Simulate<O> =
    for<'w> fn(&'w World, Vec<Box<dyn Source + 'w>>, Box<dyn Policy>, (Metrics, O)) -> Run<O>;

/// A run with intervals and time series.
#[inline(never)]
pub fn watched<'w>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    observer: (Metrics, ()),
) -> Run<()> {
    simulate(world, sources, policy, observer)
}

/// The same with bins of a chosen length and the errors of the policy's predictions.
#[inline(never)]
pub fn in_bins<'w>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    observer: (Metrics, (Panels, Predictions)),
) -> Run<(Panels, Predictions)> {
    beside(world, sources, policy, observer)
}

/// The first with a schedule log.
#[inline(never)]
pub fn logged<'w>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    observer: (Metrics, LogWriter<Box<dyn Write>>),
) -> Run<LogWriter<Box<dyn Write>>> {
    beside(world, sources, policy, observer)
}

/// The first, unless it is told to end.
#[inline(never)]
pub fn until_told<'w>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    observer: (Metrics, UntilTold),
) -> Run<UntilTold> {
    beside(world, sources, policy, observer)
}

/// [`watched`] with one more observer, for all of which the loop is compiled once.
fn beside<'w, O: Observer>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    (metrics, mut other): (Metrics, O),
) -> Run<O> {
    let run = any(world, sources, policy, (metrics, &mut other));
    let Finished { policy, observer: (metrics, _), end, events, failure } = run;
    Finished { policy, observer: (metrics, other), end, events, failure }
}

#[inline(never)]
fn any<'w, 'o>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    observer: (Metrics, &'o mut (dyn Observer + 'o)),
) -> Run<&'o mut (dyn Observer + 'o)> {
    simulate(world, sources, policy, observer)
}
