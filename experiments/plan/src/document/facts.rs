//! What an answer says beside its pool: the sizes over the day, and what one machine less carries.

use crate::document::variants;
use crate::input::day::clock;
use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::input::request_list::OfList;
use crate::search::answer::{Answer, Choice, money, percent, significant};
use crate::search::variants::{Tried, Variant};
use orrery_results::{RESULT_VERSION, Row, metric};
use orrery_scenario::scenario::file::{RateBy, SPEED_NOTED};

/// In sentences, for every form of the answer.
pub fn facts(problem: &Problem, answer: &Answer) -> Vec<String> {
    let Some(best) = answer.best() else { return Vec::new() };
    let mut lines = Vec::new();
    if problem.day.follows() {
        lines.push(sizes(problem, answer, best));
        let is_transition = |t: &Tried| matches!(t.variant, Variant::Transition { .. });
        let changes = best.sizes.iter().any(|size| size.counts != best.sizes[0].counts);
        if changes && !best.tried.iter().any(is_transition) {
            let why = "no request arrives after one, none has an SLO, or the load is a whole trace at every level \
                       (`day.profile`)";
            lines.push(format!("scaling transitions were not simulated: {why}"));
        }
    }
    if best.hardest > 0 {
        let (from, load) = (problem.day.begins(best.hardest), problem.day.levels[best.hardest]);
        lines.push(format!(
            "its worst step is the one from {from}, with {} % of the peak's requests; the capacity is judged there",
            percent(load)
        ));
    }
    lines
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
    format!(
        "over the day: {}; at the peak {} $/h and {} requests/s",
        paid.join(", "),
        money(problem.cost(&best.counts)),
        significant(answer.load_per_s)
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
        copies => format!("{} copies of the list, shifted by the seed", significant(copies)),
    };
    let speed = significant(list.speed);
    let mut lines = vec![match list.by {
        RateBy::Copies => format!("the load is {copies}; other loads are more or fewer copies"),
        RateBy::Speed => {
            format!("the load is {copies}, {speed} times as fast; other loads are as much faster")
        }
    }];
    if list.speed > SPEED_NOTED {
        lines.push(format!(
            "bursts of the list are {speed} times as dense and as much shorter than recorded, as if each user were \
             {speed} times as fast; more users of the same kind are `growth = {{ copies = {} }}`",
            list.speed
        ));
    }
    lines
}

/// What the simulations leave out. A trace is judged as it is; where it is no day, pools of some models have its counts,
/// and not its requests.
pub fn not_modelled(p: &Problem) -> String {
    let is_trace = p.groups.iter().any(|group| group.is_trace);
    let is_whole = p.plan.pools == Pools::Homogeneous || p.models().len() < 2;
    let more = [
        (is_trace, ", bursts beside the trace's own"),
        (is_trace && p.plan.is_to_survive(), ", the loss of a machine within the trace"),
        (
            is_trace && !is_whole && p.trace.is_none(),
            ", which requests of the trace a pool has: it meets the trace's counts at its models' share of the load \
             (`trace_steps` of a `[day]` would say)",
        ),
    ];
    let more: String = more.iter().filter(|(is_so, _)| *is_so).map(|(_, words)| *words).collect();
    format!(
        "Not modelled: failures beyond the loss of a machine, the network beyond the delays of the scenario, the start \
         of machines{more}."
    )
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
    let is_loss = |tried: &&Tried| matches!(tried.variant, Variant::Loss { .. });
    let of = |tried: &Tried| variants::rows(problem, base, tried);
    let mut rows: Vec<Row> = choice.tried.iter().filter(is_loss).flat_map(of).collect();
    if problem.plan.day.is_some() {
        rows.push(base.of_all(metric::MEAN_LOAD, choice.mean_load));
    }
    if problem.day.follows() {
        let at_peak = problem.cost(&choice.counts).as_usd_per_hour();
        rows.push(base.of_all(metric::COST_AT_PEAK, at_peak));
        rows.extend(choice.tried.iter().filter(|tried| !is_loss(tried)).flat_map(of));
    }
    rows
}
