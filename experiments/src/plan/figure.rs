//! `--plot`: cost against throughput.

use super::Solved;
use super::rows::pool;
use crate::plot::{save, unsuitable};
use orrery_plots::{Choice, metric_by_axis};
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

/// Draws the frontier: a curve for each type of a homogeneous plan, or for each model.
///
/// # Errors
/// When there is nothing to draw or the file cannot be written.
pub fn draw(solved: &Solved, path: &Path) -> Result<(), SpecError> {
    let p = &solved.problem;
    let one_kind = p.plan.pools == super::Pools::Homogeneous;
    let mut rows = Vec::new();
    for answer in &solved.answers {
        let best = answer.best().map(|b| (&b.counts, &b.policy));
        let mut add = |name: String, cost: f64, value: f64, interval: Option<(f64, f64)>| {
            rows.push(Row {
                experiment: p.plan.name().to_string(),
                axes: format!("cost_usd_per_hour={cost}"),
                policy: name.clone(),
                system: name,
                scope: "all".to_string(),
                metric: "throughput_per_s".to_string(),
                unit: "1/s".to_string(),
                value,
                ci95_low: interval.map(|i| i.0),
                ci95_high: interval.map(|i| i.1),
                ..Row::default()
            });
        };
        for point in &answer.frontier {
            if best.is_some_and(|b| b == (&point.counts, &point.policy)) {
                continue;
            }
            let kinds = pool(p, &point.counts);
            let kind = kinds.split_once('x').map_or(kinds.as_str(), |k| k.1).to_string();
            let who = if one_kind { kind } else { answer.group.clone() };
            let who = if p.policies.len() > 1 { format!("{who}, {}", point.policy) } else { who };
            add(who, point.cost.as_usd_per_hour(), point.rate_per_s, None);
        }
        if let Some(b) = answer.best() {
            let name = if one_kind { "answer".to_string() } else { format!("{}, answer", answer.group) };
            let interval = b.edge.interval.map(|i| (i.low, i.high));
            add(name, b.cost.as_usd_per_hour(), b.edge.rate_per_s, interval);
        }
    }
    let figure = metric_by_axis(&rows, "cost_usd_per_hour", "throughput_per_s", &Choice::default());
    save(&figure.map_err(|e| unsuitable(p.plan.name(), &e))?, path)
}
