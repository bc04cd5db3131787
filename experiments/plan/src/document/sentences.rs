//! What is said of an answer, in sentences, whatever form it leaves in.

use crate::document::facts;
use crate::document::fleet;
use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::search::answer::{Answer, Choice, money, percent, significant};
use crate::search::solved::Solved;
use crate::search::too_few::TooFew;
use orrery_results::grouped;
use orrery_run::bound::Bound;

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
    let (tied, others) = (answer.tied(), answer.choices.len() - 1);
    if problem.budget.is_some() && others > 0 {
        let cheapest = tied.iter().filter(|c| c.cost < best.cost).min_by_key(|c| c.cost);
        let cheaper = cheapest.map_or(String::new(), |c| {
            let (words, cost) = (problem.words(&c.counts), money(c.cost));
            format!("; of these {words} is the cheapest, {cost} $/h")
        });
        words.push(format!(
            "{} of {others} runners-up cannot be distinguished from it with {seeds} seeds{cheaper}",
            tied.len()
        ));
    }
    words.join("; ")
}

/// How far the search went, in a sentence.
pub fn search(problem: &Problem, answer: &Answer) -> String {
    let s = answer.searched;
    let slack = percent(problem.plan.bound_slack());
    let (of_level, slack) = match (problem.plan.pools, problem.day.follows()) {
        (Pools::Heterogeneous, follows) => (
            if follows { format!(" at the {}'s peak", problem.day.name()) } else { String::new() },
            format!(" (a pool above it by more than {slack} % would be missed)"),
        ),
        _ => (String::new(), String::new()),
    };
    format!(
        "{} pools, {} simulated{of_level}, {} excluded by their upper bound{slack}, {} not needed; {} runs",
        s.pools, s.simulated, s.skipped_by_bound, s.left, s.runs
    )
}

/// With how many machines of each type no scheduler reaches the goal, and what exactly is proven.
pub fn too_few(p: &Problem, a: &Answer) -> Vec<String> {
    let (proven, open): (Vec<&TooFew>, Vec<&TooFew>) =
        a.too_few.iter().partition(|few| !few.bounds.is_empty());
    let all = |of: &dyn Fn(&TooFew) -> String| {
        proven.iter().map(|few| of(few)).collect::<Vec<_>>().join(" or ")
    };
    let highest = |few: &TooFew| {
        let highest = few.bounds.iter().map(Bound::finish_rate).fold(0.0, f64::max);
        // Upwards: it stays a bound.
        ((highest * 1e5).ceil() / 1e3).to_string()
    };
    let fewest = |few: &&TooFew| {
        let (next, kind) = (few.n + 1, p.kind(few.kind));
        let has_next = a.choices.iter().any(|choice| choice.counts[few.kind] == next);
        has_next.then(|| format!("{next} {kind}"))
    };
    let fewest: Vec<String> = proven.iter().filter_map(fewest).collect();
    let proof = proven.first().map(|first| {
        format!(
            "no scheduler sustains the load with {}: in none of {} runs can more than {} % be in time, and the goal is \
             {} %{}",
            all(&|few| format!("{} {}", few.n, p.kind(few.kind))),
            first.bounds.len(),
            all(&highest),
            percent(1.0 - p.plan.target()),
            match fewest.is_empty() {
                true => String::new(),
                false => format!("; so {} are the fewest for any scheduler", fewest.join(" or ")),
            }
        )
    });
    let open = grouped(open.iter().map(|few| (few.why(), p.kind(few.kind))));
    let not_known = |(why, kinds): (&str, Vec<&str>)| {
        let kinds = kinds.join(" or ");
        format!("whether another scheduler needs fewer {kinds} is not known: {why}")
    };
    proof.into_iter().chain(open.into_iter().map(not_known)).collect()
}

/// The most what-ifs in a sentence with numbers for each.
const IN_TURN_MAX: usize = 6;

/// Sentences about what-ifs: what is so of several is said once, also where numbers differ: `What if load=2 / load=3: no
/// scheduler sustains the load with 8/12 T4.`
pub fn in_turn<'a>(lines: impl Iterator<Item = (String, &'a str)>) -> Vec<String> {
    let mut all: Vec<Vec<(String, &str)>> = Vec::new();
    for (line, about) in lines {
        let takes = |same: &&mut Vec<(String, &str)>| {
            let is_same = same.iter().all(|other| other.0 == line);
            let is_new = same.len() < IN_TURN_MAX && same.iter().all(|other| other.1 != about);
            is_same || is_new && are_alike(&same[0].0, &line)
        };
        match all.iter_mut().find(takes) {
            Some(same) if same.iter().any(|other| other.1 == about) => {}
            Some(same) => same.push((line, about)),
            None => all.push(vec![(line, about)]),
        }
    }
    let say = |same: &Vec<(String, &str)>| {
        let is_same = same.iter().all(|other| other.0 == same[0].0);
        let about: Vec<&str> = same.iter().map(|(_, about)| *about).collect();
        let about = about.join(if is_same { "; " } else { " / " });
        let words: Vec<Vec<&str>> =
            same.iter().map(|(line, _)| line.split(' ').collect()).collect();
        let word = |i: usize| match words.iter().all(|own| own[i] == words[0][i]) {
            true => words[0][i].to_string(),
            false => {
                let (_, end) = split_number(words[0][i]);
                let numbers: Vec<&str> = words.iter().map(|own| split_number(own[i]).0).collect();
                numbers.join("/") + end
            }
        };
        let line: Vec<String> = (0..words[0].len()).map(word).collect();
        format!("What if {about}: {}", line.join(" "))
    };
    all.iter().map(say).collect()
}

/// Whether two sentences differ in numbers alone.
fn are_alike(a: &str, b: &str) -> bool {
    let is_number = |word: &str| split_number(word).0.parse::<f64>().is_ok();
    let alike = |(a, b): (&str, &str)| {
        a == b || is_number(a) && is_number(b) && split_number(a).1 == split_number(b).1
    };
    a.split(' ').count() == b.split(' ').count() && a.split(' ').zip(b.split(' ')).all(alike)
}

/// A number and what ends its word.
fn split_number(word: &str) -> (&str, &str) {
    word.split_at(word.trim_end_matches([',', ';', ':', '.']).len())
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
    p.list.iter().filter_map(facts::dense).chain(fleet).collect()
}

/// What is not known, and cheaper pools that are not sure; of a what-if beside the pool `now`.
pub fn doubts(p: &Problem, a: &Answer, now: Option<&Choice>) -> Vec<String> {
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
    let want = a.best().and_then(|best| Some((best, p.kind(lacks(best)?)))).map(|(best, kind)| {
        let is_same = |now: &Choice| now.counts == best.counts && now.policy == best.policy;
        match now {
            None => format!(
                "there is no {kind} to lose; `--what-if survive=0` says whether there would be without `survive`"
            ),
            Some(now) if is_same(now) => {
                format!("`survive` changes nothing here: the answer has no {kind} to lose")
            }
            Some(now) => format!(
                "the answer moves from {} to {} for {} $/h, with no {kind} to lose",
                p.words(&now.counts),
                p.words(&best.counts),
                money(best.cost)
            ),
        }
    });
    let unknown = a.unknown.iter().map(|u| format!("not known: {u}"));
    want.into_iter().chain(short).chain(unknown).chain(close).collect()
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn what_is_so_of_several_what_ifs_is_said_once() {
        let few = |n: u32, best: &str| {
            format!(
                "no scheduler sustains the load with {n} a: no more than {best} % are in time; not {n}."
            )
        };
        let lines = [
            (few(3, "95.5"), "load=1"),
            ("not known: why.".to_string(), "slo=5ms"),
            (few(4, "96"), "load=2"),
            ("not known: why.".to_string(), "load=2"),
            ("not known: why.".to_string(), "load=2"),
            ("1 a.".to_string(), "load=3"),
            ("1 b.".to_string(), "load=4"),
        ];
        assert_eq!(
            in_turn(lines.into_iter()),
            [
                "What if load=1 / load=2: no scheduler sustains the load with 3/4 a: no more than 95.5/96 % are in \
                 time; not 3/4.",
                "What if slo=5ms; load=2: not known: why.",
                "What if load=3: 1 a.",
                "What if load=4: 1 b.",
            ]
        );
    }
}
