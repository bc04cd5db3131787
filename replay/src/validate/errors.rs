//! How far predictions were off, by the figures that others report, and two naive predictions beside them.

use super::outcome::{PointResult, SENSITIVE_POINTS};
use crate::compare::Summary;
use crate::table::{largest, table as text_table, two};
use orrery_report::page::Table;
use orrery_sim::stats::mean;

/// A finish rate outside 1 to 99 % on both sides is easily predicted.
const EASY_PERCENT: f64 = 1.0;
/// Policies whose measured finish rates are further apart than this, in percentage points, have an order.
const APART_POINTS: f64 = 2.0;

/// The finish rate in percent, requests in time a second, and latencies that 50, 90 and 99 % do not exceed.
type Figures = [Option<f64>; 5];

fn figures(s: &Summary) -> Figures {
    // Without an answer there is no latency.
    let ns = |ns: u64| (s.latency.count > 0).then_some(ns as f64);
    let l = &s.latency;
    let p90 = l.p90_ns.and_then(ns);
    [Some(100.0 * s.finish_rate), Some(s.goodput_per_s), ns(l.p50_ns), p90, ns(l.p99_ns)]
}

/// Who predicts.
#[derive(Clone, Copy)]
enum By {
    /// The profile, with all that it has.
    Profile,
    /// Its latency model alone.
    Law,
    /// Its laws, of a queue without a policy.
    Queue,
}

impl By {
    const ALL: [By; 3] = [By::Profile, By::Law, By::Queue];

    fn of(self, r: &PointResult) -> Figures {
        let naive = |s: Option<&Summary>| s.map_or([None; 5], figures);
        match self {
            By::Profile => {
                let mut all = figures(&r.simulated);
                all[0] = Some(r.predicted_percent());
                all
            }
            By::Law => naive(r.naive.as_ref().map(|n| &n.law)),
            By::Queue => naive(r.naive.as_ref().and_then(|n| n.queue.as_ref())),
        }
    }
}

/// The means over the valid runs; nothing without one.
fn measured(r: &PointResult) -> Figures {
    let all: Vec<Figures> = r.valid().map(|run| figures(&run.measured)).collect();
    std::array::from_fn(|i| mean(&all.iter().map(|f| f[i]).collect::<Option<Vec<f64>>>()?))
}

/// Whether a finish rate is below 1 or above 99 % on both sides, in percent.
fn is_easy(predicted: f64, measured: f64) -> bool {
    let extreme = |x: f64| x <= EASY_PERCENT || x >= 100.0 - EASY_PERCENT;
    extreme(predicted) && extreme(measured)
}

/// How far a figure is off at each of these points: a finish rate in points, the others in percent.
fn off(points: &[&PointResult], by: By, figure: usize) -> Vec<f64> {
    let one = |r: &&PointResult| {
        let (p, m) = (by.of(r)[figure]?, measured(r)[figure]?);
        match figure {
            0 => Some((m - p).abs()),
            // Nothing is a share of nothing.
            _ => (m > 0.0).then(|| 100.0 * (p / m - 1.0).abs()),
        }
    };
    points.iter().filter_map(one).collect()
}

/// Of pairs of policies at one place that are measurably apart: how many are in the order that was predicted, and all.
fn order(points: &[&PointResult], by: By) -> (usize, usize) {
    let (mut right, mut all) = (0, 0);
    for (i, a) in points.iter().enumerate() {
        let place = |r: &PointResult| (r.exec_ms, r.slo_ms, r.load);
        for b in points[..i].iter().filter(|b| place(b) == place(a)) {
            let of = |f: &dyn Fn(&PointResult) -> Figures| Some(f(a)[0]? - f(b)[0]?);
            let (Some(m), Some(p)) = (of(&measured), of(&|r| by.of(r))) else { continue };
            if m.abs() > APART_POINTS {
                all += 1;
                right += usize::from(m * p > 0.0);
            }
        }
    }
    (right, all)
}

/// The stable points with a valid run: those between 1 and 99 %, and the others.
fn of_points<'a>(points: &[&'a PointResult]) -> [Vec<&'a PointResult>; 2] {
    let mut both = [Vec::new(), Vec::new()];
    for r in points.iter().copied().filter(|r| !r.is_sensitive()) {
        let Some(measured) = measured(r)[0] else { continue };
        both[usize::from(is_easy(r.predicted_percent(), measured))].push(r);
    }
    both
}

/// Of these points for a table of several campaigns: its columns are [`SUMMED`].
pub(super) fn summed(points: &[&PointResult]) -> Vec<String> {
    let [between, easy] = of_points(points);
    let all = [between.clone(), easy.clone()].concat();
    let rates = off(&between, By::Profile, 0);
    let mut cells = vec![between.len().to_string(), two(mean(&rates)), two(largest(&rates))];
    cells.extend([two(mean(&off(&between, By::Law, 0))), easy.len().to_string()]);
    cells.extend([2, 4, 1].map(|figure| two(mean(&off(&all, By::Profile, figure)))));
    cells
}

/// The columns of [`summed`].
pub(super) const SUMMED: &str =
    "1 to 99 %|mean|largest|latency model alone|other points|latency p50|latency p99|goodput";

/// The table that a report leads with.
pub(super) fn table(points: &[&PointResult]) -> Table {
    let [between, easy] = of_points(points);
    let all = [between.clone(), easy.clone()].concat();
    let rows: [(&str, &str, &[&PointResult], usize); 6] = [
        ("finish rate, between 1 and 99 %", "points", &between, 0),
        ("finish rate, at most 1 or at least 99 %", "points", &easy, 0),
        ("goodput", "%", &all, 1),
        ("latency p50", "%", &all, 2),
        ("latency p90", "%", &all, 3),
        ("latency p99", "%", &all, 4),
    ];
    let words = |what: &str, unit: &str, n: usize| vec![what.into(), unit.into(), n.to_string()];
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (what, unit, points, figure) in rows {
        let errors = By::ALL.map(|by| off(points, by, figure));
        let mut line = words(what, unit, errors[0].len());
        line.extend(errors.iter().flat_map(|e| [two(mean(e)), two(largest(e))]));
        lines.push(line);
    }
    let twins: Vec<(f64, f64)> = points.iter().filter_map(|r| r.stable_twin()).collect();
    for (what, easy) in [("between 1 and 99 %", false), ("the other points", true)] {
        let chosen = twins.iter().filter(|(p, m)| is_easy(*p, *m) == easy);
        let errors: Vec<f64> = chosen.map(|(p, m)| (m - p).abs()).collect();
        let mut line = words(&format!("finish rate re-simulated, {what}"), "points", errors.len());
        line.extend([two(mean(&errors)), two(largest(&errors))]);
        lines.push(line);
    }
    let orders = [By::Profile, By::Law].map(|by| order(points, by));
    let mut line = words("order of policies", "pairs right", orders[0].1);
    line.extend(orders.iter().flat_map(|(n, all)| [format!("{n} of {all}"), String::new()]));
    lines.push(line);
    // A row without a point says nothing.
    lines.retain(|line| line[2] != "0");
    let caption = format!(
        "By the profile alone, of stable points (the standard deviation of their draws is at most \
         {SENSITIVE_POINTS} points) with a valid run: measured against predicted. Latency and goodput are \
         those of the first draw. Points where both finish rates are at most 1 % or at least 99 % are apart: \
         they are easy to predict. Beside them two naive predictions: the latency model alone, without noise, stalls \
         and overhead; and a queue without a policy (first in, first out, in the largest batches) under these \
         latency models. The order is that of pairs of policies at one load whose measured finish rates are more than \
         {APART_POINTS} points apart. A row without a point is left out: older runs have no p90."
    );
    let columns = "error of|in|points|mean|largest|latency model alone: mean|largest|queue: mean|largest of the queue";
    text_table(&caption, columns, lines)
}
