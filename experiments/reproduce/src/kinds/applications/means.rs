//! A sensitivity: the mean finish rate over cases and SLOs, and the mean error against the paper, as one
//! assumption changes at a time.

use crate::experiment::Experiment;
use crate::numbers::{Number, is_at, is_of};
use crate::runner::Cell;
use orrery_results::{Row, metric, seed_list};
use orrery_sim::stats::{self, mean};
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::replication::Replication;

/// The SLO's axis, which is no part of a change.
pub(super) const SLO: &str = "slo_x_p99";

/// The change that a place is under: its axes but for those of the mean.
pub fn change(place: &Row) -> String {
    let is_slo = |a: &&str| a.split_once('=').is_some_and(|(name, _)| name == SLO);
    let kept = place.axes.split(';').filter(|a| !is_slo(a) && !a.is_empty());
    kept.collect::<Vec<_>>().join(";")
}

/// Each change with each system once.
pub(super) fn changes(places: &[Row]) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::new();
    for place in places {
        let row = Row { case: String::new(), axes: change(place), ..place.clone() };
        let same =
            |r: &Row| (&r.axes, &r.system, &r.preset) == (&row.axes, &row.system, &row.preset);
        if !out.iter().any(same) {
            out.push(row);
        }
    }
    out
}

/// The cells of each change and system, in their order.
fn sets(cells: &[Cell]) -> Vec<Vec<&Cell>> {
    let mut sets: Vec<(String, &Cell, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        let change = change(&cell.place);
        let same = |s: &&mut (String, &Cell, Vec<&Cell>)| {
            s.0 == change
                && s.1.place.system == cell.place.system
                && s.1.place.preset == cell.place.preset
        };
        match sets.iter_mut().find(same) {
            Some((.., own)) => own.push(cell),
            None => sets.push((change, cell, vec![cell])),
        }
    }
    // Points change slowest and systems fastest, so these are by change, then by system.
    sets.into_iter().map(|s| s.2).collect()
}

pub(super) fn rate(cell: &Cell) -> Option<f64> {
    mean(&cell.runs.iter().map(Replication::finish_rate).collect::<Option<Vec<f64>>>()?)
}

/// Errors against the paper, of the cells that it has.
pub(super) fn errors(set: &[&Cell], numbers: &[Number]) -> Vec<f64> {
    let error = |cell: &&Cell| {
        let is = |n: &&Number| is_of(&cell.place, &n.system) && is_at(&cell.place, &n.at);
        Some((rate(cell)? - numbers.iter().find(is)?.value).abs())
    };
    set.iter().filter_map(error).collect()
}

/// The rows: errors and mean finish rates of each change and system.
pub fn rows(e: &Experiment, cells: &[Cell]) -> Vec<Row> {
    let sets = sets(cells);
    // A change's rows carry the hash of all its cells.
    let hash = |of: &str| {
        let own = cells.iter().filter(|c| change(&c.place) == of);
        spec_sha256(&own.map(|c| c.place.spec_sha256.as_str()).collect::<Vec<_>>())
    };
    let mut out = Vec::new();
    for set in &sets {
        let first = set[0];
        let errors = errors(set, &e.paper);
        let axes = change(&first.place);
        let seeds: Vec<u64> = first.runs.iter().map(|r| r.seed).collect();
        let place = Row {
            case: String::new(),
            samples: if errors.is_empty() { set.len() } else { errors.len() } as u64,
            seeds: seed_list(&seeds),
            spec_sha256: hash(&axes),
            axes,
            ..first.place.clone()
        };
        if let Some(error) = mean(&errors) {
            let row = place.of_all(metric::MEAN_ABS_ERROR, error);
            out.push(Row { paper_source: e.source.clone(), ..row });
        }
        let of_runs = |i: usize| set.iter().map(move |c| c.runs[i].finish_rate());
        let at = |i: usize| mean(&of_runs(i).collect::<Option<Vec<f64>>>()?);
        let by_seed: Option<Vec<f64>> = (0..seeds.len()).map(at).collect();
        let interval = by_seed.and_then(|by_seed| stats::replications(&by_seed));
        let rates: Option<Vec<f64>> = set.iter().map(|c| rate(c)).collect();
        let Some(rate) = rates.and_then(|rates| mean(&rates)) else { continue };
        let mut row = place.of_all(metric::MEAN_FINISH_RATE, rate);
        interval.iter().for_each(|i| row.set_interval(i.low, i.high, "replications"));
        out.push(row);
    }
    out
}
