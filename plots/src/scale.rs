//! Scales and their ticks.

use crate::names::plain;

/// From values to a share of an axis's length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// `low` may be above `high`: then the axis runs backwards.
    Linear { low: f64, high: f64 },
    /// Both are above zero.
    Log { low: f64, high: f64 },
    /// Shares with the tail stretched: 0, 0.9, 0.99, ... at equal distances, `nines` of them.
    Tail { nines: f64 },
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: String,
}

impl Scale {
    /// Where a value lies: 0 at the axis's beginning, 1 at its end, never outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match *self {
            Scale::Linear { low, high } => (value - low) / (high - low),
            Scale::Log { low, high } => libm::log10(value.max(low) / low) / libm::log10(high / low),
            Scale::Tail { nines } => -libm::log10((1.0 - value).max(1e-12)) / nines,
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Whether a value has a place on the axis, its lower end left out.
    pub(crate) fn has(&self, value: f64) -> bool {
        let (low, high) = match *self {
            Scale::Linear { low, high } => (low.min(high), low.max(high)),
            Scale::Log { low, high } => (low, high),
            Scale::Tail { .. } => (0.0, f64::INFINITY),
        };
        let slack = if high.is_finite() { 1e-9 * (high - low) } else { 0.0 };
        value > low + slack && value <= high + slack
    }

    /// The least value that has a place of its own.
    pub(crate) fn low(&self) -> f64 {
        match *self {
            Scale::Linear { low, high } => low.min(high),
            Scale::Log { low, .. } => low,
            Scale::Tail { .. } => 0.0,
        }
    }

    /// A linear scale around values, with a little room, and from zero where zero is near.
    pub(crate) fn linear(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = range(values);
        let low = if low > 0.0 && low < 0.5 * high { 0.0 } else { low };
        let room = 0.05 * (high - low);
        let room = if room > 0.0 { room } else { (0.1 * high.abs()).max(0.5) };
        let below = if low == 0.0 && high > 0.0 { 0.0 } else { room };
        Scale::Linear { low: low - below, high: high + room }
    }

    /// A logarithmic scale around the values above zero, with a little room.
    pub(crate) fn log(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = range(values.filter(|v| *v > 0.0));
        let (low, high) = if high > low { (low, high) } else { (low / 2.0, high * 2.0) };
        let room = libm::pow(high / low, 0.04);
        Scale::Log { low: low / room, high: high * room }
    }

    /// Logarithmic when the values are above zero and span more than two decades.
    pub(crate) fn around(values: impl Iterator<Item = f64> + Clone) -> Scale {
        let (low, high) = range(values.clone());
        if low <= 0.0 || high <= low * 100.0 {
            return Scale::linear(values);
        }
        let room = libm::pow(high / low, 0.03);
        Scale::Log { low: low / room, high: high * room }
    }

    /// Ticks for an axis with room for about `count`.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        match *self {
            Scale::Linear { low, high } => linear_ticks(low, high, count),
            Scale::Log { low, high } => log_ticks(low, high, count),
            Scale::Tail { nines } => tail_ticks(nines),
        }
    }

    /// Ticks at whole numbers, of what is counted; fewer than `count` where that needs it, and with fractions where
    /// there are no two.
    pub(crate) fn whole_ticks(&self, count: usize) -> Vec<Tick> {
        let mut tried = (2..=count).rev().map(|count| self.ticks(count));
        let is_whole = |ticks: &Vec<Tick>| {
            ticks.len() > 1 && ticks.iter().all(|t| t.at.fract() == 0.0 && !t.label.contains('.'))
        };
        tried.find(is_whole).unwrap_or_else(|| self.ticks(count))
    }
}

/// Ticks at given values of a logarithmic axis: small and large powers of ten are written as such.
pub(crate) fn log_ticks_at(values: &[f64]) -> Vec<Tick> {
    let label = |at: f64| {
        let exponent = libm::round(libm::log10(at)) as i32;
        let is_power = (at / power_of_ten(exponent) - 1.0).abs() < 1e-9;
        if is_power { log_label(1.0, exponent) } else { plain(at) }
    };
    values.iter().map(|&at| Tick { at, label: label(at) }).collect()
}

/// Ticks at given values.
pub(crate) fn ticks_at(values: &[f64]) -> Vec<Tick> {
    values.iter().map(|&at| Tick { at, label: plain(at) }).collect()
}

/// The smallest and the largest; (0, 1) for none.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values = values.filter(|v| v.is_finite());
    let both = values.fold(None, |r: Option<(f64, f64)>, v| {
        Some(r.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    });
    both.unwrap_or((0.0, 1.0))
}

/// 10 to a whole power.
pub(crate) fn power_of_ten(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let span = high - low;
    let rough = span / count.max(1) as f64;
    let exponent = libm::floor(libm::log10(rough)) as i32;
    let unit = power_of_ten(exponent);
    // (step, digits after the point that it needs beyond its power)
    let steps = [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0), (10.0, 0)];
    let fits = |s: &&(f64, i32)| s.0 * unit >= rough * (1.0 - 1e-9);
    let &(step, more) = steps.iter().find(fits).unwrap_or(&steps[4]);
    let digits = (more - exponent - i32::from(step == 10.0)).max(0) as usize;
    let step = step * unit;
    let first = libm::ceil(low / step - 1e-9) as i64;
    let last = libm::floor(high / step + 1e-9) as i64;
    let tick = |i: i64| {
        let at = i as f64 * step;
        Tick { at, label: with_minus(format!("{at:.digits$}")) }
    };
    (first..=last.min(first + 100)).map(tick).collect()
}

fn with_minus(text: String) -> String {
    if let Some(digits) = text.strip_prefix('-') { format!("−{digits}") } else { text }
}

/// Powers of ten; with 2 and 5 where there are few of them, every second where there are many.
fn log_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let first = libm::floor(libm::log10(low)) as i32;
    let last = libm::ceil(libm::log10(high)) as i32;
    let inside = |at: f64| at >= low * (1.0 - 1e-9) && at <= high * (1.0 + 1e-9);
    let powers = (first..=last).filter(|&e| inside(power_of_ten(e))).count();
    let factors: &[f64] = match powers {
        p if p * 3 <= count => &[1.0, 2.0, 5.0],
        p if p < 2 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let every = powers.div_ceil(count.max(1)).max(1) as i32;
    let mut ticks = Vec::new();
    for exponent in (first..=last).filter(|e| e.rem_euclid(every) == 0) {
        for factor in factors {
            let at = factor * power_of_ten(exponent);
            if inside(at) {
                ticks.push(Tick { at, label: log_label(*factor, exponent) });
            }
        }
    }
    ticks
}

fn log_label(factor: f64, exponent: i32) -> String {
    if (-3..=4).contains(&exponent) {
        return plain(factor * power_of_ten(exponent));
    }
    let raised: String = exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' => '⁰',
            c => char::from_u32(u32::from(c) - u32::from('0') + 0x2070).unwrap_or(c),
        })
        .collect();
    if factor == 1.0 { format!("10{raised}") } else { format!("{}·10{raised}", plain(factor)) }
}

/// 0, 90, 99, 99.9 ... per cent.
fn tail_ticks(nines: f64) -> Vec<Tick> {
    let label = |n: usize| match n {
        0 => "0".to_string(),
        1 => "90".to_string(),
        2 => "99".to_string(),
        n => format!("99.{}", "9".repeat(n - 2)),
    };
    let tick = |n: usize| Tick { at: 1.0 - power_of_ten(-(n as i32)), label: label(n) };
    (0..=(nines + 1e-9) as usize).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        let ticks = |low, high, n| Scale::Linear { low, high }.ticks(n);
        assert_eq!(labels(&ticks(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&ticks(-3.0, 12.0, 4)), ["0", "5", "10"]);
        assert_eq!(labels(&ticks(-1.0, 1.0, 4)), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(
            labels(&ticks(0.0, 0.7, 7)),
            ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]
        );
        assert_eq!(labels(&ticks(0.0, 9000.0, 4)), ["0", "2500", "5000", "7500"]);
    }

    /// A place beyond an end is that of the end, so `share` cannot tell.
    #[test]
    fn a_value_beyond_an_end_is_not_on_the_axis() {
        let linear = Scale::Linear { low: 0.0, high: 40.0 };
        assert_eq!(
            [-1.0, 0.0, 0.1, 40.0, 40.1, 64.0].map(|v| linear.has(v)),
            [false, false, true, true, false, false]
        );
        let log = Scale::Log { low: 1.0, high: 100.0 };
        assert_eq!([1.0, 2.0, 100.0, 101.0].map(|v| log.has(v)), [false, true, true, false]);
    }

    #[test]
    fn what_is_counted_has_no_ticks_at_fractions() {
        let ticks = |high| Scale::Linear { low: 0.0, high }.whole_ticks(6);
        assert_eq!(labels(&ticks(14.8)), ["0", "5", "10"]);
        assert_eq!(labels(&ticks(5.0)), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(labels(&ticks(0.5)), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    }

    #[test]
    fn two_decades_and_more_are_logarithmic() {
        assert!(matches!(Scale::around([1.0, 100.0].into_iter()), Scale::Linear { .. }));
        let log = Scale::around([1.0, 101.0].into_iter());
        assert_eq!(labels(&log.ticks(4)), ["1", "10", "100"]);
        let wide = Scale::Log { low: 1e-7, high: 1e6 };
        assert_eq!(labels(&wide.ticks(5)), ["10⁻⁶", "0.001", "1", "1000", "10⁶"]);
        assert!(matches!(Scale::around([0.0, 1e9].into_iter()), Scale::Linear { .. }));
    }

    #[test]
    fn the_tail_has_a_tick_for_each_nine() {
        let tail = Scale::Tail { nines: 4.0 };
        assert_eq!(labels(&tail.ticks(9)), ["0", "90", "99", "99.9", "99.99"]);
        assert!((tail.share(0.99) - 0.5).abs() < 1e-12);
        assert_eq!((tail.share(0.0), tail.share(1.0)), (0.0, 1.0));
    }

    #[test]
    fn one_value_still_has_a_scale() {
        for scale in [Scale::linear([3.0].into_iter()), Scale::linear([0.0].into_iter())] {
            let share = scale.share(if scale.share(3.0) < 1.0 { 3.0 } else { 0.0 });
            assert!(share > 0.0 && share < 1.0, "{scale:?}");
        }
        assert!(matches!(Scale::linear(std::iter::empty()), Scale::Linear { .. }));
    }
}
