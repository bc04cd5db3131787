//! Rows of no data: every place that an experiment has, with made-up values. What is drawn of them shows
//! whether its figure can be drawn.

use crate::experiment::Experiment;
use crate::figure::picture::picture;
use crate::numbers::beside;
use crate::runner::{Runner, place_in};
use orrery_results::{Row, distinct, is_metric};
use orrery_sweep::grid::combinations;

/// The rows.
pub fn rows(e: &Experiment, runner: &dyn Runner) -> Vec<Row> {
    let (picture, _) = picture(e);
    // A place along x may be measured, and so may a star.
    let x = Some(&picture.x).filter(|x| is_metric(x));
    let star = Some(&picture.star).filter(|star| !e.system.iter().any(|s| s.name == **star));
    let of_kind = e.kind.metrics().iter().map(ToString::to_string);
    let all = picture.metrics.iter().chain(x).chain(star).cloned();
    let metrics = distinct(all.chain(of_kind).filter(|m| !m.is_empty()));
    let (mut rows, mut pools) = (Vec::new(), Vec::new());
    for place in places(e, runner, &metrics) {
        // What is computed is known with its values.
        if !place.metric.is_empty() {
            rows.push(place);
            continue;
        }
        // Pools have ranks of their own, and quantiles grow.
        let pool = place.axis("pool").map_or(0, |pool| place_in(&mut pools, pool.to_string()));
        for (i, metric) in metrics.iter().enumerate() {
            // A place along x is not measured.
            if place.axis(metric).is_some() {
                continue;
            }
            let value =
                if *metric == picture.star { 1.0 } else { 0.25 * (1 + i + 2 * pool) as f64 };
            rows.push(place.of_all(metric, value));
        }
    }
    beside(&mut rows, &e.paper);
    rows
}

/// Where values will stand.
fn places(e: &Experiment, runner: &dyn Runner, metrics: &[String]) -> Vec<Row> {
    let known = runner.drawn(metrics);
    if !known.is_empty() {
        return known;
    }
    let at = combinations(&e.point, &e.axis, e.sample);
    let at = at.map(|c| Row { axes: c.axes.join(";"), ..e.place() });
    at.flat_map(|at| e.system.iter().map(move |s| s.row(&at))).collect()
}
