//! A fleet in words and rows: which model is where, what no fleet undercuts, and what comes next.

use crate::document::cells::{more_usd, name, rate, share, usd, usd_month};
use crate::document::head::head;
use crate::document::money::{at_least, usd_per_month};
use crate::input::problem::Problem;
use crate::search::answer::{Answer as Answered, money, percent};
use crate::search::solved::{Fleet, Solved};
use orrery_report::page::Field;
use orrery_results::{Row, metric};
use orrery_solvers::Price;
use std::collections::BTreeMap;

/// By kind that is used, its models.
fn by_kind(fleet: &Fleet) -> BTreeMap<usize, Vec<String>> {
    let mut all: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (model, kind) in &fleet.homes {
        kind.iter().for_each(|kind| all.entry(*kind).or_default().push(model.clone()));
    }
    all
}

/// The models of each kind that is used: `BERT, TFT on A30`.
pub fn homes(problem: &Problem, fleet: &Fleet) -> Vec<String> {
    let line = |(kind, models): (&usize, &Vec<String>)| {
        format!("{} on {}", models.join(", "), problem.kind(*kind))
    };
    by_kind(fleet).iter().map(line).collect()
}

/// What is known of the whole fleet, in sentences.
pub fn lines(problem: &Problem, fleet: &Fleet) -> Vec<String> {
    let mut lines = Vec::new();
    let mean = if problem.day.follows() { " on average" } else { "" };
    if let Some(cost) = fleet.cost {
        lines.push(format!("{} $/h{mean}: {}", money(cost), homes(problem, fleet).join("; ")));
    }
    if let (Some(gap), Some(bound)) = (fleet.gap(), fleet.split_usd) {
        lines.push(format!(
            "at most {} % above the optimum: no fleet of these types costs less than {} $/h, even with loads \
             split between types",
            percent((gap * 1e3).ceil() / 1e3),
            at_least(bound)
        ));
    }
    if fleet.proven {
        lines.push(format!(
            "with each model on one type it is the cheapest of {} assignments, the others judged by one \
             seed",
            fleet.assignments
        ));
    }
    for (words, cost) in &fleet.others {
        lines.push(format!("runner-up (one seed): {words} for {} $/h{mean}", money(*cost)));
    }
    lines.extend(fleet.not_there.iter().cloned());
    lines.extend(fleet.unknown.iter().map(|u| format!("not known: {u}")));
    lines
}

/// How far the search went.
pub fn searched(fleet: &Fleet) -> String {
    format!(
        "{} assignments of {} clusters, {} of these simulated; {} runs",
        fleet.assignments, fleet.clusters, fleet.asked, fleet.runs
    )
}

/// The line of a fleet as a whole: clusters of what-ifs differ from those of the plan.
pub fn total(solved: &Solved, what: &str, fleet: &Fleet, now: Option<Price>) -> Vec<Field> {
    let answers = &solved.answers;
    let pools = answers.iter().filter_map(|a| a.best());
    let pools: Vec<String> = pools.map(|b| solved.problem.words(&b.counts)).collect();
    let pools = match fleet.cost {
        Some(_) => pools.join(" + "),
        None => "none meets the goal".to_string(),
    };
    // All clusters together, where all are carried.
    let good = |a: &Answered| {
        let best = a.best().filter(|best| best.edge.rate_per_s >= a.load_per_s * 0.98)?;
        Some(a.load_per_s * best.at_load.good_share)
    };
    let good_per_s: Option<f64> = answers.iter().map(good).sum();
    let million = fleet.cost.zip(good_per_s).and_then(|(cost, rate)| cost.usd_per_million(rate));
    let headroom = answers.iter().filter_map(|a| a.best()?.headroom(a.load_per_s));
    let mut line = vec![Field::default(); 12];
    line[0] = name(what);
    line[2] = name(&pools);
    line[5] = rate(answers.iter().map(|a| a.load_per_s).sum());
    let cells = [
        (4, fleet.cost.map(usd)),
        (9, fleet.cost.map(usd_month)),
        (7, headroom.reduce(f64::min).map(share)),
        (8, million.map(|usd| Field::number(usd, format!("{usd:.2}")))),
        (10, fleet.cost.zip(now).map(|(cost, now)| more_usd(cost, now))),
    ];
    cells.into_iter().for_each(|(column, cell)| line[column] = cell.unwrap_or_default());
    line
}

/// What the whole fleet costs and no fleet undercuts, and the home of each model.
pub fn rows(problem: &Problem, fleet: &Fleet, what_if: &str) -> Vec<Row> {
    let base = head(problem, "fleet", [what_if, "1", &homes_axis(problem, fleet)], "");
    let mut rows = Vec::new();
    if let Some(cost) = fleet.cost {
        rows.push(base.of_all(metric::COST_PER_HOUR, cost.as_usd_per_hour()));
        rows.push(base.of_all(metric::COST_PER_MONTH, usd_per_month(cost)));
    }
    if let Some(bound) = fleet.split_usd {
        rows.push(base.of_all(metric::LOWER_BOUND, bound));
    }
    rows
}

/// `A30:BERT+TFT,T4:GNMT`.
fn homes_axis(problem: &Problem, fleet: &Fleet) -> String {
    let part = |(kind, models): (&usize, &Vec<String>)| {
        format!("{}:{}", problem.kind(*kind), models.join("+").replace(" (", "("))
    };
    by_kind(fleet).iter().map(part).collect::<Vec<_>>().join(",")
}
