//! What a run says about the number of devices: the signals and the advice of Symphony's section 3.5.
//!
//! It only computes. The policy that follows the advice is `orrery_sim::policy::autoscale`.

use orrery_results::{Row, metric};
use orrery_sim::metrics::TimeBin;
use orrery_sim::policy::autoscale::advised;
use std::fmt;

/// Devices are added above this share of bad requests.
const THRESHOLD: f64 = 0.01;

/// The signals of a run and its number of devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// Devices, all that ever were.
    pub devices: usize,
    /// The share of late and dropped requests.
    pub bad_rate: f64,
    /// The share of device time in which nothing ran.
    pub idle: f64,
}

impl Advice {
    /// From the rows of a cell; `None` where nothing was sent.
    pub fn of(cell: &[&Row]) -> Option<Advice> {
        let of_all = |metric: &str| {
            let is_it = |r: &&&Row| r.scope == "all" && r.metric == metric && r.versus.is_empty();
            cell.iter().find(is_it)?.value
        };
        let is_device =
            |r: &&&Row| r.scope.starts_with("device ") && r.metric == metric::UTILISATION;
        let devices = cell.iter().filter(is_device).count().max(1);
        let (bad_rate, idle) =
            (1.0 - of_all(metric::FINISH_RATE)?, 1.0 - of_all(metric::UTILISATION)?);
        Some(Advice { devices, bad_rate, idle })
    }

    /// Devices to add (positive) or to give back (negative). `None` when every request was bad, which
    /// says nothing about how many are needed.
    pub fn advised(&self) -> Option<f64> {
        let n = advised(self.devices as f64, self.bad_rate, self.idle, THRESHOLD);
        Some(n).filter(|n| n.is_finite())
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Advice { devices, bad_rate, idle } = self;
        match self.advised() {
            None => write!(f, "more than {devices} devices; every request misses its SLO"),
            Some(n) if *bad_rate > THRESHOLD => {
                write!(f, "{n:+.1} to {devices} devices; bad rate {bad_rate:.4}")
            }
            Some(n) => write!(f, "{n:+.1} of {devices} devices; idle {idle:.4}"),
        }
    }
}

/// The advice from one bin of time, for the devices that were up on average.
pub fn of_bin(bin: &TimeBin) -> Option<f64> {
    let idle = 1.0 - bin.utilisation();
    Some(advised(bin.devices_up(), bin.bad_rate(), idle, THRESHOLD)).filter(|n| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_formulas_without_rounding() {
        let advice = |bad_rate, idle| Advice { devices: 24, bad_rate, idle };
        assert_eq!(advice(0.2, 0.0).advised(), Some(6.0));
        assert_eq!(advice(0.01, 0.5).advised(), Some(-12.0), "the threshold itself is good");
        assert_eq!(advice(1.0, 0.0).advised(), None);
        assert_eq!(advice(0.2, 0.0).to_string(), "+6.0 to 24 devices; bad rate 0.2000");
        assert_eq!(advice(0.0, 0.5).to_string(), "-12.0 of 24 devices; idle 0.5000");
    }
}
