//! `--markdown`: a page for whoever pays.

use super::answer::{money, significant};
use super::facts::facts;
use super::file::Pools;
use super::money::{bought, month, source, turns_in_words};
use super::report::{
    carries, confidence, doubts, headroom, per_million, question, search, what_if_rows, whole,
};
use super::solved::Solved;
use orrery_planner::Price;
use std::fmt::Write;

/// The summary: the question, the answer, what it costs, what breaks first, the alternatives, and how far
/// all that can be trusted.
pub fn summary(first: &Solved, what_ifs: &[Solved]) -> String {
    let p = &first.problem;
    let mut out =
        format!("# Capacity plan: {}\n\n**Asked:** {}.\n\n", p.plan.name(), question(first));
    if let [one] = first.answers.as_slice()
        && let Some(best) = one.best()
    {
        let _ = writeln!(
            out,
            "**Answer:** {} under {} for {} $/h; headroom over the load: {}.\n",
            p.words(&best.counts),
            best.policy,
            money(best.cost),
            headroom(one.load_per_s, best)
        );
    }
    answer(first, &mut out);
    let about = whole(first);
    if !about.is_empty() {
        out.push('\n');
    }
    for line in about {
        let _ = writeln!(out, "- {line}.");
    }
    let _ = writeln!(out, "\n## What breaks first\n");
    for (group, a) in p.groups.iter().zip(&first.answers) {
        let Some(best) = a.best() else { continue };
        let _ = writeln!(out, "- **{}**: {}.", a.group, best.breaks(p, group));
    }
    alternatives(first, &mut out);
    if !what_ifs.is_empty() {
        let (head, rows) = what_if_rows(first, what_ifs);
        let _ = writeln!(out, "\n## What if\n");
        table(&head, &rows, &mut out);
    }
    let _ = writeln!(out, "\n## How sure is this\n");
    for a in &first.answers {
        let _ = writeln!(out, "- **{}**: {}.", a.group, confidence(p, a));
        for line in facts(p, a) {
            let _ = writeln!(out, "  - {line}.");
        }
        for line in doubts(p, a) {
            let _ = writeln!(out, "  - {line}.");
        }
    }
    for solved in what_ifs {
        let about = solved.what_if.as_deref().unwrap_or_default();
        for a in &solved.answers {
            for line in doubts(&solved.problem, a) {
                let _ = writeln!(out, "- What if {about}, **{}**: {line}.", a.group);
            }
        }
    }
    let _ = writeln!(out, "\n## How it was found\n");
    let policies: Vec<&str> = p.policies.iter().map(|p| p.text()).collect();
    let _ = writeln!(
        out,
        "Simulated with {}. Intervals are 95 % over {} seeds. A simulation knows only its profiles: no moment of a failure, no network beyond the delays of the scenario, no startup.\n",
        policies.join(", "),
        p.plan.seeds
    );
    for a in first.answers.iter().filter(|_| p.plan.pools != Pools::Fleet) {
        let _ = writeln!(out, "- {}: {}.", a.group, search(p, a));
    }
    out
}

/// The answers: a row for each group, with the pool in the second column.
pub fn answer_rows(solved: &Solved) -> ([&'static str; 9], Vec<Vec<String>>) {
    let p = &solved.problem;
    let mut rows = Vec::new();
    for a in &solved.answers {
        let Some(best) = a.best() else {
            rows.push(vec![a.group.clone(), "none meets the goal".to_string()]);
            continue;
        };
        rows.push(vec![
            a.group.clone(),
            p.words(&best.counts),
            best.policy.clone(),
            money(best.cost),
            month(best.cost),
            significant(a.load_per_s),
            carries(best),
            headroom(a.load_per_s, best),
            per_million(p, a.load_per_s, best),
        ]);
    }
    let million = if p.budget.is_some() {
        "$ per million good requests, at the edge"
    } else {
        "$ per million good requests"
    };
    let (load, carried) = ("load, 1/s", "carries, 1/s");
    let head = ["model", "pool", "scheduler", "$/h", "$/month", load, carried, "headroom", million];
    (head, rows)
}

fn answer(solved: &Solved, out: &mut String) {
    let (head, mut rows) = answer_rows(solved);
    rows.iter_mut().for_each(|row| row[1] = format!("**{}**", row[1]));
    table(&head, &rows, out);
    let none = solved.answers.iter().filter(|a| a.best().is_none()).count();
    if none > 0 {
        let _ =
            writeln!(out, "\nIn all: no answer, {none} of {} have no pool.", solved.answers.len());
        return;
    }
    let total: Price = solved.answers.iter().filter_map(|a| a.best()).map(|b| b.cost).sum();
    let _ = writeln!(
        out,
        "\nIn all **{} $/h**, about {} $ for a month of 730 hours.",
        money(total),
        month(total)
    );
    for line in prices(solved) {
        let _ = writeln!(out, "\n{line}");
    }
}

/// Where the prices are from, what is bought in packs, and at which prices the answer changes.
pub fn prices(solved: &Solved) -> Vec<String> {
    let p = &solved.problem;
    let mut lines: Vec<String> =
        source(solved).map(|words| format!("Prices: {words}.")).into_iter().collect();
    for a in &solved.answers {
        let packs = a.best().and_then(|b| bought(p, &b.counts));
        lines.extend(packs.map(|packs| format!("{}: bought as {packs}.", a.group)));
        let words = turns_in_words(p, &a.turns);
        lines.extend(words.map(|words| format!("{}: {words}.", a.group)));
    }
    lines
}

/// Other pools: runners-up, and the base type alone.
pub fn alternative_rows(solved: &Solved) -> ([&'static str; 7], Vec<Vec<String>>) {
    let p = &solved.problem;
    let mut rows = Vec::new();
    for a in &solved.answers {
        // Of many models one each, or it is more than a page.
        let most = if solved.answers.len() > 2 { 1 } else { usize::MAX };
        let others = a.choices.iter().skip(1).take(most).map(|c| ("runner-up", c));
        for (what, c) in others.chain(a.homogeneous.iter().map(|c| ("base type alone", c))) {
            rows.push(vec![
                a.group.clone(),
                what.to_string(),
                p.words(&c.counts),
                c.policy.clone(),
                money(c.cost),
                carries(c),
                headroom(a.load_per_s, c),
            ]);
        }
    }
    (["model", "", "pool", "scheduler", "$/h", "carries, 1/s", "headroom"], rows)
}

fn alternatives(solved: &Solved, out: &mut String) {
    let (head, rows) = alternative_rows(solved);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Alternatives\n");
    table(&head, &rows, out);
}

fn table(head: &[&str], rows: &[Vec<String>], out: &mut String) {
    let _ = writeln!(out, "| {} |", head.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(head.len()));
    for row in rows {
        let cell = |i: usize| row.get(i).map_or(String::new(), |c| c.replace('|', "\\|"));
        let cells: Vec<String> = (0..head.len()).map(cell).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}
