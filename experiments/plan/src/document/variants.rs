//! What the machines of an answer do in variants of the scenario, said in one way: as a clause, a line of the table, rows.

use crate::document::cells::name;
use crate::document::head::head;
use crate::document::money::month;
use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::search::answer::{Answer, Choice, money, percent, significant};
use crate::search::replan::is_wanted;
use crate::search::robust::{Better, Robust, USUAL};
use crate::search::runners_up::{dearer, roomier};
use crate::search::solved::Solved;
use crate::search::trial::Check;
use crate::search::variants::{Next, Tried, Variant, worst};
use orrery_report::page::{Field, Part, Table, Tone};
use orrery_results::{Row, metric};

/// With more times the requests of a plan a verdict is not said to be decided.
const DECIDED_MAX: f64 = 100.0;

/// `when the load is 10 % higher`, `without one T4`, `in the step from 9:00 (3 T4)`.
fn clause(p: &Problem, tried: &Tried) -> String {
    let pool = |counts: &[u32]| p.words(counts);
    match &tried.variant {
        Variant::Step { level, .. } => {
            format!("in the step from {} ({})", p.day.begins(*level), pool(&tried.counts))
        }
        Variant::Transition { at_ms, from } => {
            format!("from {} to {} at {}", pool(from), pool(&tried.counts), p.day.clock(*at_ms))
        }
        Variant::Loss { machine, .. } => format!("without one {machine}"),
        Variant::WhatIf(text) => {
            let usual = USUAL.iter().find(|(usual, _)| usual == text);
            format!("when {}", usual.map_or(text.as_str(), |(_, words)| words))
        }
    }
}

/// `24 T4 for 12.62 $/h`.
fn next_words(p: &Problem, next: &Next) -> String {
    let Some(enough) = next.enough() else { return "none that the plan allows".to_string() };
    let pools: Vec<String> = enough.pools.iter().map(|counts| p.words(counts)).collect();
    let is_plain = matches!(next, Next::Enough(_)) && p.policies.len() == 1;
    let under = match enough.policy.as_str() {
        policy if is_plain || policy.is_empty() => String::new(),
        policy => format!(" under {policy}"),
    };
    let (pools, usd) = (pools.join(" + "), money(enough.cost));
    match p.day.follows() {
        true => format!("{pools}{under} at the peak, {usd} $/h on average"),
        false => format!("{pools}{under} for {usd} $/h"),
    }
}

/// Under what an answer breaks, for the first sentence, and what carries the load then: the worst what-if, and the worst
/// loss of a machine, of each pool.
pub fn breaks(solved: &Solved, robust: Option<&Robust>) -> [Option<String>; 2] {
    let (p, target) = (&solved.problem, solved.problem.plan.target());
    let best = solved.answers.iter().filter_map(Answer::best);
    let all = best.flat_map(|best| &best.tried).filter(|_| p.budget.is_none());
    let is_loss = |tried: &&Tried| matches!(tried.variant, Variant::Loss { .. });
    let losses: Vec<&Tried> =
        all.filter(is_loss).filter(|loss| loss.bad_rate(target).is_some()).collect();
    let what_if = robust.and_then(|robust| robust.worst(target));
    let words = |tried: &Tried| {
        let bad = percent(tried.bad_rate(target).unwrap_or(1.0));
        let check = tried.check.as_ref().ok();
        let because = check.and_then(|check| check.in_spite(target));
        let because = because.map_or(String::new(), |why| format!(", but {why}"));
        // Of a fleet it is said with the first of its clusters.
        let all = robust.iter().flat_map(|robust| &robust.all);
        let same = all.filter(|s| p.plan.pools == Pools::Fleet && s.variant == tried.variant);
        let next = tried.next.as_ref().or(same.filter_map(|s| s.next.as_ref()).next());
        let is_part = next.and_then(Next::enough).is_some_and(|e| e.pools.len() < p.groups.len());
        let what = if is_part { "this pool" } else { "it" };
        let next = next.map_or(String::new(), |next| match next {
            Next::None => "; no pool that the plan allows sustains the load then".to_string(),
            Next::Enough(_) => format!("; then {what} takes {}", next_words(p, next)),
            Next::Other(_) => format!(
                "; no machines that the plan allows sustain it under its schedulers; {what} takes {}",
                next_words(p, next)
            ),
        });
        let group = if p.groups.len() > 1 { format!("{}: ", tried.group) } else { String::new() };
        let when = clause(p, tried);
        format!(
            "{group}{when}, SLO violations are {bad} % (limit {} %){because}{next}",
            percent(target)
        )
    };
    // Each pool of a fleet has a worst one of its own.
    let of_pools = losses.chunk_by(|a, b| a.group == b.group);
    let losses: Vec<String> =
        of_pools.filter_map(|own| worst(own.iter().copied())).map(words).collect();
    let losses = (!losses.is_empty()).then(|| losses.join("; "));
    [what_if.map(|tried| format!("not robust: {}", words(tried))), losses]
}

/// That an answer holds under all what-ifs that were tried, where that is sure.
pub fn holds(robust: &Robust, target: f64) -> Option<String> {
    let tried: Vec<&Tried> = robust.all.iter().filter(|s| s.check.is_ok()).collect();
    let mut variants: Vec<&Variant> = tried.iter().map(|s| &s.variant).collect();
    variants.dedup();
    let all_hold = tried.iter().all(|s| s.is_sure(target));
    (!variants.is_empty() && all_hold).then(|| match variants.len() {
        1 => "robust to the perturbation that was tried".to_string(),
        n => format!("robust to all {n} perturbations that were tried"),
    })
}

/// Of a choice the losses, and of its steps and of its transitions the worst and those that do not surely hold.
fn shown(choice: &Choice, target: f64) -> impl Iterator<Item = &Tried> {
    let steps = |tried: &&Tried| matches!(tried.variant, Variant::Step { .. });
    let transitions = |tried: &&Tried| matches!(tried.variant, Variant::Transition { .. });
    let all = || choice.tried.iter().filter(|_| choice.sizes.len() > 1);
    let worst = [worst(all().filter(steps)), worst(all().filter(transitions))];
    choice.tried.iter().filter(move |tried| match tried.variant {
        Variant::Loss { .. } | Variant::WhatIf(_) => true,
        _ if choice.sizes.len() < 2 => false,
        _ => {
            let is_worst = worst.iter().flatten().any(|worst| std::ptr::eq(*worst, *tried));
            is_worst || !tried.is_sure(target)
        }
    })
}

/// The verdict in a variant.
fn verdict(p: &Problem, tried: &Tried) -> Field {
    let target = p.plan.target();
    let check = match &tried.check {
        Ok(_) if tried.is_sure(target) => return Field::text("holds").marked(Tone::Good),
        Ok(check) => check,
        Err(why) => return Field::text(format!("not tried: {why}")).marked(Tone::Mixed),
    };
    let undecided = check.undecided(target);
    let because = match (check.in_spite(target), undecided) {
        (Some(why), _) => format!(": {why}"),
        (None, Some((why, _))) => format!(", though {why}"),
        (None, None) => String::new(),
    };
    let decides = undecided.filter(|(_, times)| *times < DECIDED_MAX);
    let decides = decides.map_or(String::new(), |(_, times)| {
        let requests = significant(p.plan.requests_per_model as f64 * times.max(1.0));
        format!("; {requests} requests for each model decide")
    });
    match check.meets(target) {
        true => Field::text(format!("inconclusive{because}{decides}")).marked(Tone::Mixed),
        false => Field::text(format!("does not hold{because}{decides}")).marked(Tone::Bad),
    }
}

/// The machines of the answer in each variant, and what else carries the load under the worst what-if.
pub fn stands_on(solved: &Solved, robust: Option<&Robust>) -> Vec<Part> {
    let (p, target) = (&solved.problem, solved.problem.plan.target());
    let head = ["the answer's machines", p.group_head(), "violations %", "verdict", "next answer"];
    let mut table = Table::new("", &head);
    let own = solved.answers.iter().filter_map(Answer::best);
    let what_ifs = robust.map_or([].as_slice(), |robust| &robust.all);
    let all: Vec<&Tried> = own.flat_map(|best| shown(best, target)).chain(what_ifs).collect();
    for (i, tried) in all.iter().enumerate() {
        // What cannot be tried cannot be tried for any model.
        let alike = |other: &&Tried| tried.check.is_err() && other.variant == tried.variant;
        if all[..i].iter().any(alike) {
            continue;
        }
        let group = match p.groups.len() {
            1 => "",
            _ if all[i + 1..].iter().any(alike) => "all",
            _ => &tried.group,
        };
        let bad =
            |check: &Check| Field::number(check.bad_rate, format!("{:.2}", 100.0 * check.bad_rate));
        let next = |next: &Next| match next {
            Next::None => name(&next_words(p, next)).marked(Tone::Bad),
            _ => name(&next_words(p, next)),
        };
        table.rows.push(vec![
            Field::text(clause(p, tried)),
            Field::text(group),
            tried.check.as_ref().map_or_else(|_| Field::none(), bad),
            verdict(p, tried),
            tried.next.as_ref().map_or_else(Field::default, next),
        ]);
    }
    let tried = robust.filter(|robust| !robust.all.is_empty());
    let points = match tried.map(|robust| &robust.instead) {
        Some(instead) => instead.iter().map(|instead| instead_words(p, instead)).collect(),
        None => vec![
            "Not tried: whether the answer holds when execution times vary, messages take longer, SLOs are tighter, or \
             the load is higher."
                .to_string(),
        ],
    };
    table.part().into_iter().chain(Part::list(points)).collect()
}

/// Who sustains the load on the same machines under the worst what-if.
fn instead_words(p: &Problem, (what_if, carriers): &(String, Vec<String>)) -> String {
    let who = match carriers.as_slice() {
        [] => "no other scheduler sustains the load on these machines (one seed)".to_string(),
        some => format!(
            "these schedulers sustain the load on the same machines (one seed): {}",
            some.join(", ")
        ),
    };
    let more = if is_wanted(&p.plan) { "" } else { "; `--next` finds machines that sustain it" };
    format!("With {what_if}, {who}{more}.")
}

/// `16 V100 cost 4 % more (9227 $/month) and have 78 % headroom instead of 1 %`, and whether they hold where the
/// answer does not.
pub fn for_little_more(p: &Problem, answer: &Answer, robust: Option<&Robust>) -> Option<String> {
    let better = robust.and_then(|robust| robust.worth.iter().find(|b| b.group == answer.group));
    let place = match better {
        Some(better) => better.place,
        None => roomier(p, answer)?,
    };
    let (best, other) = (answer.best()?, answer.choices.get(place)?);
    let headroom = |c: &Choice| {
        let share = c.headroom(answer.load_per_s);
        share.map_or("-".to_string(), |share| format!("{:.0} %", share * 100.0))
    };
    let pool = match p.policies.len() {
        1 => p.words(&other.counts),
        _ => format!("{} under {}", p.words(&other.counts), other.policy),
    };
    Some(format!(
        "{}: for a little more, {pool} cost {} ({} $/month) and have {} headroom instead of {}{}",
        answer.group,
        more(dearer(best, other)),
        month(other.cost),
        headroom(other),
        headroom(best),
        better.map_or(String::new(), |better| stands(p, better)),
    ))
}

/// Under which what-ifs a runner-up holds, for its sentence.
fn stands(p: &Problem, better: &Better) -> String {
    let target = p.plan.target();
    let tried: Vec<&Tried> = better.tried.iter().filter(|s| s.check.is_ok()).collect();
    let fails = tried.iter().filter(|s| s.bad_rate(target).is_some()).map(|s| clause(p, s));
    let fails: Vec<String> = fails.collect();
    let gained: Vec<String> = better.gained.iter().map(|i| clause(p, &better.tried[*i])).collect();
    let stands = match gained.as_slice() {
        [] => String::new(),
        some => format!("; they hold {}, where the answer does not", some.join(" and ")),
    };
    stands
        + &match (tried.len(), fails.as_slice()) {
            (0, _) => String::new(),
            (1, []) => "; they hold under the change below".to_string(),
            (n, []) => format!("; they hold under all {n} changes below"),
            (_, some) => format!("; they do not hold {}", some.join(", or ")),
        }
}

/// `4 % more`.
fn more(share: f64) -> String {
    match (share * 100.0).round() {
        0.0 if share > 0.0 => "less than 1 % more".to_string(),
        0.0 => "the same".to_string(),
        whole => format!("{whole:.0} % more"),
    }
}

/// Machines as a value of an axis: of one type the number is enough.
fn size(p: &Problem, counts: &[u32]) -> String {
    match p.plan.pools {
        Pools::Heterogeneous => p.pool(counts),
        _ => counts.iter().sum::<u32>().to_string(),
    }
}

/// What the machines do in a variant, beside the other rows of their choice; in a what-if `place` is `kept`.
pub fn rows(p: &Problem, base: &Row, tried: &Tried) -> Vec<Row> {
    let axes = |more: String| format!("{};{more}", base.axes);
    let (metric, axes, has_interval) = match &tried.variant {
        Variant::Step { load_per_s, .. } => {
            let (load, size) = (significant(*load_per_s), size(p, &tried.counts));
            (metric::BAD_AT_LEVEL, axes(format!("level_per_s={load};size={size}")), false)
        }
        Variant::Transition { at_ms, from } => {
            let (at, [from, to]) = (p.day.clock(*at_ms), [from, &tried.counts].map(|c| size(p, c)));
            (metric::BAD_AT_CHANGE, axes(format!("at={at};from={from};to={to}")), false)
        }
        Variant::Loss { .. } => (metric::BAD_WITH_ONE_LESS, base.axes.clone(), true),
        Variant::WhatIf(_) => (metric::BAD_AT_LOAD, base.axes.clone(), true),
    };
    let mut row = Row { axes, ..base.of_all(metric, 0.0) };
    let is_what_if = matches!(tried.variant, Variant::WhatIf(_));
    match &tried.check {
        Ok(check) => {
            row.value = Some(check.bad_rate);
            let interval = check.interval.filter(|_| has_interval);
            interval.iter().for_each(|i| row.set_interval(i.low, i.high, "replications"));
            if is_what_if {
                row.reason = check.in_spite(p.plan.target()).unwrap_or_default().to_string();
            }
        }
        Err(why) => row.without_answer(why.clone()),
    }
    let Variant::Loss { kind, carries_per_s, .. } = &tried.variant else { return vec![row] };
    row.scope = format!("kind {}", p.kind(*kind));
    if tried.check.as_ref().is_ok_and(|check| check.undecided(p.plan.target()).is_some()) {
        row.flag("undecided");
    }
    // Of the first seed alone.
    let (scope, seeds) = (row.scope.clone(), format!("{0}-{0}", p.plan.seed));
    let carries = base.of_all(metric::ALLOWABLE_WITH_ONE_LESS, *carries_per_s);
    vec![row, Row { scope, seeds, ..carries }]
}

/// What the answers' machines do under each what-if, and what the next answers cost, of a fleet all of it.
pub fn of_robust(solved: &Solved, robust: &Robust) -> Vec<Row> {
    let p = &solved.problem;
    let text = |tried: &Tried| match &tried.variant {
        Variant::WhatIf(text) => text.clone(),
        _ => String::new(),
    };
    let kept = |tried: &Tried| {
        let answer = solved.answers.iter().find(|a| a.group == tried.group);
        let policy = answer.and_then(Answer::best).map_or("", |best| best.policy.as_str());
        let axes = [&text(tried), "kept", &p.pool(&tried.counts)];
        rows(p, &head(p, &tried.group, axes, policy), tried)
    };
    let next = |tried: &Tried| {
        let enough = tried.next.as_ref()?.enough();
        let pools = enough.map_or([].as_slice(), |enough| &enough.pools);
        let pools: Vec<String> = pools.iter().map(|counts| p.pool(counts)).collect();
        let axes = [&text(tried), "next", &pools.join("+")];
        let case = if solved.fleet.is_some() { "fleet" } else { &tried.group };
        let base = head(p, case, axes, enough.map_or("", |enough| enough.policy.as_str()));
        let usd = enough.map_or(0.0, |enough| enough.cost.as_usd_per_hour());
        let mut row = base.of_all(metric::COST_PER_HOUR, usd);
        if enough.is_none() {
            row.without_answer("no pool that the plan allows sustains the load");
        }
        Some(row)
    };
    robust.all.iter().flat_map(kept).chain(robust.all.iter().filter_map(next)).collect()
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
