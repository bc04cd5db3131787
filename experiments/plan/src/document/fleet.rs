//! A fleet in words and rows: which model is where, what no fleet undercuts, and what comes next.

use crate::document::cells::{more_usd, name, rate, share, usd, usd_month};
use crate::document::facts::place_of;
use crate::document::money::{beside, cents, usd_per_month};
use crate::input::problem::Problem;
use crate::search::answer::{Answer as Answered, money, percent, significant};
use crate::search::solved::{Edge, Fleet, PriceRange, Solved};
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
    if let Some(cost) = fleet.cost {
        lines.push(format!("{} $/h: {}", money(cost), homes(problem, fleet).join("; ")));
    }
    if let Some(within) = fleet.within {
        let more = within.too_dear.map_or(String::new(), |factor| {
            format!("; for {} times it no fleet was found within the budget", significant(factor))
        });
        lines.push(format!(
            "for at most {} $/h it sustains {} requests/s of this mix, {} times the plan's load{more}",
            money(within.budget),
            significant(within.load_per_s),
            significant(within.factor)
        ));
    }
    if let (Some(gap), Some(bound)) = (fleet.gap(), fleet.split_usd) {
        lines.push(format!(
            "at most {} % above the optimum: no fleet of these types costs less than {bound:.2} $/h, even \
             with loads split between types",
            percent((gap * 1e3).ceil() / 1e3)
        ));
    }
    if let (Some(gap), Some(bound)) = (fleet.likely_gap(), fleet.likely_usd) {
        lines.push(format!(
            "by one seed at most {} % above the optimum: with each model on one type no fleet costs less than {bound:.2} \
             $/h, if a cluster serves no more of a model than an equally large one that has it alone",
            percent((gap * 1e3).ceil() / 1e3)
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
        lines.push(format!("runner-up (one seed): {words} for {} $/h", money(*cost)));
    }
    lines.extend(fleet.prices.iter().map(|range| turns(problem, range)));
    lines.extend(fleet.not_there.iter().cloned());
    lines.extend(fleet.unknown.iter().map(|u| format!("not known: {u}")));
    lines
}

/// At which prices of a kind another fleet is the answer, as far as one seed shows.
fn turns(problem: &Problem, range: &PriceRange) -> String {
    let now = range.now_usd_per_hour;
    let kind = problem.kind(range.kind);
    let words = |edge: &Edge, side: &str| {
        let latest = if edge.exact { "" } else { " at the latest" };
        let (at, _) = beside(edge.at_usd_per_hour, now);
        format!("{side} {at} $/h{latest} the cheapest fleet would be {}", edge.other)
    };
    let below = range.below.as_ref().map(|edge| words(edge, "below"));
    let above = range.above.as_ref().map(|edge| words(edge, "above"));
    let all: Vec<String> = below.into_iter().chain(above).collect();
    let all = match all.as_slice() {
        [] => "at any other price this fleet is the cheapest".to_string(),
        some => some.join("; "),
    };
    let compared = if range.whole { "" } else { ", of those that were simulated" };
    format!("{kind}, now {} $/h each (one seed{compared}): {all}", cents(now))
}

/// How far the search went.
pub fn searched(fleet: &Fleet) -> String {
    format!(
        "{} assignments of {} clusters, {} of these simulated; {} runs",
        fleet.assignments, fleet.clusters, fleet.asked, fleet.runs
    )
}

/// A row for a what-if of fleets, whose clusters differ from those of the plan: the fleet as a whole.
pub fn what_if_row(solved: &Solved, fleet: &Fleet, now: Option<Price>) -> Vec<Field> {
    let pools = solved.answers.iter().filter_map(|a| a.best());
    let pools: Vec<String> = pools.map(|b| solved.problem.words(&b.counts)).collect();
    let load: f64 = solved.answers.iter().map(|a| a.load_per_s).sum();
    let pools = match fleet.cost {
        Some(_) => pools.join(" + "),
        None => "none meets the goal".to_string(),
    };
    // All clusters together, where all are carried.
    let good = |a: &Answered| {
        let best = a.best().filter(|best| best.edge.rate_per_s >= a.load_per_s * 0.98)?;
        Some(a.load_per_s * best.at_load.good_share)
    };
    let good_per_s: Option<f64> = solved.answers.iter().map(good).sum();
    let million = fleet.cost.zip(good_per_s).and_then(|(cost, rate)| cost.usd_per_million(rate));
    let headroom = solved.answers.iter().filter_map(|a| Some(a.best()?.headroom(a.load_per_s)));
    let or_none = |field: Option<Field>| field.unwrap_or_default();
    vec![
        name(solved.what_if.as_deref().unwrap_or("(as it is)")),
        Field::default(),
        name(&pools),
        or_none(fleet.cost.map(usd)),
        or_none(fleet.cost.map(usd_month)),
        rate(load),
        Field::default(),
        or_none(headroom.reduce(f64::min).map(share)),
        or_none(million.map(|usd| Field::number(usd, format!("{usd:.2}")))),
        or_none(fleet.cost.zip(now).map(|(cost, now)| more_usd(cost, now))),
        Field::default(),
    ]
}

/// What the whole fleet costs and no fleet undercuts, and the home of each model.
pub fn rows(problem: &Problem, fleet: &Fleet, what_if: &str) -> Vec<Row> {
    let base = Row {
        axes: format!("what_if={what_if};place=1;pool={}", homes_axis(problem, fleet)),
        ..place_of(problem, "fleet")
    };
    let mut rows = Vec::new();
    if let Some(cost) = fleet.cost {
        rows.push(base.of_all(metric::COST_PER_HOUR, cost.as_usd_per_hour()));
        rows.push(base.of_all(metric::COST_PER_MONTH, usd_per_month(cost)));
    }
    if let Some(within) = fleet.within {
        rows.push(base.of_all(metric::ALLOWABLE, within.load_per_s));
    }
    if let Some(bound) = fleet.split_usd {
        rows.push(base.of_all(metric::LOWER_BOUND, bound));
    }
    for range in &fleet.prices {
        let scope = format!("kind {}", problem.kind(range.kind));
        for (side, edge) in [("below", &range.below), ("above", &range.above)] {
            let Some(edge) = edge else { continue };
            let turn = base.of_all(metric::PRICE_TURN, edge.at_usd_per_hour);
            let axes = format!("{};turn={side}", turn.axes);
            let mut turn = Row { scope: scope.clone(), axes, ..turn };
            if !edge.exact {
                turn.flag("not-known");
            }
            rows.push(turn);
        }
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
