//! The answers as rows of a result table.
//!
//! `case` is the group; the axes are the what-if, the place (1 is the answer) and the pool.

use crate::document::fleet;
use crate::document::head::head;
use crate::document::money::usd_per_month;
use crate::document::variants;
use crate::input::problem::{Group, Problem};
use crate::search::answer::{Answer, Choice, Point};
use crate::search::size::counts;
use crate::search::solved::Solved;
use crate::search::too_few::TooFew;
use crate::search::variants::{Tried, Variant};
use orrery_results::{Row, metric};
use orrery_run::bound::Bound;
use orrery_run::{PolicySpec, SpecError};
use orrery_sim::stats::{Interval, replications};
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::scenario_cell::inputs_sha256;

/// The throughput of a pool on the frontier.
pub use orrery_results::metric::FRONTIER;

/// The rows of all answers.
///
/// # Errors
/// When a file that was planned from cannot be read any more.
pub fn rows<'a>(all: impl IntoIterator<Item = &'a Solved>) -> Result<Vec<Row>, SpecError> {
    let mut rows = Vec::new();
    for solved in all {
        let p = &solved.problem;
        let what_if = solved.what_if.as_deref().unwrap_or("none");
        if let Some(fleet) = &solved.fleet {
            rows.extend(fleet::rows(p, fleet, what_if));
        }
        for (group, answer) in p.groups.iter().zip(&solved.answers) {
            for (place, choice) in answer.choices.iter().enumerate() {
                let place = (place + 1).to_string();
                rows.extend(of_choice(p, group, answer, choice, [what_if, &place])?);
            }
            if answer.choices.is_empty() {
                rows.push(no_pool(p, answer, what_if));
            }
            if let Some(choice) = &answer.homogeneous {
                rows.extend(of_choice(p, group, answer, choice, [what_if, "base"])?);
            }
            rows.extend(answer.too_few.iter().map(|few| of_too_few(p, answer, few, what_if)));
            rows.extend(
                answer.frontier.iter().flat_map(|point| of_point(p, answer, point, what_if)),
            );
        }
    }
    Ok(rows)
}

/// What a pool of the frontier costs and carries.
fn of_point(p: &Problem, answer: &Answer, point: &Point, what_if: &str) -> [Row; 2] {
    let axes = [what_if, "frontier", &p.pool(&point.counts)];
    let mut base = head(p, &answer.group, axes, &point.policy);
    if !answer.best().is_some_and(|best| point.is_of(best)) {
        base.seeds = format!("{0}-{0}", p.plan.seed);
    }
    let cost = base.of_all(metric::COST_PER_HOUR, point.cost.as_usd_per_hour());
    [cost, base.of_all(FRONTIER, point.rate_per_s)]
}

/// The bound with the most machines that are proven to be too few, whoever schedules.
fn of_too_few(p: &Problem, answer: &Answer, few: &TooFew, what_if: &str) -> Row {
    let rates: Vec<f64> = few.bounds.iter().map(Bound::finish_rate).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let pool = p.pool(&counts(p, few.kind, few.n));
    let base = head(p, &answer.group, [what_if, "too-few", &pool], "");
    let mut row = Row {
        scope: format!("kind {}", p.kind(few.kind)),
        samples: few.bounds.iter().map(|bound| bound.offered).sum(),
        ..base.of_all(metric::FINISH_RATE_BOUND, mean)
    };
    replications(&rates).iter().for_each(|i| row.set_interval(i.low, i.high, "replications"));
    if few.n == 0 {
        row.without_answer(few.why());
    }
    row
}

/// Without a value where the pool was not simulated at the load; with the reason where a number within the target is no
/// success.
fn bad_at_load(mut row: Row, choice: &Choice, p: &Problem, load_per_s: f64) -> Row {
    if choice.at_load.bad_by_seed.is_empty() {
        row.without_answer("not simulated: the load is more than twice the pool's capacity");
    }
    row.reason += choice.at_load.in_spite(p.plan.target()).unwrap_or_default();
    if row.reason.is_empty() {
        row.reason = choice.not_trusted(p, load_per_s).unwrap_or_default();
    }
    row
}

/// In place of the answer: that there is none.
fn no_pool(p: &Problem, answer: &Answer, what_if: &str) -> Row {
    let base = head(p, &answer.group, [what_if, "1", ""], "");
    let mut row = base.of_all(metric::COST_PER_HOUR, 0.0);
    let none = "no pool of the plan meets the goal".to_string();
    row.without_answer([&[none], answer.unknown.as_slice()].concat().join("; "));
    row
}

fn of_choice(
    p: &Problem,
    group: &Group,
    answer: &Answer,
    choice: &Choice,
    [what_if, place]: [&str; 2],
) -> Result<Vec<Row>, SpecError> {
    let scenario = group.scenario(p, &choice.counts, group.load_per_s)?;
    let inputs = inputs_sha256(&scenario)?;
    let cost = choice.cost.to_string();
    let settings = format!("{:?}", (p.plan.target(), p.plan.seeds, p.plan.precision, cost));
    let spec = ["plan", &scenario.canonical(), &choice.policy, &settings, &inputs];
    let caveats = scenario.caveats_uncounted(&PolicySpec::parse(&choice.policy)?);
    let noticed = [
        ("undecided", choice.edge.undecided.is_some()),
        ("not-monotone", choice.edge.not_monotone),
        ("not-known", !answer.unknown.is_empty() && place == "1"),
    ];
    let noticed = noticed.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag);
    let base = Row {
        flags: caveats.into_iter().chain(noticed).collect::<Vec<_>>().join(" "),
        spec_sha256: spec_sha256(&spec),
        inputs_sha256: inputs,
        warm_up: match scenario.file.warm_up_s {
            0.0 => "none".to_string(),
            s => format!("arrivals before {s} s are not counted"),
        },
        ..head(p, &answer.group, [what_if, place, &p.pool(&choice.counts)], &choice.policy)
    };
    let row = |metric: &str, value: f64, interval: Option<Interval>| {
        let mut row = base.of_all(metric, value);
        interval.iter().for_each(|i| row.set_interval(i.low, i.high, "replications"));
        row
    };
    let load = answer.load_per_s;
    let edge = &choice.edge;
    let headroom =
        edge.interval.map(|i| Interval { low: i.low / load - 1.0, high: i.high / load - 1.0, ..i });
    let mut rows = vec![
        row(metric::COST_PER_HOUR, choice.cost.as_usd_per_hour(), None),
        row(metric::COST_PER_MONTH, usd_per_month(choice.cost), None),
        row(metric::LOAD, load, None),
        row(metric::ALLOWABLE, edge.rate_per_s, edge.interval),
        bad_at_load(
            row(metric::BAD_AT_LOAD, choice.at_load.bad_rate, choice.at_load.interval),
            choice,
            p,
            load,
        ),
        row(metric::BAD_ABOVE_EDGE, choice.above.bad_rate, None),
    ];
    // Of no load there is none.
    let above = choice.headroom(load).map(|share| row(metric::HEADROOM, share, headroom));
    rows.splice(4..4, above);
    let per_million = [
        (metric::USD_PER_MILLION_AT_LOAD, choice.usd_per_million_at_load(load)),
        (metric::USD_PER_MILLION_AT_EDGE, choice.usd_per_million_at_edge(p.plan.target())),
    ];
    rows.extend(per_million.iter().filter_map(|(m, usd)| Some(row(m, (*usd)?, None))));
    // At these prices of one device another type is the answer.
    for turn in answer.turns.iter().filter(|_| place == "1") {
        let scope = format!("kind {}", p.kind(turn.kind));
        rows.push(Row { scope, ..row(metric::PRICE_TURN, turn.at_usd_per_hour, None) });
    }
    for (kind, busy) in choice.above.busy.iter().enumerate().filter(|b| b.1.is_finite()) {
        let scope = format!("kind {}", p.kind(kind));
        rows.push(Row { scope, ..row(metric::UTILISATION_ABOVE_EDGE, *busy, None) });
    }
    let is_loss = |tried: &&Tried| matches!(tried.variant, Variant::Loss { .. });
    let of = |tried: &Tried| variants::rows(p, &base, tried);
    rows.extend(choice.tried.iter().filter(is_loss).flat_map(of));
    if p.plan.day.is_some() {
        rows.push(row(metric::MEAN_LOAD, choice.mean_load, None));
    }
    if p.day.follows() {
        rows.push(row(metric::COST_AT_PEAK, p.cost(&choice.counts).as_usd_per_hour(), None));
        rows.extend(choice.tried.iter().filter(|tried| !is_loss(tried)).flat_map(of));
    }
    Ok(rows)
}
