//! `--plot`: cost against throughput.

use super::answer::Point;
use super::rows::pool;
use super::{Pools, Solved};
use orrery_papers::output::figure::{save, unsuitable};
use orrery_plots::{Choice, Figure, metric_by_axis};
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

/// Draws the frontier into a file.
///
/// # Errors
/// When there is nothing to draw or the file cannot be written.
pub fn draw(solved: &Solved, path: &Path) -> Result<(), SpecError> {
    save(&of(solved)?, path)
}

/// The frontier: a curve for each type of a homogeneous plan, or for each model.
///
/// # Errors
/// When there is nothing to draw.
pub fn of(solved: &Solved) -> Result<Figure, SpecError> {
    let p = &solved.problem;
    let one_kind = p.plan.pools == Pools::Homogeneous;
    let mut rows = Vec::new();
    for answer in &solved.answers {
        let mut add = |point: &Point, what: &str, interval: Option<(f64, f64)>| {
            let kinds = pool(p, &point.counts);
            let kind = kinds.split_once('x').map_or(kinds.as_str(), |k| k.1).to_string();
            let who = if one_kind { kind } else { answer.group.clone() };
            let who = if p.policies.len() > 1 { format!("{who}, {}", point.policy) } else { who };
            rows.push(Row {
                experiment: p.plan.name().to_string(),
                axes: format!("cost_usd_per_hour={}", point.cost),
                policy: who.clone(),
                system: who,
                preset: what.to_string(),
                scope: "all".to_string(),
                metric: "throughput_per_s".to_string(),
                unit: "1/s".to_string(),
                value: Some(point.rate_per_s),
                ci95_low: interval.map(|i| i.0),
                ci95_high: interval.map(|i| i.1),
                ..Row::default()
            });
        };
        // The answer first: what comes first is drawn strongest, and on top.
        if let Some(b) = answer.best() {
            let (counts, policy) = (b.counts.clone(), b.policy.clone());
            let point = Point { counts, policy, cost: b.cost, rate_per_s: b.edge.rate_per_s };
            add(&point, "answer", b.edge.interval.map(|i| (i.low, i.high)));
        }
        answer.frontier.iter().for_each(|point| add(point, "frontier (one seed)", None));
    }
    let figure = metric_by_axis(&rows, "cost_usd_per_hour", "throughput_per_s", &Choice::default());
    figure.map_err(|e| unsuitable(p.plan.name(), &e))
}
