//! The search itself. It knows no scheduler: it asks a closure.
//!
//! ```text
//! highest rate:    a walk to the root of a line, with its interval; where there is no line, or no target, a bracket:
//!                  from `start`, up while good or down while bad, by steps that may grow, until both were seen;
//!                  then the geometric middle, until the bracket is narrower than `tolerance`
//! fewest devices:  up while bad, by steps that double, then the middle of whole numbers
//! ```
//!
//! It takes for granted that less load is never worse. It looks at some lower rates afterwards
//! and says so when that was wrong. Where a little less than the answer does not come back from a burst, the
//! answer is probed again for longer, and searched anew with such probes when it does not hold.

use super::asked::{ABOVE, Asked, Bracket, Found, LONGER};
use super::root::{Root, WIDE};
use super::walk::{GLANCE, Walked};
use super::{How, Probe};

/// Shares of the found rate that are probed afterwards: below it, to see whether less is worse.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];

impl Bracket {
    /// The highest good rate. The closure is asked for a probe at a rate, and how it is to be made.
    ///
    /// # Errors
    /// The first error of a probe.
    pub fn highest<E>(&self, probe: impl FnMut(f64, How) -> Result<Probe, E>) -> Result<Found, E> {
        let mut asked = Asked::new(probe);
        let halve = match self.target {
            None => *self,
            Some(target) => match asked.walk(self, target)? {
                Walked::Root(root) => return self.of_root(asked, root),
                Walked::GoodUpTo(rate) => {
                    return Ok(Found { good_up_to: Some(rate), ..asked.found(None, None) });
                }
                Walked::NeverGood => {
                    return Ok(Found { never_good: true, ..asked.found(None, None) });
                }
                Walked::Bracket(good, bad, longer) => {
                    asked.how.longer = longer;
                    let step = (bad / good).sqrt().clamp(1.0 + self.tolerance / 2.0, self.step_max);
                    Bracket { start: (good * bad).sqrt(), step, ..*self }
                }
            },
        };
        self.halved(asked, &halve)
    }

    /// The answer that the root of a line is, with what is known around it.
    fn of_root<E, F: FnMut(f64, How) -> Result<Probe, E>>(
        &self,
        mut asked: Asked<F>,
        root: Root,
    ) -> Result<Found, E> {
        let value = libm::exp(root.x);
        let low = root.low.map_or(value / (1.0 + WIDE), libm::exp);
        let mut metastable = None;
        if self.around {
            asked.probe(value * ABOVE, GLANCE)?;
            metastable = asked.after_burst(value)?;
            if metastable.is_some() || asked.collapse(value).is_some() {
                // A little below the answer a longer probe has to say so, too.
                asked.how.longer = LONGER;
                if !asked.ask(low)? {
                    return self.anew(asked, value, low);
                }
                asked.how = How::USUAL;
            }
            self.look_below(&mut asked, low, GLANCE)?;
        }
        let nearest = asked.nearest(value);
        let ends = (root.low.map(libm::exp), root.high.map(libm::exp));
        let interval = asked.interval(value, ends, How::USUAL)?;
        let found = asked.found(Some(value), Some(low));
        Ok(Found {
            nearest: nearest.as_ref().map(|n| n.0),
            at: nearest.map(|n| n.1),
            interval: Some(interval),
            metastable,
            ..found
        })
    }

    /// What a longer probe at `refuted_at` refuted is searched anew by such probes.
    fn anew<E, F: FnMut(f64, How) -> Result<Probe, E>>(
        &self,
        mut asked: Asked<F>,
        value: f64,
        refuted_at: f64,
    ) -> Result<Found, E> {
        let refuted = Some(value);
        let start = refuted_at / (1.0 + 4.0 * self.tolerance);
        let again = Bracket { start, step: 1.0 + 4.0 * self.tolerance, ..*self };
        let Some(value) = asked.bracket(&again)?.0 else {
            return Ok(Found { never_good: true, refuted, ..asked.found(None, None) });
        };
        let metastable = asked.after_burst(value)?;
        let interval = Some(asked.interval(value, (None, None), asked.how)?);
        asked.how = How::USUAL;
        self.look_below(&mut asked, value, How::USUAL)?;
        Ok(Found { refuted, metastable, interval, ..asked.found(Some(value), Some(value)) })
    }

    /// Is less load worse? Whatever a short probe says is bad, a usual one has to say, too.
    fn look_below<E, F: FnMut(f64, How) -> Result<Probe, E>>(
        &self,
        asked: &mut Asked<F>,
        value: f64,
        how: How,
    ) -> Result<(), E> {
        for share in BELOW {
            if !asked.probe(value * share, how)?.good && how != How::USUAL {
                asked.ask(value * share)?;
            }
        }
        Ok(())
    }

    /// The answer by halving a bracket.
    fn halved<E, F: FnMut(f64, How) -> Result<Probe, E>>(
        &self,
        mut asked: Asked<F>,
        bracket: &Bracket,
    ) -> Result<Found, E> {
        let value = match asked.bracket(bracket)? {
            (Some(good), Some(_)) => good,
            (Some(good), None) => {
                return Ok(Found { good_up_to: Some(good), ..asked.found(None, None) });
            }
            (None, _) => return Ok(Found { never_good: true, ..asked.found(None, None) }),
        };
        let (mut metastable, how) = (None, asked.how);
        if self.around {
            asked.probe(value * ABOVE, How::USUAL)?;
            metastable = asked.after_burst(value)?;
            let is_next_to_collapse = metastable.is_some() || asked.collapse(value).is_some();
            if is_next_to_collapse && asked.how.longer < LONGER {
                asked.how.longer = LONGER;
                if !asked.ask(value)? {
                    return self.anew(asked, value, value);
                }
            }
        }
        let interval = match self.target {
            Some(_) => Some(asked.interval(value, (None, None), how)?),
            None => None,
        };
        if self.around {
            asked.how = How::USUAL;
            self.look_below(&mut asked, value, How::USUAL)?;
        }
        Ok(Found { metastable, interval, ..asked.found(Some(value), Some(value)) })
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
            return Ok(Found { never_good: true, ..asked.found(None, None) });
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
        ..asked.found(Some(value), None)
    })
}

#[cfg(test)]
mod tests;
