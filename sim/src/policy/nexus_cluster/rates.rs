//! How fast each model's requests come, as the frontends report it.
//!
//! It plans nothing.

use crate::time::Span;

/// Beacons over which a rate is averaged. Released code: an averaging interval of 10 s, a beacon a
/// second.
const AVERAGED_BEACONS: f64 = 10.0;

/// The rate of each model, smoothed.
#[derive(Debug)]
pub(super) struct Rates {
    /// Requests since the last beacon.
    counts: Vec<u32>,
    /// The frontends' estimates added up, per second. Each begins at 0, not at its first count. The
    /// average is linear, so the sum over frontends is the average of the sum.
    pub estimates: Vec<f64>,
    /// Beacons so far.
    pub beacons: u64,
    gain: f64,
    beacon_s: f64,
}

impl Rates {
    pub fn new(models: usize, beacon: Span) -> Rates {
        Rates {
            counts: vec![0; models],
            estimates: vec![0.0; models],
            beacons: 0,
            gain: 1.0 - libm::exp(-1.0 / AVERAGED_BEACONS),
            beacon_s: beacon.as_secs_f64(),
        }
    }

    pub fn arrived(&mut self, model: usize) {
        self.counts[model] += 1;
    }

    /// The frontends report what they have counted.
    pub fn beacon(&mut self) {
        for (count, estimate) in self.counts.iter_mut().zip(&mut self.estimates) {
            let rate = f64::from(std::mem::take(count)) / self.beacon_s;
            *estimate += self.gain * (rate - *estimate);
        }
        self.beacons += 1;
    }
}
