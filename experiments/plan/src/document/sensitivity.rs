//! What an answer stands on, in words and as a table.

use crate::document::money::month;
use crate::input::file::Pools;
use crate::input::perturbation::varies_as_measured;
use crate::input::problem::Problem;
use crate::search::answer::{Answer, Choice, money, percent};
use crate::search::clusters::Enough;
use crate::search::replan::{Next, is_wanted};
use crate::search::runners_up::{dearer, roomier};
use crate::search::sensitivity::{Better, Held, Robust, Strained};
use crate::search::solved::Solved;
use orrery_report::page::{Field, Part, Table, Tone};
use orrery_scenario::scenario::file::Model;
use std::collections::BTreeSet;

/// What carries the load where the answer does not hold.
const NEXT: &str = "next answer";

/// Under what an answer breaks, for the first sentence, and what carries the load then.
pub fn breaks(problem: &Problem, robust: &Robust) -> Option<String> {
    let target = problem.plan.target();
    let (worst, bad_rate) = robust.worst(target)?;
    let (bad, allowed) = (percent(bad_rate), percent(target));
    // Of a fleet it is said with the first of its clusters.
    let same = robust.all.iter().filter(|s| s.what_if == worst.what_if);
    let of_worst = |s: &&Strained| problem.plan.pools == Pools::Fleet || s.group == worst.group;
    let next = same.filter(of_worst).find_map(|s| s.next.as_ref());
    let next =
        next.map_or(String::new(), |next| format!("; then {}", next_in_words(problem, next)));
    let when = worst.words();
    let because = match &worst.held {
        Held::Tried(check) => check.in_spite(target),
        Held::Untried(_) => None,
    };
    let because = because.map_or(String::new(), |why| format!(", but {why}"));
    Some(format!(
        "not robust: when {when}, SLO violations are {bad} % (limit {allowed} %){because}{next}"
    ))
}

/// That an answer holds under all changes that were tried, where that is sure.
pub fn holds(problem: &Problem, robust: &Robust) -> Option<String> {
    let target = problem.plan.target();
    let is_sure = |s: &Strained| matches!(&s.held, Held::Tried(check) if check.is_sure(target));
    let tried: Vec<&Strained> = robust.all.iter().filter(|s| !s.is_untried()).collect();
    let mut changes: Vec<&str> = tried.iter().map(|s| s.what_if.as_str()).collect();
    changes.dedup();
    (!changes.is_empty() && tried.into_iter().all(is_sure)).then(|| match changes.len() {
        1 => "robust to the perturbation that was tried".to_string(),
        n => format!("robust to all {n} perturbations that were tried"),
    })
}

/// `it takes 24 T4 for 12.62 $/h`.
fn next_in_words(problem: &Problem, next: &Next) -> String {
    match next {
        Next::None => "no pool that the plan allows sustains the load".to_string(),
        Next::Other(_) => format!(
            "no machines that the plan allows sustain it under its schedulers; it takes {}",
            next_words(problem, next)
        ),
        _ => format!("it takes {}", next_words(problem, next)),
    }
}

/// `24 T4 for 12.62 $/h`.
pub fn next_words(problem: &Problem, next: &Next) -> String {
    let pool = |enough: &Enough| problem.words(&enough.counts);
    match next {
        Next::Enough(enough) if problem.policies.len() == 1 => {
            format!("{} for {} $/h", pool(enough), money(enough.cost))
        }
        Next::Enough(enough) | Next::Other(enough) => {
            format!("{} under {} for {} $/h", pool(enough), enough.policy, money(enough.cost))
        }
        Next::Fleet(clusters, cost) => {
            let all: Vec<String> = clusters.iter().map(|c| problem.words(c)).collect();
            format!("{} for {} $/h", all.join(" + "), money(*cost))
        }
        Next::None => "none that the plan allows".to_string(),
    }
}

/// The machines of the answer under each change, and what else carries the load under the worst.
pub fn stands_on(solved: &Solved, robust: Option<&Robust>) -> Vec<Part> {
    let target = solved.problem.plan.target();
    let Some(robust) = robust.filter(|robust| !robust.all.is_empty()) else {
        let words = "Not tried: whether the answer holds when execution times vary, messages take longer, SLOs are \
                     tighter, or the load is higher.";
        return vec![Part::Text(words.to_string())];
    };
    let mut table = Table::new(
        "",
        &[
            "the same machines when",
            solved.problem.group_head(),
            "violations %",
            "the answer",
            NEXT,
        ],
    );
    let one_group = solved.problem.groups.len() == 1;
    for (i, strained) in robust.all.iter().enumerate() {
        let alike = |other: &Strained| strained.is_untried() && other.what_if == strained.what_if;
        // What cannot be tried cannot be tried for any model.
        if robust.all[..i].iter().any(alike) {
            continue;
        }
        let several = robust.all[i + 1..].iter().any(alike);
        let (bad, answer) = match &strained.held {
            Held::Untried(why) => {
                (Field::none(), Field::text(format!("not tried: {why}")).marked(Tone::Mixed))
            }
            Held::Tried(check) => {
                let because = check.in_spite(target);
                let because = because.map_or(String::new(), |why| format!(": {why}"));
                let words = if check.is_sure(target) {
                    Field::text("holds").marked(Tone::Good)
                } else if check.meets(target) {
                    Field::text(format!("inconclusive{because}")).marked(Tone::Mixed)
                } else {
                    Field::text(format!("does not hold{because}")).marked(Tone::Bad)
                };
                (Field::number(check.bad_rate, format!("{:.2}", 100.0 * check.bad_rate)), words)
            }
        };
        let words = |text: &str| Field::text(text);
        let line = vec![
            words(strained.words()),
            words(if one_group {
                ""
            } else if several {
                "all"
            } else {
                &strained.group
            }),
            bad,
            answer,
            strained
                .next
                .as_ref()
                .map_or_else(Field::default, |next| of_next(&solved.problem, next)),
        ];
        table.rows.push(line);
    }
    let mut points: Vec<String> = measured(solved, robust).into_iter().collect();
    if let Some((what_if, carriers)) = &robust.instead {
        points.push(match carriers.as_slice() {
            [] => format!("With {what_if}, no other scheduler sustains the load on these machines (one seed)."),
            some => format!(
                "With {what_if}, these schedulers sustain the load on the same machines (one seed): {}.",
                some.join(", ")
            ),
        });
        points.push(match is_wanted(&solved.problem.plan) {
            true => format!("`--what-if {what_if}` also finds the capacity of the next answer."),
            false => format!(
                "`--what-if {what_if}` finds machines that sustain it; `--next` does so for each of these rows."
            ),
        });
    }
    table.part().into_iter().chain(Part::list(points)).collect()
}

/// Whose execution times vary as MLPerf's runs did, for want of samples of their own: said once, where that was tried.
fn measured(solved: &Solved, robust: &Robust) -> Option<String> {
    let tried = |s: &Strained| s.what_if == "noise=mlperf" && !s.is_untried();
    if !robust.all.iter().any(tried) {
        return None;
    }
    let groups = solved.problem.groups.iter();
    let models = groups.flat_map(|group| (0..group.models.len()).map(|number| group.model(number)));
    let mut models: Vec<&Model> = models.collect();
    // One with copies on two kinds is in two groups.
    let mut seen = BTreeSet::new();
    models.retain(|model| seen.insert(&model.name));
    let names = |own: bool| -> Vec<&str> {
        let some = models.iter().filter(|model| varies_as_measured(model) == own);
        some.map(|model| model.name.as_str()).collect()
    };
    let (own, lacking) = (names(true), names(false));
    Some(match own.as_slice() {
        [] => "No model has samples of its own batches: the row of noise=mlperf has the noise of MLPerf's repeated runs."
            .to_string(),
        own => format!(
            "Without samples of their own batches: {}; the row of noise=mlperf has the noise of MLPerf's repeated runs. \
             With samples, used in every row: {}.",
            lacking.join(", "),
            own.join(", ")
        ),
    })
}

fn of_next(problem: &Problem, next: &Next) -> Field {
    let text = Field { key: None, ..Field::text(next_words(problem, next)) };
    if matches!(next, Next::None) { text.marked(Tone::Bad) } else { text }
}

/// `16 V100 cost 4 % more (9227 $/month) and have 78 % headroom instead of 1 %`, and whether they hold where the
/// answer does not.
pub fn for_little_more(
    problem: &Problem,
    answer: &Answer,
    robust: Option<&Robust>,
) -> Option<String> {
    let better = robust.and_then(|robust| robust.worth.iter().find(|b| b.group == answer.group));
    let place = match better {
        Some(better) => better.place,
        None => roomier(problem, answer)?,
    };
    let (best, other) = (answer.best()?, answer.choices.get(place)?);
    let headroom = |c: &Choice| {
        let share = c.headroom(answer.load_per_s);
        share.map_or("-".to_string(), |share| format!("{:.0} %", share * 100.0))
    };
    let pool = match problem.policies.len() {
        1 => problem.words(&other.counts),
        _ => format!("{} under {}", problem.words(&other.counts), other.policy),
    };
    let tried = better.iter().flat_map(|better| &better.tried);
    let tried: Vec<_> = tried.filter(|s| !s.is_untried()).collect();
    let target = problem.plan.target();
    let fails: Vec<&str> =
        tried.iter().filter(|s| s.bad_rate(target).is_some()).map(|s| s.words()).collect();
    let mut stands = String::new();
    if let Some(Better { gained, .. }) = better.filter(|better| !better.gained.is_empty()) {
        let when = gained.join(" and when ");
        stands = format!("; they hold when {when}, where the answer does not");
    }
    stands += &match (tried.len(), fails.as_slice()) {
        (0, _) => String::new(),
        (1, []) => "; they hold under the change below".to_string(),
        (n, []) => format!("; they hold under all {n} changes below"),
        (_, some) => format!("; they do not hold when {}", some.join(", or when ")),
    };
    Some(format!(
        "{}: for a little more, {pool} cost {} ({} $/month) and have {} headroom instead of {}{stands}",
        answer.group,
        more(dearer(best, other)),
        month(other.cost),
        headroom(other),
        headroom(best),
    ))
}

/// `4 % more`.
fn more(share: f64) -> String {
    match (share * 100.0).round() {
        0.0 if share > 0.0 => "less than 1 % more".to_string(),
        0.0 => "the same".to_string(),
        whole => format!("{whole:.0} % more"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_dearer_by_less_than_a_percent_is_not_the_same() {
        assert_eq!(super::more(0.0013), "less than 1 % more");
        assert_eq!(
            (super::more(0.0).as_str(), super::more(0.041).as_str()),
            ("the same", "4 % more")
        );
    }
}
