//! Numbers of an answer as cells of its tables.

use crate::document::money::{month, usd_per_month};
use crate::input::problem::Problem;
use crate::search::answer::{Choice, money, significant};
use orrery_report::page::Field;
use orrery_sim::stats::Interval;
use orrery_solvers::Price;

/// Words, also where they begin with a number.
pub fn name(text: &str) -> Field {
    Field { key: None, ..Field::text(text) }
}

/// Dollars for an hour.
pub fn usd(cost: Price) -> Field {
    Field::number(cost.as_usd_per_hour(), money(cost))
}

/// Dollars for a month.
pub fn usd_month(cost: Price) -> Field {
    Field::number(usd_per_month(cost), month(cost))
}

/// How much more an hour costs than now.
pub fn more_usd(cost: Price, now: Price) -> Field {
    let more = cost.as_usd_per_hour() - now.as_usd_per_hour();
    Field::number(more, format!("{more:+.3}"))
}

/// Requests per second.
pub fn rate(per_s: f64) -> Field {
    Field::number(per_s, significant(per_s))
}

/// The edge with its interval.
pub fn carries(choice: &Choice) -> Field {
    let interval = |i: Interval| format!("{} to {}", significant(i.low), significant(i.high));
    rate(choice.edge.rate_per_s).with(choice.edge.interval.map_or(String::new(), interval))
}

/// Headroom in percent, with its sign; `-` of no load.
pub fn headroom(load_per_s: f64, choice: &Choice) -> Field {
    choice.headroom(load_per_s).map_or(Field::none(), share)
}

/// A share more or less, in percent.
pub fn share(more: f64) -> Field {
    Field::number(more, format!("{:+.0} %", more * 100.0))
}

/// Money for a million good requests: at the load if that is the goal, at the edge under a budget.
pub fn per_million(problem: &Problem, load_per_s: f64, choice: &Choice) -> Field {
    let usd = match problem.budget {
        None => choice.usd_per_million_at_load(load_per_s),
        Some(_) => choice.usd_per_million_at_edge(problem.plan.target()),
    };
    usd.map_or_else(Field::default, |usd| Field::number(usd, format!("{usd:.2}")))
}
