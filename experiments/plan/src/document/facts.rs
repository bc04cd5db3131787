//! What an answer says beside its pool: the sizes over the day, and what one machine less carries.

use crate::input::day::clock;
use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::input::request_list::OfList;
use crate::input::trace_step::REPEATED_MAX;
use crate::search::answer::{Answer, Choice, money, percent, significant};
use crate::search::change_over::Changed;
use crate::search::size::{Less, Sized};
use orrery_results::{RESULT_VERSION, Row, metric};
use orrery_scenario::scenario::file::{RateBy, SPEED_NOTED};

/// In sentences, for every form of the answer.
pub fn facts(problem: &Problem, answer: &Answer) -> Vec<String> {
    let Some(best) = answer.best() else { return Vec::new() };
    let mut lines: Vec<String> = best.less.iter().map(|less| with_less(problem, less)).collect();
    // Of one pool the first sentence says it.
    let only = problem.plan.may_lose_only().filter(|_| problem.groups.len() > 1);
    if let Some(kind) = only.filter(|kind| best.counts[*kind] == 0) {
        let kind = problem.kind(kind);
        lines.push(format!("`survive` changes nothing here: the answer has no {kind} to lose"));
    }
    if problem.day.follows() {
        lines.push(sizes(problem, answer, best));
        lines.push(changes(problem, best));
    }
    lines.extend(hardest(problem, best));
    lines
}

/// That another step than the peak's needs most, and steps whose size is not sure.
fn hardest(problem: &Problem, best: &Choice) -> Vec<String> {
    let (day, target) = (&problem.day, problem.plan.target());
    let mut lines = Vec::new();
    if best.hardest > 0 {
        let (from, load) = (day.begins(best.hardest), percent(day.levels[best.hardest]));
        let size = best.sizes.get(best.hardest);
        lines.push(match size.filter(|size| size.counts != best.sizes[0].counts) {
            Some(size) => format!(
                "the step from {from} has {load} % of the peak's requests and, because of its bursts, needs the most machines: \
                 {} instead of {}; the capacity is judged there",
                in_size(problem, &size.counts),
                in_size(problem, &best.sizes[0].counts)
            ),
            None => format!(
                "its worst step is the one from {from}, with {load} % of the peak's requests; the capacity is judged there"
            ),
        });
    }
    if day.own.is_some() {
        let open = best.sizes.iter().enumerate().filter(|(_, size)| !size.check.is_sure(target));
        let of = |(level, size): (usize, &Sized)| {
            let because = size.check.in_spite(target);
            let because = because.map_or(String::new(), |why| format!(" ({why})"));
            format!("{}{because}", day.begins(level))
        };
        let open: Vec<String> = open.map(of).collect();
        if !open.is_empty() {
            lines.push(format!("inconclusive: the steps from {}", open.join(", ")));
        }
    }
    lines
}

/// The worst of the changes of the size.
fn changes(problem: &Problem, best: &Choice) -> String {
    let changes = &best.changes;
    let worst = changes.iter().reduce(|a, b| if b.bad_rate > a.bad_rate { b } else { a });
    let Some(worst) = worst else {
        let is_one = best.sizes.iter().all(|size| size.counts == best.sizes[0].counts);
        return match is_one {
            true => "the allocation does not change over the day".to_string(),
            false => {
                "scaling transitions were not simulated: no request arrives after one, none has \
                      an SLO, or the load is a whole trace at every level (`day.profile`)"
                    .to_string()
            }
        };
    };
    let target = problem.plan.target();
    let allowed = match worst.bad_rate > target {
        true => format!(", above the limit of {} % for a step", percent(target)),
        false => String::new(),
    };
    format!(
        "scaling transitions: {} simulated from {} s before to {} s after; SLO violations of the worst model after one \
         are at most {} % (from {} to {} at {}){allowed}",
        match changes.len() {
            1 => "the only one was".to_string(),
            n => format!("{n} were"),
        },
        significant(worst.lasts.as_secs_f64()),
        significant(worst.lasts.as_secs_f64()),
        percent(worst.bad_rate),
        in_size(problem, &worst.from),
        in_size(problem, &worst.to),
        clock(worst.at_ms)
    )
}

fn with_less(problem: &Problem, less: &Less) -> String {
    let machine = &less.machine;
    let Some(check) = &less.at_load else {
        return format!("without one {machine}: no machine is left");
    };
    // The number below the answer's is refused by its figure, or says why it is open.
    let undecided = check.undecided(problem.plan.target()).map(|(why, times)| {
        let requests = problem.plan.requests_per_model as f64 * times.max(1.0);
        let requests = significant(requests);
        format!(
            ", which decides nothing: {why}; {requests} requests for each model would decide it"
        )
    });
    format!(
        "without one {machine}: {} % SLO violations of the worst model at the load{}; capacity {}/s (first seed)",
        percent(less.bad_rate()),
        undecided.unwrap_or_default(),
        significant(less.carries_per_s)
    )
}

/// A size of a pool: of one type the number is enough.
fn in_size(problem: &Problem, counts: &[u32]) -> String {
    match problem.plan.pools {
        Pools::Heterogeneous => problem.words(counts),
        _ => counts.iter().sum::<u32>().to_string(),
    }
}

/// The sizes from when on.
fn sizes(problem: &Problem, answer: &Answer, best: &Choice) -> String {
    let by_level: Vec<Vec<u32>> = best.sizes.iter().map(|size| size.counts.clone()).collect();
    let paid = problem.day.paid(&by_level);
    let at = |(ms, counts): &(u64, Vec<u32>)| {
        format!("{} from {}", in_size(problem, counts), clock(*ms))
    };
    let paid: Vec<String> = paid.iter().map(at).collect();
    let worst = best.sizes.iter().map(|s| s.check.bad_rate).fold(0.0, f64::max);
    let any = match (problem.day.own.is_some(), best.sizes.len()) {
        (true, n) => format!("in any of {n} steps"),
        (false, n) => format!("at any of {n} levels of load"),
    };
    format!(
        "over the day: {}; at the peak {} $/h and {} requests/s; SLO violations of the worst model are at most {} % {any}",
        paid.join(", "),
        money(problem.cost(&best.counts)),
        significant(answer.load_per_s),
        percent(worst)
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
                "tolerates the loss of one {}, and of no other machine: the others sustain the load{machines}",
                problem.kind(kind)
            ),
            None => format!(
                "tolerates the loss of any one machine of each type: the others sustain the load{machines}"
            ),
        });
    }
    lines.extend(problem.list.iter().flat_map(of_list));
    lines.extend(problem.day.own.as_ref().map(|_| of_own(problem)));
    lines.extend(untried(problem));
    lines.extend(undivided(problem));
    if problem.plan.day.is_some() {
        let mean = percent(problem.day.mean);
        let what = if problem.day.follows() {
            "$/h is the mean over the day; each allocation was verified at its own load, and its machines are up when \
             their step begins"
        } else {
            "one allocation for the whole day"
        };
        lines
            .push(format!("loads are those at the day's peak, the mean is {mean} % of it; {what}"));
    }
    lines
}

/// How the list is replayed, for the reader of an answer.
fn of_list(list: &OfList) -> Vec<String> {
    let copies = match list.copies {
        1.0 => "the list itself".to_string(),
        copies => format!("{} copies of the list", significant(copies)),
    };
    let shifted = format!(
        "the first copy is the list itself, each other one is shifted by the seed within windows of {} s, around \
         their ends, and of a part of a copy each request is kept with that probability",
        significant(list.window_s)
    );
    let mut lines = vec![match list.by {
        RateBy::Copies => format!(
            "the load is {copies}; at other loads (what-ifs, robustness, capacity) there are more or fewer \
             copies: {shifted}"
        ),
        RateBy::Speed => format!(
            "the load is {copies}, {} times as fast; at other loads (what-ifs, robustness, capacity) it is as \
             much faster or slower",
            significant(list.speed)
        ),
    }];
    if list.speed > SPEED_NOTED {
        let speed = significant(list.speed);
        lines.push(format!(
            "bursts of the list are {speed} times as dense and as much shorter than recorded, as if each user were \
             {speed} times as fast; more users of the same kind are `growth = {{ copies = {} }}`",
            list.speed
        ));
    }
    lines
}

/// How the own arrivals of a trace are simulated.
fn of_own(problem: &Problem) -> String {
    let other = match problem.list {
        Some(_) => "",
        None => "; at other loads its counts are multiplied",
    };
    let of_models = match problem.trace.is_some() {
        true => ", of each pool those for its models",
        false => "",
    };
    format!(
        "the whole trace is one day; in each step its own arrivals were simulated{of_models}, with their \
         bursts{other}; a step with fewer than {} requests for each model is repeated, at most {REPEATED_MAX} times",
        problem.plan.requests_per_model
    )
}

/// What other loads are tried under and a trace is not, which is judged whole.
fn untried(problem: &Problem) -> Option<String> {
    if !problem.groups.iter().any(|group| group.is_trace) {
        return None;
    }
    let lost = match problem.plan.is_to_survive() {
        true => ", and the loss of a machine in mid-run (it is missing from the start instead)",
        false => "",
    };
    Some(format!(
        "not tried, since a trace is judged as it is: a burst beside its own (twice the load for one SLO, at most 5 s){lost}"
    ))
}

/// That pools of some models have a trace's counts, and not its requests, where it is no day.
fn undivided(problem: &Problem) -> Option<String> {
    let is_whole = problem.plan.pools == Pools::Homogeneous || problem.models().len() < 2;
    if is_whole || problem.trace.is_some() || !problem.groups.iter().any(|g| g.is_trace) {
        return None;
    }
    Some(
        "each pool meets the trace's counts at its models' share of the load; with `[day]` and `trace_steps` it meets those \
         requests of the trace that are its models'"
            .to_string(),
    )
}

/// The same as a value of an axis.
fn as_size(problem: &Problem, counts: &[u32]) -> String {
    match problem.plan.pools {
        Pools::Heterogeneous => problem.pool(counts),
        _ => in_size(problem, counts),
    }
}

/// What rows of a group, or of the fleet, have in common.
pub fn place_of(p: &Problem, case: &str) -> Row {
    let last = p.plan.seed.wrapping_add(u64::from(p.plan.seeds) - 1);
    Row {
        experiment: p.plan.name().to_string(),
        case: case.to_string(),
        scope: "all".to_string(),
        seeds: format!("{}-{last}", p.plan.seed),
        result_version: RESULT_VERSION,
        ..Row::default()
    }
}

/// As rows beside those of the choice.
pub fn rows(problem: &Problem, choice: &Choice, base: &Row) -> Vec<Row> {
    let row = |metric: &str, value: f64| base.of_all(metric, value);
    let mut rows = Vec::new();
    for less in &choice.less {
        let scope = format!("kind {}", problem.kind(less.kind));
        let interval = less.at_load.as_ref().and_then(|check| check.interval);
        let bad = row(metric::BAD_WITH_ONE_LESS, less.bad_rate());
        let mut bad = Row { scope: scope.clone(), ..bad };
        interval.iter().for_each(|i| bad.set_interval(i.low, i.high, "replications"));
        if less.at_load.as_ref().is_some_and(|c| c.undecided(problem.plan.target()).is_some()) {
            bad.flag("undecided");
        }
        rows.push(bad);
        // Of the first seed alone.
        let seeds = format!("{0}-{0}", problem.plan.seed);
        let carries = row(metric::ALLOWABLE_WITH_ONE_LESS, less.carries_per_s);
        rows.push(Row { scope, seeds, ..carries });
    }
    if problem.plan.day.is_some() {
        rows.push(row(metric::MEAN_LOAD, choice.mean_load));
    }
    if problem.day.follows() {
        let at_peak = problem.cost(&choice.counts).as_usd_per_hour();
        rows.push(row(metric::COST_AT_PEAK, at_peak));
        // Where nothing arrives nothing was simulated.
        for size in choice.sizes.iter().filter(|size| size.load_per_s > 0.0) {
            let load = significant(size.load_per_s);
            let axes =
                format!("{};level_per_s={load};size={}", base.axes, as_size(problem, &size.counts));
            let one = row(metric::BAD_AT_LEVEL, size.check.bad_rate);
            rows.push(Row { axes, ..one });
        }
        for Changed { at_ms, from, to, bad_rate, .. } in &choice.changes {
            let [from, to] = [from, to].map(|counts| as_size(problem, counts));
            let axes = format!("{};at={};from={from};to={to}", base.axes, clock(*at_ms));
            rows.push(Row { axes, ..row(metric::BAD_AT_CHANGE, *bad_rate) });
        }
    }
    rows
}
