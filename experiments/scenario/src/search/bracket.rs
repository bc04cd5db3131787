//! The search itself: walk to the highest good rate, then look around it. It knows no scheduler: it asks a closure.
//!
//! ```text
//! highest rate:    see `walk`
//! fewest devices:  up while bad, by steps that double, then the middle of whole numbers
//! ```
//!
//! The walk takes for granted that less load is never worse. It looks at some lower rates afterwards
//! and says so when that was wrong. Where a little less than the answer does not come back from a burst, the
//! answer is probed again for longer, and searched anew with such probes when it does not hold.

use super::asked::{ABOVE, Asked, Bracket, Found};
use super::{How, Probe};

/// Shares of the found rate that are probed afterwards, to see whether less is worse.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];

/// Shares of an undecided answer, until one is good beyond doubt, and multiples, until one is bad.
const GOOD_UP_TO: [f64; 2] = [0.3, 0.1];
const BAD_FROM: [f64; 5] = [1.1, 1.2, 1.5, 2.0, 4.0];

/// An answer that does not come back, or is next to a collapse, is probed again for so many times as long: a
/// system may collapse so seldom that most probes see nothing of it.
const LONGER: u32 = 8;

impl Bracket {
    /// The highest good rate. The closure is asked for a probe at a rate, and how it is to be made.
    ///
    /// # Errors
    /// The first error of a probe.
    pub fn highest<E>(&self, probe: impl FnMut(f64, How) -> Result<Probe, E>) -> Result<Found, E> {
        let mut asked = Asked::new(probe);
        let mut value = match asked.walk(self)? {
            (Some(good), Some(_)) => good,
            (Some(good), None) => {
                return Ok(Found { good_up_to: Some(good), ..asked.found(None) });
            }
            (None, _) => return Ok(Found { never_good: true, ..asked.found(None) }),
        };
        let (mut refuted, mut metastable) = (None, None);
        if self.around {
            asked.ask(value * ABOVE)?;
            metastable = asked.after_burst(value)?;
            let collapses = asked.collapse(value).is_some();
            if metastable.is_some() || collapses {
                asked.how.longer = LONGER;
                if !asked.ask(value)? {
                    refuted = Some(value);
                    let start = value / (1.0 + 4.0 * self.tolerance);
                    let again = Bracket { start, glance: false, ..*self };
                    match asked.walk(&again)?.0 {
                        Some(good) => value = good,
                        None => {
                            return Ok(Found { never_good: true, refuted, ..asked.found(None) });
                        }
                    }
                    metastable = asked.after_burst(value)?;
                }
                asked.how = How::USUAL;
            }
            asked.look_around(self, value, collapses || metastable.is_some())?;
        }
        Ok(Found { refuted, metastable, ..asked.found(Some(value)) })
    }
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    /// Whether less is worse; and where the answer is undecided, from where on rates are good and bad beyond doubt.
    fn look_around(&mut self, search: &Bracket, value: f64, unstable: bool) -> Result<(), E> {
        for share in BELOW {
            let at = value * share;
            // A short probe that finds nothing is enough, where nothing was found before.
            let is_wanted = unstable
                || !search.glance
                || self.found(Some(value)).clearly_good.is_none()
                || !self.other(at, How::GLANCE)?.good;
            if is_wanted {
                self.ask(at)?;
            }
        }
        for share in GOOD_UP_TO {
            if self.found(Some(value)).clearly_good.is_none() {
                self.ask(value * share)?;
            }
        }
        for times in BAD_FROM {
            if self.found(Some(value)).clearly_bad.is_none() {
                self.ask(value * times)?;
            }
        }
        Ok(())
    }
}

/// The smallest good number from `least` to `most`, looked for from `start` on by steps that double.
///
/// # Errors
/// The first error of a probe.
pub fn fewest<E>(
    start: u32,
    least: u32,
    most: u32,
    mut probe: impl FnMut(u32) -> Result<Probe, E>,
) -> Result<Found, E> {
    let mut asked = Asked::new(|at: f64, _| probe(at as u32));
    let mut high = start.clamp(least, most);
    let mut low = least - 1; // the largest number known to be too few
    let mut step = (high - low).max(1);
    while !asked.ask(f64::from(high))? {
        if high == most {
            return Ok(Found { never_good: true, ..asked.found(None) });
        }
        low = high;
        high = high.saturating_add(step).min(most);
        step = step.saturating_mul(2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if asked.ask(f64::from(middle))? { high = middle } else { low = middle }
    }
    let value = f64::from(high);
    let sure = |good: bool| {
        let these = asked.all.iter().filter(move |(_, p)| p.good == good && p.is_sure());
        these.map(|(v, _)| *v).collect::<Vec<f64>>()
    };
    let clearly_good = sure(true).into_iter().reduce(f64::min);
    let clearly_bad = sure(false).into_iter().filter(|v| *v < value).reduce(f64::max);
    // Fewer are worse by themselves: what bisection saw below the answer is no warning.
    Ok(Found {
        worse_below: None,
        collapse: None,
        clearly_good,
        clearly_bad,
        ..asked.found(Some(value))
    })
}

#[cfg(test)]
mod tests;
