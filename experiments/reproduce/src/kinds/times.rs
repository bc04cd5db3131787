//! A run over time (Symphony, Fig. 15): rows for parts of the time besides those of the whole, with the
//! devices that were up and busy, and the advice of section 3.5.
//!
//! A part is kept as a replication of its own after that of the whole.

use crate::runner::{Cell, within};
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_sim::metrics::TimeBin;
use orrery_sim::time::{Span, Time};
use orrery_sweep::advice;
use orrery_sweep::hash;
use orrery_sweep::replication::Replication;
use orrery_sweep::scenario_cell::ScenarioCell;
use orrery_sweep::seeds::Seeds;
use std::fmt::Write;

/// Below this share of busy devices a cluster is not overloaded.
const NOT_FULL: f64 = 0.9;
/// A bad rate is low up to this.
const LOW: f64 = 0.01;
/// When a part begins, among the measures that are kept of it.
pub(super) use orrery_results::metric::FROM;

/// The hash of a cell whose parts of the time are rows too.
pub fn spec_sha256(cell: &str, parts: usize) -> String {
    hash::spec_sha256(&["parts of time", cell, &parts.to_string()])
}

/// One run: the whole, then each part.
///
/// # Errors
/// When the run cannot be made.
pub fn run(cell: &ScenarioCell, parts: usize) -> Result<Vec<Replication>, SpecError> {
    let seed = cell.seeds.first;
    let metrics = cell.scenario.setup(seed)?.run(&cell.policy, seed)?;
    let bins: Vec<TimeBin> = metrics.series().bins().collect();
    let mut one = Replication::of(seed, &metrics, &cell.scenario.scope_names());
    // Every start makes a device of its own; what each of them did is no result.
    one.measures.retain(|m| !m.scope.starts_with("device "));
    let whole = sum(&bins);
    one.push("all", metric::BAD_RATE, whole.bad_rate(), whole.offered);
    one.push("all", metric::DEVICES_UP, whole.devices_up(), whole.offered);
    one.push("all", metric::DEVICES_BUSY, whole.devices_busy(), whole.offered);
    let room = Room::of(&bins);
    one.push("all", metric::NOT_OVERLOADED, room.share(), whole.offered);
    if let Some(low) = room.low_share() {
        one.push("all", metric::LOW_BAD_RATE, low, whole.offered);
    }
    let each = bins.len().div_ceil(parts.max(1)).max(1);
    let part = |bins: &[TimeBin]| {
        let bin = sum(bins);
        let mut part = Replication { seed, ..Replication::default() };
        part.push("all", FROM, seconds(bin.from.since(Time::ZERO)), 0);
        of_part(&bin).into_iter().for_each(|(name, x)| part.push("all", name, x, bin.offered));
        part
    };
    Ok(std::iter::once(one).chain(bins.chunks(each).map(part)).collect())
}

/// The whole and its parts, each a cell.
pub fn cells(place: &Row, seeds: Seeds, runs: Vec<Replication>) -> Vec<Cell> {
    let cell = |mut run: Replication| {
        let at = run.measures.iter().position(|m| m.metric == FROM);
        let from = at.map(|at| run.measures.remove(at));
        let mut axes = place.axes.clone();
        if let Some(from) = from {
            let s = from.value.unwrap_or(0.0);
            let _ = match from.scope.as_str() {
                "all" => write!(axes, ";{FROM}={s:.0}"),
                _ => write!(axes, ";{FROM}={s}"),
            };
            if let Some(group) = from.scope.strip_prefix("group ") {
                let _ = write!(axes, ";group={group}");
            }
            axes = axes.trim_start_matches(';').to_string();
        }
        let seeds = Some(Seeds { count: 1, until_ci: None, ..seeds });
        Cell { place: Row { axes, ..place.clone() }, seeds, runs: vec![run], more: Vec::new() }
    };
    runs.into_iter().map(cell).collect()
}

/// Beginnings of parts of the time in a figure of no data.
const DRAWN: [&str; 3] = ["0", "20", "40"];

/// Where a figure shows a cell of which the parts are not known yet: the whole, parts, and their groups.
pub(super) fn drawn(whole: &Row, groups: &[String]) -> Vec<Row> {
    let parts = DRAWN.map(|from| within(whole, &format!("{FROM}={from}")));
    let of = |part: &Row| groups.iter().map(|g| within(part, &format!("group={g}"))).collect();
    let of_groups: Vec<Vec<Row>> = parts.iter().map(of).collect();
    std::iter::once(whole.clone()).chain(parts).chain(of_groups.concat()).collect()
}

/// Whether the length of a part of the time makes sense.
///
/// # Errors
/// When it does not.
pub(super) fn check(bin_s: Option<f64>) -> Result<(), SpecError> {
    let wrong = bin_s.filter(|s| !(1e-3..=1e6).contains(s));
    let remedy = "choose the length of a part of the run";
    wrong.map_or(Ok(()), |s| Err(SpecError::value("bin_s", s, "0.001 to 1000000 s", remedy)))
}

/// How long a cluster was not overloaded, and how long of that its bad rate was low: what the paper's
/// sentence is about. Of a bin without requests nothing is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Room {
    whole_s: f64,
    not_overloaded_s: f64,
    low_s: f64,
}

impl Room {
    fn of(bins: &[TimeBin]) -> Room {
        let mut room = Room::default();
        for bin in bins {
            let s = seconds(bin.span());
            room.whole_s += s;
            if bin.utilisation() < NOT_FULL {
                room.not_overloaded_s += s;
                room.low_s += if bin.bad_rate() <= LOW { s } else { 0.0 };
            }
        }
        room
    }

    /// The share of the time in which the cluster was not overloaded.
    fn share(&self) -> f64 {
        self.not_overloaded_s / self.whole_s
    }

    /// The share of that time in which the bad rate was low; none where there is no such time.
    fn low_share(&self) -> Option<f64> {
        (self.not_overloaded_s > 0.0).then(|| self.low_s / self.not_overloaded_s)
    }
}

/// What a part of the time says.
fn of_part(bin: &TimeBin) -> Vec<(&'static str, f64)> {
    let mut out = vec![
        (metric::OFFERED, bin.per_s(bin.offered)),
        (metric::GOODPUT, bin.per_s(bin.in_time)),
        (metric::BAD_RATE, bin.bad_rate()),
        (metric::UTILISATION, bin.utilisation()),
        (metric::DEVICES_UP, bin.devices_up()),
        (metric::DEVICES_BUSY, bin.devices_busy()),
    ];
    out.extend(advice::of_bin(bin).map(|n| (metric::ADVICE_DEVICES, n)));
    out.push((metric::ASKED_DEVICES, bin.asked as f64));
    out.push((metric::RELEASED_DEVICES, bin.released as f64));
    out
}

/// Neighbouring bins as one.
fn sum(bins: &[TimeBin]) -> TimeBin {
    let Some((first, others)) = bins.split_first() else { return TimeBin::default() };
    others.iter().fold(*first, |a, b| TimeBin {
        from: a.from,
        to: b.to,
        offered: a.offered + b.offered,
        in_time: a.in_time + b.in_time,
        late: a.late + b.late,
        dropped: a.dropped + b.dropped,
        batches: a.batches + b.batches,
        batched: a.batched + b.batched,
        busy: a.busy + b.busy,
        up: a.up + b.up,
        in_system_ns: a.in_system_ns + b.in_system_ns,
        asked: a.asked + b.asked,
        released: a.released + b.released,
        loads: a.loads + b.loads,
        cold: a.cold + b.cold,
        loading: a.loading + b.loading,
    })
}

pub(super) fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 s in all, of which 2 s with all devices busy and a bad rate of a half, which the sentence is
    /// not about; of the other 8 s, 2 s are bad as well.
    #[test]
    fn the_sentence_is_judged_by_the_time_that_is_not_overloaded() {
        let bin = |i: u64, busy: u64, late: u64| TimeBin {
            from: Time::ZERO + Span::from_secs(2 * i),
            to: Time::ZERO + Span::from_secs(2 * i + 2),
            offered: 100,
            in_time: 100 - late,
            late,
            busy: Span::from_secs(busy),
            up: Span::from_secs(200),
            ..TimeBin::default()
        };
        let bins = [bin(0, 20, 0), bin(1, 200, 50), bin(2, 179, 1), bin(3, 100, 2), bin(4, 0, 0)];
        let room = Room::of(&bins);
        assert_eq!((room.share(), room.low_share()), (0.8, Some(0.75)));
        assert_eq!((room.low_s, room.not_overloaded_s, room.whole_s), (6.0, 8.0, 10.0));
        assert_eq!(Room::of(&bins[1..2]).low_share(), None);
    }
}
