//! A time series in wider bins.
//!
//! What a bin holds is spread evenly over its time where a new boundary cuts it. A mean over time is
//! weighted by time, and a share by what it is a share of, so that one bin over the whole run has the
//! rate of the whole run.

use crate::error::{PlotError, distinct};
use crate::names;
use orrery_results::{SeriesRow, metric};
use std::collections::HashMap;

/// The figure, for messages.
pub(super) const FIGURE: &str = "time-series";
/// Bins of a line, unless a width is asked for: more are a band, where several lines cross.
const BINS_MAX: u64 = 64;
/// Quantities that are counts: they are added up, in the bin in which they begin.
const COUNTS: [&str; 2] = [metric::ASKED_DEVICES, metric::RELEASED_DEVICES];
/// Shares with the quantities that they are shares of, the best first.
const SHARES: [(&str, &[&str]); 2] = [
    (metric::BAD_RATE, &[metric::ENDED, metric::OFFERED]),
    (metric::UTILISATION, &[metric::DEVICES_UP]),
];

/// Where a row belongs: its line, without the quantity.
type Run<'a> = (&'a str, &'a str);
/// Weights per nanosecond, by line, quantity and bin.
type Weights<'a> = HashMap<(Run<'a>, &'a str, u64, u64), f64>;

/// The rows in bins of `width_ns`, from the beginning of time; the last bin of a line may be shorter.
///
/// A rate or a level is the mean over time, a share is weighted by what it is a share of (`bad_rate` by
/// the requests that ended, or in a table without them by those offered; `utilisation` by the devices
/// that were up), and counts are added up. Merging neighbours of a width gives the bins of twice that
/// width.
///
/// ```
/// use orrery_plots::binned;
/// use orrery_results::SeriesRow;
///
/// let bin = |from_ns, value| SeriesRow {
///     from_ns,
///     to_ns: from_ns + 1_000_000_000,
///     quantity: "in_system".into(),
///     value,
///     ..SeriesRow::default()
/// };
/// let wide = binned(&[bin(0, 2.0), bin(1_000_000_000, 4.0)], 2_000_000_000)?;
/// assert_eq!((wide.len(), wide[0].value), (1, 3.0));
/// # Ok::<(), orrery_plots::PlotError>(())
/// ```
///
/// # Errors
/// When a bin of the table is wider than `width_ns`, or two of a line overlap.
pub fn binned(rows: &[SeriesRow], width_ns: u64) -> Result<Vec<SeriesRow>, PlotError> {
    wider(&rows.iter().collect::<Vec<_>>(), width_ns)
}

pub(super) fn wider(rows: &[&SeriesRow], width_ns: u64) -> Result<Vec<SeriesRow>, PlotError> {
    let widest = widest(rows);
    if width_ns < widest {
        let seconds = |ns: u64| format!("{} s", names::plain(ns as f64 / 1e9));
        let needed = format!("a bin of at most {}", seconds(width_ns));
        let remedy = format!("give a width of at least {} (`--bin`)", seconds(widest));
        let found = seconds(widest);
        return Err(PlotError::missing(FIGURE, needed, &[&format!("bins of {found}")], remedy));
    }
    let mut weights: Weights<'_> = HashMap::new();
    let weighs = |q: &str| SHARES.iter().any(|s| s.1.contains(&q));
    for r in rows.iter().filter(|r| weighs(&r.quantity)) {
        let line = (r.experiment.as_str(), r.policy.as_str());
        weights.insert((line, &r.quantity, r.from_ns, r.to_ns), r.value);
    }
    let key = |r: &SeriesRow| (r.experiment.clone(), r.policy.clone(), r.quantity.clone());
    let mut out = Vec::new();
    for line in distinct(rows.iter().map(|r| key(r))) {
        let mut own: Vec<&SeriesRow> = rows.iter().filter(|r| key(r) == line).copied().collect();
        in_order(&mut own, &line.1)?;
        let mut bins: Vec<Bin> = Vec::new();
        for row in own {
            let weight = weight(row, &weights);
            for part in row.from_ns / width_ns..=row.to_ns.saturating_sub(1) / width_ns {
                let from = row.from_ns.max(part * width_ns);
                let to = row.to_ns.min((part + 1).saturating_mul(width_ns));
                if bins.last().is_none_or(|b| b.part != part) {
                    bins.push(Bin { part, from, ..Bin::default() });
                }
                if let Some(bin) = bins.last_mut() {
                    bin.add(row.value, (from, to), weight, from == row.from_ns);
                }
            }
        }
        let (experiment, policy, quantity) = line;
        let is_count = COUNTS.contains(&quantity.as_str());
        out.extend(bins.into_iter().map(|b| SeriesRow {
            experiment: experiment.clone(),
            policy: policy.clone(),
            from_ns: b.from,
            to_ns: b.to,
            quantity: quantity.clone(),
            value: b.value(is_count),
        }));
    }
    Ok(out)
}

/// The width in which lines are drawn when none is asked for: that of the table where its lines have few
/// bins, else the smallest of 1, 2 or 5 times a power of ten seconds that leaves few.
pub(super) fn few(rows: &[&SeriesRow]) -> Option<u64> {
    let from = rows.iter().map(|r| r.from_ns).min()?;
    let to = rows.iter().map(|r| r.to_ns).max()?;
    let widest = widest(rows).max(1);
    if (to - from).div_ceil(widest) <= BINS_MAX {
        return None;
    }
    let least = (to - from).div_ceil(BINS_MAX).max(widest);
    let tens = (0..=18).map(|p| 10u64.pow(p));
    tens.flat_map(|ten| [1, 2, 5].map(|n| n * ten)).find(|width| *width >= least)
}

fn widest(rows: &[&SeriesRow]) -> u64 {
    rows.iter().map(|r| r.to_ns - r.from_ns).max().unwrap_or(0)
}

/// What a share is of, per nanosecond; 1 for a mean over time.
fn weight(row: &SeriesRow, weights: &Weights<'_>) -> f64 {
    let Some((_, of)) = SHARES.iter().find(|s| s.0 == row.quantity) else { return 1.0 };
    let line = (row.experiment.as_str(), row.policy.as_str());
    let find = |quantity: &&str| weights.get(&(line, *quantity, row.from_ns, row.to_ns)).copied();
    of.iter().find_map(find).unwrap_or(1.0)
}

/// A bin that is being filled.
#[derive(Default)]
struct Bin {
    /// Its number.
    part: u64,
    from: u64,
    to: u64,
    /// Values times weights, and weights.
    weighted: f64,
    weight: f64,
    /// Values times time, and time: for shares of nothing.
    timed: f64,
    time: f64,
    /// Values that begin here.
    sum: f64,
}

impl Bin {
    fn add(&mut self, value: f64, (from, to): (u64, u64), weight: f64, begins: bool) {
        let time = (to - from) as f64;
        self.to = to;
        self.weighted += value * weight * time;
        self.weight += weight * time;
        self.timed += value * time;
        self.time += time;
        self.sum += if begins { value } else { 0.0 };
    }

    fn value(&self, is_count: bool) -> f64 {
        match (is_count, self.weight > 0.0) {
            (true, _) => self.sum,
            (_, true) => self.weighted / self.weight,
            _ => self.timed / self.time,
        }
    }
}

/// Sorts a line's bins by time.
///
/// # Errors
/// When two of them overlap.
pub(super) fn in_order(bins: &mut [&SeriesRow], name: &str) -> Result<(), PlotError> {
    bins.sort_by_key(|r| (r.from_ns, r.to_ns));
    let Some(pair) = bins.windows(2).find(|w| w[1].from_ns < w[0].to_ns) else { return Ok(()) };
    let SeriesRow { quantity, from_ns, .. } = pair[1];
    let point = format!("{name}, {quantity}, from {from_ns} ns");
    Err(PlotError::Twice { figure: FIGURE, point })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A run: a bin for each, of this length, with its offered, ended and bad requests, and devices up
    /// and busy.
    #[derive(Clone, Debug)]
    struct Run {
        length_ns: u64,
        last_ns: u64,
        bins: Vec<[u32; 5]>,
    }

    fn runs() -> impl Strategy<Value = Run> {
        let bin = (0..9u32, 0..9u32, 0..9u32, 1..4u32, 0..4u32);
        let bin = bin.prop_map(|(o, e, b, u, d)| [o, e, b.min(e), u, d.min(u)]);
        (1..50u64, 1..50u64, prop::collection::vec(bin, 1..40)).prop_map(|(length, last, bins)| {
            Run { length_ns: length, last_ns: last.min(length), bins }
        })
    }

    impl Run {
        fn ends(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
            let n = self.bins.len();
            (0..n).map(move |i| {
                let from = i as u64 * self.length_ns;
                (from, from + if i + 1 == n { self.last_ns } else { self.length_ns })
            })
        }

        fn rows(&self) -> Vec<SeriesRow> {
            let mut out = Vec::new();
            for ((from_ns, to_ns), [offered, ended, bad, up, busy]) in self.ends().zip(&self.bins) {
                let (time, of) = ((to_ns - from_ns) as f64, |n: &u32| f64::from(*n));
                let bad_rate = if *ended == 0 { 0.0 } else { of(bad) / of(ended) };
                let values = [
                    ("offered_per_s", of(offered) / time),
                    ("ended_per_s", of(ended) / time),
                    ("bad_rate", bad_rate),
                    ("devices_up", of(up)),
                    ("devices_busy", of(busy)),
                    ("utilisation", of(busy) / of(up)),
                    ("asked_devices", of(offered)),
                ];
                out.extend(values.map(|(quantity, value)| SeriesRow {
                    from_ns,
                    to_ns,
                    quantity: quantity.into(),
                    value,
                    ..SeriesRow::default()
                }));
            }
            out
        }

        fn sum(&self, of: impl Fn(&[u32; 5], f64) -> f64) -> f64 {
            self.ends().zip(&self.bins).map(|((from, to), bin)| of(bin, (to - from) as f64)).sum()
        }
    }

    fn value(rows: &[SeriesRow], quantity: &str) -> f64 {
        let own: Vec<&SeriesRow> = rows.iter().filter(|r| r.quantity == quantity).collect();
        assert_eq!(own.len(), 1, "{quantity}");
        own[0].value
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn one_bin_over_everything_has_the_rates_of_the_whole_run(run in runs()) {
            let whole = binned(&run.rows(), 100_000).expect("wider bins");
            let time = run.sum(|_, time| time);
            let count = |i: usize| run.sum(|bin, _| f64::from(bin[i]));
            let devices = |i: usize| run.sum(|bin, time| f64::from(bin[i]) * time);
            let share = |a: f64, b: f64| if b == 0.0 { 0.0 } else { a / b };
            prop_assert!(near(value(&whole, "offered_per_s"), count(0) / time));
            prop_assert!(near(value(&whole, "bad_rate"), share(count(2), count(1))));
            prop_assert!(near(value(&whole, "devices_up"), devices(3) / time));
            prop_assert!(near(value(&whole, "utilisation"), devices(4) / devices(3)));
            prop_assert!(near(value(&whole, "asked_devices"), count(0)));
        }

        #[test]
        fn neighbours_of_a_width_merge_into_bins_of_twice_that_width(
            run in runs(),
            more in 0..60u64,
        ) {
            let width = run.length_ns + more;
            let narrow = binned(&run.rows(), width).expect("wider bins");
            let merged = binned(&narrow, 2 * width).expect("wider bins");
            let direct = binned(&run.rows(), 2 * width).expect("wider bins");
            prop_assert_eq!(merged.len(), direct.len());
            for (a, b) in merged.iter().zip(&direct) {
                let place = |r: &SeriesRow| (r.quantity.clone(), r.from_ns, r.to_ns);
                prop_assert_eq!(place(a), place(b));
                prop_assert!(near(a.value, b.value), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn without_the_requests_that_ended_a_bad_rate_is_weighted_by_those_offered() {
        let run = Run { length_ns: 10, last_ns: 10, bins: vec![[1, 1, 1, 1, 0], [9, 9, 0, 1, 0]] };
        let mut rows = run.rows();
        rows.retain(|r| r.quantity != "ended_per_s");
        assert!(near(value(&binned(&rows, 20).expect("a bin"), "bad_rate"), 0.1));
        rows.retain(|r| r.quantity != "offered_per_s");
        assert!(near(value(&binned(&rows, 20).expect("a bin"), "bad_rate"), 0.5));
    }

    #[test]
    fn bins_wider_than_asked_for_are_an_error_with_the_width_that_works() {
        let run = Run { length_ns: 2_000_000_000, last_ns: 1, bins: vec![[1, 1, 0, 1, 0]; 3] };
        let error = binned(&run.rows(), 1_000_000_000).expect_err("too narrow").to_string();
        for words in ["at most 1 s", "bins of 2 s", "at least 2 s", "`--bin`"] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[test]
    fn few_bins_stay_and_many_get_a_round_width() {
        let rows = |n: u64| -> Vec<SeriesRow> {
            let bin = |i: u64| SeriesRow {
                from_ns: i * 300_000_000,
                to_ns: (i + 1) * 300_000_000,
                ..SeriesRow::default()
            };
            (0..n).map(bin).collect()
        };
        assert_eq!(few(&rows(64).iter().collect::<Vec<_>>()), None);
        assert_eq!(few(&rows(65).iter().collect::<Vec<_>>()), Some(500_000_000));
        assert_eq!(few(&rows(256).iter().collect::<Vec<_>>()), Some(2_000_000_000));
    }
}
