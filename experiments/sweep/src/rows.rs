//! From the runs of a cell to its rows.
//!
//! Flags that a cell has before it is run go to the rows that it is judged by.

use super::replication::{DEVICES, Measure, PEAK, Replication};
use super::seeds::Seeds;
use orrery_results::{Flags, Row, difference_of, distinct, metric, seed_list, unit};
use orrery_run::search::{are_undecided, interval};
use orrery_sim::stats::{self, Interval};

/// The rows of a cell. `place` carries what they have in common: experiment, case, axes, system,
/// preset, policy, warm-up, provenance.
pub fn rows(place: &Row, seeds: &Seeds, runs: &[Replication]) -> Vec<Row> {
    let Some(first) = runs.first() else { return Vec::new() };
    let list: Vec<u64> = runs.iter().map(|r| r.seed).collect();
    let (list, wide) = (seed_list(&list), !seeds.narrow_enough(runs));
    let same = |a: &Measure, b: &Measure| a.metric == b.metric && a.scope == b.scope;
    let row = |(i, m): (usize, &Measure)| {
        // Runs of a cell mostly have the same values in the same order.
        let found = runs.iter().map(|r| match r.measures.get(i) {
            Some(own) if same(own, m) => Some(own),
            _ => r.measure(&m.scope, &m.metric),
        });
        let found: Vec<Option<&Measure>> = found.collect();
        let all: Vec<&Measure> = found.iter().copied().flatten().collect();
        let mut row = Row {
            scope: m.scope.clone(),
            metric: m.metric.clone(),
            unit: unit(&m.metric).to_string(),
            samples: all.iter().map(|m| m.samples).sum(),
            seeds: list.clone(),
            flags: if is_main(m) { place.flags.clone() } else { String::new() },
            ..place.clone()
        };
        match unanswered(runs, &found) {
            Some(reason) => row.without_answer(reason),
            None if is_clear(&m.metric) => row.value = clear(&m.metric, &all),
            None => {
                let values: Vec<f64> = all.iter().filter_map(|m| m.value).collect();
                row.value = stats::mean(&values);
                interval_of(&mut row, &all, &values);
            }
        }
        flags_of(&mut row, &all, runs, wide);
        row
    };
    // A scope or a quantile that only some seeds have still gets its row.
    let mut named: Vec<&Measure> = first.measures.iter().collect();
    for (i, m) in runs[1..].iter().flat_map(|r| r.measures.iter().enumerate()) {
        let is_there = named.get(i).is_some_and(|n| same(n, m));
        if !is_there && !named.iter().any(|n| same(n, m)) {
            named.push(m);
        }
    }
    let mut rows: Vec<Row> = named.into_iter().enumerate().map(row).collect();
    let is_of_all = |r: &Row| runs.iter().all(|run| run.value(&r.scope, &r.metric).is_some());
    rows.retain(|r| r.value.is_none() || !is_clear(&r.metric) || is_of_all(r));
    if rows.iter().any(|r| r.metric == PEAK && !r.has_flag(UNDECIDED)) {
        rows.retain(|r| r.metric != metric::REQUESTS_TO_DECIDE);
    }
    rows
}

/// The loads and devices that are clearly good or bad.
fn is_clear(metric: &str) -> bool {
    LEAST.contains(&metric) || MOST.contains(&metric)
}

/// Of several seeds the least is clearly good (or clearly too few), and the most clearly bad (or clearly enough).
const LEAST: [&str; 2] = [metric::CLEARLY_GOOD, metric::CLEARLY_TOO_FEW];
const MOST: [&str; 2] = [metric::CLEARLY_BAD, metric::CLEARLY_ENOUGH];

/// What is clear with every seed.
fn clear(metric: &str, all: &[&Measure]) -> Option<f64> {
    let ends = if LEAST.contains(&metric) { f64::min } else { f64::max };
    all.iter().filter_map(|m| m.value).reduce(ends)
}

/// The note of a search that is undecided.
const UNDECIDED: &str = "undecided";

/// Whether the answers of several searches for a rate are decided together.
fn is_decided(row: &Row, runs: &[Replication]) -> bool {
    let interval = row.value.zip(row.ci95());
    let interval = interval.map(|(mean, (low, high))| Interval { mean, low, high });
    let tolerance = runs.iter().filter_map(|r| r.tolerance).reduce(f64::max);
    runs.len() > 1 && tolerance.is_some_and(|tolerance| !are_undecided(interval, tolerance))
}

/// Whether a cell is judged by this.
fn is_main(m: &Measure) -> bool {
    m.scope == "all" && [metric::FINISH_RATE, PEAK, DEVICES].contains(&m.metric.as_str())
}

/// Why a mean over the runs is not given: some have no answer. A mean of the others would be of the
/// easier seeds alone.
fn unanswered(runs: &[Replication], found: &[Option<&Measure>]) -> Option<String> {
    let none = |(r, m): (&Replication, &Option<&Measure>)| match m {
        Some(Measure { value: Some(_), .. }) => None,
        Some(measure) => Some(measure.reason.clone()),
        // What is measured at the answer only.
        None => r.no_answer().map(str::to_string),
    };
    let reasons: Vec<String> = runs.iter().zip(found).filter_map(none).collect();
    counted(&reasons, runs.len())
}

/// The reason for all, with their number where there are several seeds.
fn counted(reasons: &[String], seeds: usize) -> Option<String> {
    let first = reasons.first()?;
    Some(match seeds {
        1 => first.clone(),
        _ => format!("{} of {seeds} seeds have no answer: {first}", reasons.len()),
    })
}

fn interval_of(row: &mut Row, all: &[&Measure], values: &[f64]) {
    let (interval, method) = match all {
        _ if metric::find(&row.metric).is_some_and(|m| m.is_count) => (None, ""),
        [one] => (one.within, "batch-means"),
        // Seeds that agree do not show how far a search may be off.
        _ if row.metric == PEAK => {
            let within: Vec<Option<(f64, f64)>> = all.iter().map(|m| m.within).collect();
            (interval(values, &within).map(|i| (i.low, i.high)), "replications")
        }
        _ => (stats::replications(values).map(|i| (i.low, i.high)), "replications"),
    };
    if let Some((low, high)) = interval {
        row.set_interval(low, high, method);
    }
}

fn flags_of(row: &mut Row, all: &[&Measure], runs: &[Replication], wide: bool) {
    if let Some(q) = metric::find(&row.metric).and_then(|m| m.quantile) {
        let fewest = all.iter().map(|m| m.samples).min().unwrap_or(0);
        if !stats::enough_for_quantile(q, fewest) {
            row.flag(Flags::FEW_SAMPLES);
        }
    }
    if all.len() == 1 && all[0].correlated && row.ci95_low.is_some() {
        row.flag(Flags::CORRELATED);
    }
    if runs.iter().any(|r| r.diverging) {
        row.flag(Flags::DIVERGING);
    }
    if row.metric == PEAK || row.metric == DEVICES {
        let is_decided = is_decided(row, runs);
        let is_of_answer =
            |note: &&String| sizes_of(note).is_none() && !(is_decided && *note == UNDECIDED);
        runs.iter().flat_map(|r| &r.notes).filter(is_of_answer).for_each(|note| row.flag(note));
    }
    let own = runs.iter().flat_map(|r| &r.notes).filter_map(|note| sizes_of(note));
    let own =
        own.filter(|(metric, ..)| *metric == row.metric).map(|(_, least, most)| (least, most));
    let ends = own.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    ends.into_iter().for_each(|(least, most)| row.flag(&format!("sizes:{least}-{most}")));
    if runs.iter().any(|r| r.stuck) {
        row.flag(Flags::STUCK);
    }
    let is_average = [metric::GOODPUT, metric::UTILISATION].contains(&&*row.metric);
    if is_average && runs.iter().any(|r| r.late_start) {
        row.flag(Flags::LATE_START);
    }
    if is_average && runs.iter().any(|r| r.drain) {
        row.flag(Flags::DRAIN);
    }
    if runs.iter().any(|r| r.pending > 0) {
        row.flag(Flags::PENDING);
    }
    if wide && row.metric == metric::FINISH_RATE && row.scope == "all" {
        row.flag(Flags::WIDE);
    }
}

/// The metric of batches whose size was not measured, and their sizes, in a note such as
/// `interpolated_batches:2-7`.
fn sizes_of(note: &str) -> Option<(&str, u32, u32)> {
    let (metric, sizes) = note.split_once(':').filter(|n| metric::UNMEASURED.contains(&n.0))?;
    let (least, most) = sizes.split_once('-')?;
    Some((metric, least.parse().ok()?, most.parse().ok()?))
}

/// The difference of two policies on the same arrivals, `runs` less `base`: of their finish rates, or
/// of what they were searched for. Finish rates at two policies' own peaks are not compared. It has a
/// metric of its own, such as `finish_rate_difference`.
pub fn difference(
    place: &Row,
    versus: &str,
    runs: &[Replication],
    base: &[Replication],
) -> Option<Row> {
    let has = |m: &&str| runs.iter().any(|r| r.measure("all", m).is_some());
    let searched = [PEAK, DEVICES].into_iter().find(has);
    // Requests without an SLO have no finish rate.
    let of_all = |m: &str| runs.iter().all(|r| r.measure("all", m).is_some());
    if searched.is_none() && of_all(metric::REQUESTS) && !of_all(metric::FINISH_RATE) {
        return None;
    }
    difference_in(searched.unwrap_or(metric::FINISH_RATE), place, versus, runs, base)
}

/// The same of any metric of the whole run.
pub fn difference_in(
    metric: &str,
    place: &Row,
    versus: &str,
    runs: &[Replication],
    base: &[Replication],
) -> Option<Row> {
    let pairs = runs.len().min(base.len());
    if pairs == 0 {
        return None;
    }
    let (runs, base) = (&runs[..pairs], &base[..pairs]);
    let seeds: Vec<u64> = runs.iter().map(|r| r.seed).collect();
    let mut row = Row {
        scope: "all".into(),
        metric: difference_of(metric),
        unit: unit(metric).into(),
        versus: versus.to_string(),
        samples: runs.iter().map(|r| r.offered.iter().sum::<u64>()).sum(),
        seeds: seed_list(&seeds),
        flags: String::new(),
        ..place.clone()
    };
    let none = |(a, b): (&Replication, &Replication)| {
        a.why_missing(metric).or_else(|| b.why_missing(metric)).map(str::to_string)
    };
    let reasons: Vec<String> = runs.iter().zip(base).filter_map(none).collect();
    if let Some(reason) = counted(&reasons, pairs) {
        row.without_answer(reason);
        return Some(row);
    }
    let values = |runs: &[Replication]| {
        runs.iter().map(|r| r.value("all", metric)).collect::<Option<Vec<f64>>>()
    };
    let (a, b) = (values(runs)?, values(base)?);
    row.value = Some(stats::mean(&a)? - stats::mean(&b)?);
    let (interval, method) = match (runs, base) {
        ([a], [b]) if metric == metric::FINISH_RATE => (within_one_run(a, b), "paired-batch-means"),
        _ => (stats::paired(&a, &b), "paired-replications"),
    };
    if let Some(Interval { low, high, .. }) = interval {
        row.set_interval(low, high, method);
    }
    Some(row)
}

/// Batch by batch, where both policies met the same arrivals.
fn within_one_run(a: &Replication, b: &Replication) -> Option<Interval> {
    if a.offered != b.offered {
        return None;
    }
    let floats = |v: &[u64]| v.iter().map(|x| *x as f64).collect::<Vec<f64>>();
    let of = floats(&a.offered);
    let (a, b) = (floats(&a.in_time), floats(&b.in_time));
    stats::paired_ratios_of_batches((&a, &of), (&b, &of)).map(|p| p.interval)
}

/// The seeds of rows, for reading: where they differ, the fewest and the most.
pub fn seeds_of(rows: &[Row]) -> String {
    let own = rows.iter().filter(|r| r.scope == "all" && !r.seeds.is_empty());
    let mut all = distinct(own.map(Row::seeds_in_words));
    match all.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        // Of ranges that begin alike the shorter word, or the smaller, is the shorter range.
        _ => {
            all.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
            format!("{} to {}, by cell", all[0], all[all.len() - 1])
        }
    }
}
/// `seed 1`, or `seeds 1-3`.
pub fn which_seeds(rows: &[Row]) -> String {
    let seeds = seeds_of(rows);
    let several = seeds.contains(['-', ' ']);
    format!("{} {seeds}", if several { "seeds" } else { "seed" })
}

#[cfg(test)]
mod tests;
