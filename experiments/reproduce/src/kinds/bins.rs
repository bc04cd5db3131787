//! A run over time in bins of a chosen length, group by group: what a paper's panels over time show
//! (Clockwork, Fig. 6, 9 and 10).
//!
//! A bin, and a group of applications in it, is kept as a replication of its own after that of the whole.

use super::times::{FROM, seconds};
use orrery_results::metric;
use orrery_run::SpecError;
use orrery_sim::driver::ready;
use orrery_sim::metrics::{Panel, PanelGroup, Panels, PredictionErrors, Predictions};
use orrery_sim::time::{Span, Time};
use orrery_sweep::hash;
use orrery_sweep::replication::Replication;
use orrery_sweep::scenario_cell::ScenarioCell;

/// A last bin that is shorter than one in so many of the others is left out.
const SLIVER: u64 = 20;

/// The quantiles of errors of predictions.
const TAILS: [(f64, &str); 4] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// The scope of a bin's beginning: it is told to the last digit.
const BIN: &str = "bin";

/// The hash of a cell whose bins are rows too.
pub fn spec_sha256(cell: &str, bin_s: f64) -> String {
    hash::spec_sha256(&["bins of time", cell, &bin_s.to_string()])
}

/// One run: the whole, then for each bin all and each group. A run within one bin is only the whole.
///
/// # Errors
/// When the run cannot be made.
pub fn run(cell: &ScenarioCell, bin_s: f64) -> Result<Vec<Replication>, SpecError> {
    let seed = cell.seeds.first;
    let setup = cell.scenario.setup(seed)?;
    let groups = cell.scenario.groups_of_apps();
    let panels = Panels::new(Span::from_secs_f64(bin_s), groups);
    let observer = (panels, Predictions::default());
    let (metrics, (panels, errors)) =
        setup.run_by(&cell.policy, seed, observer, ready::in_bins)?.observer;
    let names = cell.scenario.scope_names();
    let mut whole = Replication::of(seed, &metrics, &names);
    whole.measures.retain(|m| !m.scope.starts_with("device "));
    errors_of("infer", &errors.batches, &mut whole);
    errors_of("load", &errors.loads, &mut whole);
    let span = seconds(panels.end().since(Time::ZERO));
    of_counts(&sum(panels.bins()), span, &mut whole);
    if let Some(at) = panels.first_unload() {
        whole.push("all", metric::FIRST_UNLOAD, seconds(at.since(Time::ZERO)), 1);
    }
    of_longest(panels.bins(), &mut whole);
    let mut out = vec![whole];
    if panels.bins().len() == 1 {
        return Ok(out);
    }
    for (number, bin) in panels.bins().iter().enumerate() {
        let from = Time::ZERO + panels.width() * number as u64;
        let to = (from + panels.width()).min(panels.end());
        let span = to.since(from);
        // What still happens after the last arrival makes no rate.
        if number > 0 && span * SLIVER < panels.width() {
            continue;
        }
        out.push(all_of(bin, seed, from, span));
        if names.groups.len() > 1 {
            for (group, name) in bin.groups.iter().zip(&names.groups) {
                let mut one = part(seed, &format!("group {name}"), from);
                of_group(group, span, &mut one);
                out.push(one);
            }
        }
    }
    Ok(out)
}

fn part(seed: u64, scope: &str, from: Time) -> Replication {
    let mut part = Replication { seed, ..Replication::default() };
    part.push(scope, FROM, seconds(from.since(Time::ZERO)), 0);
    part
}

fn all_of(bin: &Panel, seed: u64, from: Time, span: Span) -> Replication {
    let mut one = part(seed, BIN, from);
    of_group(&bin.all(), span, &mut one);
    of_devices(bin, &mut one);
    of_counts(bin, seconds(span), &mut one);
    one
}

/// What a group did in a bin.
fn of_group(g: &PanelGroup, span: Span, out: &mut Replication) {
    let per_s = |n: u64| n as f64 / seconds(span);
    out.push("all", metric::OFFERED, per_s(g.offered), g.offered);
    out.push("all", metric::GOODPUT, per_s(g.in_time), g.offered);
    if g.offered > 0 {
        let share = g.offered_in_time as f64 / g.offered as f64;
        out.push("all", metric::FINISH_RATE, share, g.offered);
    }
    out.push("all", metric::DROPPED, per_s(g.dropped), g.offered);
    out.push("all", metric::COLD, per_s(g.cold), g.in_time);
    if g.in_time > 0 {
        out.push("all", metric::COLD_SHARE, g.cold as f64 / g.in_time as f64, g.in_time);
        for (q, name) in metric::quantiles() {
            out.push("all", name, g.latency.quantile(q).ns() as f64, g.in_time);
        }
    }
    if g.in_time + g.late > 0 {
        out.push("all", metric::LATENCY_MAX, g.longest.ns() as f64, g.in_time + g.late);
    }
    if g.in_time + g.late + g.dropped > 0 {
        out.push("all", metric::END_MAX, g.longest_end.ns() as f64, g.offered);
    }
}

/// What a bin's devices did for all groups together. Of the whole run its metrics tell.
fn of_devices(bin: &Panel, out: &mut Replication) {
    let share = |part: Span| {
        if bin.up == Span::ZERO { 0.0 } else { part.ns() as f64 / bin.up.ns() as f64 }
    };
    out.push("all", metric::UTILISATION, share(bin.busy), bin.batches);
    if bin.batches > 0 {
        let mean = bin.batched as f64 / bin.batches as f64;
        out.push("all", metric::MEAN_BATCH_SIZE, mean, bin.batches);
    }
    out.push("all", metric::LOAD_UTILISATION, share(bin.loading), bin.loads);
    out.push("all", metric::COLD_MODELS, bin.cold_models as f64, bin.batched);
    out.push("all", metric::WARM_MODELS, bin.warm_models as f64, bin.batched);
}

/// What is counted of all groups together, in a bin or in all of them.
fn of_counts(bin: &Panel, seconds: f64, out: &mut Replication) {
    if bin.batches > 0 {
        let weighted = bin.batched_squared as f64 / bin.batched as f64;
        out.push("all", metric::WEIGHTED_BATCH_SIZE, weighted, bin.batches);
    }
    if seconds > 0.0 {
        out.push("all", metric::LOADS_PER_S, bin.loads as f64 / seconds, bin.loads);
        out.push("all", metric::UNLOADS_PER_S, bin.unloads as f64 / seconds, bin.unloads);
    }
}

/// What a whole run's bins add up to.
fn sum(bins: &[Panel]) -> Panel {
    let mut sum = Panel::default();
    for bin in bins {
        sum.batches += bin.batches;
        sum.batched += bin.batched;
        sum.batched_squared += bin.batched_squared;
        sum.loads += bin.loads;
        sum.unloads += bin.unloads;
    }
    sum
}

/// The longest latency of the whole run, the warm-up included.
fn of_longest(bins: &[Panel], out: &mut Replication) {
    let all = || bins.iter().flat_map(|bin| &bin.groups);
    let executed = all().map(|g| g.in_time + g.late).sum::<u64>();
    let ended = executed + all().map(|g| g.dropped).sum::<u64>();
    if let Some(longest) = all().map(|g| g.longest).max().filter(|_| executed > 0) {
        out.push("all", metric::LATENCY_MAX, longest.ns() as f64, executed);
    }
    if let Some(longest) = all().map(|g| g.longest_end).max().filter(|_| ended > 0) {
        out.push("all", metric::END_MAX, longest.ns() as f64, ended);
    }
}

/// The tails of a policy's own predictions, where it makes any.
fn errors_of(kind: &str, errors: &PredictionErrors, out: &mut Replication) {
    for (what, tails) in [("duration", &errors.duration), ("completion", &errors.completion)] {
        let all = tails.over.count() + tails.under.count() + tails.exact;
        if all == 0 {
            continue;
        }
        for (side, over) in [("over", true), ("under", false)] {
            let name = |part| metric::PREDICTION_ERROR.name(&[kind, what, side, part]);
            for (q, part) in TAILS {
                out.push("all", &name(part), tails.quantile(q, over).ns() as f64, all);
            }
            let sketch = if over { &tails.over } else { &tails.under };
            out.push("all", &name("max"), sketch.max().ns() as f64, all);
        }
    }
}
