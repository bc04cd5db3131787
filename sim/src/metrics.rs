//! What a run is judged by, collected while it runs in memory that does not grow with it.
//!
//! Latencies go into a sketch whose quantiles are at most 0.1 % too large, unless exact ones are
//! asked for. It does not compare runs or estimate errors.

mod batches;
mod costs;
mod counts;
mod panels;
mod parts;
mod predictions;
mod requests;
mod sketch;
#[cfg(test)]
mod tests;
mod time_series;

pub use batches::Batches;
pub use counts::{Counts, Figures, Ratio};
pub use panels::{Panel, PanelGroup, Panels};
pub use parts::Scopes;
pub use predictions::{PredictionErrors, Predictions, Tails};
pub use requests::{View, Window};
pub use sketch::Sketch;
pub use time_series::{LEAST_ARRIVALS, TimeBin, TimeSeries};

use costs::Costs;

use crate::cluster::Change;
use crate::observer::{Batch, Load, Observer};
use crate::penalty::Penalty;
use crate::policy::Outcome;
use crate::request::{DeviceId, End, Request};
use crate::time::{Span, Time};
use parts::Parts;
use requests::Requests;

/// Batches of as many items or more are counted together.
pub const UNITS_MAX: u32 = 8192;

/// The figures of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceFigures {
    /// Time in which it ran a batch; of a device with several lanes that do not share it, their mean.
    pub busy: Span,
    /// Batches that it ran to their end.
    pub batches: u64,
    /// Batches that it refused.
    pub refused: u64,
    /// Batches that were stopped.
    pub preempted: u64,
    /// Time in which it loaded a model.
    pub loading: Span,
    /// Loads that it ran to their end.
    pub loads: u64,
    /// Loads that it refused.
    pub loads_refused: u64,
    /// Time in which it was up (or draining).
    pub up: Span,
}

impl DeviceFigures {
    /// Busy time over time up.
    pub fn utilisation(&self) -> f64 {
        if self.up == Span::ZERO { 0.0 } else { self.busy.ns() as f64 / self.up.ns() as f64 }
    }
}

/// All metrics of a run. An [`Observer`].
///
/// ```
/// use orrery_sim::driver::{World, simulate};
/// use orrery_sim::latency::Latency;
/// use orrery_sim::metrics::{Metrics, Window};
/// use orrery_sim::policy::fifo::{Config, Fifo};
/// use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
/// use orrery_sim::time::{Span, Time};
///
/// let at = |ms| Time::ZERO + Span::from_ms(ms);
/// let arrivals = (0..10).map(|i| Arrival {
///     at: at(20 * i),
///     app: AppId(0),
///     model: ModelId(0),
///     size: 1,
///     slo: Span::from_ms(15),
///     alone: Span::from_ms(10),
/// });
/// // Only requests of the second half count.
/// let metrics = Metrics::new(Window { from: at(100), to: Time::NEVER }, true);
/// let fifo = Fifo::new(Config { max_batch: 1, drop_expired: false });
/// let world = World::single(Latency::Proportional { c1: 0.1 });
/// let source = Box::new(VecSource::new(arrivals.collect()));
/// let run = simulate(&world, vec![source], fifo, metrics).observer;
/// assert_eq!((run.total().offered, run.total().finish_rate()), (5, 1.0));
/// assert_eq!(run.mean_batch_size(), 1.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    requests: Requests,
    devices: Vec<DeviceFigures>,
    /// Batches by the number of their requests.
    batch_sizes: Vec<u64>,
    /// Batches by model and the items that were computed; those of [`UNITS_MAX`] and more together.
    batch_units: Vec<Vec<u64>>,
    /// The most items of a request, and of a batch, padding included.
    largest: (u32, u32),
    series: TimeSeries,
    idle: Idle,
}

/// Whether requests come while no batch runs anywhere.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    /// Batches that run.
    running: u32,
    /// The first request that came since the last one ran, and how many did.
    since: Option<(Time, u32)>,
    /// For a long time they did.
    is_long: bool,
}

impl Idle {
    /// A time of so many SLOs is long, if so many requests came.
    const LONG: (u64, u32) = (100, 10);

    #[inline]
    fn arrived(&mut self, request: &Request) {
        if self.running == 0 {
            let (since, came) = self.since.get_or_insert((request.arrival, 0));
            *came += 1;
            let slos = (request.deadline - request.arrival).ns().saturating_mul(Self::LONG.0);
            let is_long = (request.arrival - *since).ns() >= slos;
            self.is_long |= is_long && *came >= Self::LONG.1;
        }
    }
}

impl Metrics {
    /// Metrics of the requests that arrive in `window`; with every latency kept if `exact`.
    pub fn new(window: Window, exact: bool) -> Metrics {
        Metrics { requests: Requests::new(window, exact), ..Metrics::default() }
    }

    /// The same metrics with figures of these scopes, before the run.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Metrics {
        self.requests.parts = Parts::new(scopes);
        self
    }

    /// The same metrics with the costs of these applications' requests, by number; of others one after the
    /// SLO. None are counted where the list is empty.
    #[must_use]
    pub fn with_penalties(mut self, penalties: Vec<Penalty>) -> Metrics {
        self.requests.penalties = Costs::new(penalties);
        self
    }

    /// The figures of a view.
    pub fn figures(&self, view: View) -> Vec<Figures> {
        self.requests.figures(view)
    }

    /// The batches of a view, in the same order: intervals for its figures.
    pub fn batches(&self, view: View) -> Vec<Batches> {
        self.requests.batches(view)
    }

    /// The figures of all requests.
    pub fn total(&self) -> Figures {
        self.figures(View::Total).remove(0)
    }

    /// By model; none where groups are kept.
    pub fn models(&self) -> Vec<Figures> {
        self.figures(View::Models)
    }

    /// By application; none where groups are kept.
    pub fn apps(&self) -> Vec<Figures> {
        self.figures(View::Apps)
    }

    /// The share of the measured time that had passed when the first request that counts arrived; zero of none.
    pub fn lead(&self) -> f64 {
        self.requests.lead()
    }

    /// The share of the measured time that was left when the last request that counts had arrived; zero of none.
    pub fn drain(&self) -> f64 {
        self.requests.drain()
    }

    /// Whether for a hundred SLOs requests came and no batch ran, on any device: a policy that has locked itself.
    pub fn stuck(&self) -> bool {
        self.idle.is_long
    }

    /// By device.
    pub fn devices(&self) -> &[DeviceFigures] {
        &self.devices
    }

    /// How many batches had each number of requests; the index is the number.
    pub fn batch_sizes(&self) -> &[u64] {
        &self.batch_sizes
    }

    /// How many batches of each model had each number of items, padding included; the index is the number, and the last
    /// one that is possible is [`UNITS_MAX`], for it and all above.
    pub fn batch_units(&self) -> &[Vec<u64>] {
        &self.batch_units
    }

    /// The most items of a batch, padding included, where a request had more than one.
    pub fn largest_batch_items(&self) -> Option<u32> {
        (self.largest.0 > 1).then_some(self.largest.1)
    }

    /// The mean number of requests in a batch.
    pub fn mean_batch_size(&self) -> f64 {
        let batches: u64 = self.batch_sizes.iter().sum();
        let requests: u64 = self.batch_sizes.iter().zip(0u64..).map(|(n, size)| n * size).sum();
        if batches == 0 { 0.0 } else { requests as f64 / batches as f64 }
    }

    /// When the run ended.
    pub fn end(&self) -> Time {
        self.requests.end
    }

    /// The run over time.
    pub fn series(&self) -> &TimeSeries {
        &self.series
    }

    /// Requests in the system, integrated over time (Little's law): request-nanoseconds, exact.
    pub fn in_system_ns(&self) -> u128 {
        self.series.in_system_ns()
    }

    /// The length of the measured part, up to the end of the run.
    pub fn measured(&self) -> Span {
        self.requests.measured()
    }

    /// Requests finished in time a second of the measured part.
    pub fn goodput_per_s(&self) -> f64 {
        let span = self.measured().as_secs_f64();
        if span == 0.0 { 0.0 } else { self.requests.in_time() as f64 / span }
    }
}

fn device_at(list: &mut Vec<DeviceFigures>, id: DeviceId) -> &mut DeviceFigures {
    if list.len() <= id.index() {
        list.resize_with(id.index() + 1, DeviceFigures::default);
    }
    &mut list[id.index()]
}

impl Observer for Metrics {
    #[inline(always)]
    fn arrived(&mut self, now: Time, request: &Request) {
        self.series.arrived(now);
        self.largest.0 = self.largest.0.max(request.size);
        self.idle.arrived(request);
        self.requests.arrived(request);
    }

    #[inline(always)]
    fn began(&mut self, now: Time, batch: &Batch<'_>) {
        (self.idle.running, self.idle.since) = (self.idle.running + 1, None);
        self.series.began(now, batch);
    }

    #[inline(always)]
    fn closed(&mut self, now: Time, batch: &Batch<'_>, start: Option<Time>, outcome: Outcome) {
        self.series.closed(now, batch, start, outcome);
        self.idle.running -= u32::from(start.is_some());
        let device = device_at(&mut self.devices, batch.device);
        match outcome {
            Outcome::Done { .. } => {
                device.batches += 1;
                let size = batch.requests.len();
                if self.batch_sizes.len() <= size {
                    self.batch_sizes.resize(size + 1, 0);
                }
                self.batch_sizes[size] += 1;
                let (model, units) = (batch.model.index(), batch.units.min(UNITS_MAX) as usize);
                if self.batch_units.len() <= model {
                    self.batch_units.resize_with(model + 1, Vec::new);
                }
                let counts = &mut self.batch_units[model];
                if counts.len() <= units {
                    counts.resize(units + 1, 0);
                }
                counts[units] += 1;
                self.largest.1 = self.largest.1.max(batch.units);
            }
            Outcome::Rejected(_) => device.refused += 1,
            Outcome::Preempted { .. } => device.preempted += 1,
            Outcome::Cancelled => {}
        }
    }

    fn load_began(&mut self, now: Time, load: &Load) {
        self.series.load_began(now, load);
    }

    fn load_closed(&mut self, now: Time, load: &Load, start: Option<Time>, outcome: Outcome) {
        self.series.load_closed(now, load, start, outcome);
        let device = device_at(&mut self.devices, load.device);
        device.loads += u64::from(matches!(outcome, Outcome::Done { .. }));
        device.loads_refused += u64::from(matches!(outcome, Outcome::Rejected(_)));
    }

    fn cold(&mut self, now: Time, request: &Request) {
        self.series.cold(now);
        self.requests.cold(request);
    }

    #[inline(always)]
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        self.series.ended(now, end);
        self.requests.ended(now, request, end, start);
    }

    fn device(&mut self, now: Time, id: DeviceId, change: Change) {
        self.series.device(now, id, change);
    }

    fn provisioned(&mut self, now: Time, _: u32, count: u32) {
        self.series.provisioned(now, count);
    }

    fn finished(&mut self, now: Time) {
        self.series.finished(now);
        self.requests.end = now;
        self.devices.resize_with(self.series.times().len(), DeviceFigures::default);
        for (device, times) in self.devices.iter_mut().zip(self.series.times()) {
            [device.busy, device.loading, device.up] = times;
        }
    }
}
