//! What a bin of time shows: counts, times, and the rates that a plot draws.

use crate::time::{NS_PER_S, Span, Time};

/// One bin of a [`TimeSeries`](super::TimeSeries).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeBin {
    /// Where it begins.
    pub from: Time,
    /// Where it ends; the last one at the end of the run.
    pub to: Time,
    /// Requests that arrived.
    pub offered: u64,
    /// Requests that were answered in time.
    pub in_time: u64,
    /// Requests that were answered late.
    pub late: u64,
    /// Requests that were dropped, for whatever reason.
    pub dropped: u64,
    /// Batches that came to their end.
    pub batches: u64,
    /// Requests in those batches.
    pub batched: u64,
    /// Device-time in which batches ran, summed over devices; of a device with several lanes, their mean.
    pub busy: Span,
    /// Device-time in which devices were up (or draining), summed over devices.
    pub up: Span,
    /// Integral of the number of requests in the system, request-nanoseconds.
    pub in_system_ns: u128,
    /// Devices that the policy asked for.
    pub asked: u64,
    /// Devices that began to drain.
    pub released: u64,
    /// Models that came into a device's memory.
    pub loads: u64,
    /// Cold starts that ended: see [`Figures::cold`](crate::metrics::Figures::cold).
    pub cold: u64,
    /// Device-time in which models were loaded, summed over devices.
    pub loading: Span,
}

impl TimeBin {
    /// How long it is.
    pub fn span(&self) -> Span {
        self.to.since(self.from)
    }

    /// The mean number of requests in the system; zero of no time.
    pub fn mean_in_system(&self) -> f64 {
        ratio(self.in_system_ns as f64, self.span())
    }

    /// Busy time over time up; zero of no time.
    pub fn utilisation(&self) -> f64 {
        ratio(self.busy.ns() as f64, self.up)
    }

    /// Time of loads over time up: the share of the time in which the way into the devices' memory was
    /// busy; zero of no time.
    pub fn load_utilisation(&self) -> f64 {
        ratio(self.loading.ns() as f64, self.up)
    }

    /// The mean number of devices that were up; zero of no time.
    pub fn devices_up(&self) -> f64 {
        ratio(self.up.ns() as f64, self.span())
    }

    /// The mean number of devices that were busy; zero of no time.
    pub fn devices_busy(&self) -> f64 {
        ratio(self.busy.ns() as f64, self.span())
    }

    /// Requests that were late or dropped, of those that ended here; zero of none.
    pub fn bad_rate(&self) -> f64 {
        let bad = self.late + self.dropped;
        let ended = self.in_time + bad;
        if ended == 0 { 0.0 } else { bad as f64 / ended as f64 }
    }

    /// A count of this bin, a second; zero of no time.
    pub fn per_s(&self, count: u64) -> f64 {
        ratio(count as f64 * NS_PER_S as f64, self.span())
    }
}

fn ratio(num: f64, den: Span) -> f64 {
    if den == Span::ZERO { 0.0 } else { num / den.ns() as f64 }
}
