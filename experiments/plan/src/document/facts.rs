//! What an answer says beside its pool: the sizes over the day, and what the simulations leave out.

use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::input::request_list::OfList;
use crate::search::answer::{Answer, Choice, money, percent, significant};
use crate::search::variants::{Tried, Variant};
use orrery_run::PolicySpec;
use orrery_scenario::scenario::file::SPEED_NOTED;

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
    lines.extend(answer.choices.iter().filter_map(|other| held_back(problem, best, other)));
    if best.hardest > 0 {
        let (from, load) = (problem.day.begins(best.hardest), problem.day.levels[best.hardest]);
        lines.push(format!(
            "its worst step is the one from {from}, with {} % of the peak's requests; the capacity is judged there",
            percent(load)
        ));
    }
    lines
}

/// A scheduler with half the answer's capacity per machine or less has this reason in one line, where it is known: its
/// batches are as large as its `max_batch` lets them, and the answer's are larger.
fn held_back(problem: &Problem, best: &Choice, other: &Choice) -> Option<String> {
    let only = |choice: &Choice| {
        let mut used = choice.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        used.next().filter(|_| used.next().is_none()).map(|(kind, n)| (kind, f64::from(*n)))
    };
    let ((kind, n), (other_kind, other_n)) = (only(best)?, only(other)?);
    let [rate, other_rate] = [best.edge.rate_per_s / n, other.edge.rate_per_s / other_n];
    let largest = |choice: &Choice| {
        let seen = [&choice.at_load.seen, &choice.above].into_iter();
        seen.filter_map(|seen| seen.largest.get(kind)?.iter().max()).max().copied()
    };
    let (ran, most) = (largest(best)?, largest(other)?);
    let is_limit = PolicySpec::parse(&other.policy).ok()?.batch_max() == Some(most);
    let is_so = kind == other_kind && other_rate * 2.0 <= rate && is_limit && ran > most;
    is_so.then(|| {
        let [rate, other_rate] = [rate, other_rate].map(significant);
        let (kind, own, other) = (problem.kind(kind), &best.policy, &other.policy);
        format!(
            "{other} sustains {other_rate} requests/s for each {kind}, {own} {rate}: its batches end at {most} \
             (`max_batch`), those of {own} had up to {ran} requests"
        )
    })
}

/// The sizes from when on.
fn sizes(problem: &Problem, answer: &Answer, best: &Choice) -> String {
    // Of one type the number is enough.
    let in_size = |counts: &[u32]| match problem.plan.pools {
        Pools::Heterogeneous => problem.words(counts),
        _ => counts.iter().sum::<u32>().to_string(),
    };
    let by_level: Vec<Vec<u32>> = best.sizes.iter().map(|size| size.counts.clone()).collect();
    let paid = problem.day.paid(&by_level);
    let at = |(ms, counts): &(u64, Vec<u32>)| {
        format!("{} from {}", in_size(counts), problem.day.clock(*ms))
    };
    let paid: Vec<String> = paid.iter().map(at).collect();
    format!(
        "over the {}: {}; at the peak {} $/h and {} requests/s",
        problem.day.name(),
        paid.join(", "),
        money(problem.cost(&best.counts)),
        significant(answer.load_per_s)
    )
}

/// What a list that is replayed faster than it was recorded does to its bursts.
pub fn dense(list: &OfList) -> Option<String> {
    let speed = significant(list.speed);
    (list.speed > SPEED_NOTED).then(|| {
        format!(
            "bursts of the list are {speed} times as dense and as much shorter than recorded, as if each user were \
             {speed} times as fast; more users of the same kind are `growth = {{ copies = {} }}`",
            list.speed
        )
    })
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
