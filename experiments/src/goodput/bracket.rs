//! The search itself: bracket, then bisect. It knows no scheduler: it asks a closure.
//!
//! ```text
//! highest rate:    from `start`, double while good or halve while bad, until both were seen;
//!                  then the geometric middle, until the bracket is narrower than `tolerance`
//! fewest devices:  double while bad, then the middle of whole numbers
//! ```
//!
//! Bisection takes for granted that less load is never worse. It looks at some lower rates afterwards
//! and says so when that was wrong.

use super::Probe;

/// Shares of the found rate that are probed afterwards: below it, to see whether less is worse.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];

/// And just above it, to see whether it collapses.
const ABOVE: f64 = 1.05;

/// With 5 % more than the peak a stable scheduler loses little more than 5 %: more than this share of
/// bad requests is a collapse.
const COLLAPSE: f64 = 0.25;

/// Halvings before the answer is zero.
const HALVINGS: u32 = 24;

/// Doublings before the search is given up: probes at such rates take ever longer.
const DOUBLINGS: u32 = 14;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The highest good rate, or the smallest good number; 0 when nothing is good.
    pub value: f64,
    /// The probe that it was found by, if one was good.
    pub at: Option<Probe>,
    /// A lower rate that was bad.
    pub worse_below: Option<f64>,
    /// The share of bad requests with 5 % more, where that is a collapse.
    pub collapse: Option<f64>,
    /// Every rate was good, up to this one.
    pub no_peak: bool,
    /// Probes made.
    pub probes: u32,
    /// Requests simulated by all probes.
    pub requests: u64,
}

/// Asks, and remembers all answers.
struct Asked<F> {
    probe: F,
    all: Vec<(f64, Probe)>,
}

impl<E, F: FnMut(f64) -> Result<Probe, E>> Asked<F> {
    fn ask(&mut self, at: f64) -> Result<bool, E> {
        let probe = (self.probe)(at)?;
        let good = probe.good;
        self.all.push((at, probe));
        Ok(good)
    }

    fn found(self, value: f64) -> Found {
        let at = self.all.iter().find(|(v, p)| *v == value && p.good).map(|(_, p)| p.clone());
        let below = |(v, p): &&(f64, Probe)| !p.good && *v < value;
        let collapse = |(v, p): &&(f64, Probe)| {
            *v > value && *v <= value * ABOVE * (1.0 + 1e-9) && p.bad_rate > COLLAPSE
        };
        Found {
            value,
            at,
            worse_below: self.all.iter().filter(below).map(|(v, _)| *v).reduce(f64::max),
            collapse: self.all.iter().filter(collapse).map(|(_, p)| p.bad_rate).reduce(f64::max),
            no_peak: false,
            probes: self.all.len() as u32,
            requests: self.all.iter().map(|(_, p)| p.requests).sum(),
        }
    }
}

/// The highest good rate.
///
/// # Errors
/// The first error of a probe.
pub fn highest<E>(
    start: f64,
    tolerance: f64,
    probe: impl FnMut(f64) -> Result<Probe, E>,
) -> Result<Found, E> {
    let mut asked = Asked { probe, all: Vec::new() };
    let (mut good, mut bad) = if asked.ask(start)? {
        let mut high = start * 2.0;
        let mut left = DOUBLINGS;
        while asked.ask(high)? {
            left -= 1;
            if left == 0 {
                return Ok(Found { no_peak: true, ..asked.found(high) });
            }
            high *= 2.0;
        }
        (high / 2.0, high)
    } else {
        let mut low = start / 2.0;
        let mut left = HALVINGS;
        while !asked.ask(low)? {
            left -= 1;
            if left == 0 {
                return Ok(asked.found(0.0));
            }
            low /= 2.0;
        }
        (low, low * 2.0)
    };
    while bad > good * (1.0 + tolerance) {
        let middle = (good * bad).sqrt();
        if asked.ask(middle)? { good = middle } else { bad = middle }
    }
    for share in BELOW {
        asked.ask(good * share)?;
    }
    asked.ask(good * ABOVE)?;
    Ok(asked.found(good))
}

/// The smallest good number from 1 to `most`; 0 when not even that many are enough.
///
/// # Errors
/// The first error of a probe.
pub fn fewest<E>(
    start: u32,
    most: u32,
    probe: impl FnMut(f64) -> Result<Probe, E>,
) -> Result<Found, E> {
    let mut asked = Asked { probe, all: Vec::new() };
    let mut high = start.clamp(1, most);
    let mut low = 0; // the largest number known to be too few
    while !asked.ask(f64::from(high))? {
        if high == most {
            return Ok(asked.found(0.0));
        }
        low = high;
        high = high.saturating_mul(2).min(most);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if asked.ask(f64::from(middle))? { high = middle } else { low = middle }
    }
    // Fewer are worse by themselves: what bisection saw below the answer is no warning.
    Ok(Found { worse_below: None, collapse: None, ..asked.found(f64::from(high)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn probe(good: bool, bad_rate: f64) -> Result<Probe, Infallible> {
        Ok(Probe { good, sure: true, bad_rate, worst_model: 0, requests: 10 })
    }

    /// Good up to `peak`.
    fn step(peak: f64) -> impl FnMut(f64) -> Result<Probe, Infallible> {
        move |rate| probe(rate <= peak, if rate <= peak { 0.0 } else { 1.0 - peak / rate })
    }

    #[test]
    fn the_peak_is_found_from_below_and_from_above() {
        for start in [1.0, 90.0, 4000.0] {
            let Ok(found) = highest(start, 0.005, step(100.0));
            assert!(found.value <= 100.0 && found.value * 1.005 > 100.0, "{found:?}");
            assert_eq!(found.at.as_ref().map(|p| p.good), Some(true));
            assert_eq!((found.worse_below, found.collapse), (None, None));
            assert_eq!(found.requests, 10 * u64::from(found.probes));
        }
    }

    #[test]
    fn what_is_never_good_gives_zero_and_ends() {
        let Ok(found) = highest(100.0, 0.005, |_| probe(false, 1.0));
        assert_eq!((found.value, found.at), (0.0, None));
    }

    #[test]
    fn what_is_always_good_has_no_peak_and_ends() {
        let Ok(found) = highest(100.0, 0.005, |_| probe(true, 0.0));
        assert!(found.no_peak && found.value > 1e6, "{found:?}");
        assert!(highest(90.0, 0.005, step(100.0)).is_ok_and(|f| !f.no_peak));
    }

    #[test]
    fn a_response_that_is_not_monotone_and_one_that_collapses_are_told() {
        let planner = |rate: f64| probe(rate <= 100.0 && !(60.0..80.0).contains(&rate), 0.02);
        let Ok(found) = highest(90.0, 0.005, planner);
        assert!(found.worse_below.is_some_and(|r| (60.0..80.0).contains(&r)), "{found:?}");
        let Ok(found) = highest(90.0, 0.005, |rate| probe(rate <= 100.0, 0.9));
        assert_eq!(found.collapse, Some(0.9));
    }

    #[test]
    fn the_fewest_devices_by_whole_numbers() {
        for (start, needed) in [(1, 1), (1, 13), (64, 13), (8, 1000)] {
            let Ok(found) = fewest(start, 4096, |n| probe(n >= f64::from(needed), 0.0));
            assert_eq!(found.value, f64::from(needed));
            assert_eq!(found.worse_below, None);
        }
        let Ok(found) = fewest(8, 100, |_| probe(false, 1.0));
        assert_eq!(found.value, 0.0);
    }
}
