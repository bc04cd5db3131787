//! Noise: how far two values may be apart by the luck of their seeds, and how many seeds would tell them apart.

use super::row::BaselineRow;
use orrery_sim::stats::student_t_975;

/// More seeds than this are not asked for.
const SEEDS_MAX: u64 = 100_000;

/// The half width, on the side of the other value, of the 95 % interval within which a move is noise; none where the
/// new value has no interval.
///
/// With the same seeds both values had the same luck, and are less far apart by chance than one is from the truth: the
/// interval is the new value's. With others it is that of the difference of two independent values.
pub fn half_width(old: &BaselineRow, new: &BaselineRow, same_seeds: bool) -> Option<f64> {
    let (a, b) = old.value.zip(new.value)?;
    let (low, high) = new.interval()?;
    let of_new = (if a < b { b - low } else { high - b }).max(0.0);
    // What programs before this one recorded has none.
    let of_old = old.interval().filter(|_| !same_seeds);
    let of_old = of_old.map_or(0.0, |(low, high)| if b < a { a - low } else { high - a }).max(0.0);
    Some((of_new * of_new + of_old * of_old).sqrt())
}

/// About how many seeds make an interval narrower than a distance, where it is now so wide with so many; none where
/// that is more than anybody would run.
pub fn seeds_to_decide(seeds: u64, half_width: f64, distance: f64) -> Option<u64> {
    // The interval of one run is from many batches of it.
    const ONE_RUN: u64 = 1_000;
    let t = student_t_975(if seeds > 1 { seeds - 1 } else { ONE_RUN });
    let of_one = half_width / t * (seeds.max(1) as f64).sqrt();
    let is_enough = |n: u64| student_t_975(n - 1) * of_one / (n as f64).sqrt() < distance;
    if distance.is_nan() || !of_one.is_finite() || !is_enough(SEEDS_MAX) {
        return None;
    }
    let (mut too_few, mut enough) = (1, SEEDS_MAX);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    Some(rounded_up(enough))
}

/// A number with two digits that matter, no smaller.
fn rounded_up(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, half: f64) -> BaselineRow {
        let (ci95_low, ci95_high) = (Some(value - half), Some(value + half));
        BaselineRow { value: Some(value), ci95_low, ci95_high, ..BaselineRow::default() }
    }

    #[test]
    fn the_interval_of_a_difference_is_of_both_values() {
        let half_width = |old: &BaselineRow, new: &BaselineRow| half_width(old, new, false);
        assert_eq!(half_width(&row(1.0, 3.0), &row(2.0, 4.0)), Some(5.0));
        assert_eq!(super::half_width(&row(1.0, 3.0), &row(2.0, 4.0), true), Some(4.0));
        let without = BaselineRow { ci95_low: None, ..row(1.0, 3.0) };
        assert_eq!(half_width(&without, &row(2.0, 4.0)), Some(4.0));
        assert_eq!(half_width(&row(1.0, 3.0), &without), None);
        // Of an interval that is not in the middle, the side that looks at the other value.
        let skewed = BaselineRow { ci95_high: Some(10.0), ..row(2.0, 1.0) };
        assert_eq!(half_width(&without, &skewed), Some(1.0));
        assert_eq!(half_width(&BaselineRow { value: Some(9.0), ..without }, &skewed), Some(8.0));
    }

    /// The number is the least of two digits: with fewer seeds the interval is too wide.
    #[test]
    fn as_many_seeds_as_it_takes_and_not_more() {
        for (seeds, half, distance) in [(2, 1.0, 0.1), (5, 0.3, 0.1), (20, 0.02, 0.01)] {
            let n = seeds_to_decide(seeds, half, distance).expect("a number");
            let error = half / student_t_975(seeds - 1) * (seeds as f64).sqrt();
            let of = |n: u64| student_t_975(n - 1) * error / (n as f64).sqrt();
            let unit = 10_u64.pow(n.ilog10().saturating_sub(1));
            assert!(of(n) < distance && of(n - unit) >= distance, "{n}");
        }
        // One run whose interval is ten times too wide: a hundred runs, about.
        let n = seeds_to_decide(1, 1.0, 0.1).expect("a number");
        assert!((95..=110).contains(&n), "{n}");
        assert_eq!(seeds_to_decide(2, 1.0, 0.0), None);
        assert_eq!(seeds_to_decide(2, 1.0, 1e-9), None);
    }
}
