//! What is said of an answer, in sentences, whatever form it leaves in.

use crate::document::facts;
use crate::document::fleet;
use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::search::answer::{Answer, Choice, money, percent, significant};
use crate::search::solved::Solved;
use crate::search::too_few::TooFew;
use orrery_scenario::bound::Bound;

impl Problem {
    /// What is asked, in a sentence.
    pub fn question(&self) -> String {
        let what = match (self.budget, self.plan.pools) {
            (_, Pools::Fleet) => {
                "the cheapest fleet that sustains the load, each model on one type".to_string()
            }
            (Some(budget), Pools::Heterogeneous) => {
                format!(
                    "for each model the pool with the highest capacity for at most {} $/h",
                    money(budget)
                )
            }
            (Some(budget), Pools::Homogeneous) => {
                format!("the cluster with the highest capacity for at most {} $/h", money(budget))
            }
            (None, Pools::Heterogeneous) => {
                "for each model the cheapest pool that sustains its load".to_string()
            }
            (None, Pools::Homogeneous) => "the cheapest cluster that sustains the load".to_string(),
        };
        let bad = percent(self.plan.target());
        format!(
            "{what}, with at most {bad} % SLO violations (requests that are late or dropped) of any model"
        )
    }
}

/// How far the answer of a group can be trusted.
pub fn confidence(problem: &Problem, answer: &Answer) -> String {
    let Some(best) = answer.best() else { return "no answer".to_string() };
    let (seeds, target) = (problem.plan.seeds, percent(problem.plan.target()));
    let mut words = Vec::new();
    if problem.budget.is_none() {
        let interval = best.at_load.interval.map_or(String::new(), |i| {
            // Outwards: of few bad requests, as many as there may be are not rounded to none.
            let (low, high) = ((i.low * 1e4).floor() / 100.0, (i.high * 1e4).ceil() / 100.0);
            format!(", {low:.2} to {high:.2} with 95 % confidence")
        });
        words.push(format!(
            "SLO violations of the worst model at the load: {:.2} %{interval} (limit {} %); {seeds} seeds",
            best.at_load.bad_rate * 100.0,
            target
        ));
    }
    let tied = answer.tied();
    let others = answer.choices.len() - 1;
    if problem.budget.is_some() && others > 0 {
        words.push(if tied.is_empty() {
            format!(
                "it sustains more than all {others} runners-up with 95 % confidence, {seeds} seeds"
            )
        } else {
            let cheapest = tied.iter().map(|c| (c.cost, *c)).min_by_key(|c| c.0);
            let cheaper =
                cheapest.filter(|c| c.0 < best.cost).map_or(String::new(), |(cost, c)| {
                    format!(
                        "; of these {} is the cheapest, {} $/h",
                        problem.words(&c.counts),
                        money(cost)
                    )
                });
            format!(
                "{} of {others} runners-up cannot be distinguished from it with {seeds} seeds{cheaper}",
                tied.len()
            )
        });
    }
    words.join("; ")
}

/// How far the search went, in a sentence.
pub fn search(problem: &Problem, answer: &Answer) -> String {
    let s = answer.searched;
    let slack = match problem.plan.pools {
        Pools::Heterogeneous => format!(
            " (a pool above it by more than {} % would be missed)",
            percent(problem.plan.bound_slack())
        ),
        _ => String::new(),
    };
    let of_level = match problem.plan.pools {
        Pools::Heterogeneous if problem.day.follows() => " at the day's peak",
        _ => "",
    };
    format!(
        "{} pools, {} simulated{of_level}, {} excluded by their upper bound{slack}, {} not needed; {} runs",
        s.pools, s.simulated, s.skipped_by_bound, s.left, s.runs
    )
}

/// With how many machines of each type no scheduler reaches the goal, and what exactly is proven.
pub fn too_few(p: &Problem, a: &Answer) -> Vec<String> {
    let of = |few: &TooFew| {
        let kind = p.kind(few.kind);
        let Some(highest) = few.bounds.iter().map(Bound::finish_rate).reduce(f64::max) else {
            return format!(
                "whether another scheduler needs fewer {kind} is not known: {}",
                few.why()
            );
        };
        let next = few.n + 1;
        let has_next = a.choices.iter().any(|choice| choice.counts[few.kind] == next);
        let fewest = has_next.then(|| format!("; so {next} are the fewest for any scheduler"));
        format!(
            "no scheduler sustains the load with {} {kind}: in none of {} runs, {} requests in all, can more than {} % be \
             in time, and the goal is {} %{}",
            few.n,
            few.bounds.len(),
            few.bounds.iter().map(|bound| bound.offered).sum::<u64>(),
            // Upwards: it stays a bound.
            (highest * 1e5).ceil() / 1e3,
            percent(1.0 - p.plan.target()),
            fewest.unwrap_or_default()
        )
    };
    a.too_few.iter().map(of).collect()
}

/// A sentence about a group, which is named where there are several.
pub fn of_group(solved: &Solved, a: &Answer, line: &str) -> String {
    match solved.answers.len() {
        1 => format!("{line}."),
        _ => format!("{}: {line}.", a.group),
    }
}

/// What is said of the plan as a whole, beside its table.
pub fn whole(solved: &Solved) -> Vec<String> {
    let p = &solved.problem;
    let fleet = solved.fleet.iter().flat_map(|fleet| {
        let lines = fleet::lines(p, fleet).into_iter();
        let searched = format!("searched: {}", fleet::searched(fleet));
        lines.chain([searched]).map(|line| format!("fleet: {line}"))
    });
    facts::of_plan(p).into_iter().chain(fleet).collect()
}

/// What is not known, and cheaper pools that are not sure.
pub fn doubts(p: &Problem, a: &Answer) -> Vec<String> {
    let close = a.close.iter().map(|(counts, cost, check)| {
        format!(
            "inconclusive: {} for {} $/h has {:.2} % SLO violations at the load{}, within the target, but {}",
            p.words(counts),
            money(*cost),
            check.bad_rate * 100.0,
            if p.plan.may_lose_of(counts) { " without one machine" } else { "" },
            check.why_not_sure()
        )
    });
    let short = a.best().filter(|b| p.budget.is_some() && b.edge.rate_per_s < a.load_per_s);
    let short = short.map(|b| {
        format!(
            "the budget is too small: the load is {} requests/s, and the pool sustains {}",
            significant(a.load_per_s),
            significant(b.edge.rate_per_s)
        )
    });
    let lacks = |best: &Choice| p.plan.may_lose_only().filter(|kind| best.counts[*kind] == 0);
    let want = a.best().and_then(lacks).map(|kind| {
        let kind = p.kind(kind);
        format!("`survive` changes nothing here: the answer has no {kind} to lose")
    });
    let unknown = a.unknown.iter().map(|u| format!("not known: {u}"));
    want.into_iter().chain(short).chain(unknown).chain(close).collect()
}
