//! What an answer says beside its pool: the sizes over the day, and what one machine less carries.

use super::answer::{Answer, Choice, money, percent, significant};
use super::problem::Problem;
use super::size::Less;
use orrery_results::{Row, metric, unit};

/// In sentences, for every form of the answer.
pub fn facts(problem: &Problem, answer: &Answer) -> Vec<String> {
    let Some(best) = answer.best() else { return Vec::new() };
    let mut lines: Vec<String> = best.less.iter().map(with_less).collect();
    if let Some(kind) = problem.plan.may_lose_only().filter(|kind| best.counts[*kind] == 0) {
        let kind = problem.kind(kind);
        lines.push(format!("`survive` changes nothing here: there is no {kind} to be lost"));
    }
    if problem.day.follows() {
        lines.push(sizes(problem, answer, best));
    }
    lines
}

fn with_less(less: &Less) -> String {
    let machine = &less.machine;
    if less.at_load.is_none() {
        return format!("with one {machine} less: nothing is left");
    }
    format!(
        "with one {machine} less: {} % of the worst model bad at the load; carries {}/s (first seed)",
        percent(less.bad_rate()),
        significant(less.carries_per_s)
    )
}

/// The sizes from when on.
fn sizes(problem: &Problem, answer: &Answer, best: &Choice) -> String {
    let by_level: Vec<u32> = best.sizes.iter().map(|s| s.n).collect();
    let paid = problem.day.paid(&by_level);
    let at = |(ms, n): &(u64, u32)| format!("{n} from {}:{:02}", ms / 3_600_000, ms / 60_000 % 60);
    let paid: Vec<String> = paid.iter().map(at).collect();
    let worst = best.sizes.iter().map(|s| s.check.bad_rate).fold(0.0, f64::max);
    format!(
        "over the day: {}; at the peak {} $/h, and {} requests/s; at most {} % of the worst model bad at any \
         of {} levels of load",
        paid.join(", "),
        money(problem.cost(&best.counts)),
        significant(answer.load_per_s),
        percent(worst),
        best.sizes.len()
    )
}

/// What holds for the whole plan.
pub fn of_plan(problem: &Problem) -> Vec<String> {
    let mut lines = Vec::new();
    if problem.plan.is_to_survive() {
        let machines: Vec<String> = (0..problem.sales.len())
            .filter(|kind| problem.counts_max[*kind] > 0 && problem.lost(*kind) > 1)
            .map(|kind| problem.machine(kind, problem.lost(kind)).1)
            .collect();
        let machines = match machines.as_slice() {
            [] => String::new(),
            some => format!("; a machine is {}, and all of it is lost", some.join(" or ")),
        };
        lines.push(match problem.plan.may_lose_only() {
            Some(kind) => format!(
                "one {} may be lost, and no other machine: the others carry the load{machines}",
                problem.kind(kind)
            ),
            None => format!(
                "any one machine of each type may be lost: the others carry the load{machines}"
            ),
        });
    }
    if problem.plan.day.as_ref().is_some_and(|day| day.trace_steps.is_some()) {
        let busiest = problem.day.busiest.filter(|times| *times >= 1.01);
        let busiest = busiest.map_or(String::new(), |times| {
            let times = significant(times);
            format!(
                "; the busiest 60th of the peak's step has {times} times the step's load, which `--what-if \
                 load={times}` asks about"
            )
        });
        lines.push(format!(
            "the whole trace is one day; within a step its arrivals were simulated as Poisson, without its \
             bursts{busiest}"
        ));
    }
    if problem.plan.day.is_some() {
        let mean = percent(problem.day.mean);
        let what = if problem.day.follows() {
            "$/h is the mean over the day; each size was verified at its own load, the change-over from one \
             size to the next was not simulated"
        } else {
            "one size for the whole day"
        };
        lines
            .push(format!("loads are those at the day's peak, the mean is {mean} % of it; {what}"));
    }
    lines
}

/// As rows beside those of the choice.
pub fn rows(problem: &Problem, choice: &Choice, base: &Row) -> Vec<Row> {
    let row = |metric: &str, value: f64| Row {
        metric: metric.to_string(),
        unit: unit(metric).to_string(),
        value: Some(value),
        ..base.clone()
    };
    let mut rows = Vec::new();
    for less in &choice.less {
        let scope = format!("kind {}", problem.kind(less.kind));
        let interval = less.at_load.as_ref().and_then(|check| check.interval);
        let bad = row(metric::BAD_WITH_ONE_LESS, less.bad_rate());
        let mut bad = Row { scope: scope.clone(), ..bad };
        interval.iter().for_each(|i| bad.set_interval(i.low, i.high, "replications"));
        rows.push(bad);
        // Of the first seed alone.
        let seeds = format!("{0}-{0}", problem.plan.seed);
        let carries = row(metric::ALLOWABLE_WITH_ONE_LESS, less.carries_per_s);
        rows.push(Row { scope, seeds, ..carries });
    }
    if problem.day.follows() {
        let at_peak = problem.cost(&choice.counts).as_usd_per_hour();
        rows.push(row(metric::COST_AT_PEAK, at_peak));
        for size in &choice.sizes {
            let load = significant(size.load_per_s);
            let axes = format!("{};load_per_s={load};size={}", base.axes, size.n);
            let one = row(metric::BAD_AT_LEVEL, size.check.bad_rate);
            rows.push(Row { axes, ..one });
        }
    }
    if problem.plan.day.is_some() {
        rows.push(row(metric::MEAN_LOAD, choice.mean_load));
    }
    rows
}
