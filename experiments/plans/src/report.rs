//! The answer as a table for reading, and the words that it shares with the summary.

use super::answer::{Answer, Choice, money, percent, significant};
use super::file::Pools;
use super::money::{bought, by_hour_and_month, month, source, turns_in_words};
use super::problem::Problem;
use super::{Solved, facts, fleet};
use orrery_output::tables::Text;
use std::fmt::Write;

/// What was asked, in a sentence.
pub fn question(solved: &Solved) -> String {
    solved.problem.question()
}

impl Problem {
    /// What is asked, in a sentence.
    pub fn question(&self) -> String {
        question_of(self)
    }
}

fn question_of(p: &Problem) -> String {
    let what = match (p.budget, p.plan.pools) {
        (Some(budget), Pools::Heterogeneous) => {
            format!("for each model the pool that carries most for at most {} $/h", money(budget))
        }
        (Some(budget), Pools::Homogeneous) => {
            format!("the cluster that carries most for at most {} $/h", money(budget))
        }
        (None, Pools::Heterogeneous) => {
            "for each model the cheapest pool that carries its load".to_string()
        }
        (None, Pools::Homogeneous) => "the cheapest cluster that carries the load".to_string(),
        (_, Pools::Fleet) => {
            "the cheapest fleet that carries the load, each model on one kind".to_string()
        }
    };
    let bad = percent(p.plan.target());
    format!("{what}, with at most {bad} % of the requests of any model late or dropped")
}

/// A pool, with its policy where several were compared.
fn pool_words(p: &Problem, choice: &Choice) -> String {
    let words = p.words(&choice.counts);
    if p.policies.len() > 1 { format!("{words}, {}", choice.policy) } else { words }
}

/// The edge with its interval: `61.2 (59.8 to 62.6)`.
pub fn carries(choice: &Choice) -> String {
    let rate = significant(choice.edge.rate_per_s);
    match choice.edge.interval {
        Some(i) => format!("{rate} ({} to {})", significant(i.low), significant(i.high)),
        None => rate,
    }
}

/// Money for a million good requests: at the load if that is the goal, at the edge under a budget.
pub fn per_million(problem: &Problem, load_per_s: f64, choice: &Choice) -> String {
    let usd = match problem.budget {
        None => choice.usd_per_million_at_load(load_per_s),
        Some(_) => choice.usd_per_million_at_edge(problem.plan.target()),
    };
    usd.map_or("-".to_string(), |usd| format!("{usd:.2}"))
}

/// Headroom in percent, with its sign.
pub fn headroom(load_per_s: f64, choice: &Choice) -> String {
    format!("{:+.0} %", choice.headroom(load_per_s) * 100.0)
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
            "at the load {:.2} % of the worst model are bad{interval}; allowed are {} %; {seeds} seeds",
            best.at_load.bad_rate * 100.0,
            target
        ));
    }
    let tied = answer.tied();
    let others = answer.choices.len() - 1;
    if problem.budget.is_some() && others > 0 {
        words.push(if tied.is_empty() {
            format!(
                "it carries more than all {others} runners-up with 95 % confidence, {seeds} seeds"
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
                "{} of {others} runners-up cannot be told from it with {seeds} seeds{cheaper}",
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
    format!(
        "{} pools, {} simulated, {} excluded by their upper bound{slack}, {} not needed; {} runs",
        s.pools, s.simulated, s.skipped_by_bound, s.left, s.runs
    )
}

/// The answer for reading.
pub fn text(first: &Solved, what_ifs: &[Solved]) -> String {
    let p = &first.problem;
    let mut out = format!("plan {}: {}\n", p.plan.name(), question(first));
    let _ = writeln!(
        out,
        "simulated: {} seeds, {}\n",
        p.plan.seeds,
        if p.groups.iter().any(|g| g.is_trace) {
            "the whole trace".to_string()
        } else {
            format!("{} requests for each model", p.plan.requests_per_model)
        }
    );
    if let Some(words) = source(first) {
        out.pop();
        let _ = writeln!(out, "prices: {words}\n");
    }
    table(first, &mut out);
    for line in whole(first) {
        let _ = writeln!(out, "{line}");
    }
    for (group, answer) in p.groups.iter().zip(&first.answers) {
        details(p, group, answer, &mut out);
    }
    if !what_ifs.is_empty() {
        out.push_str("\nwhat if\n");
        out.push_str(&what_if_table(first, what_ifs));
    }
    out
}

fn table(solved: &Solved, out: &mut String) {
    let p = &solved.problem;
    let mut rows = Vec::new();
    for a in &solved.answers {
        let Some(best) = a.best() else {
            rows.push(vec![
                a.group.clone(),
                "none".to_string(),
                String::new(),
                String::new(),
                significant(a.load_per_s),
            ]);
            continue;
        };
        rows.push(vec![
            a.group.clone(),
            pool_words(p, best),
            money(best.cost),
            month(best.cost),
            significant(a.load_per_s),
            carries(best),
            headroom(a.load_per_s, best),
            per_million(p, a.load_per_s, best),
        ]);
    }
    let million = if p.budget.is_some() { "$/M at edge" } else { "$/M good" };
    let carried = "carries/s (95 % interval)";
    let head = ["model", "pool", "$/h", "$/month", "load/s", carried, "headroom", million];
    out.push_str(&columns(&head, &rows));
    if solved.answers.len() > 1 && solved.fleet.is_none() {
        let costs = || solved.answers.iter().filter_map(|a| a.best()).map(|b| b.cost);
        let (none, all) = (solved.answers.len() - costs().count(), solved.answers.len());
        let _ = match none {
            0 => writeln!(out, "all together: {}", by_hour_and_month(costs().sum())),
            _ => writeln!(out, "all together: no answer: {none} of {all} have no pool"),
        };
    }
}

/// What is said of the plan as a whole, beside its table.
pub fn whole(solved: &Solved) -> Vec<String> {
    let p = &solved.problem;
    let fleet = solved.fleet.iter().flat_map(|fleet| {
        let lines = fleet::words::lines(p, fleet).into_iter();
        let searched = format!("searched: {}", fleet::words::searched(fleet));
        lines.chain([searched]).map(|line| format!("fleet: {line}"))
    });
    facts::of_plan(p).into_iter().chain(fleet).collect()
}

fn details(p: &Problem, group: &super::Group, a: &Answer, out: &mut String) {
    // What is said below holds under this policy alone.
    let under = a.best().map_or(String::new(), |b| format!(", under {}", b.policy));
    let _ = writeln!(out, "\n{}{under}", a.group);
    if let Some(best) = a.best() {
        let _ = writeln!(out, "  breaks first: {}", best.breaks(p, group));
        let _ = writeln!(out, "  confidence: {}", confidence(p, a));
        if let Some(packs) = bought(p, &best.counts) {
            let _ = writeln!(out, "  bought as: {packs}");
        }
        if let Some(words) = turns_in_words(p, &a.turns) {
            let _ = writeln!(out, "  prices: {words}");
        }
    }
    for line in facts::facts(p, a) {
        let _ = writeln!(out, "  {line}");
    }
    let row = |what: &str, c: &Choice| {
        vec![
            format!("  {what}"),
            pool_words(p, c),
            money(c.cost),
            carries(c),
            headroom(a.load_per_s, c),
            per_million(p, a.load_per_s, c),
        ]
    };
    let mut rows: Vec<Vec<String>> =
        a.choices.iter().skip(1).map(|c| row("runner-up", c)).collect();
    rows.extend(a.homogeneous.iter().map(|c| row("base type alone", c)));
    if !rows.is_empty() {
        let head = ["", "pool", "$/h", "carries/s (95 % interval)", "headroom", "$/M"];
        out.push_str(&columns(&head, &rows));
    }
    for line in doubts(p, a) {
        let _ = writeln!(out, "  {line}");
    }
    if p.plan.pools != Pools::Fleet {
        let _ = writeln!(out, "  searched: {}", search(p, a));
    }
}

/// What is not known, and cheaper pools that are not sure.
pub fn doubts(p: &Problem, a: &Answer) -> Vec<String> {
    let close = a.close.iter().map(|(counts, cost, check)| {
        format!(
            "not sure: {} for {} $/h has {:.2} % bad at the load{}, within the target, but {}",
            p.words(counts),
            money(*cost),
            check.bad_rate * 100.0,
            if p.plan.lost() > 0 { " with one machine less" } else { "" },
            check.why_not_sure()
        )
    });
    let short = a.best().filter(|b| p.budget.is_some() && b.edge.rate_per_s < a.load_per_s);
    let short = short.map(|b| {
        format!(
            "too little: the load is {} requests/s, and the budget carries {}",
            significant(a.load_per_s),
            significant(b.edge.rate_per_s)
        )
    });
    let unknown = a.unknown.iter().map(|u| format!("not known: {u}"));
    short.into_iter().chain(unknown).chain(close).collect()
}

/// The answers side by side: a row for each what-if and group.
pub fn what_if_rows(first: &Solved, what_ifs: &[Solved]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec![
        "what if",
        "model",
        "pool",
        "$/h",
        "$/month",
        "load/s",
        "carries/s",
        "headroom",
        "$/M",
        "$/h against now",
        "carries against now",
    ];
    let mut rows = Vec::new();
    for solved in std::iter::once(first).chain(what_ifs) {
        let p = &solved.problem;
        if let Some(fleet) = &solved.fleet {
            let now = first.fleet.as_ref().and_then(|f| f.cost);
            rows.push(fleet::words::what_if_row(solved, fleet, now));
            continue;
        }
        for (a, now) in solved.answers.iter().zip(&first.answers) {
            let name = solved.what_if.clone().unwrap_or_else(|| "(as it is)".to_string());
            let mut row = vec![name, a.group.clone()];
            match a.best() {
                None => row.extend(["none meets the goal".to_string(), "-".into(), "-".into()]),
                Some(b) => row.extend([pool_words(p, b), money(b.cost), month(b.cost)]),
            }
            row.push(significant(a.load_per_s));
            row.push(a.best().map_or("-".into(), |b| significant(b.edge.rate_per_s)));
            row.push(a.best().map_or("-".into(), |b| headroom(a.load_per_s, b)));
            row.push(a.best().map_or("-".into(), |b| per_million(p, a.load_per_s, b)));
            let both = a.best().zip(now.best());
            row.push(both.map_or("-".into(), |(b, now)| {
                format!("{:+.3}", b.cost.as_usd_per_hour() - now.cost.as_usd_per_hour())
            }));
            row.push(both.map_or("-".into(), |(b, now)| {
                format!("{:+.0} %", (b.edge.rate_per_s / now.edge.rate_per_s - 1.0) * 100.0)
            }));
            rows.push(row);
        }
    }
    (head, rows)
}

fn what_if_table(first: &Solved, what_ifs: &[Solved]) -> String {
    let (head, rows) = what_if_rows(first, what_ifs);
    let mut out = columns(&head, &rows);
    for solved in what_ifs {
        let about = solved.what_if.as_deref().unwrap_or_default();
        for a in &solved.answers {
            for line in doubts(&solved.problem, a) {
                let _ = writeln!(out, "  {about}, {}: {line}", a.group);
            }
        }
    }
    out
}

/// Columns as wide as what stands in them; words to the left, numbers to the right.
pub fn columns(head: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |row: &Vec<String>, i: usize| row.get(i).cloned().unwrap_or_default();
    let number = |text: &str| {
        let first = text.chars().next();
        first.is_some_and(|c| c.is_ascii_digit() || c == '+' || c == '-')
            && !text.contains(['+', ':'])
            || text.starts_with('+')
    };
    let is_number = |i: &usize| {
        *i > 0
            && head[*i] != "pool"
            && !rows.is_empty()
            && rows.iter().all(|r| cell(r, *i).is_empty() || number(&cell(r, *i)))
    };
    let words: Vec<&str> = (0..head.len()).filter(|i| !is_number(i)).map(|i| head[i]).collect();
    let mut table = Text::new(head);
    rows.iter().for_each(|row| table.line(row.clone()));
    table.left(&words).text()
}
